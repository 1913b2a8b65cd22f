"""Columns that look like groups or times: the page asks about them, and shows the cost of splits by them."""

import re
from dataclasses import dataclass
from shlex import quote
from typing import Any

import numpy as np

from surefoot.report.checks.copies import codes_of
from surefoot.report.checks.split_comparison import SplitComparison
from surefoot.report.inputs.column_readers import CATEGORY, DATE, ColumnReader, kind_of
from surefoot.report.inputs.target import LARGEST
from surefoot.report.statistics import Estimate

GROUP, TIME = "group", "time"
MAX_ROWS = 6000
BLOCK = 500  # neighbouring rows that are drawn together from larger tables
MIN_LEVELS = 10
MIN_ROWS_PER_LEVEL = 2.0
MAX_LARGEST = 0.2  # fraction of the rows in one group
MAX_QUESTIONS = 3
MAX_INDICATORS = 5
ALIKE = 0.8  # fraction of a column's variance between levels
MIN_ALIKE_COLUMNS = 0.5  # fraction of the other columns that are alike within a level
TARGET_ALIKE = 0.6
NAMED = 0.05  # the same for the target, if the column is named like a group; or
NAMED_ALIKE = 0.3  # for the mean of the columns
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
    """A question about one column: does it identify groups of rows (``role`` "group"), or times ("time")?"""

    column: str
    role: str
    strength: float  # 0 to 1: how much of other columns a group explains, or how well the rows are ordered by a time
    sentence: str


def suggest_roles(table: Any, target: Any) -> tuple[RoleQuestion, ...]:
    """Questions about the columns of a pandas frame as it was passed; ``target`` is a ``Target`` of the same rows."""
    rows = _some_rows(len(table))
    some = table.iloc[rows].rename(columns=str)
    columns = [_Column.read(some[name]) for name in some.columns]
    times = [question for column in columns if (question := _time(column)) is not None]
    names_of_times = {question.column for question in times}
    y = _standard(target.y[rows]) if not target.is_classes else _indicators(target.y[rows])
    groups = [question for column in columns if (question := _group(column, columns, y)) is not None]
    groups = [question for question in groups if question.column not in names_of_times]
    groups.sort(key=lambda question: -question.strength)
    times.sort(key=lambda question: -question.strength)
    return (*groups[:MAX_QUESTIONS], *times[:MAX_QUESTIONS])


def role_excess(comparison: SplitComparison, column: Any, question: RoleQuestion) -> Estimate | None:
    """The higher loss of quick models under splits by the groups or times of a column; None for too few rows."""
    if not comparison.is_enough:
        return None
    values = _Column.read(column.iloc[comparison.rows]).values
    if question.role == GROUP:
        return comparison.excess_of_groups(values)
    return comparison.excess_of_ends(np.argsort(values, kind="stable"))


@dataclass(frozen=True)
class _Column:
    """A column, read once: numbers (missing: NaN) or codes of categories (missing: -1), and points for comparison."""

    name: str
    kind: str
    values: np.ndarray
    points: np.ndarray

    @classmethod
    def read(cls, column: Any) -> "_Column":
        kind = kind_of(column)
        read = ColumnReader(column.name, kind, LARGEST).read(column)
        if kind == CATEGORY:
            codes = read.cat.codes.to_numpy().astype(np.float64)
            return cls(str(column.name), kind, codes, _indicators(codes_of(read)))
        values = read.to_numpy(np.float64)
        centre = np.nanmedian(values) if read.notna().any() else 0.0
        return cls(str(column.name), kind, values, _standard(np.where(np.isnan(values), centre, values)))

    @property
    def known(self) -> np.ndarray:
        return np.asarray(self.values >= 0 if self.kind == CATEGORY else ~np.isnan(self.values))


def _indicators(codes: np.ndarray) -> np.ndarray:
    """One column of zeros and ones for each of the most frequent categories."""
    frequent = np.argsort(-np.bincount(codes), kind="stable")[:MAX_INDICATORS]
    return np.asarray(codes[:, np.newaxis] == frequent, dtype=float)


