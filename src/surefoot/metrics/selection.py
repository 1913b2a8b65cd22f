"""Metrics of sets of selected models: stability, accuracy and size."""

from collections.abc import Collection, Hashable, Sequence
from typing import Any

from surefoot._exceptions import DataError
from surefoot._numbers import naming


def instability(selected: Collection[Hashable], left_out: Sequence[Collection[Hashable]]) -> float:
    """The fraction of the rows without which none of the selected models would be selected.

    Parameters
    ----------
    selected : collection of models
        The models selected from all rows. Models are any hashable objects, such as frozensets of names; equal objects
        are one model.
    left_out : sequence of collections of models
        The models selected without a row, for each row.

    Returns
    -------
    float
        From 0, if every set has a model in common with ``selected``, to 1, if none has.

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
    """How often the true model is selected; if it is one of k selected models, this counts 1/k.

    Parameters
    ----------
    truth : model
        The model that generated the data, of the same kind as the selected ones.
    selected_sets : sequence of collections of models
        The models selected in each of several trials.

    Returns
    -------
    float
        From 0 to 1; 1 if only the true model is selected in every trial.

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
    """The mean number of selected models.

    Parameters
    ----------
    sets : sequence of collections of models
        The models selected in each trial. A model that appears twice in a set counts once.

    Returns
    -------
    float
        The mean size of the sets.

    Examples
    --------
    >>> from surefoot.metrics.selection import mean_set_size
    >>> mean_set_size([{"a"}, {"a", "b"}, {"b"}, {"a", "b", "c", "d"}])
    2.0
    """
    checked = _sets("sets", sets)
    return sum(map(len, checked)) / len(checked)


def _sets(name: str, sets: Any) -> list[frozenset]:
    with naming(name):
        checked = [_models(f"{name}[{place}]", models) for place, models in enumerate(sets)]
    if not checked:
        raise DataError(f"{name} is empty: at least one set of models is needed.")
    return checked


def _models(name: str, models: Any) -> frozenset:
    if isinstance(models, str | bytes):
        raise DataError(f"{name} must be a collection of models, got the string {models!r}: put it in a list.")
    try:
        checked = frozenset(models)
    except TypeError as error:
        raise DataError(
            f"{name} must be a collection of hashable models, such as tuples or frozensets of names: {error}."
        ) from error
    if not checked:
        raise DataError(f"{name} is empty: a selection returns at least one model.")
    return checked
