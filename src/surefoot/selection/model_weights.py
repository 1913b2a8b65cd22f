"""The share of bags that chose each model."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

SHOWN = 5


class ModelWeights(Mapping[Hashable, float]):
    """Models and their weights, heaviest first; a model that no bag chose has weight 0.

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
        """A pandas frame with a row for each model."""
        import pandas as pd

        return pd.DataFrame({"model": list(self._weights), "weight": list(self._weights.values())})

    def __repr__(self) -> str:
        shown = [f"{model!r}: {weight:.4g}" for model, weight in list(self._weights.items())[:SHOWN]]
        more = [f"... {len(self) - SHOWN} more"] if len(self) > SHOWN else []
        return f"ModelWeights({', '.join(shown + more)})"
