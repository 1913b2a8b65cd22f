"""V-matrix boosting: time, memory, growth with the rows, and side by side with dense NumPy; ratios from one run.

    .venv/bin/python benchmarks/shift.py [--quick] [--only big growth dense report]

The process is pinned to two cores. A dense V-matrix of 100,000 rows would take 80 GB, so the comparison with dense
NumPy is made at 4,000 rows: the same bins, the same trees, the same predictions (the largest difference is printed).
It is written in two ways. *Careful*: the best that could be done in NumPy here; the rows of each bin are added up one
bin at a time, so that nothing leaves the cache. *Plain*: the formula as one writes it down; the leaf's piece of the
matrix is put in order and summed up along both axes.
"""

import argparse
import importlib.metadata
import os
import platform
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence

import numpy as np

from surefoot import CoverageWarning, VMatrixBoostingRegressor, shift_report

CORES = 2
KINDS = ("mean", "joint")
SECTIONS = ("big", "growth", "dense", "report")
N_COLUMNS, N_TARGET, LEAVES = 10, 1_000, 16
RATE, BLEND, L2, LEAST_ROWS = 0.1, 0.3, 1.0, 5
TIE = 1e-10  # gains this close are one gain: the first place wins
SMALL = 600  # rows of a leaf below which one call for all bins is quicker than a call for each

# Beside each figure: at most, or at least.
AT_MOST = {"seconds": 180.0, "gigabytes": 1.5, "growth": 1.1}
AT_LEAST = {"dense": 50.0}

Figures = list[tuple[str, float, str, bool]]
Energies = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def made_table(n_rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, their targets, and rows of where the model will be used: the first five columns have moved."""
    rng = np.random.default_rng(seed)
    X, X_target = rng.normal(size=(n_rows, N_COLUMNS)), rng.normal(size=(N_TARGET, N_COLUMNS))
    X_target[:, :5] += 0.7
    y = 2 * X[:, 0] + np.sin(3 * X[:, 1]) + X[:, 2] * X[:, 3] - (X[:, 4] > 1) + rng.normal(size=n_rows)
    return X, y, X_target


def booster(kind: str, n_trees: int, n_jobs: int) -> VMatrixBoostingRegressor:
    return VMatrixBoostingRegressor(
        kind=kind, n_estimators=n_trees, max_leaf_nodes=LEAVES, learning_rate=RATE, blend=BLEND, l2_regularization=L2,
        min_samples_leaf=LEAST_ROWS, max_target=N_TARGET, early_stopping=False, random_state=0, n_jobs=n_jobs,
    )  # fmt: skip


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def most_gigabytes() -> float:
    """The most that this process has ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 30 if sys.platform == "darwin" else 1 << 20)


def warm_up(kind: str, n_jobs: int) -> None:
    """Compile every kernel: few rows take the matrix written out, more do not, and only many take threads."""
    for n_rows in (300, 3_000, 100_000)[: 3 if n_jobs > 1 else 2]:
        X, y, X_target = made_table(n_rows)
        booster(kind, 1, n_jobs).fit(X, y, X_target=X_target).predict(X[:100])


def fit_alone(kind: str, n_rows: int, n_trees: int) -> None:
    """What the fresh process runs: it prints its seconds, with and without compiling, and its peak memory."""
    X, y, X_target = made_table(n_rows)
    first = seconds(lambda: booster(kind, 1, CORES).fit(X, y, X_target=X_target))
    model = booster(kind, n_trees, CORES)
    print(seconds(lambda: model.fit(X, y, X_target=X_target)), first, most_gigabytes(), model.n_trees_, model.coverage_)


def big(quick: bool, figures: Figures) -> None:
    """The large table, each kind in a process of its own so that the peak is its own."""
    n_rows, n_trees = (20_000, 10) if quick else (100_000, 100)
    print(f"{n_rows:,} rows, {N_TARGET:,} target rows, {N_COLUMNS} columns, {n_trees} trees of {LEAVES} leaves")
    print(f"a dense matrix would take {8 * n_rows**2 / 1e9:.1f} GB")
    for kind in KINDS:
        command = [sys.executable, __file__, "--alone", kind, str(n_rows), str(n_trees)]
        answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
        taken, first, peak, n_grown, coverage = (float(word) for word in answer)
        print(
            f"    {kind:6} {taken:8.1f} s for {n_grown:.0f} trees (a first fit of one tree, compiling what is not "
            f"cached: {first:.1f} s), peak {peak:.2f} GB, coverage {coverage:.2f}",
            flush=True,
        )
        add_at_most(figures, f"{kind}, {n_rows:,} rows, {n_trees} trees: seconds", taken, "seconds")
        add_at_most(figures, f"{kind}, {n_rows:,} rows: peak memory of the process in GB", peak, "gigabytes")


