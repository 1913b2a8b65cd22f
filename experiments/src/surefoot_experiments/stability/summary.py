"""The summary of a run in Markdown: findings, remarks, and the results of each part beside the paper's numbers."""

from collections.abc import Sequence

from surefoot_experiments.skeleton.report import QUICK_MARK, Section, bullets
from surefoot_experiments.stability.settings import StabilitySettings

TITLE = "Stabilizing black-box model selection with the inflated argmax, figures 2 to 15 and tables 2 to 4"
HOW_TO_READ = """\
Instability is the fraction of rows without which none of the selected models would have been selected (eq. 5).
Utility-weighted accuracy is 1/k if a set of k models contains the true model, and 0 if not (eq. 7). The paper's numbers
are in brackets or in their own columns. Every verdict is computed from the CSV files in this folder and the data.

A statement about a mean holds if the 95% interval of the mean (Student's t over trials, draws or seeds, at least five)
lies where the statement says, and does not hold if the interval lies elsewhere; otherwise it is inconclusive. A
statement about worst cases, medians or orders needs the same result in five batches of the trials, or with all seeds.
Numbers after ± are standard errors over trials; ranges in brackets are the minimum and maximum over draws or seeds."""
GUARANTEE = (
    "The guarantee of the inflated argmax with an ε from theorem 4.2: for at most a share δ of the rows, removing that "
    "row would give a set of models that shares none with this one. It does not say that any of them is right."
)
POOL = (
    "The weights without a row are computed from the bags that do not contain it (more bags are drawn for this); the "
    "paper draws new bags for every row. We also draw new bags for the dynamics, because derivatives change, and for "
    "the smaller numbers of bags in figures 12 and 13."
)


def write_summary(sections: Sequence[Section], missing: Sequence[str], settings: StabilitySettings) -> str:
    """The whole page; figures are files in the same folder. ``missing`` are remarks about parts without results."""
    minutes = sum(section.seconds for section in sections) / 60
    command = f"surefoot reproduce stability --data DIR{' --quick' if settings.quick else ''}"
    remarks = [*([_quick_remark(settings)] if settings.quick else []), *missing]
    pages = [
        f"# {TITLE}{f' ({QUICK_MARK})' if settings.quick else ''}",
        bullets([f"Command: `{command}`", f"Fitting and selecting: {minutes:.1f} minutes on one thread"]),
        HOW_TO_READ,
        "## Remarks",
        bullets([*remarks, GUARANTEE, POOL]),
        *(_page(section) for section in sections),
    ]
    return "\n\n".join(pages) + "\n"


def _page(section: Section) -> str:
    parts = [f"## {section.title}"]
    parts += [bullets(finding.markdown for finding in section.findings)] if section.findings else []
    parts += [section.text]
    parts += [f"Remarks:\n\n{bullets(section.remarks)}"] if section.remarks else []
    parts += [f"{section.seconds / 60:.1f} minutes on one thread."]
    return "\n\n".join(parts)


def _quick_remark(settings: StabilitySettings) -> str:
    return (
        f"{QUICK_MARK}: {settings.regression_trials} regression trials with {settings.regression_bags} bags, "
        f"{settings.dynamics_trials} of dynamics with {settings.dynamics_bags}, {settings.larger_draws} larger samples "
        f"with {settings.larger_bags}; {settings.graph_bags} bags of the graph; {settings.tree_draws} draws of cells "
        f"with {settings.tree_bags} bags."
    )
