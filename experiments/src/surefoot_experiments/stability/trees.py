"""The structure of decision trees that predict the fates of cells: table 4 and figures 14 and 15 (appendix F).

The paper takes 50 of 547 cells and does not say which. We use several draws of 50, from fixed seeds. The paper does not
say either how it decides between equally good splits, of which there are many among 96 genes. We run both ways: at
random in each bag, which is scikit-learn's default, and in the same way in every bag.
"""

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from surefoot import StableSelector
from surefoot.selection import Argmax
from surefoot_experiments.skeleton.report import Section
from surefoot_experiments.skeleton.run import ProgressCallback
from surefoot_experiments.skeleton.unit import GrowingCsv
from surefoot_experiments.stability import paper
from surefoot_experiments.stability.compared_rules import ComparedRule, with_curves
from surefoot_experiments.stability.lines import RuleLine, RuleUnit
from surefoot_experiments.stability.settings import StabilitySettings
from surefoot_experiments.stability.sweep import rule_lines
from surefoot_experiments.stability.trees_models import (
    CHANCE,
    FILE,
    FIXED,
    TIES,
    Cells,
    TreeLine,
    tree_lines,
    tree_selector,
)
from surefoot_experiments.stability.trees_report import write_section
from surefoot_experiments.stability.trees_results import TreeResults

RESULTS = {CHANCE: "trees.csv", FIXED: "trees-fixed.csv"}
MODELS = "trees-models.csv"


class Trees:
    """Draws of 50 cells, 96 genes and 3 fates."""

    name = "trees"
    files: tuple[str, ...] = (FILE,)
    lines: Mapping[str, type[Any]] = {RESULTS[CHANCE]: RuleLine, RESULTS[FIXED]: RuleLine, MODELS: TreeLine}

    def run(
        self, folder: Path, data: Path, settings: StabilitySettings, n_jobs: int | None, callback: ProgressCallback
    ) -> None:
        """Run the draws that are not complete in the files."""
        cells, models = Cells.read(data), GrowingCsv(folder / MODELS, TreeLine)
        results = {ties: GrowingCsv(folder / name, RuleLine) for ties, name in RESULTS.items()}
        steps = [(draw, ties) for draw in range(settings.tree_draws) for ties in RESULTS]
        for done, (draw, ties) in enumerate(steps):
            if any(unit not in results[ties].lines for unit in _units(draw, settings)):
                callback(done, len(steps), f"trees, draw {draw}, ties {TIES[ties]}")
                started = time.process_time()
                stable = fit_draw(cells.draw(draw), draw, ties, settings.tree_bags, n_jobs)
                lines = draw_lines(stable, draw, settings.tree_left_out_bags, started)
                models.append(tree_lines(stable, draw, ties))
                results[ties].append(lines)  # last, because they mark the draw as done

    def report(self, folder: Path, data: Path, settings: StabilitySettings) -> Section | None:
        """Write table 4 and draw figures 14 and 15."""
        models = GrowingCsv(folder / MODELS, TreeLine).lines.values()
        by_ties = {}
        for ties, name in RESULTS.items():
            results = GrowingCsv(folder / name, RuleLine).lines.values()
            trees = [line for line in models if line.ties == ties]
            draws = TreeResults.of(results, trees, settings.tree_bags, len(compared_rules()))
            if draws.numbers:
                by_ties[ties] = draws
        return write_section(folder, Cells.read(data), by_ties, settings) if by_ties else None


def compared_rules() -> list[ComparedRule]:
    """The rules of table 4, and top-k and the inflated argmax with several parameters."""
    return with_curves(paper.TABLE_4)


def _units(draw: int, settings: StabilitySettings) -> list[RuleUnit]:
    return [RuleUnit(draw, settings.tree_bags, rule.kind, rule.parameter) for rule in compared_rules()]


def fit_draw(cells: Cells, draw: int, ties: str, bags: int, n_jobs: int | None) -> StableSelector:
    """scikit-learn's tree with its defaults on every bag."""
    stable = StableSelector(
        tree_selector(ties), rule=Argmax(), n_bags=bags, bag_size=paper.TREE_BAG_SIZE, random_state=draw, n_jobs=n_jobs
    )
    return stable.fit(cells.genes, cells.fates)


def draw_lines(stable: StableSelector, draw: int, left_out_bags: int, started: float) -> list[RuleLine]:
    """Evaluate every rule on the cells of a draw; the time since ``started`` is divided among the lines.

    The weights with all cells come from all bags of ``stable``, those without a cell from about ``left_out_bags``.
    """
    bagging = replace(stable._bagging, n_bags=left_out_bags)  # the same bags, but a smaller pool
    left_out = bagging.left_out_by_pool(stable.n_jobs, stable.verbose)
    return rule_lines(stable, left_out, draw, compared_rules(), started=started)
