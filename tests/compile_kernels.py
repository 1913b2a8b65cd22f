"""Compile the kernels that most tests use, once, before the tests start.

Two workers that start with an empty cache would both compile every kernel. Two processes share the kernels here, and
neither compiles what the other does.
"""

import subprocess
import sys

import numpy as np

from surefoot._random import random_bits
from surefoot.data import BinnedTable, Columns

TABLE = """
import warnings
import numpy as np
import surefoot
from surefoot.selection import LassoSelector
warnings.simplefilter("ignore")
generator = np.random.default_rng(0)
X = generator.normal(size=(200, 5))
y = X[:, 0] + generator.normal(size=200)
two, three = (y > 0).astype(int), np.digitize(y, [-0.5, 0.5])
holes = np.where(generator.random(X.shape) < 0.1, np.nan, X)
"""
GRADIENT_BOOSTING = """
for weights in (None, generator.random(200)):
    surefoot.GradientBoostingRegressor(n_estimators=5).fit(holes, y, weights).predict(holes)
surefoot.GradientBoostingRegressor(n_estimators=5, grow_policy="depthwise").fit(holes, y).predict(holes)
for target in (two, three):
    surefoot.GradientBoostingClassifier(n_estimators=5).fit(holes, target).predict_proba(holes)
surefoot.BoostingEnsembleRegressor(n_estimators=5, n_members=2).fit(holes, y).predict_uncertainty(holes)
for kind in ("mean", "joint"):
    surefoot.VMatrixBoostingRegressor(n_estimators=5, kind=kind).fit(holes, y).predict(holes)
"""
OTHERS = """
for depth in (1, 2):
    for target in (two, three):
        surefoot.AdaBoostClassifier(n_estimators=5, max_depth=depth).fit(holes, target).predict_proba(holes)
surefoot.BaggedBoostClassifier(n_estimators=5, n_members=3).fit(holes, two).predict_proba(holes)
surefoot.StableSelector(LassoSelector(alpha=0.05), n_bags=50).fit(X, y)
surefoot.StableSelector(LassoSelector(alpha="cv"), n_bags=50).fit(X, y)
"""


def main() -> int:
    """Return how many of the two processes failed."""
    BinnedTable.from_columns(Columns.from_array(np.arange(20.0).reshape(10, 2)))  # both need these kernels
    random_bits(np.uint64(0), 10)
    processes = [subprocess.Popen([sys.executable, "-c", TABLE + part]) for part in (GRADIENT_BOOSTING, OTHERS)]
    return sum(process.wait() != 0 for process in processes)


if __name__ == "__main__":
    sys.exit(main())
