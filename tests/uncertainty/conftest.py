"""Fixtures of the tests of question 2."""

import pytest

from surefoot import _parallel
from surefoot.trees import row_blocks


@pytest.fixture
def small_blocks(monkeypatch):
    """Tables of a few hundred rows have several blocks, and use threads."""
    monkeypatch.setattr(row_blocks, "BLOCK_ROWS", 64)
    monkeypatch.setattr(_parallel, "THREADED_CELLS", 1)
