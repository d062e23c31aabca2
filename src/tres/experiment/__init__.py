"""Runs and comparisons: a topic, a web and a policy put together."""
