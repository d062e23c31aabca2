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
    """A one-dimensional array (or a matrix of fixed width) that grows at its end."""

    __slots__ = ("_buffer", "_fill", "_size")

    def __init__(self, dtype: DTypeLike, width: int | None = None, fill: float = 0) -> None:
        shape = (0,) if width is None else (0, width)
        self._buffer: NDArray[Any] = np.empty(shape, dtype)
        self._fill = fill
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def view(self) -> NDArray[Any]:
        """The used part; writes go through. A later growth may move the data."""
        return self._buffer[: self._size]

    @property
    def nbytes(self) -> int:
        """Memory held, the unused part included."""
        return self._buffer.nbytes

    def resize(self, size: int) -> None:
        """Grow to `size` entries; the new ones hold the fill value."""
        if size > len(self._buffer):
            self._reallocate(max(size, int(len(self._buffer) * GROWTH) + 8))
        if size > self._size:
            self._buffer[self._size : size] = self._fill
            self._size = size

    def append(self, value: object) -> int:
        """Add one entry and return its index."""
        index = self._size
        self.resize(index + 1)
        self._buffer[index] = value
        return index

    def extend(self, values: NDArray[Any]) -> None:
        """Add a block of entries."""
        start = self._size
        self.resize(start + len(values))
        self._buffer[start : self._size] = values

    def replace(self, values: NDArray[Any]) -> None:
        """Hold exactly these entries: what another column of this kind held."""
        expected = (self._buffer.dtype, self._buffer.shape[1:])
        if (values.dtype, values.shape[1:]) != expected:
            raise ValueError(f"{values.dtype} {values.shape} is not a column of {expected}")
        self._buffer = values.copy()
        self._size = len(values)

    def _reallocate(self, capacity: int) -> None:
        grown = np.empty((capacity, *self._buffer.shape[1:]), self._buffer.dtype)
        grown[: self._size] = self._buffer[: self._size]
        self._buffer = grown
