"""Save fitted models to files, and load them."""

import os
from typing import Any, BinaryIO

from surefoot._atomic_io import whole_file
from surefoot._exceptions import ModelFileError
from surefoot.model_io.archive import Archive, write_archive
from surefoot.model_io.models import read_model, write_model
from surefoot.model_io.strict_json import read_json, write_json

LONGEST_MESSAGE = 500


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file that any later surefoot can read, and nobody need fear to load.

    The file is a ZIP of JSON and NumPy arrays. It takes the place of an older one in a single step, once it is written
    and has been read back: if saving fails or is stopped, the older file is still there. The same model gives the same
    bytes.

    Kept are the parameters and what the model has learned. Not kept are ``n_jobs`` and ``verbose``, which are about the
    machine (a loaded model has None and 0), a ``random_state`` that is a generator (None), and what ``warm_start``
    would need to go on: the next ``fit`` of a loaded model starts anew.

    Parameters
    ----------
    model : fitted model
        A booster of surefoot: AdaBoost, majority, bagged, Larsen-Ritzert and best boosting (with surefoot's own trees),
        gradient boosting, its ensembles, or V-matrix boosting; regressors and classifiers.
    path : str or path
        By custom its name ends in ``.surefoot``.

    Raises
    ------
    ModelFileError
        The model is of another kind, or has something that a file cannot keep; the message says what.

    See Also
    --------
    load : read the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_diabetes
    >>> import surefoot
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = surefoot.GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     surefoot.save(model, Path(folder) / "diabetes.surefoot")
    ...     again = surefoot.load(Path(folder) / "diabetes.surefoot")
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    try:
        stored, arrays = write_model(model)
        with whole_file(path) as stream:
            write_archive(stream, write_json(stored), arrays)
            read_stream(stream)
    except ModelFileError as error:
        raise ModelFileError(f"This {type(model).__name__} cannot be saved: {_one_line(error)}.") from error


def load(path: str | os.PathLike[str]) -> Any:
    """Read a fitted model from a file, whoever has written it.

    Nothing in the file is run, unpickled or imported: it holds numbers and text, and each is checked before it is used.
    The model predicts what the saved one did, to the last bit.

    Parameters
    ----------
    path : str or path
        A file that `save` wrote.

    Returns
    -------
    model
        Fitted, of the class that was saved.

    Raises
    ------
    ModelFileError
        The file is damaged, is no model file, or was written by a newer surefoot; the message says which.

    See Also
    --------
    save : write the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> import surefoot
    >>> X, y = load_iris(return_X_y=True)
    >>> model = surefoot.AdaBoostClassifier(n_estimators=10).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     surefoot.save(model, Path(folder) / "iris.surefoot")
    ...     surefoot.load(Path(folder) / "iris.surefoot")
    AdaBoostClassifier(n_estimators=10)
    """
    with open(path, "rb") as stream:
        try:
            return read_stream(stream)
        except ModelFileError as error:
            raise ModelFileError(f"{os.fspath(path)} cannot be loaded: {_one_line(error)}.") from error


def read_stream(stream: BinaryIO) -> Any:
    """The model in an open file; whatever is wrong with it is a ModelFileError."""
    try:
        archive = Archive(stream)
        return read_model(read_json(archive.text()), archive)
    except (ModelFileError, MemoryError):
        raise
    except Exception as error:  # of the parsers of ZIP and arrays, which have many ways to say that a file is damaged
        raise ModelFileError(f"it is damaged ({type(error).__name__}: {error})") from error


def _one_line(error: ModelFileError) -> str:
    """What the error says, if need be with its end cut off: it may quote from the file."""
    text = " ".join(str(error).split())
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]} ..."
