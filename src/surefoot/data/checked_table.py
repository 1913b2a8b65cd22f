"""Reading the table of ``fit`` and ``predict``: a frame, an array or a sparse matrix becomes columns."""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from surefoot._exceptions import DataError, DataTypeError, ParameterError
from surefoot._numbers import array_of, naming
from surefoot.data.columns import Columns, Schema, check_names, is_frame
from surefoot.data.sparse_columns import SparseColumns, is_sparse_frame, sparse_matrix_of

TEXT_IN_ARRAY = ("could not convert string to float", "not compatible with arrays of bytes/strings")
DOUBLE = np.dtype(np.float64).itemsize
SPARSE_FORMATS = ("csr", "csc")  # matrices of other formats are converted


def check_table(
    estimator: BaseEstimator,
    X: Any,
    schema: Schema | None = None,
    weights: np.ndarray | None = None,
    categorical: Any = None,
) -> Columns:
    """Columns of ``X`` for fitting (with ``weights``), or, given the fitted model's ``schema``, for predicting."""
    reset = schema is None
    if is_frame(X):
        check_names(X)
        with naming("X"):
            validate_data(estimator, X, reset=reset, skip_check_array=True)
        positions = categorical_positions(estimator, categorical)
        if _takes_sparse(estimator) and is_sparse_frame(X):
            return SparseColumns.from_sparse(sparse_matrix_of(X), schema, positions, weights)
        return Columns.from_frame(X, schema, weights, positions)
    if schema is not None and not schema.has_only_numbers:
        raise DataError(
            "X is an array, but the model was fitted on a frame with categorical columns: "
            "pass a frame with the same columns and dtypes."
        )
    array = check_table_array(estimator, X, reset)
    return columns_of_array(array, schema, categorical_positions(estimator, categorical), weights)


def is_probe(X: Any, schema: Schema) -> bool:
    """Whether X is an array of one row of zeros.

    Other libraries (MAPIE) predict such a row to see whether a model is fitted, and drop the answer. So it needs no
    names, and its categories may be missing. Any other array is refused if the model knows categories of text: its
    numbers may be codes of categories that the model does not have.
    """
    is_row = type(X) is np.ndarray and X.shape == (1, schema.n_columns) and X.dtype.kind in "iuf"
    return is_row and not X.any()


def check_table_array(estimator: BaseEstimator, X: Any, reset: bool) -> Any:
    """``X`` as an array of numbers, some of which may be missing, or as a CSR or CSC matrix."""
    formats = SPARSE_FORMATS if _takes_sparse(estimator) else False
    refuse_masked_and_times(X)
    try:
        with np.errstate(over="ignore", invalid="ignore"), naming("X"):  # scikit-learn sums it to find infinities
            array = validate_data(
                estimator, X, reset=reset, dtype="numeric", ensure_all_finite="allow-nan", accept_sparse=formats
            )
    except DataError as error:
        if any(text in str(error) for text in TEXT_IN_ARRAY):
            raise DataError(
                f"X is an array with text ({error.__cause__}): pass a frame, and make its columns of text categorical, "
                "for example with X.astype({'name': 'category'}).",
                argument="X",
            ) from error
        if "float() argument" in str(error):
            raise DataTypeError(
                f"X cannot be read ({error.__cause__}): pass an array of numbers, or a frame whose columns are numbers "
                "or of categorical dtype.",
                argument="X",
            ) from error
        raise
    return array if array.dtype.kind in "biuf" and array.dtype.itemsize <= DOUBLE else _as_doubles(array)


def refuse_masked_and_times(X: Any) -> None:
    """Refuse arrays whose numbers would be read although they have no meaning."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise DataError("X is a masked array: pass X.filled(np.nan), in which missing values are NaN.", argument="X")
    if getattr(getattr(X, "dtype", None), "kind", "") in ("m", "M"):
        raise DataError(f"X is an array of {X.dtype}: make dates numbers, such as days since 1970.", argument="X")


def _as_doubles(array: Any) -> Any:
    """Python objects or longer floats, which scikit-learn leaves as they are, as float64."""
    with naming("X"), np.errstate(over="ignore"):
        numbers = array.astype(np.float64)
    if np.isinf(numbers.data if issparse(numbers) else numbers).any():
        raise DataError("Input X contains infinity or a value too large for dtype('float64').", argument="X")
    return numbers


def _takes_sparse(estimator: BaseEstimator) -> bool:
    """Whether the estimator reads sparse matrices: the base class of all estimators says so."""
    return bool(getattr(estimator, "_takes_sparse", False))


def columns_of_array(array: Any, schema: Schema | None, categorical: list[int], weights: np.ndarray | None) -> Columns:
    """Columns of a checked array or sparse matrix."""
    read = SparseColumns.from_sparse if issparse(array) else Columns.from_array
    return read(array, schema, categorical, weights)


def categorical_positions(estimator: BaseEstimator, categorical: Any) -> list[int]:
    """Positions of the columns named in ``categorical_features``: positions, names, or one boolean per column."""
    if categorical is None:
        return []
    chosen = array_of("categorical_features", categorical)
    n_columns = int(estimator.n_features_in_)
    if chosen.ndim == 1 and chosen.dtype.kind == "b" and len(chosen) == n_columns:
        return np.flatnonzero(chosen).tolist()
    if chosen.ndim == 1 and chosen.dtype.kind in "iu" and ((chosen >= 0) & (chosen < n_columns)).all():
        return chosen.tolist()
    names = list(getattr(estimator, "feature_names_in_", ()))
    if chosen.ndim == 1 and chosen.dtype.kind in "OU" and set(chosen) <= set(names):
        return [names.index(name) for name in chosen]
    if chosen.size == 0:
        return []
    raise ParameterError(
        "categorical_features must be 'from_dtype', None, or a list of column positions, of names that X has, or of "
        f"one boolean per column; got {categorical!r}."
    )
