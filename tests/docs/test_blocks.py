"""The code of the documentation works: every block is run, or says why it is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.docs.given import Given
from tests.docs.pages import ROOT, Block, DocPage, all_pages
from tests.docs.running import Workplace

RUN = ("sh", "python")
SLOW = {
    f"docs/{name}.md"
    for name in ("archives", "compare", "export", "library", "live", "report", "tutorial")
}


def _runnable(page: DocPage) -> bool:
    return any(block.language in RUN and not block.not_run for block in page.blocks)


def _parameters() -> list[object]:
    return [
        pytest.param(page, id=page.name, marks=pytest.mark.slow if page.name in SLOW else ())
        for page in all_pages()
        if _runnable(page)
    ]


@pytest.mark.parametrize("page", _parameters())
def test_the_examples_of_a_page_run_as_they_are_written(
    page: DocPage, given: Given, tmp_path: Path
) -> None:
    given.copy(page.given, tmp_path)
    with Workplace(tmp_path) as place:
        said = ""
        for block in page.blocks:
            if block.not_run:
                continue
            if block.title:
                place.write(block.title, block.text)
            if block.language in RUN:
                said = _run(place, page, block)
            elif block.language == "text" and said:
                _compare(page, block, said)
            else:
                said = ""  # only what stands right below is output


def test_no_example_can_leave_this_machine(tmp_path: Path) -> None:
    with Workplace(tmp_path) as place:
        done = place.python("import socket; socket.create_connection(('192.0.2.1', 80), 1)")
    assert "wants to reach 192.0.2.1" in done.stdout


def test_output_that_is_shown_must_have_been_printed_but_for_its_numbers() -> None:
    page = DocPage(ROOT / "README.md")
    _compare(page, Block(1, "text", "300 pages, 20.1% relevant\n..."), "7 pages, 3% relevant\nmore")
    with pytest.raises(AssertionError):
        _compare(page, Block(1, "text", "300 pages, 20.1% relevant"), "7 pages, 3% of use")


def _run(place: Workplace, page: DocPage, block: Block) -> str:
    run = place.shell if block.language == "sh" else place.python
    done = run(block.text)
    assert done.returncode == 0, f"{page.name}:{block.line}\n{block.text}\n---\n{done.stdout}"
    return str(done.stdout)


def _compare(page: DocPage, block: Block, said: str) -> None:
    """Every line that the page shows was printed, numbers and layout aside."""
    printed = {_shape(line) for line in said.splitlines()}
    for line in block.text.splitlines():
        if line.strip() not in ("", "..."):
            assert _shape(line) in printed, f"{page.name}:{block.line}: {line}\n---\n{said}"


def _shape(line: str) -> str:
    """A line without its numbers, addresses and layout."""
    plain = re.sub(r"https?://\S+", "URL", line)
    plain = re.sub(r"[0-9][0-9,.]*", "0", plain)
    return " ".join(re.sub(r"[─━-]{2,}", "-", plain).split())
