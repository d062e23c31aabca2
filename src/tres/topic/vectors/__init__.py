"""Word vectors: loading, converting and caching them."""
