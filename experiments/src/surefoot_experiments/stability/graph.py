"""Which proteins are connected, by the graphical lasso on 759 cells: table 2 and figures 4, 5 and 11 (5.2 and D.2)."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from surefoot import StableSelector
from surefoot.selection import Argmax, GraphicalLassoSelector, stability_epsilon
from surefoot_experiments.skeleton.report import Section
from surefoot_experiments.skeleton.run import Watcher
from surefoot_experiments.skeleton.unit import GrowingCsv
from surefoot_experiments.stability import paper
from surefoot_experiments.stability.graph_folds import N_FOLDS, FoldLine, FoldUnit, Validation, fold_lines
from surefoot_experiments.stability.graph_peer import ALL_CELLS, BAG, WITHOUT, PeerLine, Peers, PeerUnit, peer_line
from surefoot_experiments.stability.graph_report import tell
from surefoot_experiments.stability.graph_results import Graphs, graph_words
from surefoot_experiments.stability.lines import RuleLine, RuleUnit, WeightLine, of_trials, weight_lines
from surefoot_experiments.stability.rule_grid import INFLATED, Contender, with_curves
from surefoot_experiments.stability.settings import StabilitySettings
from surefoot_experiments.stability.sweep import rule_lines

FILE = "sachs_cd3cd28icam2_u0126.parquet"
RESULTS, WEIGHTS, FOLDS, PEER = "graph.csv", "graph-weights.csv", "graph-folds.csv", "graph-peer.csv"
PROMISED = 0.05
TOP = 20  # graphs whose weights are kept
PEER_SHARE = 10  # one in so many bags is solved by scikit-learn too, which is slow
SEEDS = range(10)  # of the bags: there is one table, and what one pool of bags shows is an anecdote


class Graph:
    """One table of 759 cells and 11 proteins."""

    name = "graph"
    files: tuple[str, ...] = (FILE,)
    lines: Mapping[str, type[Any]] = {RESULTS: RuleLine, WEIGHTS: WeightLine, FOLDS: FoldLine, PEER: PeerLine}

    def run(self, folder: Path, data: Path, settings: StabilitySettings, n_jobs: int | None, watch: Watcher) -> None:
        """The bags, the cross-validation, and some bags by scikit-learn: what is not in the files yet."""
        cells = read_cells(data)
        results, weights = GrowingCsv(folder / RESULTS, RuleLine), GrowingCsv(folder / WEIGHTS, WeightLine)
        total = len(SEEDS) + 2
        for seed in SEEDS:
            if _is_done(results, len(cells), settings, seed):
                continue
            watch(seed, total, f"graph, bags and leave-one-out, seed {seed}")
            started = time.process_time()
            stable = fit_bags(cells, settings.graph_bags, n_jobs, seed)
            lines = rule_lines(stable, stable.left_out_weights(), seed, contenders(len(cells)), started=started)
            found: Mapping[Any, float] = stable.weights_
            in_words = {(graph_words(graph),): weight for graph, weight in found.items()}
            weights.append(weight_lines(in_words, seed, top=TOP))
            results.append(lines)  # last: they say that the bags are done
        watch(total - 2, total, "graph, cross-validation of the penalty")
        _validate(folder, cells.to_numpy(), settings)
        watch(total - 1, total, "graph, bags by scikit-learn")
        _compare(folder, cells, settings)

    def report(self, folder: Path, data: Path, settings: StabilitySettings) -> Section | None:
        """Table 2 and figures 4, 5 and 11."""
        results, cells = GrowingCsv(folder / RESULTS, RuleLine), read_cells(data)
        seeds = [seed for seed in SEEDS if _is_done(results, len(cells), settings, seed)]
        if not seeds:
            return None
        rules = of_trials(results.lines.values(), seeds)
        weights = of_trials(GrowingCsv(folder / WEIGHTS, WeightLine).lines.values(), seeds)
        folds = GrowingCsv(folder / FOLDS, FoldLine).lines.values()
        peers = GrowingCsv(folder / PEER, PeerLine).lines.values()
        seconds = sum(line.seconds for lines in (rules, folds, peers) for line in lines)
        graphs = Graphs.of(rules, weights, settings.graph_bags, len(cells))
        return tell(folder, cells, graphs, Validation.of(folds), Peers.of(peers), seconds)


def read_cells(data: Path) -> Any:
    """The table, as measured: not even logarithms are taken."""
    import pandas as pd

    return pd.read_parquet(data / FILE).astype(np.float64)


def contenders(n_rows: int) -> list[Contender]:
    """Those of table 2, top-k and the inflated argmax along their parameters, and an inflation that promises."""
    promising = stability_epsilon(PROMISED, n_samples=n_rows, bag_size=paper.GRAPH_BAG_SIZE)
    return [*with_curves(paper.TABLE_2), Contender(INFLATED, promising)]


def _is_done(results: GrowingCsv[RuleLine], n_rows: int, settings: StabilitySettings, seed: int) -> bool:
    """Whether all lines of a seed's bags are there."""
    units = [RuleUnit(seed, settings.graph_bags, one.rule, one.parameter) for one in contenders(n_rows)]
    return all(unit in results.lines for unit in units)


def fit_bags(cells: Any, bags: int, n_jobs: int | None, seed: int = SEEDS[0]) -> StableSelector:
    """The graphical lasso on every bag, with the paper's penalty."""
    stable = StableSelector(
        GraphicalLassoSelector(alpha=paper.GRAPH_PENALTY, standardize=False),
        rule=Argmax(), n_bags=bags, bag_size=paper.GRAPH_BAG_SIZE,
        random_state=seed, n_jobs=n_jobs,
    )  # fmt: skip
    return stable.fit(cells)


def penalties(settings: StabilitySettings) -> list[int]:
    """Those of figure 11, the paper's choice among them."""
    step = settings.penalty_step
    return sorted({*range(step, paper.LARGEST_PENALTY + 1, step), int(paper.GRAPH_PENALTY)})


def _validate(folder: Path, X: np.ndarray, settings: StabilitySettings) -> None:
    """The folds of every penalty."""
    folds = GrowingCsv(folder / FOLDS, FoldLine)
    for penalty in penalties(settings):
        if any(FoldUnit(penalty, fold) not in folds.lines for fold in range(N_FOLDS)):
            folds.append(fold_lines(X, penalty))


def _compare(folder: Path, cells: Any, settings: StabilitySettings) -> None:
    """All cells, all but one of some, and the first bags, by scikit-learn."""
    peers = GrowingCsv(folder / PEER, PeerLine)
    some = range(0, len(cells), 1 if settings.graph_bags >= len(cells) else len(cells) // settings.graph_bags + 1)
    units = [PeerUnit(WITHOUT, number) for number in (ALL_CELLS, *some)]
    units += [PeerUnit(BAG, number) for number in range(settings.graph_bags // PEER_SHARE)]
    waiting = [unit for unit in units if unit not in peers.lines]
    if not waiting:
        return
    bagging = fit_bags(cells, 1, None)._bagging  # bags are numbered: their number changes none of them
    every = np.arange(len(cells), dtype=np.int32)
    for unit in waiting:
        is_bag = unit.kind == BAG
        rows = bagging.pool.bags(unit.number, unit.number + 1)[0] if is_bag else every[every != unit.number]
        peers.append([peer_line(cells.to_numpy(), paper.GRAPH_PENALTY, bagging.prepared, unit, rows)])
