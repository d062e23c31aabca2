"""Runs: start, crawl, resume and teach them; a topic file in, a run directory out."""
