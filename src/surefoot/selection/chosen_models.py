"""The models that bags chose: counted, weighted, and written as an expression."""

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from surefoot._exceptions import DataError
from surefoot._numbers import finite_numbers, naming

MAX_SHOWN = 5  # models in the text of a ModelWeights
MAX_WRITTEN_OUT = 10  # models in an expression
NOTHING = "nothing"


@dataclass
class ModelCounts:
    """The models of bags, each stored once. Blocks of bags are added in their order.

    An entry is a model that a bag chose, with its weight in the bag. Most selectors choose one model: then there is one
    entry of weight 1 for each bag.
    """

    models: list[Hashable] = field(default_factory=list)  # in the order in which bags first chose them
    places: dict[Any, int] = field(default_factory=dict)
    ids: list[np.ndarray] = field(default_factory=list)
    weights: list[np.ndarray] = field(default_factory=list)
    bags: list[np.ndarray] = field(default_factory=list)
    members: list[np.ndarray] = field(default_factory=list)  # if models are sets: which items each has
    n_bags: int = 0

    def add(self, chosen: "np.ndarray | list", items: tuple[Hashable, ...] | None) -> None:
        """Count the models of the next bags."""
        if items is not None:
            ids = self._add_sets(np.asarray(chosen, dtype=np.bool_), items)
            self._append(ids, np.ones(len(ids)), np.arange(len(ids)))
        else:
            pairs = [(bag, *pair) for bag, one in enumerate(chosen) for pair in _weighted(one, self.n_bags + bag)]
            entries = [(self._place(model, model), weight, bag) for bag, model, weight in pairs]
            ids, weights, bags = (np.array(column) for column in zip(*entries, strict=True))
            self._append(ids, weights.astype(np.float64), bags)
        self.n_bags += len(chosen)

    def _add_sets(self, chosen: np.ndarray, items: tuple[Hashable, ...]) -> np.ndarray:
        packed = _packed(chosen)
        _, first, kinds = np.unique(packed, return_index=True, return_inverse=True)
        place_of = np.empty(len(first), dtype=np.int64)
        for kind in np.argsort(first):  # in the order of the bags, not in that of the bytes
            row = chosen[first[kind]]
            key = packed[first[kind]].tobytes()
            if key not in self.places:
                self.members.append(row)
            place_of[kind] = self._place(key, tuple(items[j] for j in np.flatnonzero(row)))
        return place_of[kinds]

    def _place(self, key: Any, model: Hashable) -> int:
        if key not in self.places:
            self.places[key] = len(self.models)
            self.models.append(model)
        return self.places[key]

    def _append(self, ids: np.ndarray, weights: np.ndarray, bags: np.ndarray) -> None:
        self.ids.append(ids.astype(np.int32))
        self.weights.append(weights)
        self.bags.append(bags + self.n_bags)

    def copy(self) -> "ModelCounts":
        """A copy that can grow while other threads read this one."""
        parts = (list(self.ids), list(self.weights), list(self.bags), list(self.members))
        return ModelCounts(list(self.models), dict(self.places), *parts, self.n_bags)

    def model_weights(self) -> np.ndarray:
        """The weight of each model: its mean weight in the bags."""
        ids, weights = np.concatenate(self.ids), np.concatenate(self.weights)
        return np.bincount(ids, weights, len(self.models)) / self.n_bags

    def member_array(self) -> np.ndarray | None:
        """Which items each model has, (models, items), if models are sets."""
        return np.array(self.members) if self.members else None

    def heaviest_by_bag(self) -> np.ndarray:
        """The index of each bag's model; if a bag weights several, of the heaviest."""
        ids, weights, bags = (np.concatenate(part) for part in (self.ids, self.weights, self.bags))
        order = np.lexsort((-weights, bags))
        return ids[order[np.unique(bags[order], return_index=True)[1]]]


