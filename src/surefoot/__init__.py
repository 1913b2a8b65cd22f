"""Boosting ensembles that know how far to trust themselves."""

from surefoot._exceptions import (
    CoverageWarning,
    DataError,
    DatasetMissingError,
    ManyMembersWarning,
    ParameterError,
    QuietEnsembleWarning,
    SurefootError,
    SurefootWarning,
    UndecidedWarning,
)
from surefoot.boosting import (
    AdaBoostClassifier,
    BaggedBoostClassifier,
    BestBoostClassifier,
    LarsenRitzertClassifier,
    MajorityBoostClassifier,
)
from surefoot.selection import StableClassifier, StableSelector, inflated_argmax, stability_delta, stability_epsilon
from surefoot.shift import (
    ColumnShift,
    ShiftReport,
    VMatrix,
    VMatrixBoostingClassifier,
    VMatrixBoostingRegressor,
    shift_report,
    vmatrix_error,
    vmatrix_target_size,
)
from surefoot.uncertainty import (
    BoostingEnsembleClassifier,
    BoostingEnsembleRegressor,
    Distribution,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    Uncertainty,
    VirtualEnsemble,
)

__version__ = "0.1.0"

__all__ = [
    "AdaBoostClassifier",
    "BaggedBoostClassifier",
    "BestBoostClassifier",
    "BoostingEnsembleClassifier",
    "BoostingEnsembleRegressor",
    "ColumnShift",
    "CoverageWarning",
    "DataError",
    "DatasetMissingError",
    "Distribution",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "LarsenRitzertClassifier",
    "MajorityBoostClassifier",
    "ManyMembersWarning",
    "ParameterError",
    "QuietEnsembleWarning",
    "ShiftReport",
    "StableClassifier",
    "StableSelector",
    "SurefootError",
    "SurefootWarning",
    "Uncertainty",
    "UndecidedWarning",
    "VMatrix",
    "VMatrixBoostingClassifier",
    "VMatrixBoostingRegressor",
    "VirtualEnsemble",
    "__version__",
    "inflated_argmax",
    "shift_report",
    "stability_delta",
    "stability_epsilon",
    "vmatrix_error",
    "vmatrix_target_size",
]
