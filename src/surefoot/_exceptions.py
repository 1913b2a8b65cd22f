"""The errors and warnings that surefoot raises on purpose.

::

    SurefootError
    ├── DataError (also ValueError)        the table, labels or weights cannot be used as they are
    ├── ModelFileError (also ValueError)   a model file cannot be read, or a model cannot be kept in one
    └── ParameterError (also ValueError)   a parameter, or a combination of parameters, is refused

    SurefootWarning (UserWarning)
    ├── CoverageWarning                    the target sees less than half of the training rows
    ├── ManyMembersWarning                 the ensemble asked for is large; says how large
    ├── NoTrainingNoiseWarning               a virtual ensemble of a model grown without noise: its spread means less
    ├── UndecidedWarning                   the bags of a stable selection cannot tell models apart
    └── UnknownCategoryWarning             a column to predict has none of the categories that the model knows

Errors of wrong type or of an unfitted model are those of scikit-learn. ``DataError`` and ``ParameterError`` have an
attribute ``argument``: the name of the argument that is wrong, where one argument is.
"""

import os
import sys
import warnings
from typing import Any

PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class _NamesArgument:
    """An error that knows which argument is wrong."""

    def __init__(self, *args: Any, argument: str | None = None) -> None:
        super().__init__(*args)
        self.argument = argument


class SurefootError(Exception):
    """Root of every error surefoot raises on purpose."""


class DataError(_NamesArgument, SurefootError, ValueError):
    """The table, the labels or the weights cannot be used; the message names which and says what to do.

    Parameters
    ----------
    *args : object
        The message.
    argument : str or None, default=None
        Name of the argument that is wrong, such as ``"X"``.

    Attributes
    ----------
    argument : str or None
        Name of the argument that is wrong; None if it is more than one, or none.
    """


class ModelFileError(SurefootError, ValueError):
    """A model file cannot be read, or a model cannot be kept in one; the message says what is wrong."""


class ParameterError(_NamesArgument, SurefootError, ValueError):
    """A parameter, or a combination of parameters, is refused; the message names it.

    Parameters
    ----------
    *args : object
        The message.
    argument : str or None, default=None
        Name of the parameter that is wrong, such as ``"n_members"``.

    Attributes
    ----------
    argument : str or None
        Name of the parameter that is wrong; None if it is more than one, or none.
    """


class MissingDataFileError(SurefootError, FileNotFoundError):
    """Base of ``surefoot_experiments.DatasetMissingError``; ``surefoot.DatasetMissingError`` was its first name."""


class SurefootWarning(UserWarning):
    """Root of surefoot's warnings."""


class CoverageWarning(SurefootWarning):
    """Target rows dominate less than half of the training rows; the message says what to try."""


class ManyMembersWarning(SurefootWarning):
    """The ensemble asked for has many members; the message says how many before training starts."""


class NoTrainingNoiseWarning(SurefootWarning):
    """A virtual ensemble is cut from a model grown without noise; the message says how to grow one with it."""


class UndecidedWarning(SurefootWarning):
    """The bags cannot tell which models to select; the message says what would help."""


class UnknownCategoryWarning(SurefootWarning):
    """No value of a column is a category that the model was fitted to; the message shows those of then and now."""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line of the user's code that called surefoot, however deep inside surefoot the reason is."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
