"""The models that bags chose, each counted once however many bags chose it."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from surefoot._exceptions import DataError

SHOWN_MODELS = 5  # in the text of a ModelWeights


@dataclass
class ModelCounts:
    """Grows by blocks of bags, in their order.

    An entry is a model that a bag chose, with the share of the bag that it got. Most selectors choose one: then there
    is one entry for each bag, of weight 1.
    """

    models: list[Hashable] = field(default_factory=list)  # in the order in which bags first chose them
    places: dict[Any, int] = field(default_factory=dict)
    ids: list[np.ndarray] = field(default_factory=list)
    weights: list[np.ndarray] = field(default_factory=list)
    bags: list[np.ndarray] = field(default_factory=list)
    members: list[np.ndarray] = field(default_factory=list)  # of models that are sets: which items each has
    n_bags: int = 0

    def add(self, chosen: "np.ndarray | list", items: tuple[Hashable, ...] | None) -> None:
        """Count the models of the next bags."""
        if items is not None:
            ids = self._add_sets(np.asarray(chosen, dtype=np.bool_), items)
            self._append(ids, np.ones(len(ids)), np.arange(len(ids)))
        else:
            shares = [(bag, *share) for bag, one in enumerate(chosen) for share in _shares(one, self.n_bags + bag)]
            entries = [(self._place(model, model), weight, bag) for bag, model, weight in shares]
            ids, weights, bags = (np.array(column) for column in zip(*entries, strict=True))
            self._append(ids, weights.astype(np.float64), bags)
        self.n_bags += len(chosen)

    def _add_sets(self, chosen: np.ndarray, items: tuple[Hashable, ...]) -> np.ndarray:
        packed = _packed(chosen)
        _, first, kinds = np.unique(packed, return_index=True, return_inverse=True)
        place_of = np.empty(len(first), dtype=np.int64)
        for kind in np.argsort(first):  # in the order of the bags, whatever the order of the bytes
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
        """One that may grow while others read this one."""
        parts = (list(self.ids), list(self.weights), list(self.bags), list(self.members))
        return ModelCounts(list(self.models), dict(self.places), *parts, self.n_bags)

    def shares(self) -> np.ndarray:
        """The weight of each model: its mean share of the bags."""
        ids, weights = np.concatenate(self.ids), np.concatenate(self.weights)
        return np.bincount(ids, weights, len(self.models)) / self.n_bags

    def member_array(self) -> np.ndarray | None:
        """Which items each model has, (models, items), if models are sets."""
        return np.array(self.members) if self.members else None

    def heaviest_by_bag(self) -> np.ndarray:
        """The place of each bag's model; of several, that with the largest share."""
        ids, weights, bags = (np.concatenate(part) for part in (self.ids, self.weights, self.bags))
        order = np.lexsort((-weights, bags))
        return ids[order[np.unique(bags[order], return_index=True)[1]]]


def _packed(chosen: np.ndarray) -> np.ndarray:
    """One value for each row: its booleans as bits, of a whole number or of bytes."""
    n_words = max(1, -(-chosen.shape[1] // 64))
    packed = np.zeros((len(chosen), 8 * n_words), dtype=np.uint8)
    packed[:, : -(-chosen.shape[1] // 8)] = np.packbits(chosen, axis=1)
    return packed.view(np.uint64 if n_words == 1 else np.dtype((np.void, 8 * n_words))).ravel()


def _shares(one: Any, bag: int) -> list[tuple[Hashable, float]]:
    """The models of one bag and their shares, which sum to 1."""
    if not isinstance(one, dict):
        try:
            hash(one)
        except TypeError as error:
            raise DataError(
                f"The selector's model of bag {bag} cannot be told from others ({error}): return something hashable, "
                "such as a tuple or a frozenset."
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
        order = np.argsort(-np.asarray(weights), kind="stable")
        self._weights = {models[i]: float(weights[i]) for i in order}

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
        shown = [f"{model!r}: {weight:.4g}" for model, weight in list(self._weights.items())[:SHOWN_MODELS]]
        more = [f"... {len(self) - SHOWN_MODELS} more"] if len(self) > SHOWN_MODELS else []
        return f"ModelWeights({', '.join(shown + more)})"
