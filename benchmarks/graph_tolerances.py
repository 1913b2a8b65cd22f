"""The effect of tolerances on the graphs of scikit-learn's graphical lasso, for the paper's table of proteins.

    python benchmarks/graph_tolerances.py --data FOLDER [--bags 10000]

The script does not need surefoot, so it also runs with an older scikit-learn, whose defaults give different graphs:
``pip install scikit-learn==1.5.2 pandas pyarrow``. The folder must contain sachs_cd3cd28icam2_u0126.parquet. Bags have
700 of the 759 cells, drawn without replacement; the penalty is 77. The script takes a few minutes.
"""

import argparse
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import sklearn
from sklearn.covariance import graphical_lasso

FILE = "sachs_cd3cd28icam2_u0126.parquet"
PENALTY, BAG_SIZE = 77.0, 700
TOLERANCES = {"default": {}, "strict": {"tol": 1e-8, "enet_tol": 1e-14, "max_iter": 5000}}


def find_graph(cells: np.ndarray, tolerances: dict[str, float]) -> bytes | None:
    """The pairs of proteins with an edge; None if scikit-learn fails."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # about missing convergence and its consequences
        try:
            precision = graphical_lasso(np.cov(cells.T, bias=True), PENALTY, **tolerances)[1]
        except FloatingPointError:
            return None
    return (precision[np.triu_indices(len(precision), 1)] != 0).tobytes()


def describe_bags(cells: np.ndarray, n_bags: int, tolerances: dict[str, float]) -> str:
    """The two most frequent graphs, as fractions of the solved bags."""
    rng = np.random.default_rng(0)
    bags = (rng.choice(len(cells), BAG_SIZE, replace=False) for _ in range(n_bags))
    graphs = [find_graph(cells[bag], tolerances) for bag in bags]
    solved = [graph for graph in graphs if graph is not None]
    if not solved:
        return f"none of {n_bags:,} bags solved"
    top = " and ".join(f"{count / len(solved):.2%}" for _, count in Counter(solved).most_common(2))
    return f"top two graphs {top} of the bags ({len(solved):,} of {n_bags:,} solved)"


def describe_cells(cells: np.ndarray, tolerances: dict[str, float]) -> str:
    """How often leaving out one cell changes the graph."""
    full = find_graph(cells, tolerances)
    if full is None:
        return "all cells: not solved"
    without = [find_graph(np.delete(cells, cell, axis=0), tolerances) for cell in range(len(cells))]
    solved = [graph for graph in without if graph is not None]
    changed = sum(graph != full for graph in solved)
    counts = f"{changed} changes; {len(solved)} of {len(cells)} tables without a cell solved"
    return f"argmax without bags: instability {changed / max(len(solved), 1):.3f} ({counts})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder of the table")
    parser.add_argument("--bags", type=int, default=10_000)
    arguments = parser.parse_args()
    cells = pd.read_parquet(arguments.data / FILE).to_numpy(dtype=np.float64)
    print(f"scikit-learn {sklearn.__version__}")
    for name, tolerances in TOLERANCES.items():
        print(f"  {name} tolerances: {describe_bags(cells, arguments.bags, tolerances)}", flush=True)
        print(f"  {name} tolerances: {describe_cells(cells, tolerances)}", flush=True)


if __name__ == "__main__":
    main()
