"""Models that say how probably a text is about the topic."""
