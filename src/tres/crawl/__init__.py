"""The crawl itself, without any input or output."""