def _packed(chosen: np.ndarray) -> np.ndarray:
    """One value for each row: its booleans as the bits of an integer, or of bytes if they are more than 64."""
    n_words = max(1, -(-chosen.shape[1] // 64))
    packed = np.zeros((len(chosen), 8 * n_words), dtype=np.uint8)
    packed[:, : -(-chosen.shape[1] // 8)] = np.packbits(chosen, axis=1)
    return packed.view(np.uint64 if n_words == 1 else np.dtype((np.void, 8 * n_words))).ravel()


def _weighted(one: Any, bag: int) -> list[tuple[Hashable, float]]:
    """The models of one bag and their weights, which sum to 1."""
    if not isinstance(one, dict):
        try:
            hash(one)
        except TypeError as error:
            raise DataError(
                f"The selector's model of bag {bag} cannot be compared with others ({error}): return something "
                "hashable, such as a tuple or a frozenset."
            ) from error
        return [(one, 1.0)]
    total = sum(one.values())
    if not one or min(one.values()) < 0 or not 0 < total < np.inf:
        raise DataError(f"The selector's weights of bag {bag} must be 0 or more, with a finite sum above 0: {one!r}.")
    return [(model, weight / total) for model, weight in one.items()]


class ModelWeights(Mapping[Hashable, float]):
    """Models and their weights, heaviest first; a model that no bag chose has weight 0.

    Parameters
    ----------
    models : sequence of models
        Anything hashable.
    weights : sequence of float
        The weight of each model.

    Examples
    --------
    >>> from surefoot.selection import ModelWeights
    >>> weights = ModelWeights([("x1",), ("x1", "x3")], [0.3, 0.7])
    >>> list(weights)
    [('x1', 'x3'), ('x1',)]
    >>> weights["x1", "x3"], weights["x2", "x3"]
    (0.7, 0.0)
    """

    def __init__(self, models: Sequence[Hashable], weights: Sequence[float] | np.ndarray) -> None:
        with naming("models"):
            listed = list(models)
            hash(tuple(listed))
        numbers = finite_numbers("weights", weights)
        if numbers.shape != (len(listed),):
            message = f"weights must have one number for each of the {len(listed)} models, got shape {numbers.shape}."
            raise DataError(message, argument="weights")
        self._weights = {listed[i]: float(numbers[i]) for i in np.argsort(-numbers, kind="stable")}

    def __getitem__(self, model: Hashable) -> float:
        return self._weights.get(model, 0.0)

    def __contains__(self, model: object) -> bool:
        return model in self._weights

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._weights)

    def __len__(self) -> int:
        return len(self._weights)

    def to_frame(self) -> Any:
        """Convert to a pandas frame.

        Returns
        -------
        pandas.DataFrame
            Columns ``model`` and ``weight``, with a row for each model.
        """
        import pandas as pd

        return pd.DataFrame({"model": list(self._weights), "weight": list(self._weights.values())})

    def __repr__(self) -> str:
        shown = [f"{model!r}: {weight:.4g}" for model, weight in list(self._weights.items())[:MAX_SHOWN]]
        more = [f"... {len(self) - MAX_SHOWN} more"] if len(self) > MAX_SHOWN else []
        return f"ModelWeights({', '.join(shown + more)})"


def item_name(item: Any) -> str:
    """The name of an item of models: a variable, both ends of an edge, or an equation and its term."""
    return " - ".join(map(str, item)) if isinstance(item, tuple) else str(item)


def expression_of(models: Sequence[tuple[str, ...]], order: Sequence[str] | None = None) -> str:
    """Write models, each a set of variables, as choices joined by "and"; if that is not possible, as a list.

    Such a product has factors with different variables. Each factor is a choice between variables, or between variables
    and nothing; a variable of every model is a factor of its own. A product is written only if it represents
    exactly these models.

    Parameters
    ----------
    models : sequence of tuples of str
        Heaviest first: a list has them in this order.
    order : sequence of str, default=None
        The order in which variables are written, such as that of a table's columns. By default their names are sorted,
        and numbers in names are compared as numbers.

    Returns
    -------
    str

    Examples
    --------
    >>> from surefoot.selection.chosen_models import expression_of
    >>> expression_of([("x1", "x3"), ("x2", "x3"), ("x2", "x4"), ("x1", "x4")])
    '(x1 or x2) and (x3 or x4)'
    >>> expression_of([("x7",), ("x7", "x9")])
    'x7 and (x9 or nothing)'
    >>> expression_of([("x1", "x3"), ("x2",), ()])
    '(x1 and x3) or x2 or nothing'
    """
    if len(models) == 0:
        raise DataError("models is empty: at least one model is needed for an expression.")
    distinct = list(dict.fromkeys(frozenset(model) for model in models))
    used = frozenset().union(*distinct)
    if not used:
        return NOTHING
    places = {name: place for place, name in enumerate(() if order is None else order)}
    names = sorted(used, key=lambda name: (places.get(name, len(places)), _with_numbers(name)))
    factors = _factors(distinct, names)
    if factors is None:
        return _list_of(distinct, names)
    always = [factor[0] for factor in factors if len(factor) == 1]
    choices = [" or ".join(factor) for factor in factors if len(factor) > 1]
    if len(always) + len(choices) == 1:
        return (always + choices)[0]
    return " and ".join([*always, *(f"({choice})" for choice in choices)])


def _factors(models: list[frozenset[str]], names: list[str]) -> list[list[str]] | None:
    """The alternatives of each factor, or None if the models are not a product.

    In a product, two variables are alternatives of one factor exactly if no model has both. This gives the factors, and
    every model has at most one variable of each. So all models are in the product of these factors, which is the set
    of the models if both have the same size.
    """
    has = np.array([[name in model for name in names] for model in models], dtype=np.float64)
    exclude = has.T @ has == 0  # counts are whole numbers: exact in any order
    np.fill_diagonal(exclude, True)
    firsts = exclude.argmax(axis=1)  # the first variable of a factor identifies it
    if not (exclude == exclude[firsts]).all():
        return None
    factors = []
    for first in np.unique(firsts):
        members = np.flatnonzero(firsts == first)
        may_be_missing = has[:, members].sum() < len(models)
        factors.append([*(names[k] for k in members), *([NOTHING] if may_be_missing else [])])
    return factors if prod(map(len, factors)) == len(models) else None


def _list_of(models: list[frozenset[str]], names: list[str]) -> str:
    written = [_written([name for name in names if name in model]) for model in models[:MAX_WRITTEN_OUT]]
    n_more = len(models) - len(written)
    return " or ".join(written) + (f" and {n_more} more" if n_more else "")


def _written(model: list[str]) -> str:
    """One model; in brackets if it has several variables."""
    return f"({' and '.join(model)})" if len(model) > 1 else model[0] if model else NOTHING


def _with_numbers(name: str) -> tuple[tuple[str | int, ...], str]:
    """A sort key that puts x2 before x10: text and numbers alternate, so that only like is compared with like."""
    parts = re.split(r"([0-9]+)", name)
    return tuple(int(part) if place % 2 else part for place, part in enumerate(parts)), name
