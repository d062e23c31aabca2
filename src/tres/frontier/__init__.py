"""Frontiers: the URLs that wait to be fetched, in a decision tree or a queue."""
