"""A short fetch of pages around the seeds before there is a crawl: to check or to label them."""
