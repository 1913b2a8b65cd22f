"""The arguments of an audit: checked before anything is trained."""

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from scipy.special import entr
from sklearn.base import clone, is_classifier, is_regressor

from surefoot._exceptions import DataError, ParameterError
from surefoot._parameters import check_integer, check_number
from surefoot.report.inputs.column_readers import CATEGORY, ColumnReader, kind_of
from surefoot.report.inputs.deployment_data import DeploymentData
from surefoot.report.inputs.splits import Splits
from surefoot.report.inputs.table import AuditTable, to_pandas
from surefoot.report.inputs.target import as_objects, has_value
from surefoot.report.models.candidate_models import YOUR_PREDICTIONS, YOURS, CandidateModel
from surefoot.report.models.cross_fitting import CrossFitted
from surefoot.report.models.predictions import ModelPredictions
from surefoot.selection.table import take_columns, take_rows


@dataclass(frozen=True)
class AuditArguments:
    """The arguments of ``audit`` as they came."""

    X: Any
    y: Any
    X_new: Any = None
    y_new: Any = None
    model: Any = None
    predictions: Any = None
    groups: Any = None
    time: Any = None
    task: str | None = None
    shift_tolerance: float = 0.25
    time_limit: float | None = None
    random_state: int = 0
    n_jobs: int | None = None
    callback: Any = None

    def __post_init__(self) -> None:
        if self.y_new is not None and self.X_new is None:
            raise DataError("y_new is the target of X_new: pass X_new too.")
        if self.model is not None and self.predictions is not None:
            raise ParameterError("model and predictions are two ways to say the same: pass one of them.")
        if isinstance(self.groups, str) and self.groups == self.time:
            raise ParameterError(f"groups and time are both the column {self.time!r}: pass one of them.")
        check_integer("random_state", self.random_state, 0)
        check_number("shift_tolerance", self.shift_tolerance, 0.0, inf, most_included=False)

    def read_apart(self) -> tuple[Any, np.ndarray | None, np.ndarray | None]:
        """The table without the columns of groups and time, and these: groups as text, time as numbers."""
        whole = to_pandas(self.X, "X")
        apart = {name for name in (self.groups, self.time) if isinstance(name, str)}
        unknown = sorted(apart - set(whole.columns))
        if unknown:
            raise DataError(
                f"There is no column {unknown[0]!r} in X; there is {', '.join(map(repr, whole.columns[:8]))}."
            )
        kept = np.array([j for j, name in enumerate(whole.columns) if name not in apart])
        X = take_columns(self.X, kept) if apart else self.X
        return X, _read_groups(whole, self.groups), _read_time(whole, self.time)

    def own_model(self, table: AuditTable) -> CandidateModel | None:
        """The user's model among the candidates."""
        if self.model is None:
            return None
        try:
            clone(self.model)
        except TypeError as error:
            raise ParameterError(
                "model must be a scikit-learn estimator, so that a clone of it can be fitted to the training rows; of "
                "any other, pass its predictions."
            ) from error
        wrong = is_regressor(self.model) if table.target.is_classes else is_classifier(self.model)
        if wrong:
            kind, task = type(self.model).__name__, "classes" if table.target.is_classes else "numbers"
            raise ParameterError(
                f"model is a {kind}, which does not predict {task}, as the target is: pass one that does."
            )
        return CandidateModel(YOURS, f"{type(self.model).__name__}, fitted again to every fold", self.model, raw=True)

    def own_predictions(self, table: AuditTable, splits: Splits) -> CrossFitted | None:
        """The user's predictions for the judged rows."""
        if self.predictions is None:
            return None
        given, target = as_objects(self.predictions), table.target
        if len(given) != len(table.known):
            raise DataError(f"predictions has {len(given)} rows, but X has {len(table.known)}.")
        given = given[table.known]
        values = target.read_predictions(given, table.n_rows, "predictions")
        chance = target.read_scores(given)
        both = None if chance is None else np.column_stack([1 - chance, chance])
        what = "labels, as they were given" if target.is_classes else "as they were given"
        if chance is not None:
            what = f"taken for probabilities of {target.classes[1]}"
        candidate = CandidateModel(YOUR_PREDICTIONS, what, None, raw=True)
        total = None if both is None else entr(both).sum(axis=1)
        predictions = ModelPredictions(values=values, probabilities=both, scores=chance, total=total)
        return CrossFitted(candidate, table, splits, (), predictions[splits.judged], float("nan"))

    def _new_truth(self, table: AuditTable, n_new: int) -> np.ndarray | None:
        """The target of the new rows; None if it is known for none of them."""
        if self.y_new is None:
            return None
        truth = as_objects(self.y_new)
        if len(truth) != n_new:
            raise DataError(f"y_new has {len(truth)} rows, but X_new has {n_new}.")
        known = truth[has_value(truth)]
        if not table.target.is_classes and not all(isinstance(value, int | float | np.number) for value in known):
            raise DataError("y_new has values that are not numbers, but y is a number.")
        if table.target.is_classes and len(known) and not table.target.knows_any(known):
            raise DataError(
                f"y_new has none of the classes of y, such as {str(table.target.classes[0])!r}: write them alike."
            )
        return truth if len(known) else None

    def deployment(
        self, table: AuditTable, splits: Splits, groups: np.ndarray | None, time: np.ndarray | None
    ) -> DeploymentData | None:
        """The new rows, or the last ones by time; ``groups`` and ``time`` are of the rows that have a target."""
        if self.X_new is not None:
            frame = table.like(self.X_new, "X_new")
            raw = self.X_new[list(table.raw.columns)] if hasattr(table.raw, "columns") else self.X_new
            new_groups = None
            if isinstance(self.groups, str) and self.groups in getattr(self.X_new, "columns", ()):
                new_groups = _read_groups(to_pandas(self.X_new, "X_new"), self.groups)
            truth = self._new_truth(table, len(frame))
            return DeploymentData("the new rows", frame, raw, truth, groups=new_groups, units=new_groups)
        if not len(splits.later):
            return None
        later = splits.later
        frame, raw = table.frame.iloc[later].reset_index(drop=True), take_rows(table.raw, later)
        assert time is not None
        assert splits.units is not None
        where = self._last_part(table, later[time[later].argmin()])
        later_groups = None if groups is None else groups[later]
        truth = table.target.labels[later].astype(object)
        return DeploymentData(where, frame, raw, truth, groups=later_groups, units=splits.units[later])

    def _last_part(self, table: AuditTable, first: int) -> str:
        """What the last part by time is called, and where it begins."""
        import pandas as pd

        values = pd.Series(_values_of(to_pandas(self.X, "X"), self.time, "time"))[table.known]
        name = self.time if isinstance(self.time, str) else "time"
        return f"the last part by {name}, from {values.astype(str).iloc[first]} on"


def _read_groups(whole: Any, groups: Any) -> np.ndarray | None:
    """The groups as text."""
    values = _values_of(whole, groups, "groups")
    return None if values is None else np.array([str(value) for value in values], dtype=object)


def _read_time(whole: Any, time: Any) -> np.ndarray | None:
    """Time as numbers."""
    import pandas as pd

    values = _values_of(whole, time, "time")
    if values is None:
        return None
    series = pd.Series(values, name="time")
    reader = ColumnReader("time", kind_of(series))
    if reader.kind == CATEGORY:
        raise DataError("time has values that are neither numbers nor dates (written as 2024-12-31 or 31.12.2024).")
    numbers = reader.read(series).to_numpy()
    if np.isnan(numbers).any():
        raise DataError("time has missing values: leave out these rows.")
    return numbers


def _values_of(whole: Any, given: Any, what: str) -> np.ndarray | None:
    """A column by its name, or an array of values."""
    if given is None:
        return None
    values = whole[given].to_numpy() if isinstance(given, str) else np.asarray(given)
    if values.ndim != 1 or len(values) != len(whole):
        raise DataError(f"{what} must be the name of a column, or have one value for each of the {len(whole)} rows.")
    return values
