"""One item per page that tres has chosen, and the front page of each site once."""

import scrapy


class PagesSpider(scrapy.Spider):
    name = "pages"
    start_urls = ("http://bees.example/",)  # the seeds; or: scrapy crawl pages -a seed=URL

    def __init__(self, seed=None, **known):
        super().__init__(**known)
        if seed:
            self.start_urls = (seed,)

    def parse(self, response):
        yield {
            "url": response.url,
            "title": response.css("title::text").get(""),
            **response.meta["tres"],
        }
        # A request of the spider's own: fetched as asked for, outside of the learning.
        yield response.follow("/", callback=self.parse_home)

    def parse_home(self, response):
        self.crawler.stats.inc_value("home_pages")
