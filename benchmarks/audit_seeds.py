"""Do the audit's answers depend on the seed? The same tables, audited with several seeds.

    SUREFOOT_DATA=FOLDER python benchmarks/audit_seeds.py --results seeds.jsonl --seeds 10

Prints, for each table and question, how many seeds gave an answer other than the most frequent one; and in the column
*doubling*, for the gain by the last doubling of the rows, the variance over the seeds by the variance that its interval
stands for. A run that was stopped goes on where it was.
"""

import argparse
import json
import os
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from audit_honesty import read_lines
from honesty_tables import SCENARIOS
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from surefoot.report.auditing import audit_run
from surefoot.report.verdict_words import NAMES

BUNDLED = {
    "breast cancer": load_breast_cancer,
    "diabetes": load_diabetes,
    "iris": load_iris,
    "wine": load_wine,
}
FILES = ("pima", "concrete", "wine_red", "boston")
SIMULATED = ("linear_numbers", "curved_classes")
ROWS = 1000


def table(name: str) -> tuple[Any, Any]:
    """A table and its target."""
    if name in BUNDLED:
        return BUNDLED[name](return_X_y=True, as_frame=True)
    if name in SIMULATED:
        case = SCENARIOS[name](np.random.default_rng(0), ROWS)
        return case.X, case.y
    frame = pd.read_parquet(Path(os.environ["SUREFOOT_DATA"]) / f"{name}.parquet")
    target = "target" if "target" in frame else frame.columns[-1]
    return frame.drop(columns=target), frame[target]


def run_one(name: str, seed: int) -> dict[str, Any]:
    warnings.simplefilter("ignore")
    found = audit_run(*table(name), random_state=seed, n_jobs=1)[1]
    answers = {question: found.answer(question) for question in NAMES}
    curve = found.accuracy.curve
    doubling = None if curve is None else [curve.last_doubling.value, curve.last_doubling.low, curve.last_doubling.high]
    return {"table": name, "seed": seed, "headline": found.verdict[0].answer, "doubling": doubling, **answers}


def spread(estimates: list[list[float]]) -> float:
    """Variance of some estimates by the mean variance that their intervals stand for."""
    value, low, high = np.array(estimates).T
    return float(value.var(ddof=1) / np.mean(((high - low) / (2 * 1.96)) ** 2))


def summary(lines: list[dict[str, Any]]) -> str:
    """Answers of each table, and how many differ from the most frequent one."""
    names, different, total, spreads = (*NAMES, "doubling"), 0, 0, []
    rows = ["| table | seeds | " + " | ".join(names) + " |", "|---|---|" + "---|" * len(names)]
    for name in dict.fromkeys(line["table"] for line in lines):
        group = [line for line in lines if line["table"] == name]
        cells = []
        for question in NAMES:
            counts = Counter(line[question] for line in group)
            different += len(group) - counts.most_common(1)[0][1]
            total += len(group)
            cells.append(", ".join(f"{word} {count}" for word, count in counts.most_common()))
        known = [line["doubling"] for line in group if line["doubling"] and np.isfinite(line["doubling"]).all()]
        spreads.append(spread(known) if len(known) > 1 else np.nan)
        rows.append(f"| {name.replace('_', ' ')} | {len(group)} | {' | '.join(cells)} | {spreads[-1]:.2f} |")
    ending = f"{different} of {total} answers differ from the most frequent one of their table."
    return "\n".join([*rows, "", f"{ending} Doubling, mean: {np.nanmean(spreads):.2f}."])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=Path("seeds.jsonl"))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    done = {(line["table"], line["seed"]) for line in read_lines(arguments.results)}
    names = [*BUNDLED, *SIMULATED, *(FILES if "SUREFOOT_DATA" in os.environ else ())]
    left = [(name, seed) for seed in range(arguments.seeds) for name in names if (name, seed) not in done]
    with ProcessPoolExecutor(arguments.workers) as pool, arguments.results.open("a") as file:
        for future in as_completed([pool.submit(run_one, *task) for task in left]):
            file.write(json.dumps(future.result()) + "\n")
            file.flush()
    print(summary(read_lines(arguments.results)))


if __name__ == "__main__":
    main()
