"""A Scrapy project like any other; the last lines let tres decide where its spider goes."""

BOT_NAME = "bees"
SPIDER_MODULES = ["bees.spiders"]
USER_AGENT = "bees (+https://you.example/crawler)"  # say who you are
ROBOTSTXT_OBEY = True
ITEM_PIPELINES = {"bees.pipelines.RelevantOnly": 100}
LOG_LEVEL = "INFO"

SCHEDULER = "tres.scrapy_plugin.TresScheduler"
TRES_TOPIC = "topic.toml"
TRES_RUN = "run"
TRES_CONCURRENCY = 4
