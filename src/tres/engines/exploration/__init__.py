"""A short crawl that gathers pages to learn a topic from."""
