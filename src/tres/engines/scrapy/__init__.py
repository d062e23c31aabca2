"""The live engine: Scrapy owns HTTP, the crawl session owns the choice."""
