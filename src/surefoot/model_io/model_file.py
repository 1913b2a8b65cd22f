"""Save fitted models to files, and load them."""

import os
from typing import Any, BinaryIO

from surefoot._atomic_io import whole_file
from surefoot._exceptions import ModelFileError
from surefoot._numbers import checked_path
from surefoot.model_io.archive import Archive, write_archive
from surefoot.model_io.model_json import read_json, write_json
from surefoot.model_io.models import read_model, write_model

MAX_MESSAGE = 500  # characters


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file that later versions of surefoot can read, and that is safe to load.

    The file is a ZIP archive of JSON and NumPy arrays. It replaces an existing file in a single step, after it has been
    written and read back: if saving fails or is stopped, the existing file does not change. Equal models give equal
    bytes.

    The file contains the parameters and the fitted state. It does not contain ``n_jobs`` and ``verbose``, which depend
    on the machine (a loaded model has None and 0), a ``random_state`` that is a generator (None), or the state that
    ``warm_start`` needs: the next ``fit`` of a loaded model starts from the beginning.

    Parameters
    ----------
    model : fitted model
        A booster of surefoot: AdaBoost, Majority, Bagged, Larsen-Ritzert and Best (with native trees), gradient
        boosting, its ensembles, or V-matrix boosting; regressors and classifiers.
    path : str or path
        By convention, its name ends in ``.surefoot``.

    Raises
    ------
    ModelFileError
        The model is of another class, or has a part that cannot be saved; the message says which.

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
    """Read a fitted model from a file; this is safe for files from any source.

    Nothing in the file is run, unpickled or imported: it contains numbers and text, which are checked before they are
    used. The predictions of the model equal those of the saved one, to the last bit.

    Parameters
    ----------
    path : str or path
        A file written by `save`.

    Returns
    -------
    model
        The fitted model, of the class that was saved.

    Raises
    ------
    ModelFileError
        The file is damaged, is not a model file, or was written by a newer surefoot; the message says which.

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
    with open(checked_path("path", path), "rb") as stream:
        try:
            return read_stream(stream)
        except ModelFileError as error:
            raise ModelFileError(f"{os.fspath(path)} cannot be loaded: {_one_line(error)}.") from error


def read_stream(stream: BinaryIO) -> Any:
    """The model in an open file; every error is a ModelFileError."""
    try:
        archive = Archive(stream)
        return read_model(read_json(archive.text()), archive)
    except (ModelFileError, MemoryError):
        raise
    except Exception as error:  # the parsers of ZIP and arrays raise many errors for damaged files
        raise ModelFileError(f"it is damaged ({type(error).__name__}: {error})") from error


def _one_line(error: ModelFileError) -> str:
    """The message in one line; it may quote from the file, so long messages are truncated."""
    text = " ".join(str(error).split())
    return text if len(text) <= MAX_MESSAGE else f"{text[:MAX_MESSAGE]} ..."
