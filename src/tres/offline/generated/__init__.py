"""A web of any size, generated from a seed."""
