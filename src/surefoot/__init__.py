"""Boosting ensembles that know how far to trust themselves."""

import typing
import warnings

from surefoot import _early_interrupt
from surefoot._exceptions import (
    ClusterError,
    CoverageWarning,
    DataError,
    InfiniteIntervalWarning,
    ManyMembersWarning,
    ModelFileError,
    NoTrainingNoiseWarning,
    ParameterError,
    SurefootError,
    SurefootWarning,
    UndecidedWarning,
    UnknownCategoryWarning,
    UnlikePartitionsWarning,
)
from surefoot.boosting import (
    AdaBoostClassifier,
    BaggedBoostClassifier,
    BestBoostClassifier,
    LarsenRitzertClassifier,
    MajorityBoostClassifier,
)
from surefoot.conformal import ConformalClassifier, ConformalRegressor
from surefoot.export import dump_model, to_onnx
from surefoot.model_io import load, save
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
    RoundReport,
    Uncertainty,
    VirtualEnsemble,
)

if typing.TYPE_CHECKING:
    from surefoot.report.audit import Audit, audit
    from surefoot.report.comparison.comparison import AuditComparison, compare

_early_interrupt.end()

__version__ = "0.2.0"

__all__ = [
    "AdaBoostClassifier",
    "Audit",
    "AuditComparison",
    "BaggedBoostClassifier",
    "BestBoostClassifier",
    "BoostingEnsembleClassifier",
    "BoostingEnsembleRegressor",
    "ClusterError",
    "ColumnShift",
    "ConformalClassifier",
    "ConformalRegressor",
    "CoverageWarning",
    "DataError",
    "Distribution",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "InfiniteIntervalWarning",
    "LarsenRitzertClassifier",
    "MajorityBoostClassifier",
    "ManyMembersWarning",
    "ModelFileError",
    "NoTrainingNoiseWarning",
    "ParameterError",
    "RoundReport",
    "ShiftReport",
    "StableClassifier",
    "StableSelector",
    "SurefootError",
    "SurefootWarning",
    "Uncertainty",
    "UndecidedWarning",
    "UnknownCategoryWarning",
    "UnlikePartitionsWarning",
    "VMatrix",
    "VMatrixBoostingClassifier",
    "VMatrixBoostingRegressor",
    "VirtualEnsemble",
    "__version__",
    "audit",
    "compare",
    "dump_model",
    "inflated_argmax",
    "load",
    "save",
    "shift_report",
    "stability_delta",
    "stability_epsilon",
    "to_onnx",
    "vmatrix_error",
    "vmatrix_target_size",
]


def __getattr__(name: str) -> typing.Any:
    """Import the audit on first use, because it needs pandas; keep renamed classes for one release."""
    if name in ("Audit", "AuditComparison", "audit", "compare"):
        from surefoot import report

        return getattr(report, name)
    if name == "DatasetMissingError":
        from surefoot._exceptions import MissingDataFileError

        message = "surefoot.DatasetMissingError is now surefoot_experiments.DatasetMissingError: use that name."
        warnings.warn(message, FutureWarning, stacklevel=2)
        return MissingDataFileError
    if name == "QuietEnsembleWarning":
        warnings.warn(f"{name} is now NoTrainingNoiseWarning: use that name.", FutureWarning, stacklevel=2)
        return NoTrainingNoiseWarning
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
