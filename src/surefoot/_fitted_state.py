"""The attributes of a fit change all at once, and each call of a method reads those of one fit.

Threads may predict while another thread fits the same estimator again. ``fit`` works on a copy and then replaces the
attributes of the estimator in a single assignment, so that they are never a mixture of two fits, and stay what they
were if the fit fails or is stopped. A method that reads several of them works on what the estimator has at its start.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar, cast

Estimator = TypeVar("Estimator")
Method = TypeVar("Method", bound=Callable[..., Any])


@contextmanager
def new_fit(estimator: Estimator) -> Iterator[Estimator]:
    """Give a copy of the estimator to fit; the estimator gets its attributes, unless the code inside fails."""
    copy = _instance(estimator, dict(vars(estimator)))
    yield copy
    # Others may have set parameters meanwhile: they are for the next fit, and must not be lost.
    current, parameters = dict(vars(estimator)), estimator.get_params(deep=False)  # type: ignore[attr-defined]
    estimator.__dict__ = {**vars(copy), **{name: current[name] for name in parameters if name in current}}


def current_fit(estimator: Estimator) -> Estimator:
    """The estimator with the attributes that it has now, which no later fit changes."""
    return _instance(estimator, vars(estimator))


def reads_one_fit(method: Method) -> Method:
    """Decorate a method that predicts: all attributes that it reads are those of one fit."""

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return method(current_fit(self), *args, **kwargs)

    return cast(Method, call)


def _instance(estimator: Estimator, attributes: dict[str, Any]) -> Estimator:
    copy = object.__new__(type(estimator))
    copy.__dict__ = attributes
    return copy