def words_of(name: str) -> set[str]:
    """The words of a column's name: "patient" and "id" for patientId, patient_id and "Patient ID"."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def _some_rows(n: int) -> np.ndarray:
    """Blocks of neighbouring rows, so that groups of neighbours are complete, and random rows."""
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
    """A question, if rows with one value of a column are alike in others, more than neighbouring values explain."""
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
        noise = 4 * np.sqrt(2 * n_levels) / max(n - n_levels, 1)  # four standard errors, if levels have no effect
        enough = enough or of_target >= max(NAMED, noise) or alike.mean() >= NAMED_ALIKE
    if not (enough or of_target >= TARGET_ALIKE):
        return None
    name = column.name
    sentence = (
        f"Does {name} identify groups of rows that belong together? Rows with the same value are alike. If so, pass "
        f'--group {quote(name)} (groups="{name}" in Python): otherwise errors may be measured on groups that models '
        "were trained on."
    )
    return RoleQuestion(name, GROUP, float(max(alike.mean(), of_target)), sentence)


def _is_whole(values: np.ndarray) -> bool:
    return bool(np.all(values == np.floor(values)))


def _alike(values: np.ndarray, codes: np.ndarray, smooth: bool) -> float:
    """The fraction of the variance between levels (adjusted for their number) that the next levels do not explain.

    Numbers such as an age explain other columns too, but so does the next age; the next id does not.
    """
    n, n_levels = len(codes), int(codes.max()) + 1
    total = float(((values - values.mean(axis=0)) ** 2).sum())
    if total == 0 or n <= n_levels:
        return 0.0
    sizes = np.bincount(codes)[:, np.newaxis]
    means = np.stack([np.bincount(codes, weights=column) for column in values.T], axis=1) / sizes
    within = float(((values - means[codes]) ** 2).sum())
    fraction = 1 - within / (n - n_levels) / (total / (n - 1))
    if not smooth:
        return max(fraction, 0.0)
    neighbours = np.vstack([means[1:2], (means[:-2] + means[2:]) / 2, means[-2:-1]])
    unexplained = float((sizes * (means - neighbours) ** 2).sum())
    spread = float((sizes * (means - values.mean(axis=0)) ** 2).sum())
    # for independent levels, the squared distance to the mean of two neighbours is 1.5 times that to the overall mean
    return max(fraction, 0.0) * float(np.clip(unexplained / max(spread, 1e-300) / 1.5, 0.0, 1.0))


def _time(column: _Column) -> RoleQuestion | None:
    """A question about dates, years, and numbers by which the rows are ordered."""
    if column.kind == CATEGORY:
        return None
    known = column.values[column.known]
    n_values = len(np.unique(known))
    if n_values < 3:
        return None
    name, words, order = column.name, words_of(column.name), _monotonicity(known)
    is_year = _is_whole(known) and known.min() >= YEARS[0] and known.max() <= YEARS[1]
    is_named = bool(words & TIME_WORDS) and not words & OTHER_YEARS
    if column.kind == DATE:
        reason = "It contains dates"
    elif is_named and (is_year or known.min() >= 10_000):
        reason = "It looks like a time"
    elif order == 1.0 and n_values >= 20 and not _is_row_number(known):
        reason = "The rows are ordered by it"
    else:
        return None
    sentence = (
        f"Is {name} the time at which the row was recorded? {reason}. If the model will be used on later rows, pass "
        f'--time {quote(name)} (time="{name}" in Python), so that it is tested on later rows than it was trained on.'
    )
    return RoleQuestion(name, TIME, max(order, 0.5), sentence)


def _monotonicity(values: np.ndarray) -> float:
    """The fraction of steps from row to row that are not against the main direction."""
    steps = np.diff(values)
    return float(max((steps >= 0).mean(), (steps <= 0).mean())) if len(steps) else 0.0


def _is_row_number(values: np.ndarray) -> bool:
    steps = np.diff(values)
    return bool(len(steps) and np.all(steps == steps[0]))
