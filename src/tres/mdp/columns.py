"""Growing columns: how the learner stores what it knows.

Pages, links and sites arrive one by one and never leave, so every fact about them is
a column: a NumPy array indexed by a small integer id that grows at its end. Columns
keep a million rows in tens of megabytes and let one NumPy call treat thousands of
them, where one Python object per row would do neither.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

GROWTH = 1.25
"""Factor by which a full column grows: at most a fifth of it is ever unused."""

Ids = NDArray[np.int32]
Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]


class Column:
    """A one-dimensional array (or a matrix of fixed width) that grows at its end.

    `view` is the used part; writes go through. Growing may move the data. The view is read a
    hundred times more often than a column grows, so it is renewed only then.
    """

    __slots__ = ("_buffer", "_fill", "view")

    def __init__(self, dtype: DTypeLike, width: int | None = None, fill: float = 0) -> None:
        shape = (0,) if width is None else (0, width)
        self._buffer: NDArray[Any] = np.empty(shape, dtype)
        self._fill = fill
        self.view = self._buffer

    def __getstate__(self) -> tuple[float, NDArray[Any]]:
        return self._fill, self.view

    def __setstate__(self, state: tuple[float, NDArray[Any]]) -> None:
        """A copy has a view of its own buffer, not a copy of the view."""
        self._fill, self._buffer = state
        self.view = self._buffer

    def __len__(self) -> int:
        return len(self.view)

    @property
    def nbytes(self) -> int:
        """Bytes of memory, the unused part included."""
        return self._buffer.nbytes

    def resize(self, size: int) -> None:
        """Grow to `size` entries; the new ones hold the fill value."""
        if size > len(self._buffer):
            self._reallocate(max(size, int(len(self._buffer) * GROWTH) + 8))
        if size > (used := len(self.view)):
            self._buffer[used:size] = self._fill
            self.view = self._buffer[:size]

    def append(self, value: object) -> int:
        """Add one entry and return its index."""
        index = len(self.view)
        self.resize(index + 1)
        self._buffer[index] = value
        return index

    def extend(self, values: NDArray[Any]) -> None:
        """Add a block of entries."""
        start = len(self.view)
        self.resize(start + len(values))
        self.view[start:] = values

    def replace(self, values: NDArray[Any]) -> None:
        """Replace all entries by those of another column of this kind."""
        expected = (self._buffer.dtype, self._buffer.shape[1:])
        if (values.dtype, values.shape[1:]) != expected:
            raise ValueError(f"{values.dtype} {values.shape} is not a column of {expected}")
        self._buffer = self.view = values.copy()

    def _reallocate(self, capacity: int) -> None:
        grown = np.empty((capacity, *self._buffer.shape[1:]), self._buffer.dtype)
        grown[: len(self.view)] = self.view
        self._buffer, self.view = grown, grown[: len(self.view)]
