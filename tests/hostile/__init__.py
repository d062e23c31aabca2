"""A web that means no good; see README.md."""
