"""A set of models in a few words: as a product of choices where it is one."""

import re
from collections.abc import Sequence
from math import prod

import numpy as np

from surefoot._exceptions import DataError

NOTHING = "nothing"
MAX_WRITTEN_OUT = 10


def expression_of(models: Sequence[tuple[str, ...]], order: Sequence[str] | None = None) -> str:
    """The models, each a set of variables, as choices joined by "and", or else one after the other.

    Such a product has factors over different variables, each a choice between variables, or between variables and
    nothing; a variable of every model is a factor of its own. It is used only where it stands for exactly these models.

    Parameters
    ----------
    models : sequence of tuples of str
        Heaviest first: this is the order in which they are written where they are no product.
    order : sequence of str, default=None
        The order in which variables are written, such as that of a table's columns. By default their names are sorted,
        with numbers in them counted as numbers.

    Returns
    -------
    str

    Examples
    --------
    >>> from surefoot.selection.expression import expression_of
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
        return _one_after_the_other(distinct, names)
    always = [factor[0] for factor in factors if len(factor) == 1]
    choices = [" or ".join(factor) for factor in factors if len(factor) > 1]
    if len(always) + len(choices) == 1:
        return (always + choices)[0]
    return " and ".join([*always, *(f"({choice})" for choice in choices)])


def _factors(models: list[frozenset[str]], names: list[str]) -> list[list[str]] | None:
    """The alternatives of each factor, or None where the models are not a product.

    In a product, two variables are alternatives of one factor exactly when no model has both. So alternatives can be
    read off, and every model has at most one of each factor. Then all models are in the product, which is therefore
    the set of the models if it has as many.
    """
    has = np.array([[name in model for name in names] for model in models], dtype=np.float64)
    exclude = has.T @ has == 0  # counts are whole numbers: exact in any order
    np.fill_diagonal(exclude, True)
    firsts = exclude.argmax(axis=1)  # a factor is known by the first of its variables
    if not (exclude == exclude[firsts]).all():
        return None
    factors = []
    for first in np.unique(firsts):
        members = np.flatnonzero(firsts == first)
        may_be_missing = has[:, members].sum() < len(models)
        factors.append([*(names[k] for k in members), *([NOTHING] if may_be_missing else [])])
    return factors if prod(map(len, factors)) == len(models) else None


def _one_after_the_other(models: list[frozenset[str]], names: list[str]) -> str:
    written = [_written([name for name in names if name in model]) for model in models[:MAX_WRITTEN_OUT]]
    left = len(models) - len(written)
    return " or ".join(written) + (f" and {left} more" if left else "")


def _written(model: list[str]) -> str:
    """One model; in brackets if it has several variables."""
    return f"({' and '.join(model)})" if len(model) > 1 else model[0] if model else NOTHING


def _with_numbers(name: str) -> tuple[tuple[str | int, ...], str]:
    """A key by which x2 comes before x10: text and numbers take turns, so that like is compared with like."""
    parts = re.split(r"([0-9]+)", name)
    return tuple(int(part) if place % 2 else part for place, part in enumerate(parts)), name
