"""Question 4: does it hold where it will be used?"""

from surefoot.shift.classifier import VMatrixBoostingClassifier
from surefoot.shift.column_shift import ColumnShift
from surefoot.shift.regressor import VMatrixBoostingRegressor
from surefoot.shift.shift_report import ShiftReport, shift_report
from surefoot.shift.v_matrix import VMatrix
from surefoot.shift.v_matrix_bounds import vmatrix_error, vmatrix_target_size

__all__ = [
    "ColumnShift",
    "ShiftReport",
    "VMatrix",
    "VMatrixBoostingClassifier",
    "VMatrixBoostingRegressor",
    "shift_report",
    "vmatrix_error",
    "vmatrix_target_size",
]
