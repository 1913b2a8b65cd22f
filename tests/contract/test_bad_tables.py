"""Tables and targets with nothing in them, or that do not go together, are refused in plain words."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from contract.registry import SUBJECTS, answers, bits, each, each_subject
from surefoot import DataError

REGRESSORS = [subject for subject in SUBJECTS if not subject.is_classifier]
NO_ROWS = {
    "array": np.empty((0, 3)),
    "pandas": pd.DataFrame({"a": [], "b": []}),
    "polars": pl.DataFrame({"a": [], "b": []}),
}
NO_COLUMNS = {"array": np.empty((60, 0)), "pandas": pd.DataFrame(index=range(60))}


@pytest.mark.fault(number=5)
@each_subject
@pytest.mark.parametrize("kind", NO_ROWS)
def test_no_rows(subject, kind):
    with pytest.raises(ValueError, match="0 sample"):
        subject.make().fit(NO_ROWS[kind], [])


@pytest.mark.fault(number=5)
@each_subject
@pytest.mark.parametrize("kind", NO_COLUMNS)
def test_no_columns(subject, kind):
    if kind == "pandas" and subject.name == "StableClassifier":
        pytest.skip("frames are handed to its estimator as they are")
    with pytest.raises(ValueError, match="0 feature"):
        subject.make().fit(NO_COLUMNS[kind], np.arange(60) % 2)


@pytest.mark.fault(number=5)
@each([subject for subject in SUBJECTS if not subject.selects])
@pytest.mark.parametrize("kind", ["array", "pandas"])
def test_predicting_no_rows(subject, kind):
    X, y = subject.problem(n_columns=2)
    X = pd.DataFrame(X, columns=["a", "b"]) if kind == "pandas" else X
    model = subject.make().fit(X, y)
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(X[:0])


@each_subject
def test_a_table_must_have_two_dimensions(subject):
    with pytest.raises(ValueError, match=r"Expected 2D|2-dimensional"):
        subject.make().fit(np.arange(60.0), np.arange(60) % 2)


@each_subject
def test_the_target_must_have_one_value_per_row(subject):
    X, y = subject.problem()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        subject.make().fit(X, y[:-1])


@pytest.mark.fault(number=5)
@each([subject for subject in SUBJECTS if subject.is_classifier])
def test_one_row_has_one_class(subject):
    with pytest.raises(ValueError, match=r"\by\b.*one class|one class.*\by\b|1 sample|n_samples=1"):
        subject.make().fit([[1.0, 2.0]], [0])


NO_NUMBERS = {
    "NaN": np.where(np.arange(80) == 3, np.nan, 1.0),
    "infinity": np.where(np.arange(80) == 3, np.inf, 1.0),
    "words": np.full(80, "high"),
    "None": np.where(np.arange(80) == 3, None, 1.0),
    "complex": np.full(80, 1j),
    "dates": pd.Series(pd.date_range("2020-01-01", periods=80)),
    "missing nullable": pd.Series([None, *range(79)], dtype="Int64"),
    "polars null": pl.Series([None, *range(79)]),
    "two columns": np.ones((80, 2)),
    "one too few": np.ones(79),
    "a number": 3.0,
    "nothing": None,
}


@each(REGRESSORS)
@pytest.mark.parametrize("kind", NO_NUMBERS)
@pytest.mark.filterwarnings("ignore:A column-vector y")
def test_targets_that_are_no_numbers_are_refused(subject, kind):
    X, y = subject.problem()
    with pytest.raises(ValueError, match=r"\by\b|inconsistent numbers|Complex data"):
        subject.make().fit(X, NO_NUMBERS[kind])
    if subject.takes_validation and NO_NUMBERS[kind] is not None:
        with pytest.raises(ValueError, match=r"y_val|y should be a 1d array|Complex data"):
            subject.make().fit(X, y, X_val=X, y_val=NO_NUMBERS[kind])


@each(REGRESSORS)
def test_whole_numbers_booleans_and_words_for_numbers_are_numbers(subject):
    X, _ = subject.problem()
    flags = X[:, 0] > 0
    plain = answers(subject.make().fit(X, flags.astype(float)), X)
    for y in (flags, flags.astype(np.uint8), flags.astype(object), flags.astype(int).astype(str)):
        said = answers(subject.make().fit(X, y), X)
        assert [name for name, array in said.items() if bits(array) != bits(plain[name])] == []


@each([subject for subject in SUBJECTS if subject.takes_validation])
def test_validation_rows_come_whole(subject):
    X, y = subject.problem()
    refused = {
        "X_val and y_val go together": [{"X_val": X}, {"y_val": y}],
        "sample_weight_val is for X_val": [{"sample_weight_val": np.ones(80)}],
        "X_val has 79 rows, but y_val has 80": [{"X_val": X[1:], "y_val": y}],
        "3 features": [{"X_val": X[:, 1:], "y_val": y}],
        "infinity": [{"X_val": np.full_like(X, np.inf), "y_val": y}],
        "0 sample": [{"X_val": X[:0], "y_val": y[:0]}],
    }
    for message, calls in refused.items():
        for arguments in calls:
            with pytest.raises(DataError if "_val" in message else ValueError, match=message):
                subject.make().fit(X, y, **arguments)


@each_subject
@pytest.mark.parametrize("value", ["seed", -1])
def test_seeds_that_are_none_are_refused(subject, value):
    X, y = subject.problem()
    with pytest.raises(ValueError, match=r"[Ss]eed|random_state"):
        subject.make(random_state=value).fit(X, y)


@each_subject
def test_constructors_refuse_nothing(subject):
    model = subject.make(**subject.bad_parameters)
    name, value = next(iter(subject.bad_parameters.items()))
    assert model.get_params()[name] == value
    X, y = subject.problem()
    with pytest.raises(ValueError, match=name):
        model.fit(X, y)
