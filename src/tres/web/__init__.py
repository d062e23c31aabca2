"""What a page is and what it says: identity, links, percepts."""
