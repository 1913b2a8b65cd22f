"""The codes of rows that have the values of one row in some columns, and of a background row in the others."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from surefoot.data import Columns
from surefoot.uncertainty.training_table import Encoding


@dataclass(frozen=True)
class CodedRows:
    """Rows as the trees of one encoding read them: ``codes`` (features, rows), and all categories, if it has them."""

    encoding: Encoding
    codes: np.ndarray
    categories: np.ndarray | None

    @classmethod
    def of(cls, encoding: Encoding, columns: Columns, start: int, stop: int) -> Self:
        categories = None if encoding.statistics is None else encoding.category_codes(columns, start, stop)
        return cls(encoding=encoding, codes=encoding.codes(columns, start, stop), categories=categories)

    def mixed_with(self, background: "CodedRows") -> Iterator[np.ndarray]:
        """For each background row, the codes (mixtures, features, rows) of all mixtures with it.

        In mixture m, the column ``sources[feature][s]`` of a feature has the row's own value if bit s of m is 1.
        """
        width = max((len(source) for source in self.encoding.sources), default=1)
        n_plain = len(self.encoding.plain)
        for b in range(background.codes.shape[1]):
            out = np.empty((1 << width, *self.codes.shape), dtype=self.codes.dtype)
            out[0::2, :n_plain] = background.codes[:n_plain, b : b + 1]
            out[1::2, :n_plain] = self.codes[:n_plain]
            if self.categories is not None and background.categories is not None:
                others = np.repeat(background.categories[:, b : b + 1], self.codes.shape[1], axis=1)
                for mixture in range(1 << width):
                    out[mixture, n_plain:] = self.encoding.mixed_codes(self.categories, others, mixture)
            yield out
