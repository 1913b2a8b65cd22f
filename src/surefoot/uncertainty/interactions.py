"""The parameter ``interaction_cst``: which columns may be split at on the same path from root to leaf."""

from collections.abc import Collection, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from surefoot._exceptions import ParameterError
from surefoot.data import Columns

NAME = "interaction_cst"
KINDS = {"no_interactions": 1, "pairwise": 2}  # the maximum number of columns on a path
EXPECTED = f"{NAME} must be 'pairwise', 'no_interactions' or a list of sets of columns, such as [{{0, 1}}, {{2}}]"


def check_interactions(given: Any) -> None:
    """Refuse what cannot be groups of columns of any table."""
    if given is None or (isinstance(given, str) and given in KINDS):
        return
    is_list = isinstance(given, Sequence) and not isinstance(given, str | bytes)
    if not (is_list or (isinstance(given, np.ndarray) and given.ndim)) or not all(_is_group(group) for group in given):
        raise ParameterError(f"{EXPECTED}, got {given!r}.", argument=NAME)


def _is_group(group: Any) -> bool:
    """Whether this is a set or list of names or whole numbers, and not empty."""
    if isinstance(group, str | bytes | dict) or not isinstance(group, Collection):
        return False
    return len(group) > 0 and all(
        isinstance(column, str | Integral) and not isinstance(column, bool | np.bool_) for column in group
    )


def interaction_groups(model: Any, columns: Columns) -> tuple[tuple[int, ...], ...] | int | None:
    """Groups of columns by position, or how many columns a path may have; None if all columns may interact.

    As in scikit-learn, columns that are in no group are one more group.
    """
    given, n_columns = model.interaction_cst, columns.n_columns
    if given is None:
        return None
    if isinstance(given, str):
        return KINDS[given] if KINDS[given] < n_columns else None
    names = {str(name): j for j, name in enumerate(getattr(model, "feature_names_in_", ()))}
    groups = [frozenset(_position(column, names, n_columns) for column in group) for group in given]
    rest = frozenset(range(n_columns)).difference(*groups)
    kept = {group for group in [*groups, rest] if group and not any(group < other for other in [*groups, rest])}
    if any(len(group) == n_columns for group in kept):
        return None
    return tuple(sorted(tuple(sorted(group)) for group in kept))


def _position(column: Any, names: dict[str, int], n_columns: int) -> int:
    """The position of a column, from its name or its position."""
    if isinstance(column, str):
        if column not in names:
            message = f"{NAME} names a column that X does not have: {column!r}."
            raise ParameterError(message if names else f"{message[:-1]}; X has no column names.", argument=NAME)
        return names[column]
    if not 0 <= column < n_columns:
        raise ParameterError(f"{NAME} must have columns from 0 to {n_columns - 1}, got {column!r}.", argument=NAME)
    return int(column)
