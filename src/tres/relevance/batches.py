"""How every model answers many texts: each once, some hundred at a time.

Links repeat their anchors, and pages their boilerplate, so a text that occurs again is not read
again. Chunks keep a large batch from needing memory for all of its texts at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def each_once(texts: Sequence[str], answer: Callable[[list[str]], Floats], chunk: int) -> Floats:
    """What `answer` says of every text, asked about each distinct one once, `chunk` at a time."""
    place = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    distinct = list(place)
    parts = [answer(distinct[at : at + chunk]) for at in range(0, len(distinct), chunk)]
    answers = np.concatenate([np.empty(0, np.float32), *parts])
    return answers[[place[text] for text in texts]] if len(texts) > len(distinct) else answers
