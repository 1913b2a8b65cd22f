"""Boosting ensembles that know how far to trust themselves."""

from surefoot._exceptions import (
    DataError,
    DatasetMissingError,
    ManyMembersWarning,
    ParameterError,
    SurefootError,
    SurefootWarning,
)
from surefoot.boosting import (
    AdaBoostClassifier,
    BaggedBoostClassifier,
    BestBoostClassifier,
    LarsenRitzertClassifier,
    MajorityBoostClassifier,
)

__version__ = "0.1.0"

__all__ = [
    "AdaBoostClassifier",
    "BaggedBoostClassifier",
    "BestBoostClassifier",
    "DataError",
    "DatasetMissingError",
    "LarsenRitzertClassifier",
    "MajorityBoostClassifier",
    "ManyMembersWarning",
    "ParameterError",
    "SurefootError",
    "SurefootWarning",
    "__version__",
]
