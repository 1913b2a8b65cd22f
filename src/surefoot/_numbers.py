"""Arguments that are arrays of numbers: they are read, or refused with an error that names them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import NotFittedError

from surefoot._exceptions import DataError, DataTypeError, SurefootError

ADVICE = "Reshape your data"  # scikit-learn prints the whole argument before it says this


@contextmanager
def naming(argument: str) -> Iterator[None]:
    """Errors of other libraries about an argument become errors of surefoot that name it."""
    try:
        yield
    except (SurefootError, NotFittedError):
        raise
    except TypeError as error:
        raise DataTypeError(f"{argument} cannot be read: {_in_short(error)}", argument=argument) from error
    except (ValueError, ArithmeticError) as error:
        raise DataError(f"{argument} cannot be read: {_in_short(error)}", argument=argument) from error


@contextmanager
def passed_as(argument: str, relation: str = "") -> Iterator[None]:
    """Errors about X become errors about the argument that the table was passed as."""
    try:
        yield
    except DataError as error:
        raise type(error)(f"{argument}{relation}: {error}", argument=argument) from error


def _in_short(error: Exception) -> str:
    """The message of an error without the values that it prints."""
    message = str(error)
    if "\n" not in message or "feature names" in message:
        return message
    advice = message[message.find(ADVICE) :] if ADVICE in message else ""
    return " ".join(f"{message.splitlines()[0]} {advice}".split())


def array_of(name: str, values: Any) -> np.ndarray:
    """``values`` as an array; masked values, sparse matrices and lists of unequal length are refused."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):  # nullable arrays of pandas have masks, too
        message = f"{name} is a masked array with masked values: leave out these rows, or fill them with .filled()."
        raise DataError(message, argument=name)
    if issparse(values):
        message = f"Sparse data was passed for {name}, but dense data is required: make it an array with .toarray()."
        raise DataTypeError(message, argument=name)
    with naming(name):
        return np.asarray(values)


def real_numbers(name: str, values: Any) -> np.ndarray:
    """``values`` as an array of float64, without a copy if they are one; missing values become NaN."""
    array = array_of(name, values)
    if array.dtype.kind not in "biufOUST":
        message = f"{name} must be numbers, got {array.dtype}."
        if array.dtype.kind == "c":
            message = f"{name} must be real numbers, got {array.dtype} (Complex data not supported)."
        raise DataError(message, argument=name)
    try:
        with np.errstate(over="ignore"):  # of a longer float: infinity, which is refused where it has no meaning
            return array.astype(np.float64, copy=False)
    except OverflowError as error:
        raise DataError(f"{name} has a number that is too large for a float: rescale it.", argument=name) from error
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must be numbers: {error}.", argument=name) from error


def finite_numbers(name: str, values: Any) -> np.ndarray:
    """As ``real_numbers``; missing and infinite values are refused."""
    numbers = real_numbers(name, values)
    if np.isnan(numbers).any():
        raise DataError(f"Input {name} contains NaN: every value must be a finite number.", argument=name)
    if np.isinf(numbers).any():
        message = f"Input {name} contains infinity or a value too large for dtype('float64')."
        raise DataError(message, argument=name)
    return numbers


def checked_path(name: str, path: Any) -> str:
    """The path of a file as text; numbers, which Python would take for open files, are refused."""
    with naming(name):
        text = os.fspath(path)
    if not isinstance(text, str) or not text:
        raise DataError(f"{name} must be the path of a file, as text or a Path; got {path!r}.", argument=name)
    return text
