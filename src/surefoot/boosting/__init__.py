"""Question 1, is it as accurate as the data allows? AdaBoost and the sample-optimal boosters built on it."""

from surefoot.boosting.adaboost import AdaBoostClassifier
from surefoot.boosting.bagged import BaggedBoostClassifier
from surefoot.boosting.best_boost import BestBoostClassifier
from surefoot.boosting.larsen_ritzert import LarsenRitzertClassifier
from surefoot.boosting.majority import MajorityBoostClassifier

__all__ = [
    "AdaBoostClassifier",
    "BaggedBoostClassifier",
    "BestBoostClassifier",
    "LarsenRitzertClassifier",
    "MajorityBoostClassifier",
]
