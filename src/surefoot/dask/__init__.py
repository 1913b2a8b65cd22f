"""The estimators of surefoot on Dask collections: rows stay on the workers of a cluster, models travel.

Needs the extra ``dask``. Each class has the parameters of the local class of the same name, and ``client``.
"""

from surefoot import _extras

for _package in ("dask.array", "dask.dataframe", "distributed"):
    _extras.require(_package, "surefoot.dask", "dask")

from surefoot.dask.bagged import BaggedBoostClassifier
from surefoot.dask.ensembles import BoostingEnsembleClassifier, BoostingEnsembleRegressor
from surefoot.dask.gradient_boosting import GradientBoostingClassifier, GradientBoostingRegressor
from surefoot.dask.majority import MajorityBoostClassifier
from surefoot.dask.stable_classifier import StableClassifier
from surefoot.dask.stable_selector import StableSelector

__all__ = [
    "BaggedBoostClassifier",
    "BoostingEnsembleClassifier",
    "BoostingEnsembleRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "MajorityBoostClassifier",
    "StableClassifier",
    "StableSelector",
]
