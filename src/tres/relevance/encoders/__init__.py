"""Encoders: from a text to a vector of its meaning, learnt before any crawl."""
