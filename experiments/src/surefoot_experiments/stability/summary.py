"""The summary of a run in Markdown: findings, what to know, and what each part shows beside the paper's numbers."""

from collections.abc import Sequence

from surefoot_experiments.skeleton.report import Section, bullets
from surefoot_experiments.stability.settings import StabilitySettings

TITLE = "Stabilizing black-box model selection with the inflated argmax, figures 2 to 15 and tables 2 to 4"
QUICK_MARK = "QUICK RUN, not the experiment"
HOW_TO_READ = """\
Instability is the share of rows without which none of the selected models would have been selected (eq. 5);
utility-weighted accuracy counts a set of k models that has the true one as 1/k (eq. 7). The paper's numbers stand in
brackets, or in columns of their own. Every verdict is computed, from the CSV files beside this page and the data.

A statement about a mean holds where the 95% interval of the mean (Student's t over trials, draws or seeds, at least
five) lies where the statement says, and does not hold where it lies elsewhere; otherwise it cannot be told. One about
worst cases, medians or orders must come out alike in five parts of the trials, or with all seeds. Numbers after ± are
standard errors over trials; ranges in brackets go from the least to the largest draw or seed."""
GUARANTEE = (
    "What the inflated argmax promises, with an ε from theorem 4.2: for at most a share δ of the rows, removing that "
    "row would give a set of models that shares none with this one. It does not say that any of them is right."
)
POOL = (
    "Weights without a row are read off the bags that do not hold it (more bags are drawn for that), where the paper "
    "draws new ones for every row. New bags are drawn in the dynamics, whose derivatives change, and in figures 12 and "
    "13 for the smaller numbers of bags."
)


def write_summary(sections: Sequence[Section], absent: Sequence[str], settings: StabilitySettings) -> str:
    """The whole page; figures are named as files beside it. ``absent`` are remarks about parts that are not there."""
    minutes = sum(section.seconds for section in sections) / 60
    command = f"surefoot reproduce stability --data DIR{' --quick' if settings.quick else ''}"
    remarks = [*([_quick(settings)] if settings.quick else []), *absent]
    pages = [
        f"# {TITLE}{f' ({QUICK_MARK})' if settings.quick else ''}",
        bullets([f"Command: `{command}`", f"Fitting and selecting: {minutes:.1f} minutes of one thread"]),
        HOW_TO_READ,
        "## What to know",
        bullets([*remarks, GUARANTEE, POOL]),
        *(_page(section) for section in sections),
    ]
    return "\n\n".join(pages) + "\n"


def _page(section: Section) -> str:
    parts = [f"## {section.title}"]
    parts += [bullets(finding.words for finding in section.findings)] if section.findings else []
    parts += [section.text]
    parts += [f"What to know here:\n\n{bullets(section.remarks)}"] if section.remarks else []
    parts += [f"{section.seconds / 60:.1f} minutes of one thread."]
    return "\n\n".join(parts)


def _quick(settings: StabilitySettings) -> str:
    return (
        f"{QUICK_MARK}: {settings.regression_trials} regression trials with {settings.regression_bags} bags, "
        f"{settings.dynamics_trials} of dynamics with {settings.dynamics_bags}, {settings.larger_draws} larger samples "
        f"with {settings.larger_bags}; {settings.graph_bags} bags of the graph; {settings.tree_draws} draws of cells "
        f"with {settings.tree_bags} bags."
    )
