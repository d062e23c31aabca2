"""What a saved model says about its encoder: the name, and the digest that it must have."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeVar

from tres.errors import ModelError
from tres.relevance.encoders.encoder import Encoder

E = TypeVar("E", bound=Encoder)


def encoder_record(encoder: Encoder) -> bytes:
    """Return the content of the file that names an encoder."""
    named = {"name": encoder.name, "digest": encoder.digest}
    return (json.dumps(named) + "\n").encode()


def recorded_encoder(record: bytes, load: Callable[[str], E]) -> E:
    """Load the encoder of a record; `ModelError` unless it is the very same."""
    try:
        named = json.loads(record)
        name, digest = str(named["name"]), str(named["digest"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ModelError("it does not say which encoder it needs; train the model anew") from None
    encoder = load(name)
    if encoder.digest != digest:
        raise ModelError(
            f"it was trained with another encoder than the one that is called {name!r} here; "
            "install what trained it, or train the model anew"
        )
    return encoder
