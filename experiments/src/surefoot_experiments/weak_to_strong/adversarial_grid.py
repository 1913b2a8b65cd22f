"""Bagged AdaBoost against AdaBoost on the adversarial instance, for several values of its two free parameters.

The paper gives neither the advantage of its weak learner nor the number of its hypotheses. Our default was chosen so
that the effect is visible, and says nothing about other values.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from surefoot_experiments.skeleton.judge import spread
from surefoot_experiments.skeleton.report import table
from surefoot_experiments.weak_to_strong.comparison import (
    AHEAD,
    BEHIND,
    NEITHER,
    Accuracies,
    Difference,
    curve_difference,
)
from surefoot_experiments.weak_to_strong.trials import (
    ADABOOST,
    BAGGED,
    Result,
    Trial,
    TrialDataset,
    adversarial_dataset,
)

GRID = "adversarial-grid.csv"
GAMMAS = (0.02, 0.05, 0.1, 0.2)
HYPOTHESES = (100, 300, 1000)
TITLE = "Adversarial, by gamma and the number of hypotheses"


def grid_datasets() -> list[TrialDataset]:
    """One dataset for each pair of parameters, with a name that contains them."""
    return [
        replace(adversarial_dataset(gamma, count), name=f"gamma {gamma:g}, {count} hypotheses")
        for gamma in GAMMAS
        for count in HYPOTHESES
    ]


def grid_trials(seeds: Sequence[int], members: tuple[int, ...]) -> list[tuple[TrialDataset, Trial]]:
    """The trials of AdaBoost and Bagged AdaBoost, for every pair and seed."""
    return [
        (dataset, Trial(dataset.name, seed, learner, counts))
        for dataset in grid_datasets()
        for seed in seeds
        for learner, counts in ((ADABOOST, (1,)), (BAGGED, members))
    ]


def grid_differences(results: Iterable[Result], seeds: Sequence[int]) -> dict[str, Difference]:
    """Bagged AdaBoost against AdaBoost, for every pair with results for all seeds."""
    accuracies = Accuracies(results, seeds)
    return {
        dataset.name: curve_difference(accuracies, dataset.name, BAGGED)
        for dataset in grid_datasets()
        if accuracies.counts(dataset.name, ADABOOST) and accuracies.counts(dataset.name, BAGGED)
    }


def grid_section(differences: Mapping[str, Difference]) -> str:
    """How often Bagged AdaBoost is ahead, and a table of differences in points."""
    standings = [difference.standing for difference in differences.values()]
    counts = ", ".join(f"{standings.count(standing)} {standing}" for standing in (AHEAD, BEHIND, NEITHER))
    rows = [
        [f"{gamma:g}", *(_cell(differences.get(f"gamma {gamma:g}, {count} hypotheses")) for count in HYPOTHESES)]
        for gamma in GAMMAS
    ]
    return "\n\n".join(
        [
            f"## {TITLE}",
            f"Bagged AdaBoost against AdaBoost, mean over all numbers of members, in points; of {len(standings)} pairs "
            f"of parameters: {counts}. (Brackets: minimum and maximum over seeds.)",
            table(["gamma", *(f"{count:,} hypotheses" for count in HYPOTHESES)], rows),
        ]
    )


def _cell(difference: Difference | None) -> str:
    return "" if difference is None else f"{spread(difference.by_seed, '{:+.2f}'.format)}, {difference.standing}"
