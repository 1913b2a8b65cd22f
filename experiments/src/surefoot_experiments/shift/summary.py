"""The summary of a run in Markdown: the experiment, and the results of each part."""

from collections.abc import Sequence

from surefoot_experiments.shift.protocol import ShiftSettings
from surefoot_experiments.skeleton.report import Section, bullets

TITLE = "The V-matrix: bounds of its estimate, and boosting on biased samples"
QUICK_MARK = "QUICK RUN, not the experiment"
OURS = (
    "The study is ours. The V-matrix, theorems 3.2 and 3.3 and the boosting equations are the paper's, of which only "
    "the supplement was available: its own experiments are not reproduced here, and no number below is compared with "
    "one of the paper's."
)
PROTOCOL = (
    "The methods, the baselines, their budgets, the tests and what counts as help or harm were written down before the "
    "first run (docs/results/shift/protocol.md). Nothing is tuned. All methods are reported."
)


def write_summary(sections: Sequence[Section], absent: Sequence[str], settings: ShiftSettings) -> str:
    """Return the whole page; ``absent`` are the parts without results."""
    minutes = sum(section.seconds for section in sections) / 60
    command = f"surefoot reproduce shift --data DIR{' --quick' if settings.quick else ''}"
    remarks = [*([_quick(settings)] if settings.quick else []), OURS, PROTOCOL]
    remarks += [f"Not run, or not yet far enough: {', '.join(absent)}."] if absent else []
    pages = [
        f"# {TITLE}{f' ({QUICK_MARK})' if settings.quick else ''}",
        bullets([f"Command: `{command}`", f"Fitting and measuring: {minutes:.1f} minutes of one thread"]),
        bullets(remarks),
        *(_page(section) for section in sections),
    ]
    return "\n\n".join(pages) + "\n"


def _page(section: Section) -> str:
    parts = [f"## {section.title}", bullets(finding.markdown for finding in section.findings), section.text]
    parts += [f"Notes:\n\n{bullets(section.remarks)}"] if section.remarks else []
    return "\n\n".join([*parts, f"{section.seconds / 60:.1f} minutes of one thread."])


def _quick(settings: ShiftSettings) -> str:
    budgets = ", ".join(f"{budget.name} {budget.n_estimators} trees" for budget in settings.budgets)
    return (
        f"{QUICK_MARK}: {settings.draws} draws of at most {max(settings.target_sizes):,} target rows; fewer datasets "
        f"and splits; budgets: {budgets}."
    )
