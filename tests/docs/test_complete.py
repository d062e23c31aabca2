"""The documentation mentions everything that the program has: nothing can be added unmentioned."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.docs.given import Given
from tests.docs.pages import DOCS
from tools.reference import pages as generated_pages

import tres
from tres import errors
from tres.crawl.events import StopReason
from tres.mdp.feature_schema import SCHEMAS
from tres.relevance.model_files import MANIFEST
from tres.report.metrics import METRICS
from tres.settings.policy_names import POLICIES
from tres.settings.sections import FEATURES, MODELS
from tres.store.journal_tables import FETCH_COLUMNS, PAGE_COLUMNS, POSTPONED_COLUMNS
from tres.store.run_directory import _OWN_FILES
from tres.web.page import FailureKind

REFERENCE = DOCS / "reference"


def names_on(name: str) -> set[str]:
    """Return everything that a page of the reference sets in backquotes."""
    text = (REFERENCE / name).read_text(encoding="utf-8")
    return set(re.findall(r"`([^`\n]+)`", text))


def errors_of(kind: type[errors.TresError]) -> set[type[errors.TresError]]:
    return {kind}.union(*(errors_of(below) for below in kind.__subclasses__()))


@pytest.mark.parametrize("path", generated_pages(), ids=lambda path: path.name)
def test_generated_pages_are_up_to_date(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == generated_pages()[path], "run `make docs`"


def test_every_kind_of_failure_is_explained() -> None:
    assert {str(kind) for kind in FailureKind} <= names_on("failures.md")


def test_every_reason_to_stop_is_explained() -> None:
    assert {str(reason) for reason in StopReason} <= names_on("failures.md")


def test_every_exit_code_is_explained() -> None:
    codes = {str(kind.exit_code) for kind in errors_of(errors.TresError)} | {"0"}
    table = (REFERENCE / "failures.md").read_text(encoding="utf-8").partition("## Exit codes")[2]
    assert codes <= set(re.findall(r"^\| (\d+) \|", table, re.MULTILINE))


def test_every_rule_that_drops_links_is_explained() -> None:
    from tres.web import link_rules as rules
    from tres.web import traps

    named = re.findall(r'"([a-z-]+)"', Path(rules.__file__).read_text().partition("class Link")[2])
    assert {"include", "calendar", "no-address"} <= set(named)
    assert set(named) | set(traps.LIMITS) <= names_on("failures.md") | {"a"}


def test_every_event_of_a_log_is_explained() -> None:
    from tres.cli import json_log

    source = Path(json_log.__file__).read_text()
    events = {*json_log.EVENTS.values(), *re.findall(r'write\(\s*"(\w+)"', source)}
    assert {"page", "started", "error"} <= events
    cells = re.findall(r"^\| (.+?) \|", (DOCS / "logs.md").read_text(), re.MULTILINE)
    assert events <= {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def test_every_metric_is_explained() -> None:
    page = (DOCS / "metrics.md").read_text()
    assert all(f"| `{metric.name}` | {metric.kind} |" in page for metric in METRICS)


def test_every_name_of_the_library_is_explained() -> None:
    page = (REFERENCE / "library.md").read_text(encoding="utf-8")
    assert all(f"\n## {name}\n" in page or f"| `{name}` |" in page for name in tres.__all__)


def test_every_policy_is_explained() -> None:
    assert set(POLICIES) <= names_on("policies.md")


def test_every_feature_and_every_set_of_them_is_explained() -> None:
    features = {name for schema in SCHEMAS.values() for name in schema.features}
    assert features | set(FEATURES) <= names_on("features.md")


def test_every_kind_of_model_is_explained() -> None:
    text = (DOCS / "relevance.md").read_text(encoding="utf-8")
    assert all(f"`{kind}`" in text for kind in MODELS)


def as_documented(name: str) -> str:
    """Return how the reference writes the name of a file; there may be many models."""
    earlier = re.sub(r"^model-\d+$", "model-1", name)
    return re.sub(r"^model-[0-9a-f]{12}$", "model-DIGEST", earlier)


def test_every_file_of_a_run_is_explained(given: Given, tmp_path: Path) -> None:
    given.copy(("runs/astronomy", "runs/biology"), tmp_path)
    files = {path.name for run in tmp_path.glob("runs/*") for path in run.iterdir()}
    assert {"journal.db", "summary.json", "model"} <= files
    files = set(map(as_documented, files)) | set(_OWN_FILES)
    assert {name for name in files if not name.endswith(("-wal", "-shm"))} <= names_on("files.md")


def test_every_file_of_a_model_is_explained(given: Given, tmp_path: Path) -> None:
    given.copy(("runs/biology",), tmp_path)
    files = {path.name for path in (tmp_path / "runs/biology/model").iterdir()}
    assert MANIFEST in files
    assert files <= set(re.findall(r"`([^`\n]+)`", (DOCS / "relevance.md").read_text()))


def test_every_column_of_a_run_is_explained() -> None:
    assert {*PAGE_COLUMNS, *POSTPONED_COLUMNS, *FETCH_COLUMNS} <= names_on("files.md")


def test_every_table_of_a_journal_is_explained(given: Given, tmp_path: Path) -> None:
    given.copy(("runs/biology",), tmp_path)
    with closing(sqlite3.connect(tmp_path / "runs/biology/journal.db")) as journal:
        tables = {name for (name,) in journal.execute("SELECT name FROM sqlite_schema")
                  if not name.startswith("sqlite_")}  # fmt: skip
    assert {"pages", "failures"} <= tables
    assert tables - {"begins"} <= names_on("files.md")


def test_every_number_of_a_summary_is_explained(given: Given, tmp_path: Path) -> None:
    given.copy(("runs/astronomy", "runs/biology"), tmp_path)
    keys = {
        key
        for run in tmp_path.glob("runs/*")
        for key in json.loads((run / "summary.json").read_text())
    }
    assert "harvest_rate" in keys
    assert keys <= names_on("files.md")
