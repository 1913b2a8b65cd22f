"""How stable, how right and how large sets of selected models are."""

from collections.abc import Collection, Hashable, Sequence
from typing import Any

from surefoot._exceptions import DataError


def instability(selected: Collection[Hashable], left_out: Sequence[Collection[Hashable]]) -> float:
    """The share of the rows without which none of the selected models would have been selected.

    Parameters
    ----------
    selected : collection of models
        Those selected from all rows. Models are anything hashable, such as frozensets of names; two are the same where
        they are equal.
    left_out : sequence of collections of models
        Those selected when a row is left out, for each of the rows.

    Returns
    -------
    float
        From 0, where every set has a model in common with ``selected``, to 1, where none has.

    Examples
    --------
    >>> from surefoot.metrics.selection import instability
    >>> instability({"a", "b"}, [{"a"}, {"b", "c"}, {"c"}, {"a", "b"}])
    0.25
    """
    full = _models("selected", selected)
    sets = _sets("left_out", left_out)
    return sum(full.isdisjoint(models) for models in sets) / len(sets)


def utility_weighted_accuracy(truth: Hashable, selected_sets: Sequence[Collection[Hashable]]) -> float:
    """How often the true model is selected, where being one of k selected models counts 1/k.

    Parameters
    ----------
    truth : model
        The model that made the data, of the same kind as the selected ones.
    selected_sets : sequence of collections of models
        The models selected in each of several trials.

    Returns
    -------
    float
        From 0 to 1; 1 where the true model alone is selected in every trial.

    Examples
    --------
    >>> from surefoot.metrics.selection import utility_weighted_accuracy
    >>> utility_weighted_accuracy("a", [{"a"}, {"a", "b"}, {"b"}, {"a", "b", "c", "d"}])
    0.4375
    """
    try:
        hash(truth)
    except TypeError as error:
        raise DataError(f"truth must be hashable, such as a tuple or a frozenset of names: {error}.") from error
    sets = _sets("selected_sets", selected_sets)
    return sum(1 / len(models) for models in sets if truth in models) / len(sets)


def mean_set_size(sets: Sequence[Collection[Hashable]]) -> float:
    """How many models are selected on average.

    Parameters
    ----------
    sets : sequence of collections of models
        A model that is there twice counts once.

    Returns
    -------
    float

    Examples
    --------
    >>> from surefoot.metrics.selection import mean_set_size
    >>> mean_set_size([{"a"}, {"a", "b"}, {"b"}, {"a", "b", "c", "d"}])
    2.0
    """
    checked = _sets("sets", sets)
    return sum(map(len, checked)) / len(checked)


def _sets(name: str, sets: Any) -> list[frozenset]:
    checked = [_models(f"{name}[{place}]", models) for place, models in enumerate(sets)]
    if not checked:
        raise DataError(f"{name} is empty: at least one set of models is needed.")
    return checked


def _models(name: str, models: Any) -> frozenset:
    if isinstance(models, str | bytes):
        raise DataError(f"{name} must be a collection of models, got the text {models!r}: put it in a list.")
    try:
        checked = frozenset(models)
    except TypeError as error:
        raise DataError(
            f"{name} must be a collection of hashable models, such as tuples or frozensets of names: {error}."
        ) from error
    if not checked:
        raise DataError(f"{name} is empty: a selection returns at least one model.")
    return checked
