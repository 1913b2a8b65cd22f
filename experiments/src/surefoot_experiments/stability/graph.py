"""Which proteins are connected, by the graphical lasso on 759 cells: table 2 and figures 4, 5 and 11 (5.2 and D.2)."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from surefoot import StableSelector
from surefoot.selection import Argmax, GraphicalLassoSelector, stability_epsilon
from surefoot_experiments.skeleton.report import Section
from surefoot_experiments.skeleton.run import ProgressCallback
from surefoot_experiments.skeleton.unit import GrowingCsv
from surefoot_experiments.stability import paper
from surefoot_experiments.stability.compared_rules import INFLATED, ComparedRule, with_curves
from surefoot_experiments.stability.graph_folds import N_FOLDS, FoldLine, FoldUnit, PenaltyValidation, fold_lines
from surefoot_experiments.stability.graph_peer import (
    ALL_CELLS,
    BAG,
    WITHOUT,
    PeerComparison,
    PeerLine,
    PeerUnit,
    peer_line,
)
from surefoot_experiments.stability.graph_report import write_section
from surefoot_experiments.stability.graph_results import GraphResults, graph_text
from surefoot_experiments.stability.lines import RuleLine, RuleUnit, WeightLine, select_trials, weight_lines
from surefoot_experiments.stability.settings import StabilitySettings
from surefoot_experiments.stability.sweep import rule_lines

FILE = "sachs_cd3cd28icam2_u0126.parquet"
RESULTS, WEIGHTS, FOLDS, PEER = "graph.csv", "graph-weights.csv", "graph-folds.csv", "graph-peer.csv"
PROMISED_DELTA = 0.05
TOP = 20  # graphs with stored weights
BAGS_PER_PEER_BAG = 10  # every tenth bag is also solved by scikit-learn, which is slow
SEEDS = range(10)  # of the bags: there is one table, and one pool of bags would prove nothing


class Graph:
    """One table of 759 cells and 11 proteins."""

    name = "graph"
    files: tuple[str, ...] = (FILE,)
    lines: Mapping[str, type[Any]] = {RESULTS: RuleLine, WEIGHTS: WeightLine, FOLDS: FoldLine, PEER: PeerLine}

    def run(
        self, folder: Path, data: Path, settings: StabilitySettings, n_jobs: int | None, callback: ProgressCallback
    ) -> None:
        """Run the bags, the cross-validation, and some bags with scikit-learn, as far as they are not in the files."""
        cells = read_cells(data)
        results, weights = GrowingCsv(folder / RESULTS, RuleLine), GrowingCsv(folder / WEIGHTS, WeightLine)
        total = len(SEEDS) + 2
        for seed in SEEDS:
            if _is_done(results, len(cells), settings, seed):
                continue
            callback(seed, total, f"graph, bags and leave-one-out, seed {seed}")
            started = time.process_time()
            stable = fit_bags(cells, settings.graph_bags, n_jobs, seed)
            lines = rule_lines(stable, stable.left_out_weights(), seed, compared_rules(len(cells)), started=started)
            graphs: Mapping[Any, float] = stable.weights_
            texts = {(graph_text(graph),): weight for graph, weight in graphs.items()}
            weights.append(weight_lines(texts, seed, top=TOP))
            results.append(lines)  # last, because they mark the bags as done
        callback(total - 2, total, "graph, cross-validation of the penalty")
        _validate(folder, cells.to_numpy(), settings)
        callback(total - 1, total, "graph, bags with scikit-learn")
        _compare(folder, cells, settings)

    def report(self, folder: Path, data: Path, settings: StabilitySettings) -> Section | None:
        """Write table 2 and draw figures 4, 5 and 11."""
        results, cells = GrowingCsv(folder / RESULTS, RuleLine), read_cells(data)
        seeds = [seed for seed in SEEDS if _is_done(results, len(cells), settings, seed)]
        if not seeds:
            return None
        rules = select_trials(results.lines.values(), seeds)
        weights = select_trials(GrowingCsv(folder / WEIGHTS, WeightLine).lines.values(), seeds)
        folds = GrowingCsv(folder / FOLDS, FoldLine).lines.values()
        peers = GrowingCsv(folder / PEER, PeerLine).lines.values()
        seconds = sum(line.seconds for lines in (rules, folds, peers) for line in lines)
        graphs = GraphResults.of(rules, weights, settings.graph_bags, len(cells))
        return write_section(folder, cells, graphs, PenaltyValidation.of(folds), PeerComparison.of(peers), seconds)


def read_cells(data: Path) -> Any:
    """The table as measured, without taking logarithms."""
    import pandas as pd

    return pd.read_parquet(data / FILE).astype(np.float64)


def compared_rules(n_rows: int) -> list[ComparedRule]:
    """The rules of table 2, top-k and the inflated argmax with several parameters, and an epsilon with a guarantee."""
    epsilon = stability_epsilon(PROMISED_DELTA, n_samples=n_rows, bag_size=paper.GRAPH_BAG_SIZE)
    return [*with_curves(paper.TABLE_2), ComparedRule(INFLATED, epsilon)]


def _is_done(results: GrowingCsv[RuleLine], n_rows: int, settings: StabilitySettings, seed: int) -> bool:
    """Whether all lines of a seed are in the file."""
    units = [RuleUnit(seed, settings.graph_bags, rule.kind, rule.parameter) for rule in compared_rules(n_rows)]
    return all(unit in results.lines for unit in units)


def fit_bags(cells: Any, bags: int, n_jobs: int | None, seed: int = SEEDS[0]) -> StableSelector:
    """The graphical lasso on every bag, with the paper's penalty."""
    stable = StableSelector(
        GraphicalLassoSelector(alpha=paper.GRAPH_PENALTY, standardize=False),
        rule=Argmax(),
        n_bags=bags,
        bag_size=paper.GRAPH_BAG_SIZE,
        random_state=seed,
        n_jobs=n_jobs,
    )
    return stable.fit(cells)


