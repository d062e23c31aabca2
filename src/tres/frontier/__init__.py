"""Where URLs wait."""
