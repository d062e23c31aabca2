"""Reading fetched pages, in processes that a page cannot take down with it."""
