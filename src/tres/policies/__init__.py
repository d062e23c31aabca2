"""Policies: ways to choose the next URL, tres and the baselines."""
