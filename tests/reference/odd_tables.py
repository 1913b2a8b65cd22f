"""Odd tables for audits: few rows, every kind of column and target, and further tables and options that are odd too."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

SIZES = (0, 1, 2, 5, 19, 20, 21, 25, 30, 40, 60)
HUGE, TINY = 1e308, 5e-324
TEXTS = ("", " ", "naïve 尺寸", "=1+1", "\x1b[31mred", "<b>bold</b>", "a\nb", "N", "0", "x" * 300)


@dataclass(frozen=True)
class OddTable:
    """The arguments of an audit."""

    X: pd.DataFrame
    y: pd.Series
    options: dict[str, Any] = field(default_factory=dict)


def _extreme(n, rng):
    return rng.choice([HUGE, -HUGE, 0.0, 1.0, TINY], n)


def _mixed(n, rng):
    return np.array([1.5, "one", "", None, True], dtype=object)[rng.integers(0, 5, n)]


def _days(n, rng):
    return pd.date_range("2020-02-27", periods=n) + pd.to_timedelta(rng.integers(0, 3, n), "D")


def _with_gaps(values, rng):
    column = pd.Series(values).astype(object)
    return column.where(rng.random(len(column)) > 0.4, None)


COLUMNS = {
    "normal": lambda n, rng: rng.normal(size=n),
    "constant": lambda n, rng: np.full(n, 7.0),
    "missing": lambda n, rng: np.full(n, np.nan),
    "nothing": lambda n, rng: np.full(n, None, dtype=object),
    "distinct": lambda n, rng: rng.permutation(n),
    "extreme": _extreme,
    "large": lambda n, rng: rng.normal(size=n) * 1e200,
    "tiny": lambda n, rng: rng.normal(size=n) * 1e-310,
    "infinite": lambda n, rng: rng.choice([np.inf, -np.inf, 1.0, np.nan], n),
    "only infinite": lambda n, rng: np.full(n, np.inf),
    "mixed": _mixed,
    "day": _days,
    "zone": lambda n, rng: pd.date_range("1900-01-01", periods=n, tz="Asia/Tokyo"),
    "late": lambda n, rng: np.full(n, "9999-12-31"),
    "written day": lambda n, rng: _days(n, rng).strftime("%d.%m.%Y"),
    "category": lambda n, rng: pd.Categorical(rng.choice(["a", "b", "c"], n), categories=["a", "b", "c", "unused"]),
    "text": lambda n, rng: np.array(TEXTS, dtype=object)[rng.integers(0, len(TEXTS), n)],
    "names": lambda n, rng: np.array([f"name {k}" for k in range(n)], dtype=object),
    "flag": lambda n, rng: rng.random(n) < 0.5,
    "gaps": lambda n, rng: _with_gaps(rng.normal(size=n), rng),
    "flag with gaps": lambda n, rng: _with_gaps(rng.random(n) < 0.5, rng),
    "nullable": lambda n, rng: pd.array(rng.integers(0, 5, n), dtype="Int64"),
    "whole": lambda n, rng: rng.integers(-(2**62), 2**62, n),
    "counts": lambda n, rng: rng.poisson(2, n),
    "one differs": lambda n, rng: (np.arange(n) == n // 2) * 1.0,
    "duration": lambda n, rng: pd.to_timedelta(rng.integers(0, 10**6, n), "s"),
}
TARGETS = {
    **{name: COLUMNS[name] for name in COLUMNS},
    "line": lambda n, rng: np.arange(n) * 1.0,
    "two": lambda n, rng: rng.choice(["no", "yes"], n),
    "one class": lambda n, rng: np.full(n, "yes", dtype=object),
    "rare": lambda n, rng: np.where(np.arange(n) == 3, "yes", "no"),
    "rows of one class each": lambda n, rng: np.array([f"c{k % max(n // 2, 1)}" for k in range(n)], dtype=object),
    "three": lambda n, rng: rng.integers(0, 3, n),
    "nearly constant": lambda n, rng: 1e15 + (np.arange(n) % 7) * 0.125,
    "squares overflow": lambda n, rng: rng.normal(size=n) * 1e99,
    "subnormal": lambda n, rng: np.arange(n) * TINY,
    "follows": lambda n, rng: np.sort(rng.normal(size=n)),
}
NAMES = ("", " ", "y", "<script>", "größe 尺寸", "a" * 2000, "\x1b[2J", "=cmd()", "a,b", "a\nb", "x0", "0", "{x}", "%s")


def odd_table(seed):
    """The table with this number."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice(SIZES, p=_chances()))
    X = _columns(n, rng)
    if len(X.columns) and rng.random() < 0.4:  # something that can be learned
        X["signal"] = rng.normal(size=n)
    X.columns = _names(list(X.columns), rng)
    y = _target(X, n, rng)
    return OddTable(X, y, _options(X, y, rng))


