"""The summary of a run in Markdown: whether the paper's findings hold, and a table for each dataset."""

from collections.abc import Mapping, Sequence
from math import isnan

import numpy as np

from surefoot_experiments.skeleton.report import bullets
from surefoot_experiments.weak_to_strong.adversarial_grid import grid_section
from surefoot_experiments.weak_to_strong.comparison import Accuracies, BoosterFinding, Difference, judge_boosters
from surefoot_experiments.weak_to_strong.trials import ADABOOST, BAGGED, LARSEN_RITZERT, MAJORITY, TrialDataset

HOW_TO_READ = """\
Accuracy is the mean over seeds on the test rows, ± its standard deviation. The difference to AdaBoost is paired by
seed, in percentage points, ± its standard error. The best number of members was chosen on the test rows, so its
accuracy is optimistic; the verdicts use the mean over all numbers of members. A learner is ahead or behind if there are
at least five seeds and the 95% interval of its mean difference (Student's t over seeds) does not contain 0; otherwise
the result is inconclusive. Splits of one table share rows, so intervals over seeds are somewhat too narrow."""


def write_summary(
    accuracies: Accuracies,
    datasets: Sequence[TrialDataset],
    *,
    title: str,
    command: str,
    seconds: float,
    remarks: Sequence[str],
    figures: Sequence[str] = (),
    grid: Mapping[str, Difference] | None = None,
) -> str:
    """The whole page; ``figures`` are names of files in the same folder."""
    findings = judge_boosters(accuracies, datasets)
    parts = [
        f"# {title}",
        bullets(
            [
                f"Command: `{command}`",
                f"Seeds: {len(accuracies.seeds)}",
                f"Training and testing: {seconds:,.0f} s ({seconds / 3600:.2f} hours)",
            ]
        ),
        "## Findings of the paper",
        *(_finding(finding) for finding in findings),
        "## Remarks",
        bullets(remarks),
        HOW_TO_READ,
        *(f"![{name}]({name})" for name in figures),
        *(_section(accuracies, dataset) for dataset in datasets),
        *([grid_section(grid)] if grid else []),
    ]
    return "\n\n".join(parts) + "\n"


def _finding(finding: BoosterFinding) -> str:
    claims = [
        f"{claim.text}: {claim.verdict} ({difference_text(claim.difference)}; by seed {_range(claim.difference)})"
        for claim in finding.claims
    ]
    return f"**{finding.text}** {finding.verdict.capitalize()}.\n\n" + bullets(claims)


def _section(accuracies: Accuracies, dataset: TrialDataset) -> str:
    lines = [
        f"## {dataset.title}",
        "",
        f"{dataset.rows:,} rows ({dataset.note}).",
        "",
        "| learner | members | accuracy | difference to AdaBoost |",
        "|---|---|---|---|",
        _row(ADABOOST, "", accuracies.adaboost(dataset.name), None),
    ]
    for learner in (MAJORITY, BAGGED, LARSEN_RITZERT):
        lines += _learner_rows(accuracies, dataset, learner)
    return "\n".join(lines)


def _learner_rows(accuracies: Accuracies, dataset: TrialDataset, learner: str) -> list[str]:
    """The best number of members, five, the largest, and the mean over all; or the only number."""
    counts = accuracies.counts(dataset.name, learner)
    baseline = accuracies.adaboost(dataset.name)

    def row(count: int, label: str) -> str:
        accuracy = accuracies.at(dataset.name, learner, count)
        return _row(learner, label, accuracy, Difference.paired(accuracy, baseline))

    if len(counts) == 1:
        return [row(counts[0], f"all {counts[0]} sub-samples")]
    best = accuracies.best_count(dataset.name, learner)
    others = sorted({5, counts[-1]} & set(counts) - {best})
    mean = accuracies.curve(dataset.name, learner).mean(axis=0)
    return [
        row(best, f"best: {best}"),
        *(row(count, str(count)) for count in others),
        _row(learner, f"mean of {counts[0]} to {counts[-1]}", mean, Difference.paired(mean, baseline)),
    ]


def _row(learner: str, members: str, accuracy: np.ndarray, difference: Difference | None) -> str:
    deviation = f" ± {accuracy.std(ddof=1):.4f}" if len(accuracy) > 1 else ""
    compared = "" if difference is None else f"{difference_text(difference)}, {difference.standing}"
    return f"| {learner} | {members} | {accuracy.mean():.4f}{deviation} | {compared} |"


def _range(difference: Difference) -> str:
    return f"{min(difference.by_seed):+.2f} to {max(difference.by_seed):+.2f}"


def difference_text(difference: Difference) -> str:
    """A difference in points as text."""
    error = "" if isnan(difference.standard_error) else f" ± {difference.standard_error:.2f}"
    return f"{difference.points:+.2f}{error}"
