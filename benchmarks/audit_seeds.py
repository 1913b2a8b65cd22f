"""Do the audit's answers depend on the seed? The same tables, audited with several seeds.

    SUREFOOT_DATA=FOLDER python benchmarks/audit_seeds.py --results seeds.jsonl --seeds 10

Prints, for each table and question, how many seeds gave an answer other than the most frequent one. The last columns
are standard deviations over the seeds, in units of the standard errors behind the intervals: of the gain from the last
doubling of the rows, of the prediction-rejection ratio, and of the calibration slope (classes) or the fraction inside
50% intervals (numbers). *draws* is the mean number of draws of the folds; ``--draws 1`` draws them once for every
table. A run that was stopped continues where it was.
"""

import argparse
import json
import os
import time
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

from surefoot.report import run
from surefoot.report.audit import Audit, audit_run
from surefoot.report.sections import ANSWERED
from surefoot.report.statistics import Estimate

BUNDLED = {
    "breast cancer": load_breast_cancer,
    "diabetes": load_diabetes,
    "iris": load_iris,
    "wine": load_wine,
}
FILES = ("pima", "concrete", "wine_red", "boston")
SIMULATED = ("linear_numbers", "curved_classes")
# Tables that were not used to choose the rules; at most ROWS rows of each, and other draws of the simulated tables.
FRESH_FILES = ("energy", "yacht", "kin8nm", "power", "adult", "higgs_56k", "click_small", "amazon_employee_access")
FRESH = (*FRESH_FILES, *(f"other_{name}" for name in SIMULATED))
ROWS = 1000
MOVING = ("doubling", "ratio", "calibration")


def table(name: str) -> tuple[Any, Any]:
    """A table and its target."""
    if name in BUNDLED:
        return BUNDLED[name](return_X_y=True, as_frame=True)
    if name.removeprefix("other_") in SIMULATED:
        case = SCENARIOS[name.removeprefix("other_")](np.random.default_rng(int(name not in SIMULATED)), ROWS)
        return case.X, case.y
    frame = pd.read_parquet(Path(os.environ["SUREFOOT_DATA"]) / f"{name}.parquet")
    if name in FRESH and len(frame) > ROWS:
        frame = frame.sample(ROWS, random_state=0).reset_index(drop=True)
    target = "target" if "target" in frame else frame.columns[-1]
    return frame.drop(columns=target), frame[target]


def run_one(name: str, seed: int, max_draws: int) -> dict[str, Any]:
    warnings.simplefilter("ignore")
    run.MAX_DRAWS = max_draws
    started = time.perf_counter()
    result = audit_run(*table(name), random_state=seed, n_jobs=1)[1]
    answers = {question: result.answer(question) for question in ANSWERED}
    moving = {
        key: [each.value, each.low, each.high] for key, each in moving_estimates(result).items() if each is not None
    }
    head, seconds = result.verdict[0].answer, round(time.perf_counter() - started, 1)
    line = {"table": name, "seed": seed, "headline": head, "draws": result.subject.n_draws, "seconds": seconds}
    return {**line, "estimates": moving, **answers}


def moving_estimates(result: Audit) -> dict[str, Estimate | None]:
    """The estimates that answers depend on most."""
    curve, uncertainty = result.accuracy.curve, result.uncertainty
    by_total, calibration = uncertainty.by_total, uncertainty.calibration
    inside = calibration.coverage[0].observed if calibration and calibration.coverage else None
    return {
        "doubling": None if curve is None else curve.last_doubling,
        "ratio": None if by_total is None else by_total.ratio,
        "calibration": inside or (None if calibration is None else calibration.slope),
    }


def spread(estimates: list[list[float]]) -> float:
    """Standard deviation of the values, divided by the root mean square of the standard errors of their intervals."""
    known = np.array([each for each in estimates if np.isfinite(each).all()])
    if len(known) < 2:
        return np.nan
    value, low, high = known.T
    return float(value.std(ddof=1) / np.sqrt(np.mean(((high - low) / (2 * 1.96)) ** 2)))


def summary(lines: list[dict[str, Any]]) -> str:
    """The answers for each table, and how many differ from the most frequent one."""
    different, total, spreads = 0, 0, []
    rows = ["| table | seeds | " + " | ".join((*ANSWERED, "draws", *MOVING)) + " |", "|---" * (7 + len(MOVING)) + "|"]
    for name in dict.fromkeys(line["table"] for line in lines):
        group = [line for line in lines if line["table"] == name]
        cells = []
        for question in ANSWERED:
            counts = Counter(line[question] for line in group)
            different += len(group) - counts.most_common(1)[0][1]
            total += len(group)
            cells.append(", ".join(f"{word} {count}" for word, count in counts.most_common()))
        cells.append(f"{np.mean([line['draws'] for line in group]):.1f}")
        moved = [spread([line["estimates"][key] for line in group if key in line["estimates"]]) for key in MOVING]
        spreads.append(moved)
        cells += [f"{each:.2f}" for each in moved]
        rows.append(f"| {name.replace('_', ' ')} | {len(group)} | {' | '.join(cells)} |")
    ending = f"{different} of {total} answers differ from the most frequent one of their table."
    middle = ", ".join(f"{key} {each:.2f}" for key, each in zip(MOVING, np.nanmedian(spreads, axis=0), strict=True))
    return "\n".join([*rows, "", f"{ending} Medians of the last columns: {middle}."])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=Path("seeds.jsonl"))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--draws", type=int, default=run.MAX_DRAWS, help="maximum number of draws of the folds")
    parser.add_argument("--fresh", action="store_true", help="ten other tables")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    done = {(line["table"], line["seed"]) for line in read_lines(arguments.results)}
    names = FRESH if arguments.fresh else [*BUNDLED, *SIMULATED, *(FILES if "SUREFOOT_DATA" in os.environ else ())]
    remaining = [
        (name, seed, arguments.draws) for seed in range(arguments.seeds) for name in names if (name, seed) not in done
    ]
    with ProcessPoolExecutor(arguments.workers) as pool, arguments.results.open("a") as file:
        for future in as_completed([pool.submit(run_one, *task) for task in remaining]):
            file.write(json.dumps(future.result()) + "\n")
            file.flush()
    print(summary(read_lines(arguments.results)))


if __name__ == "__main__":
    main()
