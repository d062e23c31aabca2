"""Which sites must wait, and what robots.txt allows."""
