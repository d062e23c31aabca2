"""Words, and the keywords of a topic."""
