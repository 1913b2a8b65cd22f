"""Verdicts on made-up accuracies."""

import numpy as np
import pytest

from surefoot_experiments.weak_to_strong.comparison import (
    Accuracies,
    BoosterClaim,
    BoosterFinding,
    Difference,
    curve_difference,
    judge_boosters,
)
from surefoot_experiments.weak_to_strong.summary import difference_text, write_summary
from surefoot_experiments.weak_to_strong.trials import (
    ADABOOST,
    BAGGED,
    LARSEN_RITZERT,
    MAJORITY,
    Result,
    Split,
    TrialDataset,
)

NOISE = np.array([0.001, -0.001, 0.0, 0.002, -0.002])


def no_split(seed: int) -> Split:
    raise NotImplementedError


def dataset(name: str, large: bool) -> TrialDataset:
    return TrialDataset(name, name.capitalize(), large, 100, 80, "made up", no_split)


def made_up(gains: dict[str, dict[str, float]], n_seeds: int = 5) -> Accuracies:
    """Results in which learners are ahead of AdaBoost by some points, plus a little noise."""
    results = []
    for name, by_learner in gains.items():
        for seed in range(n_seeds):
            base = 0.7 + 0.02 * seed  # splits differ far more than learners do
            results.append(Result(name, seed, ADABOOST, 1, base, 1.0, 100, ""))
            for learner, points in by_learner.items():
                for count in (3, 5, 29):
                    accuracy = base + points / 100 + NOISE[seed] + (0.0001 if count == 5 else 0.0)
                    results.append(Result(name, seed, learner, count, accuracy, 1.0, 100, ""))
    return Accuracies(results, range(n_seeds))


def test_a_paired_difference_by_hand() -> None:
    difference = Difference.paired(np.array([0.70, 0.80, 0.93]), np.array([0.69, 0.78, 0.90]))
    assert difference.points == pytest.approx(2.0)
    assert difference.standard_error == pytest.approx(1.0 / np.sqrt(3))
    assert difference.standing == "neither"  # three seeds are too few


def test_equal_accuracies_are_neither_ahead_nor_behind() -> None:
    baseline = np.array([0.95, 0.91, 0.93, 0.97, 0.9])
    curve = np.tile(baseline, (14, 1)).mean(axis=0) + 1e-16
    assert Difference.paired(curve, baseline).standing == "neither"


def spread_out(points: float, error: float, n_seeds: int = 5) -> Difference:
    """Differences of this mean and standard error."""
    steps = np.linspace(-1.0, 1.0, n_seeds) if n_seeds > 1 else np.zeros(1)
    scale = error * np.sqrt(n_seeds) / steps.std(ddof=1) if n_seeds > 1 else 0.0
    return Difference(tuple(points + scale * steps))


@pytest.mark.parametrize(
    ("points", "error", "n_seeds", "standing"),
    [
        (1.0, 0.35, 5, "ahead"),
        (1.0, 0.37, 5, "neither"),
        (-1.0, 0.35, 5, "behind"),
        (0.0, 0.0, 5, "neither"),
        (1.0, 0.0, 5, "ahead"),
        (1.0, 0.01, 4, "neither"),
        (1.0, 0.0, 1, "neither"),
    ],
)
def test_the_standing_of_a_difference(points: float, error: float, n_seeds: int, standing: str) -> None:
    """The quantile .975 of Student's t with four degrees of freedom is 2.776."""
    assert spread_out(points, error, n_seeds).standing == standing


@pytest.mark.parametrize(
    ("claims_ahead", "points", "verdict"),
    [
        (True, 1.0, "holds"),
        (True, -1.0, "does not hold"),
        (True, 0.1, "inconclusive"),
        (False, -1.0, "holds"),
        (False, 1.0, "does not hold"),
        (False, -0.1, "inconclusive"),
    ],
)
def test_the_verdict_on_a_claim(claims_ahead: bool, points: float, verdict: str) -> None:
    assert BoosterClaim("Pima", BAGGED, claims_ahead, spread_out(points, 0.1)).verdict == verdict


def test_the_verdict_on_a_finding() -> None:
    claims = {p: BoosterClaim("Pima", BAGGED, True, spread_out(p, 0.1)) for p in (1.0, 0.0, -1.0)}
    assert BoosterFinding("", (claims[1.0], claims[1.0])).verdict == "holds"
    assert BoosterFinding("", (claims[1.0], claims[0.0])).verdict == "inconclusive"
    assert BoosterFinding("", (claims[1.0], claims[0.0], claims[-1.0])).verdict == "does not hold"
    assert BoosterFinding("", ()).verdict == "inconclusive"


@pytest.mark.parametrize(
    ("large_majority", "small_bagged", "small_majority", "verdicts"),
    [
        (0.5, 0.5, -0.5, ["holds", "holds"]),
        (-0.5, 0.5, 0.5, ["does not hold", "does not hold"]),
        (0.02, 0.5, 0.02, ["inconclusive", "inconclusive"]),
        (0.5, -0.5, -0.5, ["holds", "does not hold"]),
    ],
)
def test_the_papers_findings(
    large_majority: float, small_bagged: float, small_majority: float, verdicts: list[str]
) -> None:
    accuracies = made_up(
        {"higgs": {MAJORITY: large_majority, BAGGED: 0.0}, "pima": {MAJORITY: small_majority, BAGGED: small_bagged}}
    )
    findings = judge_boosters(accuracies, [dataset("higgs", True), dataset("pima", False)])
    assert [finding.verdict for finding in findings] == verdicts


def test_the_verdict_uses_the_mean_over_all_member_counts() -> None:
    accuracies = made_up({"higgs": {MAJORITY: 0.5}})
    assert accuracies.counts("higgs", MAJORITY) == [3, 5, 29]
    assert accuracies.best_count("higgs", MAJORITY) == 5
    assert curve_difference(accuracies, "higgs", MAJORITY).points == pytest.approx(0.5 + 0.01 / 3)


def test_the_summary() -> None:
    accuracies = made_up({"higgs": {MAJORITY: 0.5, BAGGED: -0.5, LARSEN_RITZERT: 0.0}})
    text = write_summary(
        accuracies, [dataset("higgs", True)], title="Title", command="surefoot x", seconds=12.3, remarks=["a part only"]
    )
    assert "**On large tables Majority-of-X is ahead of AdaBoost.** Holds." in text
    assert "**On small tables Bagged AdaBoost is ahead of AdaBoost and Majority-of-X is not.** Inconclusive." in text
    assert "| AdaBoost |  | 0.7400 ± 0.0316 |  |" in text
    assert "| Majority-of-X | best: 5 | 0.7451 ± 0.0312 | +0.51 ± 0.07, ahead |" in text
    assert "| Bagged AdaBoost | 29 | 0.7350 ± 0.0312 | -0.50 ± 0.07, behind |" in text
    assert all(words in text for words in ("`surefoot x`", "12 s", "a part only", "made up"))


def test_one_seed_has_no_standard_error() -> None:
    assert difference_text(Difference.paired(np.array([0.8]), np.array([0.7]))) == "+10.00"
