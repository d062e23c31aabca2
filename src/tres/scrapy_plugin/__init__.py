"""tres as the scheduler of your own Scrapy project.

SCHEDULER = "tres.scrapy_plugin.TresScheduler"
"""

from tres.scrapy_plugin.tres_scheduler import TresScheduler

__all__ = ["TresScheduler"]
