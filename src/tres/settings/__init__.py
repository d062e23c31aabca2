"""The topic file: every setting, its range and its meaning."""
