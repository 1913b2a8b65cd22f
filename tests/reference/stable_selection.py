"""Selectors and tables that the tests of stable selection share."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from reference.projection import distances
from surefoot import StableSelector
from surefoot.selection import LassoSelector
from surefoot.selection.selector import BagError, Selector
from surefoot.selection.table import ANY_TARGET

SIZE, N_BAGS = 20, 400


class RowsSelector(Selector):
    """Chooses by a function of the bag's rows of X and y; so many bags to a call."""

    target = ANY_TARGET

    def __init__(self, choose, per_call=50):
        self.choose = choose
        self.per_call = per_call

    def prepare(self, table):
        return PreparedRows(table.X, table.y, self.choose, self.per_call)


@dataclass(frozen=True)
class PreparedRows:
    X: np.ndarray
    y: Any
    choose: Any
    bags_per_call: int
    items: Any = None
    are_variables: bool = False

    def select(self, bags):
        models = []
        for index, bag in enumerate(bags):
            try:
                models.append(self.choose(self.X[bag], None if self.y is None else self.y[bag]))
            except RuntimeError as error:
                raise BagError(index, str(error)) from error
        return models


class PeekingSelector(RowsSelector):
    """Says that it looks at more than a bag's rows."""

    pool_is_exact = False


def nearest_column(X, y):
    """The column that is most like the target."""
    return int(np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).argmax())


def make_data(n_rows=40, seed=0):
    """Two columns that are almost the same, two that are almost as good, and one that tells nothing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    X[:, 1] = X[:, 0] + 0.1 * rng.normal(size=n_rows)
    X[:, 3] = X[:, 2] + 0.3 * rng.normal(size=n_rows)
    return X, X[:, 0] + X[:, 2] + 0.3 * rng.normal(size=n_rows)


def stable_lasso(alpha=0.2, **parameters):
    settings = {"n_bags": N_BAGS, "bag_size": SIZE, "random_state": 0}
    settings |= {} if "delta" in parameters or "rule" in parameters else {"epsilon": 0.3}
    return StableSelector(LassoSelector(alpha, standardize=False), **(settings | parameters))


def by_definition(weights, epsilon):
    """Models nearer than epsilon to winning by their margin, heaviest first: by a naive projection of the weights."""
    values = np.array(list(weights.values()))
    near = distances(values[np.newaxis], np.array([epsilon]))[0] < epsilon
    return [model for model, chosen in zip(weights, near, strict=True) if chosen]


def state_of(stable):
    """All that a fit tells."""
    return (
        list(stable.weights_.items()),
        stable.selected_,
        stable.expression_,
        stable.models_,
        stable.bag_models_.tolist(),
        stable.epsilon_,
        stable.delta_,
    )
