"""A CSV file that grows line by line, and can be taken up again.

Taken up again, the file is first compared with what is written to it: as long as it holds
lines, a row must be the line that stands there. Only then is anything added. So a crawl that
is repeated in order to go on proves on the way that it is the same crawl.
"""

from __future__ import annotations

import csv
import io
from collections import deque
from collections.abc import Iterable
from pathlib import Path

from tres.errors import RunError


class Table:
    """Rows on disk, the first of them the header."""

    def __init__(self, path: Path, header: Iterable[str], resume: bool = False) -> None:
        self.path = path
        self._recorded = deque(_whole_lines(path) if resume else ())
        self._lines = 0
        self._file = path.open("a" if resume else "w", encoding="utf-8", newline="")
        self.write(header)

    @property
    def recorded(self) -> int:
        """Lines that have not been met again yet."""
        return len(self._recorded)

    def write(self, row: Iterable[object]) -> None:
        """Add a row, or find it where it stands; else `RunError`."""
        line = _line(row)
        self._lines += 1
        if not self._recorded:
            self._file.write(line)
        elif self._recorded.popleft() != line:
            self._file.close()
            raise differs(self.path, self._lines)

    def close(self) -> None:
        self._file.close()


def differs(path: Path, line: int) -> RunError:
    """The crawl, repeated, is another crawl."""
    return RunError(
        f"{path}: line {line} is not what the crawl does now, so the web or the version of tres "
        "differs from then; give the web of that crawl with --web, or crawl anew"
    )


def _line(row: Iterable[object]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(row)
    return text.getvalue()


def _whole_lines(path: Path) -> list[str]:
    """The lines of a file; a last line that was cut off by a crash is taken away."""
    try:
        content = path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            path.write_bytes(whole)
        return whole.decode().splitlines(keepends=True)
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"{path}: damaged ({error}); run the crawl again") from None
