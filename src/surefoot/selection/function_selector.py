"""Models that a function of the user's chooses."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot._exceptions import ParameterError
from surefoot.selection.selector import ANY_TARGET, PreparedPython, Selector
from surefoot.selection.table import SelectionTable, take_rows


class FunctionSelector(Selector):
    """Choose a model by a function of your own.

    Parameters
    ----------
    f : callable
        ``f(X, y)`` gets a bag's rows of X and y as they were given to ``fit``: a frame stays a frame, anything else is
        an array. Where ``fit`` got no y, it is None. ``f`` answers with a model, which is anything hashable (a text, a
        number, a tuple, a frozenset; equal ones are one model), or with a dict of models and their weights, which are
        scaled to the sum 1. It may depend on nothing but the rows that it is given: let it draw random numbers from a
        generator with a fixed seed. With ``n_jobs`` several threads call it at once.

    See Also
    --------
    surefoot.StableSelector : Bags of rows, and what they agree on.

    Notes
    -----
    What ``f`` raises ends ``StableSelector.fit`` with an error that names the bag, and has the error of ``f`` as its
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
    bags_per_call = 1  # nobody knows how long the function takes, and Ctrl-C is noticed between calls

    def model_of(self, rows: np.ndarray) -> Any:
        """What the function answers to a bag's rows."""
        return self.f(take_rows(self.X, rows), take_rows(self.y, rows))
