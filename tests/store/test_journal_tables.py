"""The plain tables: their columns follow from the record of a page."""

from __future__ import annotations

from tres.crawl.page_record import CSV, EXPORTED, FIELDS, JUDGED, LOGGED, SHOWN
from tres.store.journal_file import FORMAT
from tres.store.journal_tables import FAILURES_TABLE, PAGE_COLUMNS, pages_table


def test_the_columns_are_those_of_format_3() -> None:
    """A change of the columns needs a new number of the format: old journals lack them."""
    assert FORMAT == 3
    assert pages_table(["same_site"]).creation == (
        'CREATE TABLE pages (seq INTEGER PRIMARY KEY, "step" INTEGER NOT NULL, '
        '"url" TEXT NOT NULL, "parent" TEXT, "relevance" REAL, "reward" INTEGER NOT NULL, '
        '"q" REAL, "leaf" INTEGER, "explored" INTEGER NOT NULL, "site" TEXT NOT NULL, '
        '"language" TEXT NOT NULL, "asked" TEXT NOT NULL, "frontier" INTEGER NOT NULL, '
        '"leaves" INTEGER NOT NULL, "candidates" INTEGER NOT NULL, "rivals" TEXT NOT NULL, '
        '"at" REAL, "seconds" REAL, "status" INTEGER, "size" INTEGER, "title" TEXT, "note" TEXT, '
        '"fingerprint" TEXT, "warc_end" INTEGER, "same_site" REAL, checksum INTEGER NOT NULL)'
    )
    assert list(FAILURES_TABLE.columns)[3:] == list(pages_table([]).columns)[len(PAGE_COLUMNS) :]


def test_whatever_is_shown_of_a_page_is_a_field_of_its_record() -> None:
    computed = {"href", "reason"}
    assert {*CSV, *EXPORTED, *LOGGED, *SHOWN} - computed <= {*FIELDS, *JUDGED}
