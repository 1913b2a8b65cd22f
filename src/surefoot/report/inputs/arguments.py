"""The arguments of an audit: checked and read before anything is fitted."""

from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot._parameters import check_boolean, check_integer, check_number, check_seed
from surefoot.report.checks.copies import Copies, find_copies
from surefoot.report.inputs.column_readers import CATEGORY, DATE, ColumnReader, kind_of
from surefoot.report.inputs.deployment_chunks import Chunk, NewTables, read_new_time
from surefoot.report.inputs.deployment_data import DeploymentData
from surefoot.report.inputs.other_rows import OtherRows
from surefoot.report.inputs.own_model import check_trained_on, own_model_of, own_predictions_of, read_trained_on
from surefoot.report.inputs.row_weights import drawn_by_weight, read_weights, unequal
from surefoot.report.inputs.splits import Splits
from surefoot.report.inputs.table import MAX_ROWS, MIN_ROWS, AuditTable, to_pandas
from surefoot.report.inputs.target import LARGEST
from surefoot.report.models.cross_fitting import CandidateModel, CrossFitted
from surefoot.report.models.other_libraries import check_libraries
from surefoot.report.sections.own_measure.cost import Costs
from surefoot.report.sections.own_measure.metric import read_metric
from surefoot.report.sections.subgroups.columns import Slice, read_slices
from surefoot.report.sections.subgroups.row_errors import check_sizes
from surefoot.report.time_budget import ProgressCallback, TimeBudget
from surefoot.selection.table import take_columns


