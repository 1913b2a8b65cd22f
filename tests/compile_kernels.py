"""Compile the kernels that most tests use, once, before the tests start.

Workers that start with an empty cache would all compile every kernel. Here every core has a process, and no two of them
compile the same kernels.
"""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from surefoot._random import random_bits
from surefoot.data import BinnedTable, Columns

TABLE = """
import tempfile
import warnings
from pathlib import Path
import numpy as np
import pandas as pd
import surefoot
from surefoot.selection import GraphicalLassoSelector, LassoSelector, LogisticLassoSelector, TreeSelector
from surefoot.uncertainty import stored_rows
warnings.simplefilter("ignore")
generator = np.random.default_rng(0)
X = generator.normal(size=(200, 5))
y = X[:, 0] + generator.normal(size=200)
two, three = (y > 0).astype(int), np.digitize(y, [-0.5, 0.5])
holes = np.where(generator.random(X.shape) < 0.1, np.nan, X)
kinds = pd.DataFrame(holes, columns=list("abcde")).assign(kind=pd.Categorical(generator.choice(["a", "b", "c"], 200)))
whole = kinds.fillna(dict.fromkeys("abcde", 0.0))
large, target = np.resize(holes, (26_000, 40)), np.resize(y, 26_000)
"""
PARTS = [  # those that take longest come first
    """
for table in (X, holes, kinds, whole):
    for grow_policy in ("symmetric", "depthwise"):
        surefoot.GradientBoostingRegressor(n_estimators=5, grow_policy=grow_policy).fit(table, y).predict(table)
surefoot.GradientBoostingRegressor(n_estimators=5).fit(holes, y, generator.random(200))
for labels in (two, three):
    surefoot.GradientBoostingClassifier(n_estimators=5).fit(holes, labels).predict_proba(holes)
surefoot.BoostingEnsembleRegressor(n_estimators=5, n_members=2).fit(holes, y).predict_uncertainty(holes)
surefoot.GradientBoostingRegressor(n_estimators=2, n_jobs=2).fit(large, target)
surefoot.GradientBoostingRegressor(n_estimators=5, subsample=0.5).fit(X, y)
surefoot.GradientBoostingRegressor(n_estimators=2, max_features=0.5, early_stopping=False).fit(X, y)
for table in (X, kinds):
    surefoot.GradientBoostingRegressor(n_estimators=2, grow_policy="leafwise", early_stopping=False).fit(table, y)
for grow_policy in ("symmetric", "depthwise"):
    model = surefoot.GradientBoostingRegressor(n_estimators=2, grow_policy=grow_policy).fit(X, y)
    model.shap_values(X, background=X[:2])
    model.shap_values(X)
codes = np.stack([np.arange(200) % 60, np.arange(200) % 55], axis=1)  # statistics of a pair of columns
model.set_params(categorical_features=[0, 1]).fit(codes, y).shap_values(codes)
stored_rows.SHARD_ROWS = 1 << 14
for table in (kinds, whole.drop(columns="kind")):
    with tempfile.TemporaryDirectory() as folder:
        table.assign(y=y).iloc[np.arange(20_000) % 200].to_parquet(Path(folder) / "table.parquet")
        surefoot.GradientBoostingRegressor(n_estimators=2).fit(Path(folder), "y")
""",
    """
for selector in (LassoSelector(alpha=0.05), LassoSelector(alpha="cv"), TreeSelector(max_depth=1)):
    surefoot.StableSelector(selector, n_bags=50).fit(X, y).leave_one_out()
for selector in (LassoSelector(missing="bag_median"), TreeSelector(max_depth=1, missing="bag_median")):
    surefoot.StableSelector(selector, n_bags=50).fit(holes, y)
""",
    """
for kind in ("mean", "joint"):
    surefoot.VMatrixBoostingRegressor(n_estimators=5, kind=kind).fit(holes, y).predict(holes)
for depth in (1, 2):
    for table, labels in ((holes, two), (holes, three), (kinds, two)):
        surefoot.AdaBoostClassifier(n_estimators=5, max_depth=depth).fit(table, labels).predict_proba(table)
surefoot.AdaBoostClassifier(n_estimators=2, n_jobs=2).fit(large, target > 0)
surefoot.BaggedBoostClassifier(n_estimators=5, n_members=3).fit(holes, two).predict_proba(holes)
surefoot.VMatrixBoostingRegressor(n_estimators=5).fit(kinds, y)
""",
    """
surefoot.StableSelector(LogisticLassoSelector(), n_bags=50).fit(X, two)
""",
    """
surefoot.StableSelector(GraphicalLassoSelector(alpha=0.1), n_bags=50).fit(X)
""",
]
NAMES: dict = {}


def compile_part(part):
    exec(part, dict(NAMES))


def main() -> None:
    exec(TABLE, NAMES)
    BinnedTable.from_columns(Columns.from_array(np.arange(20.0).reshape(10, 2)))  # all need these kernels
    random_bits(np.uint64(0), 10)
    if "fork" not in multiprocessing.get_all_start_methods():
        for part in PARTS:
            compile_part(part)
        return
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(os.cpu_count(), fork) as pool:  # its processes may have threads; those of a Pool may not
        list(pool.map(compile_part, PARTS))


if __name__ == "__main__":
    main()
