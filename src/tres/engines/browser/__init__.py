"""Pages rendered by Chromium, held to the rules of the crawl."""
