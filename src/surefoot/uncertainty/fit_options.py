"""What ``fit`` does beside training: it reports rounds, measures further rows, and records its trees."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from surefoot._exceptions import DataError, ParameterError
from surefoot._parallel import count_jobs
from surefoot.data.stored_input import is_stored

if TYPE_CHECKING:
    from surefoot.uncertainty.eval_sets import EvalSet


@dataclass(frozen=True, kw_only=True)
class RoundReport:
    """What a callback of ``fit`` is told after a round of boosting.

    Parameters
    ----------
    member : int or None
        Number of the member of an ensemble, from 0; 0 for a single model, None for trial models.
    is_trial : bool
        Whether the round is one of trial models, which hold rows out to choose the number of rounds. They run side by
        side, and have one report for all of them.
    round : int
        Number of rounds done, from 1.
    n_rounds : int
        Maximum number of rounds. For a model that is trained after trial models, this is the number that they chose.
    losses : dict
        For each name in ``eval_sets`` its mean negative log-likelihood after this round; empty for trial models.
    validation_loss : float or None
        Loss of the rows that decide when to stop, as in ``validation_loss_``; None if no rows are held out.
    seconds : float
        Time since the first round of this model began, in this call of ``fit``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from surefoot import GradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> def stop_after_20_rounds(report):
    ...     return report.round == 20
    >>> model = GradientBoostingRegressor(early_stopping=False, random_state=0)
    >>> model.fit(X, y, callbacks=stop_after_20_rounds).n_iter_
    20
    """

    member: int | None
    is_trial: bool
    round: int
    n_rounds: int
    losses: dict[str, float] = field(default_factory=dict)
    validation_loss: float | None = None
    seconds: float = 0.0


Callback = Callable[[RoundReport], Any]


class GivenOptions(NamedTuple):
    """The further arguments of ``fit`` as the user passed them."""

    eval_sets: Any = None
    callbacks: Any = None
    snapshot: Any = None


NO_OPTIONS = GivenOptions()


@dataclass(frozen=True)
class FitOptions:
    """The further arguments of one call of ``fit``, checked.

    The sets of rows are ``given_sets``, as the user passed them, until the training data are read.
    """

    given_sets: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    eval_sets: "tuple[EvalSet, ...]" = ()
    callbacks: tuple[Callback, ...] = ()
    snapshot: Path | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)  # of the model, if there is a snapshot
    description: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # of the fit, if there is a snapshot

    @classmethod
    def of(cls, model: Any, given: GivenOptions, is_in_memory: bool) -> "FitOptions":
        """The checked arguments of ``fit``; ``is_in_memory`` is about the training data."""
        return cls(
            given_sets=_check_eval_sets(given.eval_sets),
            callbacks=_check_callbacks(given.callbacks),
            snapshot=_check_snapshot(model, given.snapshot, is_in_memory),
            parameters={} if given.snapshot is None else {"estimator": type(model).__name__, **_parameters(model)},
        )

    def n_models_at_once(self, n_jobs: int | None) -> int | None:
        """The number of members trained side by side if they must stay in this process; None: anywhere.

        Callbacks belong to the process that calls ``fit``, and so do open files.
        """
        return count_jobs(n_jobs) if self.callbacks or self.snapshot is not None else None


def _check_eval_sets(eval_sets: Any) -> dict[str, tuple[Any, ...]]:
    """A dict of names with a table, its target and perhaps weights for each."""
    advice = 'pass {"name": (X, y)} or {"name": (X, y, sample_weight)}'
    if eval_sets is None:
        return {}
    if not isinstance(eval_sets, Mapping) or not all(isinstance(name, str) and name for name in eval_sets):
        raise ParameterError(f"eval_sets must be a dict with a name for each set: {advice}.", argument="eval_sets")
    for name, given in eval_sets.items():
        if not isinstance(given, tuple | list) or len(given) not in (2, 3):
            message = f"eval_sets[{name!r}] must be a tuple of a table and its target: {advice}."
            raise ParameterError(message, argument="eval_sets")
        if is_stored(given[0]) or any(map(_is_lazy, given)):
            message = f"eval_sets[{name!r}] must be a table in memory, got {type(given[0]).__name__}: {advice}."
            raise DataError(message, argument="eval_sets")
    return {name: tuple(given) for name, given in eval_sets.items()}


def _is_lazy(part: Any) -> bool:
    """Whether this is a Dask collection, or a list of delayed objects."""
    first = part[0] if isinstance(part, list | tuple) and len(part) else part
    return type(first).__module__.partition(".")[0] in ("dask", "dask_expr", "distributed")


def _check_callbacks(callbacks: Any) -> tuple[Callback, ...]:
    """One callable or a list of them, as a tuple."""
    if callbacks is None:
        return ()
    listed = (callbacks,) if callable(callbacks) else callbacks
    if not isinstance(listed, list | tuple) or not all(map(callable, listed)):
        message = f"callbacks must be a function of one RoundReport, or a list of such functions, got {callbacks!r}."
        raise ParameterError(message, argument="callbacks")
    return tuple(listed)


def _check_snapshot(model: Any, snapshot: Any, is_in_memory: bool) -> Path | None:
    """The folder of a snapshot; an error where a fit cannot have one."""
    if snapshot is None:
        return None
    if not isinstance(snapshot, str | os.PathLike) or not os.fspath(snapshot):
        message = f"snapshot must be the path of a folder, got {snapshot!r}."
    elif not is_in_memory:
        message = "snapshot is for tables in memory: a fit on a StoredTable that is kept records its trees there."
    elif model.warm_start:
        message = "snapshot is for fits that start anew: set warm_start to False, or leave snapshot out."
    elif not isinstance(model.random_state, Integral):
        message = "snapshot needs the same seed in every fit: set random_state to a whole number."
    else:
        return Path(os.path.abspath(snapshot))
    raise ParameterError(message, argument="snapshot")


def _parameters(model: Any) -> dict[str, Any]:
    """The parameters that a model depends on."""
    return {name: value for name, value in model.get_params(deep=False).items() if name not in ("n_jobs", "verbose")}
