"""What pages are given, made once for all of them."""

from __future__ import annotations

import pytest
from tests.docs.given import Given


@pytest.fixture(scope="session")
def given(tmp_path_factory: pytest.TempPathFactory) -> Given:
    return Given(tmp_path_factory.mktemp("given"))
