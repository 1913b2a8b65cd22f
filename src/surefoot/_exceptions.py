"""The errors and warnings that surefoot raises on purpose.

::

    SurefootError
    ├── DataError (also ValueError)        the table, labels or weights cannot be used as they are
    ├── ModelFileError (also ValueError)   a model file cannot be read, or a model cannot be kept in one
    ├── ParameterError (also ValueError)   a parameter, or a combination of parameters, is refused
    └── DatasetMissingError (also FileNotFoundError)   a reproduction needs a file that is not there

    SurefootWarning (UserWarning)
    ├── CoverageWarning                    the target sees less than half of the training rows
    ├── ManyMembersWarning                 the ensemble asked for is large; says how large
    ├── NoTrainingNoiseWarning               a virtual ensemble of a model grown without noise: its spread means less
    ├── UndecidedWarning                   the bags of a stable selection cannot tell models apart
    └── UnknownCategoryWarning             a column to predict has none of the categories that the model knows

Errors of wrong type or of an unfitted model are those of scikit-learn.
"""


class SurefootError(Exception):
    """Root of every error surefoot raises on purpose."""


class DataError(SurefootError, ValueError):
    """The table, the labels or the weights cannot be used; the message names which and says what to do."""


class ModelFileError(SurefootError, ValueError):
    """A model file cannot be read, or a model cannot be kept in one; the message says what is wrong."""


class ParameterError(SurefootError, ValueError):
    """A parameter, or a combination of parameters, is refused; the message names it."""


class DatasetMissingError(SurefootError, FileNotFoundError):
    """A reproduction needs a data file that is not in the given folder."""


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