@dataclass(frozen=True)
class AuditInputs:
    """The data and the model of an audit.

    Attributes
    ----------
    table : AuditTable
    splits : Splits
    copies : Copies
    groups, time : array of shape (n_rows,) or None
        Of the rows that are audited: groups as text, time as numbers.
    deployment : DeploymentData or None
    own_model : CandidateModel or None
    own_predictions : CrossFitted or None
    costs : Costs or None
    slices : tuple of Slice
        Columns and crossings that the user names.
    other_rows : OtherRows or None
        The rows that were not drawn, if only some were.
    remarks : tuple of str
    """

    table: AuditTable
    splits: Splits
    copies: Copies
    groups: np.ndarray | None
    time: np.ndarray | None
    deployment: DeploymentData | None
    own_model: CandidateModel | None
    own_predictions: CrossFitted | None
    costs: Costs | None
    slices: tuple[Slice, ...]
    other_rows: OtherRows | None
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class AuditArguments:
    """The arguments of `surefoot.audit`, which describes them; a test compares the names and defaults of both."""

    X: Any
    y: Any
    X_new: Any = None
    y_new: Any = None
    model: Any = None
    refit: bool = True
    trained_on: Any = None
    predictions: Any = None
    models: Any = None
    metric: Any = None
    costs: Any = None
    slices: Any = None
    groups: Any = None
    time: Any = None
    sample_weight: Any = None
    task: str | None = None
    shift_tolerance: float = 0.25
    time_limit: float | None = None
    random_state: int = 0
    n_jobs: int | None = None
    max_rows: int | None = MAX_ROWS
    callback: ProgressCallback | None = None

    def __post_init__(self) -> None:
        if self.y_new is not None and self.X_new is None:
            raise DataError("y_new is the target of X_new: pass X_new too.", argument="y_new")
        if self.model is not None and self.predictions is not None:
            raise ParameterError("model and predictions exclude each other: pass one of them.", argument="model")
        self._check_own_model()
        check_libraries(self.models)
        columns = [name for name in (self.groups, self.time) if isinstance(name, str)]
        if len(columns) > len(set(columns)):
            message = f"groups and time are both the column {self.time!r}: pass one of them."
            raise ParameterError(message, argument="groups")
        if isinstance(self.sample_weight, str) and self.sample_weight in columns:
            message = (
                f"sample_weight is the column {self.sample_weight!r}, which says something else too: name another."
            )
            raise ParameterError(message, argument="sample_weight")
        if self.callback is not None and not callable(self.callback):
            raise ParameterError(f"callback must be a function or None, got {self.callback!r}.", argument="callback")
        check_seed("random_state", self.random_state)
        if self.max_rows is not None:
            check_integer("max_rows", self.max_rows, MIN_ROWS)
        check_number("shift_tolerance", self.shift_tolerance, 0.0, inf, include_boundaries="neither")

    def _check_own_model(self) -> None:
        check_boolean("refit", self.refit)
        if self.model is None and not self.refit:
            raise ParameterError("refit=False is about your own model: pass model too.", argument="refit")
        if self.trained_on is None:
            return
        if self.refit:
            message = "trained_on is about a model that is not fitted again: pass refit=False too."
            raise ParameterError(message, argument="trained_on")
        if self.time is not None and self.trained_on is not False:
            message = "trained_on and time both say which rows are held out: pass one of them."
            raise ParameterError(message, argument="trained_on")

    @property
    def is_unseen_unknown(self) -> bool:
        """Whether the model is audited as it is, and it is not known which rows it was trained on."""
        return not self.refit and self.trained_on is None

    def read(self, budget: TimeBudget | None = None) -> AuditInputs:
        """Read everything that was passed."""
        whole = to_pandas(self.X, "X")
        groups, time, trained = _read_groups(whole, self.groups), _read_time(whole, self.time), self._trained(whole)
        X, weights = self._columns_of_models(whole), self._weights(whole)
        table = AuditTable.read(X, self.y, self.task, self.max_rows, self.random_state, weights, LARGEST, budget)
        groups, time, trained = (None if each is None else each[table.is_audited] for each in (groups, time, trained))
        costs = None if self.costs is None else Costs.read(self.costs, table.target)
        if self.metric is not None:
            read_metric(self.metric, table.target)
        slices = read_slices(self.slices, whole, table)
        copies = find_copies(table.frame, table.target.y)
        units = groups if groups is not None else copies.groups
        if trained is None:
            splits = Splits.draw(table.target, units, time, self.X_new is not None, self.random_state)
        else:
            check_trained_on(trained)
            splits = Splits.of_trained(trained, units)
        check_sizes(slices, splits)
        deployment, remarks = self._deployment(whole, table, splits, groups, time), list(table.remarks)
        if deployment is not None:
            for weights in (table.weights, deployment.weights):  # refused now, before anything is fitted
                drawn_by_weight(weights, 0 if weights is None else len(weights), self.random_state)
        if deployment is not None and self.X_new is not None and (n_known := table.count_known(deployment.frame)):
            remarks.append(f"{n_known:,} of the new rows are also rows of the table, so they are not a test of it.")
        return AuditInputs(
            table=table,
            splits=splits,
            copies=copies,
            groups=groups,
            time=time,
            deployment=deployment,
            own_model=own_model_of(self.model, self.refit, table),
            own_predictions=own_predictions_of(self.predictions, table, splits),
            costs=costs,
            slices=slices,
            other_rows=None
            if table.n_rows == table.n_table_rows
            else OtherRows.of_table(X, self.y, table.is_audited, weights),
            remarks=tuple(remarks),
        )

    def _columns_of_models(self, whole: Any) -> Any:
        """``X`` without the columns of groups, time, training rows and weights."""
        given = (self.groups, self.time, self.trained_on, self.sample_weight)
        names = {name for name in given if isinstance(name, str)}
        kept = np.array([j for j, name in enumerate(whole.columns) if name not in names])
        return take_columns(self.X, kept) if names else self.X

    def _weights(self, whole: Any) -> np.ndarray | None:
        """The weights of all rows."""
        return read_weights(_values_of(whole, self.sample_weight, "sample_weight"))

    def _trained(self, whole: Any) -> np.ndarray | None:
        """The rows that the user's model was trained on; None if none are named, or if there are none."""
        if self.trained_on is None or self.trained_on is False:
            return None
        values = _values_of(whole, self.trained_on, "trained_on")
        return None if values is None else read_trained_on(values.astype(object))

    def _deployment(
        self, whole: Any, table: AuditTable, splits: Splits, groups: np.ndarray | None, time: np.ndarray | None
    ) -> DeploymentData | None:
        """The new rows, or the last ones by time, and their chunks."""
        kind = None if time is None else kind_of(self._times(whole))
        if self.X_new is not None:
            return self._new_rows(table, kind)
        if not len(splits.later):
            return None
        assert time is not None
        first, later = splits.later[time[splits.later].argmin()], time[splits.later]
        last = DeploymentData.of_last_rows(table, splits, groups, self._last_part(whole, table, first))
        return replace(last, chunks=Chunk.of_time(later, kind == DATE), time=later)

    def _new_rows(self, table: AuditTable, kind_of_time: str | None) -> DeploymentData:
        """The new rows, of one table or several."""
        X_new, y_new, tables = self.X_new, self.y_new, NewTables.read(self.X_new, self.y_new)
        named = [name for name in (self.groups, self.time, self.sample_weight) if isinstance(name, str)]
        if tables is not None:
            columns = list(table.raw.columns) if hasattr(table.raw, "columns") else None
            X_new, y_new = tables.joined(columns, named)
        new_groups, new_time, new_weights = None, None, None
        if isinstance(self.sample_weight, str) and self.sample_weight in getattr(X_new, "columns", ()):
            new_weights = self._weights(to_pandas(X_new, "X_new"))
            if new_weights is not None and not new_weights.all():
                message = "X_new has rows with a weight of 0, which do not count: leave them out."
                raise DataError(message, argument="sample_weight")
            new_weights = unequal(new_weights)
        if isinstance(self.groups, str) and self.groups in getattr(X_new, "columns", ()):
            new_groups = _read_groups(to_pandas(X_new, "X_new"), self.groups)
        if isinstance(self.time, str) and kind_of_time is not None:
            new_time = read_new_time(X_new, self.time, kind_of_time)
        new = DeploymentData.of_new_rows(table, X_new, y_new, new_groups, new_weights)
        if self.model is not None:
            _require_columns(table.raw, new.raw)
        if tables is not None:
            chunks, where = Chunk.of_tables(tables.names, tables.sizes), f"{new.where} ({len(tables.names)} tables)"
            return replace(new, chunks=chunks if len(chunks) > 1 else (), are_tables=True, where=where, time=new_time)
        chunks = () if new_time is None else Chunk.of_time(new_time, kind_of_time == DATE)
        return replace(new, chunks=chunks, time=new_time)

    def _times(self, whole: Any) -> Any:
        """The times as they were passed."""
        import pandas as pd

        return pd.Series(_values_of(whole, self.time, "time"), name="time")

    def _last_part(self, whole: Any, table: AuditTable, first: int) -> str:
        """The name of the last part by time, and its beginning."""
        values = self._times(whole)[table.is_audited]
        name = self.time if isinstance(self.time, str) else "time"
        return f"the last part by {name}, from {values.astype(str).iloc[first]} on"