def _chances():
    """Most tables have enough rows for an audit."""
    chances = np.where(np.array(SIZES) < 20, 0.02, 1.0)
    return chances / chances.sum()


def _columns(n, rng):
    kinds = rng.choice(list(COLUMNS), int(rng.integers(1, 7)), replace=False)
    X = pd.DataFrame({kind: pd.Series(COLUMNS[kind](n, rng)) for kind in kinds}, index=range(n))
    if rng.random() < 0.2:
        X["again"] = X.iloc[:, 0]
    if n and rng.random() < 0.15:  # rows that occur several times
        X = X.iloc[rng.integers(0, max(n // 3, 1), n)].reset_index(drop=True)
    return X


def _names(names, rng):
    """Names of columns, some of them odd; none occurs twice."""
    odd = iter(rng.permutation(NAMES).tolist())
    return [next(odd) if rng.random() < 0.2 else name for name in names]


def _target(X, n, rng):
    if len(X.columns) and rng.random() < 0.1:  # a copy of a column
        return X.iloc[:, 0].rename("target")
    kind = rng.choice(list(TARGETS))
    y = pd.Series(TARGETS[kind](n, rng), index=range(n))
    if rng.random() < 0.15:
        y = y.astype(object).where(rng.random(n) < 0.7, None)
    return y.rename(str(rng.choice(["target", "<i>", "größe", "\x1b]0;title\x07", "t" * 500])))


def _options(X, y, rng):
    """Further arguments: each table has few of them."""
    n, options, names = len(X), {}, list(X.columns)
    if rng.random() < 0.35:
        options["X_new"], new_y = _later_rows(X, y, rng)
        if rng.random() < 0.6:
            options["y_new"] = new_y
    if rng.random() < 0.15:
        options["groups"] = rng.choice(names) if rng.random() < 0.5 else rng.integers(0, 4, n)
    if rng.random() < 0.15:
        options["time"] = rng.choice(names) if rng.random() < 0.5 else rng.permutation(n)
    if rng.random() < 0.15:
        options["sample_weight"] = rng.choice(names) if rng.random() < 0.3 else _weights(n, rng)
    if rng.random() < 0.1:
        options["predictions"] = y.sample(frac=1.0, random_state=int(rng.integers(2**31))).to_numpy()
    if rng.random() < 0.1:
        options["task"] = str(rng.choice(["binary", "classes", "regression"]))
    if rng.random() < 0.1:
        options["slices"] = [rng.choice(names)]
    return options


def _weights(n, rng):
    kinds = (np.ones(n), rng.random(n), rng.integers(0, 2, n) * 1.0, np.full(n, 1e300), np.full(n, np.nan), -np.ones(n))
    return kinds[rng.integers(0, len(kinds))]


def _later_rows(X, y, rng):
    """Deployment data: some rows of the table, with other values, types and columns."""
    n = int(rng.choice([0, 1, 2, 10, 40]))
    rows = rng.integers(0, max(len(X), 1), n) if len(X) else np.empty(0, dtype=int)
    new = X.iloc[rows].reset_index(drop=True)
    new_y = y.iloc[rows].reset_index(drop=True)
    for name in new.columns:
        if rng.random() < 0.3:
            kind = rng.choice(["large", "extreme", "missing", "text", "normal", "infinite", "constant"])
            new[name] = pd.Series(COLUMNS[kind](len(new), rng))
    if rng.random() < 0.1:
        new_y = pd.Series(TARGETS[rng.choice(list(TARGETS))](len(new), rng))
    if rng.random() < 0.05 and len(new.columns) > 1:
        new = new.iloc[:, 1:]
    return new, new_y