def growth(quick: bool, figures: Figures) -> None:
    """How the time grows with the rows: the slope of a line through the logarithms.

    On one thread: two would come in only at the largest size, and make the growth look better than it is.
    """
    sizes = (2_000, 4_000, 8_000) if quick else (12_500, 25_000, 50_000, 100_000)
    n_trees = 3 if quick else 5
    print(f"growth of the time to fit {n_trees} trees with the rows, one thread; the median of three")
    for kind in KINDS:
        warm_up(kind, 1)
        tables = [made_table(n_rows) for n_rows in sizes]
        times = np.empty((3, len(sizes)))
        for turn in range(len(times)):
            for k, (X, y, X_target) in enumerate(tables):
                model = booster(kind, n_trees, 1)
                times[turn, k] = seconds(lambda: model.fit(X, y, X_target=X_target))  # noqa: B023
        middle = np.median(times, axis=0)
        exponent = float(np.polyfit(np.log(sizes), np.log(middle), 1)[0])
        steepest = float(np.max(np.diff(np.log(middle)) / np.diff(np.log(sizes))))
        listed = ", ".join(f"{n:,}: {t:.2f} s" for n, t in zip(sizes, middle, strict=True))
        print(f"    {kind:6} {listed}; steepest between neighbours: {steepest:.2f}", flush=True)
        add_at_most(figures, f"{kind}: time as rows to the power of", exponent, "growth")


def dense_matrix(kind: str, X: np.ndarray, X_target: np.ndarray) -> np.ndarray:
    """The V-matrix by its definition."""
    if kind == "joint":
        reached = np.all(X_target[np.newaxis] >= X[:, np.newaxis], axis=2).astype(np.float64)
        return reached @ reached.T / len(X_target)
    V = np.zeros((len(X), len(X)))
    for values, targets in zip(X.T, X_target.T, strict=True):
        share = 1 - np.searchsorted(np.sort(targets), values, side="left") / len(targets)
        V += np.minimum.outer(share, share)
    return V / X.shape[1]


def careful_energies(piece: np.ndarray, order: np.ndarray, firsts: np.ndarray) -> np.ndarray:
    """The sum of ``piece`` over all pairs of the rows up to each bin: bins by rows, then bins by bins."""
    if len(piece) < SMALL:
        by_bin = np.add.reduceat(piece[order], firsts, axis=0)
    else:
        by_bin = np.array([piece[rows].sum(axis=0) for rows in np.split(order, firsts[1:])])
    pairs = np.add.reduceat(by_bin[:, order], firsts, axis=1)
    return np.cumsum(2 * np.tril(pairs, -1).sum(axis=1) + pairs.diagonal())


def plain_energies(piece: np.ndarray, order: np.ndarray, firsts: np.ndarray) -> np.ndarray:
    """The same, by running sums along both axes of the piece in order."""
    running = piece[np.ix_(order, order)].cumsum(axis=0).cumsum(axis=1).diagonal()
    return running[np.append(firsts[1:], len(order)) - 1]


class DenseLeaf:
    """Rows and, for every place where they could be split (all columns end to end), the sums of the rows left of it."""

    def __init__(self, rows: np.ndarray, codes: np.ndarray, matrix: np.ndarray, energies: Energies) -> None:
        self.rows = rows
        own = codes[:, rows]
        self.orders = np.argsort(own, axis=1, kind="stable")
        in_order = np.take_along_axis(own, self.orders, axis=1)
        is_last = np.append(in_order[:, 1:] != in_order[:, :-1], np.ones((len(codes), 1), dtype=bool), axis=1)
        self.columns, self.lasts = np.nonzero(is_last)
        self.codes, self.counts = in_order[self.columns, self.lasts], self.lasts + 1
        piece = matrix[np.ix_(rows, rows)]
        firsts = [np.append(0, np.flatnonzero(last)[:-1] + 1) for last in is_last]
        self.energies = np.concatenate(
            [energies(piece, order, first) for order, first in zip(self.orders, firsts, strict=True)]
        )
        self.sums: dict[int, np.ndarray] = {}  # of the crosses with each leaf

    def add_up(self, values: np.ndarray) -> np.ndarray:
        """Sums of ``values`` (one for each row of the table) left of every place."""
        return values[self.rows][self.orders].cumsum(axis=1)[self.columns, self.lasts]


