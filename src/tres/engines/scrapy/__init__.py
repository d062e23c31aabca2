"""Crawling the live Web on Scrapy."""
