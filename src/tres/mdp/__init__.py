"""The decision process: features, web paths, counts per site."""