class DenseTree:
    """One tree grown on a dense matrix: greedy by the score, the values of all leaves at once."""

    def __init__(self, codes: np.ndarray, matrix: np.ndarray, residuals: np.ndarray, energies: Energies) -> None:
        self.codes, self.matrix, self.energies = codes, matrix, energies
        self.slopes = 2 * (matrix @ residuals)
        self.crosses = [2 * matrix.sum(axis=1)]
        self.leaves = [self._leaf(np.arange(len(residuals)))]
        self._meet(range(1))

    def _leaf(self, rows: np.ndarray) -> DenseLeaf:
        leaf = DenseLeaf(rows, self.codes, self.matrix, self.energies)
        leaf.pull = leaf.add_up(self.slopes)
        return leaf

    def _meet(self, changed: Sequence[int]) -> None:
        """Bring the sums of every leaf up to date with the leaves that changed, and solve for the values."""
        for number, leaf in enumerate(self.leaves):
            for m in range(len(self.leaves)) if number in changed else changed:
                leaf.sums[m] = leaf.add_up(self.crosses[m])
        D = np.array([[cross[leaf.rows].sum() for leaf in self.leaves] for cross in self.crosses])
        self.inverse = np.linalg.inv(D + L2 * np.eye(len(D)))
        self.values = self.inverse @ np.array([self.slopes[leaf.rows].sum() for leaf in self.leaves])

    def gains(self, number: int) -> np.ndarray:
        """By how much each place of a leaf lowers the score -1/2 U^T D^-1 U: a bordered inverse, in closed form."""
        leaf = self.leaves[number]
        cross = np.stack([leaf.sums[m] for m in range(len(self.leaves))], axis=1)
        cross[:, number] += L2
        project = cross @ self.inverse
        along, value = project[:, number], self.values[number]
        damp = L2 / (1 + L2 * self.inverse[number, number])
        slope = leaf.pull - cross @ self.values + damp * along * value
        stiffness = 2 * leaf.energies + L2 - (cross * project).sum(axis=1) + damp * along**2
        allowed = (leaf.counts >= LEAST_ROWS) & (len(leaf.rows) - leaf.counts >= LEAST_ROWS)
        gains = 0.5 * slope**2 / np.where(allowed, stiffness, 1.0) - 0.5 * damp * value**2
        return np.where(allowed, gains, -np.inf)

    def grow(self) -> np.ndarray:
        """Split until there are enough leaves; return what the tree says of each row."""
        while len(self.leaves) < LEAVES:
            gains = [self.gains(number) for number in range(len(self.leaves))]
            best = np.array([gain.max() for gain in gains])
            if best.max() <= 0:
                break
            number = int(np.flatnonzero(best >= best.max() * (1 - TIE))[0])
            self._split(number, int(np.flatnonzero(gains[number] >= best[number] * (1 - TIE))[0]))
        fitted = np.empty(len(self.slopes))
        for leaf, value in zip(self.leaves, self.values, strict=True):
            fitted[leaf.rows] = value
        return fitted

    def _split(self, number: int, place: int) -> None:
        leaf = self.leaves[number]
        goes_left = self.codes[leaf.columns[place], leaf.rows] <= leaf.codes[place]
        left, right = leaf.rows[goes_left], leaf.rows[~goes_left]
        cross = 2 * self.matrix[:, left].sum(axis=1)
        self.crosses.append(self.crosses[number] - cross)
        self.crosses[number] = cross
        self.leaves[number] = self._leaf(left)
        self.leaves.append(self._leaf(right))
        self._meet((number, len(self.leaves) - 1))


def dense_loss(kind: str, X: np.ndarray, X_target: np.ndarray) -> np.ndarray:
    """The matrix of the blended loss, the V-matrix scaled to one on average on its diagonal."""
    V = dense_matrix(kind, X, X_target)
    matrix = V * (BLEND * len(X) / V.trace())
    matrix[np.diag_indices(len(X))] += 1 - BLEND
    return matrix


