"""What all tests share, those in docstrings included."""

import sys

import pytest


@pytest.fixture(autouse=True)
def close_figures():
    """Matplotlib warns when more than twenty figures are open, and warnings are errors."""
    yield
    if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
        pyplot.close("all")
