"""The course of an audit: what is trained once, and used for several questions."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from surefoot._exceptions import DataError, ParameterError
from surefoot._parameters import check_integer
from surefoot.report.accuracy import Fitted, accuracy, choose, compare
from surefoot.report.answers import Accuracy, Drop, Knowing, Stability, Subject, Transfer
from surefoot.report.clock import Clock
from surefoot.report.column_readers import ColumnReader, kind_of
from surefoot.report.contestants import YOUR_PREDICTIONS, YOURS, Contestant, contestants
from surefoot.report.dropping import Dropper
from surefoot.report.knowing import fit_ensemble, knowing
from surefoot.report.row_parts import RowParts
from surefoot.report.stability import LASSO, SelectionFrame, fit_stable, stable_set
from surefoot.report.table import AuditTable, to_pandas
from surefoot.report.transfer import There, nowhere, transfer
from surefoot.selection.table import take_columns, take_rows


@dataclass
class Course:
    """A checked table and everything that is fitted to it, each once."""

    table: AuditTable
    parts: RowParts
    there: There | None
    groups: np.ndarray | None
    own: Contestant | None
    predictions: np.ndarray | None
    seed: int
    n_jobs: int | None
    clock: Clock
    remarks: list[str] = field(default_factory=list)

    @classmethod
    def begin(cls, X: Any, y: Any, **arguments: Any) -> Self:
        """Check everything before anything is trained."""
        given = _Arguments(X=X, y=y, **arguments)
        clock = Clock(given.time_limit, given.watch)
        clock.step(0.0, "reading the table")
        check_integer("random_state", given.random_state, 0)
        X, groups, time = given.read_apart()
        table = AuditTable.read(X, y, given.task)
        known = given.known_rows(len(groups) if groups is not None else len(time) if time is not None else 0)
        groups, time = (None if each is None else each[known] for each in (groups, time))
        parts = RowParts.draw(table.target, groups, time if given.X_new is None else None, given.random_state)
        course = cls(
            table, parts, None, groups, given.own(), given.own_predictions(table, known), given.random_state,
            given.n_jobs, clock, list(table.remarks),
        )  # fmt: skip
        course.there = given.there(table, parts)
        return course

    @cached_property
    def fitted(self) -> list[Fitted]:
        """Every model of question 1 after training."""
        entrants = contestants(self.table, self.seed, self.n_jobs)
        entrants += [self.own] if self.own else []
        return compare(self.table, self.parts, entrants, self.seed, self.clock, self.remarks)

    @property
    def audited(self) -> Fitted:
        """The user's model, or the one that cross-validation chose."""
        own = [each for each in self.fitted if each.contestant.raw]
        return own[0] if own else choose(self.fitted)

    def accuracy(self) -> Accuracy:
        return accuracy(self.table, self.parts, self.fitted, self.predictions, self.seed, self.clock)

    def uncertainty(self) -> Knowing | None:
        """Question 2, if there is time for an ensemble."""
        if not self.clock.has_time_for("question 2", 0.7):
            return None
        self.clock.step(0.55, "question 2: an ensemble of boosters")
        table, test = self.table, self.parts.test
        ensemble = fit_ensemble(table, self.parts.train, self.seed, self.n_jobs)
        self.clock.step(0.7, "question 2: what it does not know")
        audited = None
        if self.predictions is not None:
            audited = (YOUR_PREDICTIONS, self.predictions[test])
        elif self.own is not None:
            audited = (YOURS, self.own.predict(self.audited.model, table, test))
        new = None if self.there is None else self.there.frame
        return knowing(table, test, ensemble, audited, new, self.seed)

    def stability(self) -> Stability | None:
        """Question 3, if there is time."""
        if not self.clock.has_time_for("question 3", 0.8):
            return None
        self.clock.step(0.75, "question 3: bags of rows")
        table = SelectionFrame.of(self.table, self.parts.train)
        if table.frame.shape[1] < 1:
            return Stability((), (), "No column has values that variables could be chosen by.")
        try:
            fits = {name: fit_stable(table, name, self.seed, self.n_jobs) for name in table.selectors}
        except DataError as error:  # numbers so large that their squares are not
            return Stability((), (), str(error))
        sets = tuple(stable_set(table, name, stable) for name, stable in fits.items())
        dropper = Dropper(self.table, self.parts, self.audited, fits.get(LASSO), self.seed, self.n_jobs)
        drops: tuple[Drop, ...] = ()
        if self.clock.has_time_for("dropping rows", 0.85):
            drops = (dropper.random_rows(self.clock),)
        if self.groups is not None:
            drops += dropper.groups(self.groups, self.clock)
        return Stability(sets, drops, None)

    def shift(self) -> Transfer | None:
        """Question 4, if someone has said where."""
        if self.there is None:
            return nowhere()
        if not self.clock.has_time_for("question 4", 0.95):
            return None
        self.clock.step(0.9, "question 4: what has shifted")
        return transfer(self.table, self.parts, self.there, self.audited, self.fitted, self.seed, self.n_jobs)

    def subject(self) -> Subject:
        """What was audited, and what was left out."""
        target, parts = self.table.target, self.parts
        late = [f"Left out for want of time: {', '.join(self.clock.left_out)}."] if self.clock.left_out else []
        shares = np.bincount(target.y) / len(target.y) if target.is_classes else np.empty(0)
        return Subject(
            target.name, target.task, target.sentence, self.table.n_rows, len(self.table.readers), len(parts.train),
            len(parts.test), 0 if self.there is None else len(self.there.frame), tuple(map(str, target.classes)),
            tuple(shares.tolist()), self.table.notes, (*self.remarks, *late),
        )  # fmt: skip