def dense_fit(codes: np.ndarray, matrix: np.ndarray, y: np.ndarray, n_trees: int, energies: Energies) -> np.ndarray:
    """Boost on a dense matrix; return what the model says of the rows it was trained on."""
    pull = matrix.sum(axis=1)
    fitted = np.full(len(y), pull @ y / pull.sum())
    for _ in range(n_trees):
        fitted += RATE * DenseTree(codes, matrix, y - fitted, energies).grow()
    return fitted


def dense(quick: bool, figures: Figures) -> None:
    """The whole fit against dense NumPy, which is timed on a few trees and scaled: they all take about the same."""
    n_rows, n_trees, n_timed = (1_000, 20, 2) if quick else (4_000, 30, 3)
    print(f"{n_rows:,} rows, {n_trees} trees, dense NumPy timed on {n_timed} of them and scaled; both build V once")
    X, y, X_target = made_table(n_rows)
    ways: dict[str, Energies] = {"careful": careful_energies, "plain": plain_energies}
    for kind in KINDS:
        warm_up(kind, 1)
        few = booster(kind, n_timed, CORES).fit(X, y, X_target=X_target)
        codes = few._binner.codes_of(np.ascontiguousarray(X.T))
        model = booster(kind, n_trees, CORES)
        ours = np.median([seconds(lambda: model.fit(X, y, X_target=X_target)) for _ in range(3)])  # noqa: B023
        building = seconds(lambda: dense_loss(kind, X, X_target))  # noqa: B023
        matrix = dense_loss(kind, X, X_target)
        print(f"    {kind:6} surefoot {ours:.2f} s")
        for name, energies in ways.items():
            start = time.perf_counter()
            fitted = dense_fit(codes, matrix, y, n_timed, energies)
            each = (time.perf_counter() - start) / n_timed
            theirs = building + n_trees * each
            difference = np.abs(fitted - few.predict(X)).max()
            print(
                f"           dense NumPy, {name}: {theirs:.1f} s ({building:.2f} s to build V, {each:.2f} s a tree), "
                f"{theirs / ours:.1f} times surefoot's; largest difference of predictions {difference:.1e}",
                flush=True,
            )
            add_at_least(figures, f"{kind}, {n_rows:,} rows: speed over dense NumPy, {name}", theirs / ours, "dense")


def report(quick: bool, figures: Figures) -> None:
    n_rows = 10_000 if quick else 100_000
    rng = np.random.default_rng(0)
    X, X_target = rng.normal(size=(n_rows, 20)), rng.normal(size=(n_rows, 20))
    X_target[:, :3] += 0.05
    shift_report(X[:2_000], X_target[:2_000], random_state=0, n_jobs=CORES)
    taken = np.median([seconds(lambda: shift_report(X, X_target, random_state=0, n_jobs=CORES)) for _ in range(3)])
    print(f"shift_report of {n_rows:,} x 20 against {n_rows:,} x 20: {taken:.2f} s", flush=True)


def add_at_most(figures: Figures, name: str, value: float, key: str) -> None:
    figures.append((name, value, f"<= {AT_MOST[key]:g}", value <= AT_MOST[key]))


def add_at_least(figures: Figures, name: str, value: float, key: str) -> None:
    figures.append((name, value, f">= {AT_LEAST[key]:g}", value >= AT_LEAST[key]))


def print_figures(figures: Figures, quick: bool) -> None:
    print("\nall figures" + ("; of --quick runs, they say nothing" if quick else ""))
    for name, value, target, is_met in figures:
        print(f"  {name:64} {value:8.2f}   target {target:8}{'' if is_met else ' MISSED'}")


def use_cores() -> None:
    """Two cores for everything, the threads of NumPy's products included."""
    here = f"{os.cpu_count()}, not pinned"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
        here = f"{len(os.sched_getaffinity(0))} ({os.cpu_count()} in the machine)"
    print(f"cores: {here}; {platform.machine()}, Python {platform.python_version()}")
    print(", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("surefoot", "numpy", "numba")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small tables and few trees: shows that it runs, no more")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS, help="some sections alone")
    parser.add_argument("--alone", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore", CoverageWarning)  # ten features jointly: few rows are dominated
    if options.alone:
        kind, n_rows, n_trees = options.alone
        return fit_alone(kind, int(n_rows), int(n_trees))
    use_cores()
    figures: Figures = []
    runs = {"big": big, "growth": growth, "dense": dense, "report": report}
    for section in SECTIONS:
        if section in options.only:
            print(flush=True)
            runs[section](options.quick, figures)
    print_figures(figures, options.quick)


if __name__ == "__main__":
    main()
