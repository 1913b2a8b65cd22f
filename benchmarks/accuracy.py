"""Mean test accuracy of AdaBoost and of scikit-learn's AdaBoost over 20 splits of real tables.

    SUREFOOT_DATA=folder .venv/bin/python benchmarks/accuracy.py [--rounds 50]

The tables are breast cancer, wine and iris of scikit-learn and, if the folder is given, pima, higgs_56k and
covertype_177k (classes 1 and 2). scikit-learn takes most of the time.
"""

import argparse
import os
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import AdaBoostClassifier as Peer
from sklearn.model_selection import ShuffleSplit, cross_val_score

from surefoot import AdaBoostClassifier


def tables():
    for name, load in (("breast cancer", load_breast_cancer), ("wine", load_wine), ("iris", load_iris)):
        yield name, *load(return_X_y=True)
    folder = os.environ.get("SUREFOOT_DATA")
    for name in ("pima", "higgs_56k", "covertype_177k") if folder else ():
        import pandas as pd

        frame = pd.read_parquet(Path(folder) / f"{name}.parquet")
        if name.startswith("covertype"):
            frame = frame[frame["target"] <= 2]
        yield name, frame.drop(columns="target").to_numpy(dtype=np.float32), frame["target"].to_numpy()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=50)
    rounds = parser.parse_args().rounds
    splits = ShuffleSplit(20, test_size=0.2, random_state=0)
    print(f"{rounds} rounds, 20 splits; points of accuracy, and the difference paired by split with its standard error")
    for name, X, y in tables():
        ours = cross_val_score(AdaBoostClassifier(n_estimators=rounds), X, y, cv=splits)
        peer = cross_val_score(Peer(n_estimators=rounds, random_state=0), X, y, cv=splits, n_jobs=2)
        difference = 100 * (ours - peer)
        error = difference.std(ddof=1) / np.sqrt(len(difference))
        print(
            f"  {name:15} {len(y):7,} rows: surefoot {100 * ours.mean():.2f}, scikit-learn {100 * peer.mean():.2f}, "
            f"difference {difference.mean():+.2f} ± {error:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
