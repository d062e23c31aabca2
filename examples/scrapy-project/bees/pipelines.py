"""Items of pages that are not about the topic are dropped."""

from scrapy.exceptions import DropItem


class RelevantOnly:
    """Keeps what tres has found relevant."""

    def process_item(self, item):
        if not item.pop("relevant"):
            raise DropItem("not about bees")
        return item
