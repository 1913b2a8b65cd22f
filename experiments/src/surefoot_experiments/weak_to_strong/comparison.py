"""What the results say: accuracies over seeds, paired differences to AdaBoost, and whether the findings hold."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from surefoot_experiments.skeleton.judge import WORDS, is_above
from surefoot_experiments.weak_to_strong.trials import ADABOOST, BAGGED, MAJORITY, Dataset, Result, VoteUnit

AHEAD, BEHIND, LEVEL = "ahead", "behind", "neither"
HOLDS, FAILS, UNDECIDED = WORDS[True], WORDS[False], WORDS[None]


class Accuracies:
    """Test accuracies by dataset, learner and number of members: an array with one entry per seed."""

    def __init__(self, results: Iterable[Result], seeds: Sequence[int]) -> None:
        self.seeds = tuple(seeds)
        self._by_unit = {result.unit: result.accuracy for result in results}

    def at(self, dataset: str, learner: str, n_members: int) -> np.ndarray:
        return np.array([self._by_unit[VoteUnit(dataset, seed, learner, n_members)] for seed in self.seeds])

    def counts(self, dataset: str, learner: str) -> list[int]:
        """The numbers of members that every seed has a result for."""
        there = {unit.n_members for unit in self._by_unit if unit.dataset == dataset and unit.learner == learner}
        return sorted(
            count
            for count in there
            if all(VoteUnit(dataset, seed, learner, count) in self._by_unit for seed in self.seeds)
        )

    def curve(self, dataset: str, learner: str) -> np.ndarray:
        """(numbers of members, seeds)."""
        return np.array([self.at(dataset, learner, count) for count in self.counts(dataset, learner)])

    def adaboost(self, dataset: str) -> np.ndarray:
        return self.at(dataset, ADABOOST, 1)

    def best_count(self, dataset: str, learner: str) -> int:
        """The number of members with the highest mean accuracy; the smallest of several."""
        return self.counts(dataset, learner)[int(np.argmax(self.curve(dataset, learner).mean(axis=1)))]


@dataclass(frozen=True)
class Difference:
    """Differences in percentage points, one for each seed."""

    by_seed: tuple[float, ...]

    @classmethod
    def paired(cls, accuracy: np.ndarray, baseline: np.ndarray) -> "Difference":
        """Seed by seed, so that what a split does to both drops out."""
        points = np.round(100.0 * (accuracy - baseline), 9)  # equal means of many members may differ by a last bit
        return cls(tuple(points.tolist()))

    @property
    def points(self) -> float:
        return float(np.mean(self.by_seed))

    @property
    def standard_error(self) -> float:
        """Of the mean; NaN for a single seed."""
        n_seeds = len(self.by_seed)
        return float(np.std(self.by_seed, ddof=1)) / sqrt(n_seeds) if n_seeds > 1 else float("nan")

    @property
    def standing(self) -> str:
        """``"ahead"``, ``"behind"``, or ``"neither"``: the interval of the mean holds 0, or there are too few seeds."""
        if is_above(self.by_seed):
            return AHEAD
        return BEHIND if is_above([-points for points in self.by_seed]) else LEVEL


def curve_difference(accuracies: Accuracies, dataset: str, learner: str) -> Difference:
    """The learner's accuracy, averaged over all numbers of members, against AdaBoost's.

    The average, because the best number of members is known only after looking at the test rows.
    """
    return Difference.paired(accuracies.curve(dataset, learner).mean(axis=0), accuracies.adaboost(dataset))


@dataclass(frozen=True)
class Claim:
    """One half-sentence of a finding, on one dataset."""

    dataset: str
    learner: str
    says_ahead: bool
    difference: Difference

    @property
    def text(self) -> str:
        return f"{self.dataset}: {self.learner} is {'' if self.says_ahead else 'not '}ahead of AdaBoost"

    @property
    def verdict(self) -> str:
        if self.difference.standing == LEVEL:
            return UNDECIDED
        return HOLDS if (self.difference.standing == AHEAD) == self.says_ahead else FAILS


@dataclass(frozen=True)
class ClaimsFinding:
    """What the paper found, as claims that the results can bear out or not."""

    text: str
    claims: tuple[Claim, ...]

    @property
    def verdict(self) -> str:
        """Fails with one claim, holds with all; undecided otherwise, and where there is nothing to go by."""
        verdicts = {claim.verdict for claim in self.claims}
        if FAILS in verdicts:
            return FAILS
        return HOLDS if verdicts == {HOLDS} else UNDECIDED


def judge_boosters(accuracies: Accuracies, datasets: Sequence[Dataset]) -> list[ClaimsFinding]:
    """The paper's two findings."""

    def claims(large: bool, learner: str, says_ahead: bool) -> list[Claim]:
        return [
            Claim(dataset.title, learner, says_ahead, curve_difference(accuracies, dataset.name, learner))
            for dataset in datasets
            if dataset.large == large
        ]

    return [
        ClaimsFinding("On large tables Majority-of-X is ahead of AdaBoost.", tuple(claims(True, MAJORITY, True))),
        ClaimsFinding(
            "On small ones Bagged AdaBoost is ahead of AdaBoost and Majority-of-X is not.",
            (*claims(False, BAGGED, True), *claims(False, MAJORITY, False)),
        ),
    ]