def _require_columns(raw: Any, new: Any) -> None:
    """Raise an error if new rows lack a column that is passed to the user's own model."""
    missing = [name for name in getattr(raw, "columns", ()) if name not in getattr(new, "columns", ())]
    if missing:
        names = ", ".join(map(repr, missing))
        raise DataError(f"X_new lacks the columns {names}, which are passed to the model: add them.", argument="X_new")


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
        message = "time has values that are neither numbers nor dates (written as 2024-12-31 or 31.12.2024)."
        raise DataError(message, argument="time")
    numbers = reader.read(series).to_numpy()
    if np.isnan(numbers).any():
        raise DataError("time has missing values: leave these rows out.", argument="time")
    return numbers


def _values_of(whole: Any, given: Any, argument: str) -> np.ndarray | None:
    """A column by its name, or an array of values."""
    if given is None:
        return None
    if isinstance(given, str) and given not in whole.columns:
        columns = ", ".join(map(repr, whole.columns[:8]))
        raise DataError(f"There is no column {given!r} in X; its columns are {columns}.", argument=argument)
    values = whole[given].to_numpy() if isinstance(given, str) else np.asarray(given)
    if values.ndim != 1 or len(values) != len(whole):
        message = f"{argument} must be the name of a column, or have one value for each of the {len(whole)} rows."
        raise DataError(message, argument=argument)
    return values
