"""A selector that calls a function of the user."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot._exceptions import ParameterError
from surefoot.selection.selector import PreparedPython, Selector
from surefoot.selection.table import ANY_TARGET, SelectionTable, take_rows


class FunctionSelector(Selector):
    """Choose a model with your own function.

    Parameters
    ----------
    f : callable
        ``f(X, y)`` gets a bag's rows of the X and y that were passed to ``fit``: a frame stays a frame, anything else
        is an array. y is None if ``fit`` got none. ``f`` returns a model, which is anything hashable (a string, a
        number, a tuple, a frozenset; equal objects are one model), or a dict of models and their weights, which are
        scaled to the sum 1. The result must depend on the given rows only: draw random numbers from a generator with a
        fixed seed. With ``n_jobs``, several threads call the function at once.

    See Also
    --------
    surefoot.StableSelector : Runs a selector on many bags of rows.

    Notes
    -----
    If ``f`` raises an error, ``StableSelector.fit`` raises one that names the bag, and has the error of ``f`` as its
    cause.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot import StableSelector
    >>> from surefoot.selection.function_selector import FunctionSelector
    >>> def nearest(X, y):
    ...     return f"x{np.abs(X.T @ y).argmax()}"
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 4))
    >>> y = 1.2 * X[:, 1] + X[:, 2] + 0.1 * rng.normal(size=200)
    >>> stable = StableSelector(FunctionSelector(nearest), n_bags=500, bag_size=0.3, random_state=0).fit(X, y)
    >>> stable.expression_
    'x2 or x1'
    """

    target = ANY_TARGET
    may_be_constant = True

    def __init__(self, f: Callable[[Any, Any], Any]) -> None:
        self.f = f

    def prepare(self, table: SelectionTable) -> "PreparedFunction":
        """Check that the function is callable.

        Parameters
        ----------
        table : SelectionTable
            The rows to select from.

        Returns
        -------
        PreparedFunction
            Chooses a model for each bag of rows.
        """
        if not callable(self.f):
            raise ParameterError(f"f must be a function of X and y that returns a model, got {self.f!r}.")
        return PreparedFunction(self.f, *table.given)


@dataclass(frozen=True)
class PreparedFunction(PreparedPython):
    """A function with its table."""

    f: Callable[[Any, Any], Any]
    X: Any
    y: Any
    bags_per_call = 1  # a call may take long, and Ctrl-C is noticed between calls

    def model_of(self, rows: np.ndarray) -> Any:
        """What the function returns for a bag's rows."""
        return self.f(take_rows(self.X, rows), take_rows(self.y, rows))
