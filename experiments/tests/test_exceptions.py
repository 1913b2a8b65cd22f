"""The error of the experiments, and its old name."""

import pytest

import surefoot
from surefoot_experiments import DatasetMissingError


def test_the_old_name_still_catches_the_error_and_warns() -> None:
    with pytest.warns(FutureWarning, match="surefoot_experiments.DatasetMissingError"):
        old = surefoot.DatasetMissingError
    assert issubclass(DatasetMissingError, old)
    assert issubclass(DatasetMissingError, (surefoot.SurefootError, FileNotFoundError))
    assert "DatasetMissingError" not in surefoot.__all__