@dataclass
class _Arguments:
    """The arguments of ``audit`` as they came."""

    X: Any
    y: Any
    X_new: Any
    y_new: Any
    model: Any
    predictions: Any
    groups: Any
    time: Any
    task: str | None
    time_limit: float | None
    random_state: int
    n_jobs: int | None
    watch: Any

    def __post_init__(self) -> None:
        if self.y_new is not None and self.X_new is None:
            raise DataError("y_new is the target of X_new: pass X_new too.")
        if self.model is not None and self.predictions is not None:
            raise ParameterError("model and predictions are two ways to say the same: pass one of them.")

    def read_apart(self) -> tuple[Any, np.ndarray | None, np.ndarray | None]:
        """The table without the columns of groups and time, and these."""
        whole = to_pandas(self.X, "X")
        apart = {name for name in (self.groups, self.time) if isinstance(name, str)}
        unknown = sorted(apart - set(whole.columns))
        if unknown:
            raise DataError(
                f"There is no column {unknown[0]!r} in X; there is {', '.join(map(repr, whole.columns[:8]))}."
            )
        groups = self._column(whole, self.groups, "groups")
        time = self._column(whole, self.time, "time")
        if time is not None:
            import pandas as pd

            series = pd.Series(time, name="time")
            reader = ColumnReader("time", kind_of(series))
            if reader.kind == "category":
                raise DataError("time has values that are neither numbers nor dates (written as 2024-12-31).")
            time = reader.read(series).to_numpy()
            if np.isnan(time).any():
                raise DataError("time has missing values: leave out these rows.")
        if groups is not None:
            groups = np.array([str(value) for value in groups], dtype=object)
        kept = [j for j, name in enumerate(whole.columns) if name not in apart]
        return take_columns(self.X, np.array(kept)) if apart else self.X, groups, time

    @staticmethod
    def _column(whole: Any, given: Any, what: str) -> np.ndarray | None:
        if given is None:
            return None
        values = whole[given].to_numpy() if isinstance(given, str) else np.asarray(given)
        if values.ndim != 1 or len(values) != len(whole):
            raise DataError(
                f"{what} must be the name of a column, or have one value for each of the {len(whole)} rows."
            )
        return values

    def known_rows(self, n_rows: int) -> np.ndarray:
        """The rows that have a target."""
        values = list(self.y)
        return np.array([i for i, value in enumerate(values) if value is not None and value == value])

    def own(self) -> Contestant | None:
        """The user's model among the contestants."""
        if self.model is None:
            return None
        try:
            clone(self.model)
        except TypeError as error:
            raise ParameterError(
                "model must be a scikit-learn estimator, so that a clone of it can be fitted to the training rows; of "
                "any other, pass its predictions."
            ) from error
        return Contestant(
            YOURS, f"{type(self.model).__name__}, fitted again to the training rows", self.model, raw=True
        )

    def own_predictions(self, table: AuditTable, known: np.ndarray) -> np.ndarray | None:
        if self.predictions is None:
            return None
        given = np.asarray(list(self.predictions), dtype=object)
        if len(given) != len(list(self.y)):
            raise DataError(f"predictions has {len(given)} rows, but X has {len(list(self.y))}.")
        return table.target.read_predictions(given[known], len(known), "predictions")

    def _new_truth(self, table: AuditTable, n_new: int) -> np.ndarray | None:
        """The target of the new rows; None if it is known for none of them."""
        if self.y_new is None:
            return None
        truth = np.empty(len(list(self.y_new)), dtype=object)
        truth[:] = list(self.y_new)
        if len(truth) != n_new:
            raise DataError(f"y_new has {len(truth)} rows, but X_new has {n_new}.")
        known = truth[[value is not None and value == value for value in truth]]
        if not table.target.is_classes and not all(isinstance(value, int | float | np.number) for value in known):
            raise DataError("y_new has values that are not numbers, but y is a number.")
        return truth if len(known) else None

    def there(self, table: AuditTable, parts: RowParts) -> There | None:
        """The new rows, or the last ones by time."""
        if self.X_new is not None:
            frame = table.like(self.X_new, "X_new")
            return There("the new rows", frame, self.X_new, self._new_truth(table, len(frame)))
        if not len(parts.later):
            return None
        later = parts.later
        frame, raw = table.frame.iloc[later].reset_index(drop=True), take_rows(table.raw, later)
        return There("the last part by time", frame, raw, table.target.labels[later].astype(object))
