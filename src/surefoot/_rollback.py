"""A fit that fails or is stopped leaves the estimator as it was."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def as_it_was_on_failure(estimator: Any) -> Iterator[None]:
    """Give an estimator back the attributes that it had, if what is done inside fails or is stopped by Ctrl-C."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise
