"""tres: a focused web crawler that learns where to go."""

__version__ = "0.1.0"
