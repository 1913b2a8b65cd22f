"""Columns that look as if they named groups of rows or times: they are asked about, and what that costs is measured."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.report.checks.column_codes import codes_of
from surefoot.report.checks.split_comparison import SplitComparison
from surefoot.report.inputs.column_readers import CATEGORY, DATE, ColumnReader, kind_of
from surefoot.report.statistics.estimates import Estimate

GROUP, TIME = "group", "time"
MAX_ROWS = 6000
BLOCK = 500  # neighbouring rows that are drawn together from larger tables
MIN_LEVELS = 10
MIN_ROWS_PER_LEVEL = 2.0
MAX_LARGEST = 0.2  # fraction of the rows that one group may have
MAX_QUESTIONS = 3
MAX_MARKS = 5
ALIKE = 0.8  # part of a column's variance that is between levels
MIN_ALIKE_COLUMNS = 0.5  # fraction of the other columns that are alike within a level
TARGET_ALIKE = 0.6
NAMED = 0.05  # the same for the target, if the name of the column is that of a group; or
NAMED_ALIKE = 0.3  # for the mean column
YEARS = (1900, 2100)
GROUP_WORDS = {
    "id",
    "ids",
    "patient",
    "subject",
    "user",
    "customer",
    "client",
    "person",
    "participant",
    "household",
    "family",
    "school",
    "classroom",
    "teacher",
    "student",
    "site",
    "centre",
    "center",
    "hospital",
    "clinic",
    "ward",
    "doctor",
    "store",
    "shop",
    "branch",
    "device",
    "machine",
    "sensor",
    "session",
    "batch",
    "donor",
    "animal",
    "mouse",
    "litter",
    "plant",
    "plot",
    "farm",
    "village",
    "cluster",
    "group",
    "member",
    "account",
    "card",
    "driver",
    "vehicle",
    "player",
    "team",
    "trial",
    "well",
    "plate",
    "experiment",
    "recording",
    "speaker",
    "author",
    "document",
    "company",
    "firm",
    "cow",
    "herd",
}
TIME_WORDS = {
    "date",
    "datetime",
    "timestamp",
    "year",
    "yr",
    "quarter",
    "period",
    "epoch",
    "yearmonth",
    "yyyymm",
    "yyyymmdd",
}
OTHER_YEARS = {
    "birth",
    "born",
    "built",
    "made",
    "model",
    "founded",
    "veh",
    "vehicle",
    "construction",
    "renovated",
}


@dataclass(frozen=True)
class RoleQuestion:
    """A question about one column: does it name groups of rows (``role`` "group"), or times ("time")?"""

    column: str
    role: str
    strength: float  # 0 to 1: how much of other columns a group explains, or how well the rows follow a time
    sentence: str


def suggest_roles(table: Any, target: Any) -> tuple[RoleQuestion, ...]:
    """Questions about the columns of a pandas frame as it came (``target`` is a ``Target`` of the same rows)."""
    rows = _some_rows(len(table))
    some = table.iloc[rows].rename(columns=str)
    columns = [_Column.read(some[name]) for name in some.columns]
    times = [question for column in columns if (question := _time(column)) is not None]
    named = {question.column for question in times}
    y = _standard(target.y[rows]) if not target.is_classes else _marks(target.y[rows])
    groups = [question for column in columns if (question := _group(column, columns, y)) is not None]
    groups = [question for question in groups if question.column not in named]
    groups.sort(key=lambda question: -question.strength)
    times.sort(key=lambda question: -question.strength)
    return (*groups[:MAX_QUESTIONS], *times[:MAX_QUESTIONS])


def role_excess(comparison: SplitComparison, column: Any, question: RoleQuestion) -> Estimate | None:
    """What it costs quick models if splits respect the groups or times of a column; None if rows are too few."""
    if not comparison.is_enough:
        return None
    values = _Column.read(column.iloc[comparison.rows]).values
    if question.role == GROUP:
        return comparison.excess_of_groups(values)
    return comparison.excess_of_ends(np.argsort(values, kind="stable"))


@dataclass(frozen=True)
class _Column:
    """A column, read once: numbers (missing: NaN) or codes of categories (missing: -1), and as points to compare."""

    name: str
    kind: str
    values: np.ndarray
    points: np.ndarray

    @classmethod
    def read(cls, column: Any) -> "_Column":
        kind = kind_of(column)
        read = ColumnReader(column.name, kind).read(column)
        if kind == CATEGORY:
            codes = read.cat.codes.to_numpy().astype(np.float64)
            return cls(str(column.name), kind, codes, _marks(codes_of(read)))
        values = read.to_numpy(np.float64)
        centre = np.nanmedian(values) if read.notna().any() else 0.0
        return cls(str(column.name), kind, values, _standard(np.where(np.isnan(values), centre, values)))

    @property
    def known(self) -> np.ndarray:
        return np.asarray(self.values >= 0 if self.kind == CATEGORY else ~np.isnan(self.values))


def _marks(codes: np.ndarray) -> np.ndarray:
    """One column of zeros and ones for each of the most frequent categories."""
    frequent = np.argsort(-np.bincount(codes), kind="stable")[:MAX_MARKS]
    return np.asarray(codes[:, np.newaxis] == frequent, dtype=float)


def words_of(name: str) -> set[str]:
    """The words of a column's name: of patientId, patient_id and "Patient ID", patient and id."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def _some_rows(n: int) -> np.ndarray:
    """Neighbouring rows in blocks, so that groups are whole if they stand together, and drawn rows as well."""
    if n <= MAX_ROWS:
        return np.arange(n)
    starts = np.linspace(0, n - BLOCK, MAX_ROWS // (2 * BLOCK)).astype(np.int64)
    blocks = (starts[:, np.newaxis] + np.arange(BLOCK)).ravel()
    return np.unique(np.r_[blocks, np.random.default_rng(0).permutation(n)[: MAX_ROWS // 2]])


def _standard(values: np.ndarray) -> np.ndarray:
    low, high = np.quantile(values, [0.01, 0.99])
    values = np.clip(values, low, high) if low < high else values
    return np.asarray((values - values.mean()) / (values.std() or 1.0))[:, np.newaxis]


def _group(column: _Column, columns: list[_Column], y: np.ndarray) -> RoleQuestion | None:
    """A question, if rows with one value of a column are alike in others, far more than neighbouring values explain."""
    known, is_category = column.known, column.kind == CATEGORY
    if column.kind == DATE or known.mean() < 0.9 or not (is_category or _is_whole(column.values[known])):
        return None
    codes = np.unique(column.values[known], return_inverse=True)[1]
    sizes = np.bincount(codes)
    n, n_levels = len(codes), len(sizes)
    if n_levels < MIN_LEVELS or n < MIN_ROWS_PER_LEVEL * n_levels or sizes.max() > MAX_LARGEST * n:
        return None
    others = [_alike(each.points[known], codes, not is_category) for each in columns if each is not column]
    alike, of_target = np.array(others or [0.0]), _alike(y[known], codes, not is_category)
    enough = len(alike) >= 2 and (alike >= ALIKE).mean() >= MIN_ALIKE_COLUMNS
    if words_of(column.name) & GROUP_WORDS:
        noise = 4 * np.sqrt(2 * n_levels) / max(n - n_levels, 1)  # four standard errors, if levels mean nothing
        enough = enough or of_target >= max(NAMED, noise) or alike.mean() >= NAMED_ALIKE
    if not (enough or of_target >= TARGET_ALIKE):
        return None
    name = column.name
    sentence = (
        f"Does {name} name groups of rows that belong together? Rows that share one of its values are alike. If so, "
        f'pass --group {name} (groups="{name}" in Python): otherwise errors may be measured on groups that models '
        "have seen."
    )
    return RoleQuestion(name, GROUP, float(max(alike.mean(), of_target)), sentence)


def _is_whole(values: np.ndarray) -> bool:
    return bool(np.all(values == np.floor(values)))


def _alike(values: np.ndarray, codes: np.ndarray, smooth: bool) -> float:
    """The part of the variance between levels (adjusted for their number), less what the next levels explain.

    Numbers such as an age explain others too, but so does the age next to it: an id has no neighbours.
    """
    n, n_levels = len(codes), int(codes.max()) + 1
    total = float(((values - values.mean(axis=0)) ** 2).sum())
    if total == 0 or n <= n_levels:
        return 0.0
    sizes = np.bincount(codes)[:, np.newaxis]
    means = np.stack([np.bincount(codes, weights=column) for column in values.T], axis=1) / sizes
    within = float(((values - means[codes]) ** 2).sum())
    part = 1 - within / (n - n_levels) / (total / (n - 1))
    if not smooth:
        return max(part, 0.0)
    beside = np.vstack([means[1:2], (means[:-2] + means[2:]) / 2, means[-2:-1]])
    left = float((sizes * (means - beside) ** 2).sum())
    spread = float((sizes * (means - values.mean(axis=0)) ** 2).sum())
    # of independent levels, the mean of two neighbours is 1.5 times as far away as the overall mean
    return max(part, 0.0) * float(np.clip(left / max(spread, 1e-300) / 1.5, 0.0, 1.0))


def _time(column: _Column) -> RoleQuestion | None:
    """A question about dates, years, and numbers in whose order the rows stand."""
    if column.kind == CATEGORY:
        return None
    known = column.values[column.known]
    n_values = len(np.unique(known))
    if n_values < 3:
        return None
    name, words, order = column.name, words_of(column.name), _follows_rows(known)
    is_year = _is_whole(known) and known.min() >= YEARS[0] and known.max() <= YEARS[1]
    is_named = bool(words & TIME_WORDS) and not words & OTHER_YEARS
    if column.kind == DATE:
        why = "It holds dates"
    elif is_named and (is_year or known.min() >= 10_000):
        why = "It looks like a time"
    elif order == 1.0 and n_values >= 20 and not _is_row_number(known):
        why = "The rows stand in its order"
    else:
        return None
    sentence = (
        f"Is {name} when the row was recorded? {why}. If the model is to be used on later rows, pass --time {name} "
        f'(time="{name}" in Python), so that it is judged on later rows than it was trained on.'
    )
    return RoleQuestion(name, TIME, max(order, 0.5), sentence)


def _follows_rows(values: np.ndarray) -> float:
    """The fraction of steps from row to row that do not go against the main direction."""
    steps = np.diff(values)
    return float(max((steps >= 0).mean(), (steps <= 0).mean())) if len(steps) else 0.0


def _is_row_number(values: np.ndarray) -> bool:
    steps = np.diff(values)
    return bool(len(steps) and np.all(steps == steps[0]))
