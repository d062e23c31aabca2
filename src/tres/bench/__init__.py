"""Comparing policies on one web: the paper's tables and figures."""
