"""Runs: starting, resuming and labelling them; a topic file in, a run directory out."""
