"""Columns that may reveal the target: alone, as a sum or difference of two, or exactly in some rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.report.checks.exact_leaks import exact_leaks
from surefoot.report.checks.pair_leaks import pair_leaks
from surefoot.report.checks.single_leaks import single_leaks

MAX_ROWS = 5000
MAX_LEAKS = 12
QUESTION = "Is it known before the target? If not, leave it out and run the audit again."
QUESTION_OF_TWO = "Are both known before the target? If not, leave them out and run the audit again."


@dataclass(frozen=True)
class Leak:
    """A column, or a pair of columns, that predicts the target suspiciously well.

    ``kind`` is "strong" (``measure`` is "AUC" or "R2", on rows not used to fit), "pair" (the same for ``columns[0]``
    plus or minus ``columns[1]``) or "exact" (``value`` is the fraction of the rows with a certain target).
    """

    columns: tuple[str, ...]
    kind: str
    measure: str
    value: float
    n_rows: int  # rows on which the value was measured
    sentence: str


def find_leaks(frame: Any, target: Any) -> tuple[Leak, ...]:
    """Possible leaks of a frame of floats and categoricals, the strongest first; ``target`` is a ``Target``."""
    n = len(frame)
    rows = np.sort(np.random.default_rng(0).permutation(n)[:MAX_ROWS])
    part, y, labels = frame.iloc[rows], target.y[rows], [str(each) for each in target.classes]
    leaks = []
    strong = single_leaks(part, y, target.is_classes)
    for column, value, k in strong:
        leaks.append(Leak((column,), "strong", _measure(target), value, len(rows), _strong(value, k, labels)))
    named = {column for column, _, _ in strong}
    for first, second, sign, value, k in pair_leaks(part, y, target.is_classes, named):
        sentence = _pair(first, second, sign, value, k, labels)
        leaks.append(Leak((first, second), "pair", _measure(target), value, len(rows), sentence))
    leaks.sort(key=lambda leak: -leak.value)
    exact = exact_leaks(frame, target.y, target.is_classes, named)
    for column, where, what, n_rows in exact:
        what = f"the target is always {labels[what]}" if isinstance(what, int) else str(what)
        sentence = f"Where it is {where} ({n_rows:,} rows), {what}, far more often than by chance. {QUESTION}"
        leaks.append(Leak((column,), "exact", "fraction of rows", n_rows / n, n_rows, sentence))
    return tuple(leaks[:MAX_LEAKS])


def _measure(target: Any) -> str:
    return "AUC" if target.is_classes else "R2"


def _strength(value: float, k: int | None, labels: list[str]) -> str:
    if k is None:
        return f"explains {value:.1%} of the variance of the target"
    classes = "the two classes" if len(labels) == 2 else f"class {labels[k]} from the others"
    return f"separates {classes} with an AUC of {value:.3f}"


def _strong(value: float, k: int | None, labels: list[str]) -> str:
    return f"By itself it {_strength(value, k, labels)}. {QUESTION}"


def _pair(first: str, second: str, sign: int, value: float, k: int | None, labels: list[str]) -> str:
    operation = "plus" if sign > 0 else "minus"
    return f"{first} {operation} {second} {_strength(value, k, labels)}. {QUESTION_OF_TWO}"
