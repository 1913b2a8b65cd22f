"""A guarantee that holds: 300 rows, 200 covariates, and the epsilon of theorem 4.2 (C.3 and figure 9).

The paper has one draw; we use several, from fixed seeds.
"""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from surefoot import StableSelector
from surefoot.selection import Argmax, LassoSelector, LeaveOneOut, ModelWeights
from surefoot_experiments.skeleton.report import Section
from surefoot_experiments.skeleton.run import ProgressCallback
from surefoot_experiments.skeleton.unit import GrowingCsv
from surefoot_experiments.stability import paper
from surefoot_experiments.stability.compared_rules import ARGMAX, BASE, INFLATED, TOP_K, ComparedRule
from surefoot_experiments.stability.correlated import RELEVANT, covariate_names, draw_table
from surefoot_experiments.stability.larger_sample_report import write_section
from surefoot_experiments.stability.lines import DrawLine, RuleLine, WeightLine, weight_lines
from surefoot_experiments.stability.settings import StabilitySettings
from surefoot_experiments.stability.sweep import rule_lines

RESULTS, DRAWS, WEIGHTS = "larger_sample.csv", "larger_sample-draws.csv", "larger_sample-weights.csv"
TOP = 10


class LargerSample:
    """Tables of 300 rows, drawn from fixed seeds."""

    name = "larger_sample"
    files: tuple[str, ...] = ()
    lines: Mapping[str, type[Any]] = {RESULTS: RuleLine, DRAWS: DrawLine, WEIGHTS: WeightLine}

    def run(
        self, folder: Path, data: Path, settings: StabilitySettings, n_jobs: int | None, callback: ProgressCallback
    ) -> None:
        """Run the draws that are not in the files yet."""
        results, draws = GrowingCsv(folder / RESULTS, RuleLine), GrowingCsv(folder / DRAWS, DrawLine)
        weights = GrowingCsv(folder / WEIGHTS, WeightLine)
        for draw in range(settings.larger_draws):
            if draw not in draws.lines:
                callback(draw, settings.larger_draws, f"larger sample, draw {draw}")
                rules, summary, models = run_draw(draw, settings.larger_bags, n_jobs)
                results.append(rules)
                weights.append(models)
                draws.append([summary])  # last, because it marks the draw as done

    def report(self, folder: Path, data: Path, settings: StabilitySettings) -> Section | None:
        """Draw figure 9 and the distributions over draws."""
        draws = list(GrowingCsv(folder / DRAWS, DrawLine).lines.values())
        if not draws:
            return None
        results = list(GrowingCsv(folder / RESULTS, RuleLine).lines.values())
        weights = list(GrowingCsv(folder / WEIGHTS, WeightLine).lines.values())
        return write_section(folder, draws, results, weights)


def fit_draw(draw: int, bags: int, n_jobs: int | None) -> StableSelector:
    """The LASSO on the bags of one draw, and the inflated argmax with the paper's delta."""
    import pandas as pd

    X, y = draw_table(paper.LARGER_ROWS, paper.LARGER_COLUMNS, paper.LARGER_NOISE, seed=draw)
    stable = StableSelector(
        LassoSelector(alpha=paper.REGRESSION_PENALTY, standardize=False),
        delta=paper.LARGER_DELTA,
        n_bags=bags,
        bag_size=paper.REGRESSION_BAG_SIZE,
        random_state=draw,
        n_jobs=n_jobs,
    )
    return stable.fit(pd.DataFrame(X, columns=covariate_names(X.shape[1])), y)


def run_draw(draw: int, bags: int, n_jobs: int | None) -> tuple[list[RuleLine], DrawLine, list[WeightLine]]:
    """The results of the rules on a draw, the selection, and the heaviest models.

    If leaving out a row changes the choice of argmax, the heaviest models without the first such row are included.
    """
    started = time.process_time()
    stable = fit_draw(draw, bags, n_jobs)
    inflated = ComparedRule(INFLATED, stable.epsilon_)
    rules = [ComparedRule(BASE), ComparedRule(ARGMAX), ComparedRule(TOP_K, 2.0), ComparedRule(TOP_K, 6.0), inflated]
    truth = np.isin(np.arange(1, stable.n_features_in_ + 1), RELEVANT)
    (weights,) = stable.left_out_weights()
    results = rule_lines(stable, [weights], draw, rules, truth, started=started)
    changed = LeaveOneOut.of(Argmax(), [weights]).disjoint_rows
    row = int(changed[0]) if len(changed) else -1
    models = weight_lines(stable.weights_, draw, top=TOP)
    if row >= 0:
        without = ModelWeights(stable._bagging.counts.models, weights.left_out[row])
        models += weight_lines(without, draw, row, top=TOP)
    summary = DrawLine(trial=draw, bags=bags, epsilon=stable.epsilon_, selected=stable.expression_, changed_row=row)
    return results, summary, models
