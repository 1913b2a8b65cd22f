"""The errors and warnings of surefoot.

::

    SurefootError
    ├── ClusterError (also RuntimeError)   a Dask cluster cannot be reached, or has lost what a fit needs
    ├── DataError (also ValueError)        the table, the labels or the weights cannot be used
    ├── ModelFileError (also ValueError)   a model file cannot be read, or a model cannot be saved
    └── ParameterError (also ValueError)   a parameter or a combination of parameters is refused

    SurefootWarning (UserWarning)
    ├── CoverageWarning                    target rows dominate less than half of the training rows
    ├── InfiniteIntervalWarning            calibration rows are too few for a finite interval at this level
    ├── ManyMembersWarning                 the ensemble has many members; the message gives their number
    ├── NoTrainingNoiseWarning             a virtual ensemble of a model trained without noise: its spread means less
    ├── UndecidedWarning                   the bags do not determine which models to select
    ├── UnknownCategoryWarning             a column to predict has none of the categories of the training data
    └── UnlikePartitionsWarning            partitions of a Dask collection differ by more than chance

An argument of a type that is not read gives a ``DataError`` that is a ``TypeError`` too. The error for a model that is
not fitted is that of scikit-learn. ``DataError`` and ``ParameterError`` have an attribute ``argument``: the name of the
wrong argument, if there is exactly one.
"""

import os
import sys
import warnings
from typing import Any

PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class _NamesArgument:
    """An error with the name of the wrong argument."""

    def __init__(self, *args: Any, argument: str | None = None) -> None:
        super().__init__(*args)
        self.argument = argument


class SurefootError(Exception):
    """Base class of all errors of surefoot."""


class ClusterError(SurefootError, RuntimeError):
    """A Dask cluster cannot be reached, has no workers, or has lost what a fit needs; the message says what to do."""


class DataError(_NamesArgument, SurefootError, ValueError):
    """The table, the labels or the weights cannot be used; the message names the argument and says what to do.

    Parameters
    ----------
    *args : object
        The message.
    argument : str or None, default=None
        Name of the wrong argument, such as ``"X"``.

    Attributes
    ----------
    argument : str or None
        Name of the wrong argument; None if there is not exactly one.
    """


class DataTypeError(DataError, TypeError):
    """The table, the labels or the weights are of a type that is not read, such as a sparse matrix for labels."""


class ModelFileError(SurefootError, ValueError):
    """A model file cannot be read, or a model cannot be saved; the message says what is wrong."""


class ParameterError(_NamesArgument, SurefootError, ValueError):
    """A parameter or a combination of parameters is refused; the message names it.

    Parameters
    ----------
    *args : object
        The message.
    argument : str or None, default=None
        Name of the wrong parameter, such as ``"n_members"``.

    Attributes
    ----------
    argument : str or None
        Name of the wrong parameter; None if there is not exactly one.
    """


class MissingDataFileError(SurefootError, FileNotFoundError):
    """Base class of ``surefoot_experiments.DatasetMissingError``; its old name is ``surefoot.DatasetMissingError``."""


class SurefootWarning(UserWarning):
    """Base class of all warnings of surefoot."""


class CoverageWarning(SurefootWarning):
    """Target rows dominate less than half of the training rows; the message says what to try."""


class InfiniteIntervalWarning(SurefootWarning):
    """The calibration rows are too few for finite intervals; the message gives the number of rows that it takes."""


class ManyMembersWarning(SurefootWarning):
    """The ensemble has many members; the message gives their number before training starts."""


class NoTrainingNoiseWarning(SurefootWarning):
    """A virtual ensemble is made from a model trained without noise; the message says how to train one with noise."""


class UndecidedWarning(SurefootWarning):
    """The bags do not determine which models to select; the message says what would help."""


class UnknownCategoryWarning(SurefootWarning):
    """No value of a column is a category of the training data; the message shows categories of both."""


class UnlikePartitionsWarning(SurefootWarning):
    """Partitions of a Dask collection differ by more than chance; the message says in what, and how to shuffle them."""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line of the user's code that called surefoot, from any depth of the call stack."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
