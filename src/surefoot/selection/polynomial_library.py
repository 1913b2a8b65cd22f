"""Polynomials of a table's variables up to a degree: the possible terms of an equation."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations_with_replacement
from math import comb

import numpy as np


@dataclass(frozen=True)
class PolynomialLibrary:
    """Products of up to ``degree`` variables: the constant first, then by degree, then in the order of the variables.

    Parameters
    ----------
    variables : tuple of str
        The names of the variables.
    degree : int
        The maximum number of factors of a term; a variable may be a factor more than once.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.selection.polynomial_library import PolynomialLibrary
    >>> library = PolynomialLibrary(("hare", "lynx"), degree=2)
    >>> library.names
    ('1', 'hare', 'lynx', 'hare^2', 'hare lynx', 'lynx^2')
    >>> library.values(np.array([[2.0, 3.0]]))
    array([[1., 2., 3., 4., 6., 9.]])
    """

    variables: tuple[str, ...]
    degree: int

    @property
    def n_terms(self) -> int:
        return comb(len(self.variables) + self.degree, self.degree)

    @cached_property
    def factors(self) -> tuple[tuple[int, ...], ...]:
        """The factors of each term, as numbers of variables in ascending order; the constant has none."""
        numbers = range(len(self.variables))
        by_degree = (combinations_with_replacement(numbers, size) for size in range(self.degree + 1))
        return tuple(chain.from_iterable(by_degree))

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(" ".join(self._powers(term)) or "1" for term in self.factors)

    def _powers(self, term: tuple[int, ...]) -> list[str]:
        """A term's variables, each with its exponent if that is not 1."""
        return [
            self.variables[variable] + (f"^{exponent}" if exponent > 1 else "")
            for variable, exponent in Counter(term).items()
        ]

    def values(self, X: np.ndarray) -> np.ndarray:
        """The terms (rows, terms) of a table (rows, variables); infinite where a product exceeds float64."""
        columns: dict[tuple[int, ...], np.ndarray] = {(): np.ones(len(X))}
        with np.errstate(over="ignore", under="ignore"):
            for term in self.factors[1:]:
                columns[term] = columns[term[:-1]] * X[:, term[-1]]
        return np.stack([columns[term] for term in self.factors], axis=1)
