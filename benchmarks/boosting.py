"""Speed and memory of the boosters compared with scikit-learn: ratios from one run, on the same cores.

    make bench
    .venv/bin/python benchmarks/boosting.py [--quick]

scikit-learn's AdaBoost takes minutes for 300 rounds on 100,000 rows. It is timed on fewer rounds of the same table, and
the time is scaled; this is fair, because every round takes the same time. It has no ``n_jobs`` and uses one core;
surefoot is timed with n_jobs=1 and with n_jobs=2.
"""

import argparse
import os
import time
import tracemalloc

import numpy as np
from sklearn.ensemble import AdaBoostClassifier as Peer

from surefoot import AdaBoostClassifier, MajorityBoostClassifier

ROUNDS = 300


def make_table(n_rows: int, n_columns: int = 28, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A difficult table of two classes, similar to Higgs: continuous columns, some skewed, and much noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    X[:, 1::4] = np.exp(X[:, 1::4])
    score = X @ rng.normal(size=n_columns) / 6 + np.abs(X[:, 0]) * X[:, 2] / 3 - (X[:, 4] > 1) * X[:, 6]
    return X, (score + rng.logistic(size=n_rows) > np.median(score)).astype(int)


def seconds(function, repeats: int = 3) -> float:
    """The median time of a few runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def fit_speed(n_rows: int, peer_rounds: int) -> None:
    X, y = make_table(n_rows)
    start = time.perf_counter()
    Peer(n_estimators=peer_rounds, random_state=0).fit(X, y)
    peer = (time.perf_counter() - start) * ROUNDS / peer_rounds
    print(f"fit {n_rows:,} x 28, {ROUNDS} rounds")
    print(f"  scikit-learn      {peer:8.2f} s   (timed on {peer_rounds} rounds and scaled)")
    for n_jobs in (1, 2):
        ours = seconds(lambda: AdaBoostClassifier(calibrate=False, n_estimators=ROUNDS, n_jobs=n_jobs).fit(X, y))  # noqa: B023
        print(f"  surefoot n_jobs={n_jobs} {ours:8.3f} s   {peer / ours:6.0f} times scikit-learn's speed")


def predict_speed(n_rows: int) -> None:
    X, y = make_table(30_000)
    ours, peer = (
        AdaBoostClassifier(calibrate=False, n_estimators=ROUNDS).fit(X, y),
        Peer(n_estimators=ROUNDS, random_state=0),
    )
    peer_rounds = 30
    peer.set_params(n_estimators=peer_rounds).fit(X, y)
    X, _ = make_table(n_rows, seed=1)
    theirs = seconds(lambda: peer.predict(X), repeats=1) * ROUNDS / peer_rounds
    print(f"predict {n_rows:,} rows with {ROUNDS} stumps")
    print(f"  scikit-learn      {theirs:8.2f} s   (timed with {peer_rounds} stumps and scaled)")
    for n_jobs in (1, 2):
        ours.set_params(n_jobs=n_jobs)
        mine = seconds(lambda: ours.predict(X))
        print(f"  surefoot n_jobs={n_jobs} {mine:8.3f} s   {theirs / mine:6.0f} times scikit-learn's speed")


def majority_against_adaboost(sizes: tuple[int, ...]) -> None:
    print("Majority-of-5 against AdaBoost, same rows (the paper: the same work on smaller pieces)")
    for n_rows in sizes:
        X, y = make_table(n_rows)
        for n_jobs in (1, 2):
            one = AdaBoostClassifier(calibrate=False, n_estimators=ROUNDS, n_jobs=n_jobs)
            five = MajorityBoostClassifier(calibrate=False, n_estimators=ROUNDS, n_jobs=n_jobs, random_state=0)
            pairs = [(seconds(lambda: one.fit(X, y), 1), seconds(lambda: five.fit(X, y), 1)) for _ in range(7)]  # noqa: B023
            single, majority = np.median(pairs, axis=0)
            print(f"  {n_rows:9,} rows, n_jobs={n_jobs}: {majority:.3f} s / {single:.3f} s = {majority / single:.2f}")


def growth(sizes: tuple[int, ...]) -> None:
    print("growth of the time with the rows (28 columns)")
    for n_jobs in (1, 2):
        times = []
        for n_rows in sizes:
            X, y = make_table(n_rows)
            booster = AdaBoostClassifier(calibrate=False, n_estimators=ROUNDS, n_jobs=n_jobs)
            times.append(seconds(lambda: booster.fit(X, y)))  # noqa: B023
        exponent = np.log(times[-1] / times[0]) / np.log(sizes[-1] / sizes[0])
        listed = ", ".join(f"{n:,}: {t:.3f} s" for n, t in zip(sizes, times, strict=True))
        print(f"  n_jobs={n_jobs}: {listed}; time grows as rows^{exponent:.2f}")


def memory(n_rows: int) -> None:
    X, y = make_table(n_rows)
    print(f"memory beyond the input, {n_rows:,} x 28")
    for booster in (
        AdaBoostClassifier(calibrate=False, n_estimators=5),
        MajorityBoostClassifier(calibrate=False, n_estimators=5, random_state=0),
    ):
        tracemalloc.start()
        booster.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        allowed = 1.2 * X.size + 40 * n_rows
        print(
            f"  {type(booster).__name__:24} {peak / 1e6:6.1f} MB; 1.2 bytes a cell + 40 a row: {allowed / 1e6:.1f} MB"
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="smaller tables")
    quick = parser.parse_args().quick
    print(f"cores: {len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count()}\n")
    X, y = make_table(400)
    for n_jobs in (1, 2):  # compile before anything is timed
        AdaBoostClassifier(n_estimators=2, n_jobs=n_jobs).fit(X, y).predict(X)
        AdaBoostClassifier(n_estimators=2, n_jobs=n_jobs).fit(*make_table(40_000))
    fit_speed(20_000 if quick else 100_000, peer_rounds=5 if quick else 20)
    predict_speed(100_000 if quick else 1_000_000)
    majority_against_adaboost((30_000,) if quick else (30_000, 100_000, 300_000, 1_000_000))
    growth((30_000, 100_000) if quick else (30_000, 100_000, 300_000, 1_000_000))
    memory(100_000 if quick else 1_000_000)


if __name__ == "__main__":
    main()
