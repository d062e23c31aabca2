"""Ways to choose the next URL: tres and its rivals."""
