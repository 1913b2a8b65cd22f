"""Comparison with AdaBoost: accuracies over seeds, paired differences, and whether the paper's findings hold."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from surefoot_experiments.skeleton.judge import VERDICTS, is_above
from surefoot_experiments.weak_to_strong.trials import ADABOOST, BAGGED, MAJORITY, Result, TrialDataset, VoteUnit

AHEAD, BEHIND, NEITHER = "ahead", "behind", "neither"
HOLDS, FAILS, INCONCLUSIVE = VERDICTS[True], VERDICTS[False], VERDICTS[None]


class Accuracies:
    """Test accuracies by dataset, learner and number of members: an array with one entry per seed."""

    def __init__(self, results: Iterable[Result], seeds: Sequence[int]) -> None:
        self.seeds = tuple(seeds)
        self._by_unit = {result.unit: result.accuracy for result in results}

    def at(self, dataset: str, learner: str, n_members: int) -> np.ndarray:
        return np.array([self._by_unit[VoteUnit(dataset, seed, learner, n_members)] for seed in self.seeds])

    def counts(self, dataset: str, learner: str) -> list[int]:
        """The numbers of members with results for every seed."""
        with_results = {unit.n_members for unit in self._by_unit if unit.dataset == dataset and unit.learner == learner}
        return sorted(
            count
            for count in with_results
            if all(VoteUnit(dataset, seed, learner, count) in self._by_unit for seed in self.seeds)
        )

    def curve(self, dataset: str, learner: str) -> np.ndarray:
        """An array of shape (numbers of members, seeds)."""
        return np.array([self.at(dataset, learner, count) for count in self.counts(dataset, learner)])

    def adaboost(self, dataset: str) -> np.ndarray:
        return self.at(dataset, ADABOOST, 1)

    def best_count(self, dataset: str, learner: str) -> int:
        """The number of members with the highest mean accuracy; ties go to the smallest."""
        return self.counts(dataset, learner)[int(np.argmax(self.curve(dataset, learner).mean(axis=1)))]


@dataclass(frozen=True)
class Difference:
    """Differences in percentage points, one for each seed."""

    by_seed: tuple[float, ...]

    @classmethod
    def paired(cls, accuracy: np.ndarray, baseline: np.ndarray) -> "Difference":
        """Subtract seed by seed, so that effects of the split on both cancel."""
        points = np.round(100.0 * (accuracy - baseline), 9)  # equal means of many members may differ by a last bit
        return cls(tuple(points.tolist()))

    @property
    def points(self) -> float:
        return float(np.mean(self.by_seed))

    @property
    def standard_error(self) -> float:
        """The standard error of the mean; NaN for a single seed."""
        n_seeds = len(self.by_seed)
        return float(np.std(self.by_seed, ddof=1)) / sqrt(n_seeds) if n_seeds > 1 else float("nan")

    @property
    def standing(self) -> str:
        """``"ahead"``, ``"behind"``, or ``"neither"`` if the interval of the mean contains 0 or seeds are too few."""
        if is_above(self.by_seed):
            return AHEAD
        return BEHIND if is_above([-points for points in self.by_seed]) else NEITHER


def curve_difference(accuracies: Accuracies, dataset: str, learner: str) -> Difference:
    """The learner's accuracy, averaged over all numbers of members, minus AdaBoost's.

    The average is used because the best number of members is known only from the test rows.
    """
    return Difference.paired(accuracies.curve(dataset, learner).mean(axis=0), accuracies.adaboost(dataset))


@dataclass(frozen=True)
class BoosterClaim:
    """One part of a finding: a learner is ahead of AdaBoost on a dataset, or is not."""

    dataset: str
    learner: str
    claims_ahead: bool
    difference: Difference

    @property
    def text(self) -> str:
        return f"{self.dataset}: {self.learner} is {'' if self.claims_ahead else 'not '}ahead of AdaBoost"

    @property
    def verdict(self) -> str:
        if self.difference.standing == NEITHER:
            return INCONCLUSIVE
        return HOLDS if (self.difference.standing == AHEAD) == self.claims_ahead else FAILS


@dataclass(frozen=True)
class BoosterFinding:
    """A finding of the paper, as claims that the results may confirm."""

    text: str
    claims: tuple[BoosterClaim, ...]

    @property
    def verdict(self) -> str:
        """Fails if one claim fails, holds if all claims hold; otherwise, and without claims, inconclusive."""
        verdicts = {claim.verdict for claim in self.claims}
        if FAILS in verdicts:
            return FAILS
        return HOLDS if verdicts == {HOLDS} else INCONCLUSIVE


def judge_boosters(accuracies: Accuracies, datasets: Sequence[TrialDataset]) -> list[BoosterFinding]:
    """The paper's two findings."""

    def claims(large: bool, learner: str, claims_ahead: bool) -> list[BoosterClaim]:
        return [
            BoosterClaim(
                dataset=dataset.title,
                learner=learner,
                claims_ahead=claims_ahead,
                difference=curve_difference(accuracies, dataset.name, learner),
            )
            for dataset in datasets
            if dataset.large == large
        ]

    return [
        BoosterFinding("On large tables Majority-of-X is ahead of AdaBoost.", tuple(claims(True, MAJORITY, True))),
        BoosterFinding(
            "On small tables Bagged AdaBoost is ahead of AdaBoost and Majority-of-X is not.",
            (*claims(False, BAGGED, True), *claims(False, MAJORITY, False)),
        ),
    ]
