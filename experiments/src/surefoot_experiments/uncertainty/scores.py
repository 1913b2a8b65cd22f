"""The scores of methods over the splits, and which methods do not differ from the best (the paper's A.4)."""

import warnings
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from surefoot_experiments.uncertainty.lines import MethodLine

LEVEL = 0.05  # of the paired t-test
LOWER_IS_BETTER = ("nll", "error")


@dataclass(frozen=True, eq=False)
class Score:
    """A measure of one method on one dataset, by split."""

    splits: tuple[int, ...]
    values: np.ndarray

    @property
    def mean(self) -> float:
        return float(self.values.mean())

    @property
    def deviation(self) -> float:
        """The standard deviation over splits; NaN if there is only one."""
        return float(self.values.std(ddof=1)) if len(self.values) > 1 else float("nan")

    def on(self, splits: Collection[int]) -> "Score":
        """The score on some of the splits."""
        kept = [k for k, split in enumerate(self.splits) if split in splits]
        return Score(tuple(self.splits[k] for k in kept), self.values[kept])


class Scores:
    """The results of a run by dataset, method and measure."""

    def __init__(self, lines: Iterable[MethodLine]) -> None:
        self._by_method: dict[tuple[str, str], list[MethodLine]] = {}
        for line in sorted(lines, key=lambda line: line.split):
            self._by_method.setdefault((line.dataset, line.method), []).append(line)

    @property
    def datasets(self) -> set[str]:
        return {dataset for dataset, _ in self._by_method}

    def lines(self, dataset: str) -> list[MethodLine]:
        return [line for (name, _), lines in self._by_method.items() if name == dataset for line in lines]

    def get(self, dataset: str, method: str, measure: str, uncertainty: str = "") -> Score | None:
        """The score of ``"nll"``, ``"error"``, ``"prr"``, ``"auc"`` or ``"auc2"``; None if it is not known."""
        name = f"{measure}_{uncertainty}" if uncertainty else measure
        values_by_split = [(line.split, getattr(line, name)) for line in self._by_method.get((dataset, method), [])]
        known = [(split, value) for split, value in values_by_split if not np.isnan(value)]
        if not known:
            return None
        splits, values = zip(*known, strict=True)
        return Score(splits, np.array(values))

    def gaps(self, dataset: str, first: Sequence[str], second: Sequence[str]) -> np.ndarray:
        """One score minus another, on each of their common splits; empty if one is not known."""
        a, b = on_common_splits([self.get(dataset, *first), self.get(dataset, *second)])
        return np.empty(0) if a is None or b is None else a.values - b.values


def on_common_splits(scores: Sequence[Score | None]) -> list[Score | None]:
    """Restrict the known scores to their common splits, so that means can be compared."""
    known = [set(score.splits) for score in scores if score is not None]
    common = set.intersection(*known) if known else set()
    return [score.on(common) if score is not None and common else None for score in scores]


def not_worse_than_best(scores: Sequence[Score | None], measure: str) -> list[bool]:
    """Which scores are the best or not significantly different from it, by a paired t-test over their common splits.

    All are False if there are fewer than two splits.
    """
    sign = -1.0 if measure in LOWER_IS_BETTER else 1.0
    known = [score for score in scores if score is not None and len(score.values) > 1]
    if not known:
        return [False] * len(scores)
    best = max(known, key=lambda score: sign * score.mean)
    return [score is not None and len(score.values) > 1 and p_value(best, score) > LEVEL for score in scores]


def p_value(first: Score, second: Score) -> float:
    """The p-value of the paired t-test; 1 for equal scores, NaN for fewer than two common splits."""
    from scipy.stats import ttest_rel

    a, b = first.on(second.splits).values, second.on(first.splits).values
    if len(a) < 2:
        return float("nan")
    if np.ptp(a - b) == 0:  # the test would divide by 0
        return float(a[0] == b[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the test warns about rounding if differences are nearly equal
        return float(ttest_rel(a, b).pvalue)
