"""Crawling the live Web on Scrapy."""

TESTED_SCRAPY = ("2.19",)
"""The releases of Scrapy with which the contract test of `internals.py` has passed."""
