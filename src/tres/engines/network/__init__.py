"""Which addresses a crawl may talk to, and how many connections it may open."""