def penalties(settings: StabilitySettings) -> list[int]:
    """The penalties of figure 11, including the paper's choice."""
    step = settings.penalty_step
    return sorted({*range(step, paper.LARGEST_PENALTY + 1, step), int(paper.GRAPH_PENALTY)})


def _validate(folder: Path, X: np.ndarray, settings: StabilitySettings) -> None:
    """Run the folds of every penalty."""
    folds = GrowingCsv(folder / FOLDS, FoldLine)
    for penalty in penalties(settings):
        if any(FoldUnit(penalty, fold) not in folds.lines for fold in range(N_FOLDS)):
            folds.append(fold_lines(X, penalty))


def _compare(folder: Path, cells: Any, settings: StabilitySettings) -> None:
    """Solve with scikit-learn too: all cells, all cells but one, and the first bags."""
    peers = GrowingCsv(folder / PEER, PeerLine)
    some = range(0, len(cells), 1 if settings.graph_bags >= len(cells) else len(cells) // settings.graph_bags + 1)
    units = [PeerUnit(WITHOUT, number) for number in (ALL_CELLS, *some)]
    units += [PeerUnit(BAG, number) for number in range(settings.graph_bags // BAGS_PER_PEER_BAG)]
    waiting = [unit for unit in units if unit not in peers.lines]
    if not waiting:
        return
    bagging = fit_bags(cells, 1, None)._bagging  # the rows of a bag do not depend on the number of bags
    all_rows = np.arange(len(cells), dtype=np.int32)
    for unit in waiting:
        is_bag = unit.kind == BAG
        rows = bagging.pool.bags(unit.number, unit.number + 1)[0] if is_bag else all_rows[all_rows != unit.number]
        peers.append([peer_line(cells.to_numpy(), paper.GRAPH_PENALTY, bagging.prepared, unit, rows)])
