"""What a method reached over the splits, and which methods cannot be told from the best (the paper's A.4)."""

import warnings
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from surefoot_experiments.uncertainty.lines import ResultLine

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
        """Over splits; NaN where there is only one."""
        return float(self.values.std(ddof=1)) if len(self.values) > 1 else float("nan")

    def on(self, splits: Collection[int]) -> "Score":
        """The same on these splits alone."""
        kept = [k for k, split in enumerate(self.splits) if split in splits]
        return Score(tuple(self.splits[k] for k in kept), self.values[kept])


class Scores:
    """The results of a run by dataset, method and measure."""

    def __init__(self, lines: Iterable[ResultLine]) -> None:
        self._by_method: dict[tuple[str, str], list[ResultLine]] = {}
        for line in sorted(lines, key=lambda line: line.split):
            self._by_method.setdefault((line.dataset, line.method), []).append(line)

    @property
    def datasets(self) -> set[str]:
        return {dataset for dataset, _ in self._by_method}

    def lines(self, dataset: str) -> list[ResultLine]:
        return [line for (name, _), lines in self._by_method.items() if name == dataset for line in lines]

    def get(self, dataset: str, method: str, measure: str, uncertainty: str = "") -> Score | None:
        """``measure`` is ``"nll"``, ``"error"``, ``"prr"``, ``"auc"`` or ``"auc2"``; None where it is not known."""
        name = f"{measure}_{uncertainty}" if uncertainty else measure
        found = [(line.split, getattr(line, name)) for line in self._by_method.get((dataset, method), [])]
        known = [(split, value) for split, value in found if not np.isnan(value)]
        if not known:
            return None
        splits, values = zip(*known, strict=True)
        return Score(splits, np.array(values))

    def gaps(self, dataset: str, first: Sequence[str], second: Sequence[str]) -> np.ndarray:
        """One score minus another, on each of their common splits; empty where one is not known."""
        a, b = on_common_splits([self.get(dataset, *first), self.get(dataset, *second)])
        return np.empty(0) if a is None or b is None else a.values - b.values


def on_common_splits(scores: Sequence[Score | None]) -> list[Score | None]:
    """The scores on the splits that all known ones have: only then can means be compared; None where there is none."""
    known = [set(score.splits) for score in scores if score is not None]
    common = set.intersection(*known) if known else set()
    return [score.on(common) if score is not None and common else None for score in scores]


def not_worse_than_best(scores: Sequence[Score | None], measure: str) -> list[bool]:
    """Which scores are the best or not significantly different from it, by a paired t-test over their common splits.

    All False where there are fewer than two splits: then nothing can be told.
    """
    sign = -1.0 if measure in LOWER_IS_BETTER else 1.0
    known = [score for score in scores if score is not None and len(score.values) > 1]
    if not known:
        return [False] * len(scores)
    best = max(known, key=lambda score: sign * score.mean)
    return [score is not None and len(score.values) > 1 and p_value(best, score) > LEVEL for score in scores]


def p_value(first: Score, second: Score) -> float:
    """Of the paired t-test; 1 where they are equal, NaN where fewer than two splits are common."""
    from scipy.stats import ttest_rel

    a, b = first.on(second.splits).values, second.on(first.splits).values
    if len(a) < 2:
        return float("nan")
    if np.ptp(a - b) == 0:  # the test would divide by 0
        return float(a[0] == b[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # nearly equal differences: the test says that it rounds
        return float(ttest_rel(a, b).pvalue)
