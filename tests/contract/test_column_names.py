"""Columns are known by name: renamed, reordered or vanished ones are an error, a lost header a warning."""

import numpy as np
import pandas as pd
import pytest
from reference.models import FRAMES, make_frame

from contract.registry import assert_same_answers, each, each_subject, those

each_frame = pytest.mark.parametrize("kind", FRAMES)


def framed(subject, kind):
    """A table and target for the subject, and what makes frames of the table's columns."""
    X, y = subject.problem()

    def frame(names, columns=range(4)):
        return make_frame(kind, {name: X[:, j] for name, j in zip(names, columns, strict=True)})

    return X, y, frame


def ask(subject, model, X):
    return np.asarray(model.transform(X) if subject.selects else model.predict(X))


@pytest.mark.fault(number=10)
@each_subject
@each_frame
def test_names_are_remembered(subject, kind):
    _, y, frame = framed(subject, kind)
    model = subject.make().fit(frame("abcd"), y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert model.n_features_in_ == 4


@pytest.mark.fault(number=10)
@each_subject
@each_frame
def test_renamed_columns_are_refused(subject, kind):
    _, y, frame = framed(subject, kind)
    model = subject.make().fit(frame("abcd"), y)
    with pytest.raises(ValueError, match=r"(?s)feature names should match.*- z"):
        ask(subject, model, frame("abcz"))


@pytest.mark.fault(number=10)
@each_subject
@each_frame
def test_reordered_columns_are_refused(subject, kind):
    _, y, frame = framed(subject, kind)
    model = subject.make().fit(frame("abcd"), y)
    with pytest.raises(ValueError, match=r"(?s)feature names should match.*same order"):
        ask(subject, model, frame("bacd", [1, 0, 2, 3]))


@pytest.mark.fault(number=10)
@each_subject
@each_frame
def test_columns_too_many_or_too_few_are_refused(subject, kind):
    X, y, frame = framed(subject, kind)
    model = subject.make().fit(frame("abcd"), y)
    with pytest.raises(ValueError, match="feature names should match"):
        ask(subject, model, frame("abc", range(3)))
    unnamed = subject.make().fit(X, y)
    with pytest.raises(ValueError, match=r"3 features, but .* is expecting 4"):
        ask(subject, unnamed, X[:, :3])


@pytest.mark.fault(number=10)
@each_subject
@each_frame
def test_an_array_after_a_frame_warns_and_counts_by_position(subject, kind):
    X, y, frame = framed(subject, kind)
    model = subject.make().fit(frame("abcd"), y)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        votes = ask(subject, model, X)
    np.testing.assert_array_equal(votes, ask(subject, model, frame("abcd")))


@pytest.mark.fault(number=10)
@each_subject
@each_frame
def test_a_frame_after_an_array_warns_and_counts_by_position(subject, kind):
    X, y, frame = framed(subject, kind)
    model = subject.make().fit(X, y)
    with pytest.warns(UserWarning, match="X has feature names"):
        votes = ask(subject, model, frame("abcd"))
    np.testing.assert_array_equal(votes, ask(subject, model, X))


@pytest.mark.fault(number=10)
@each_subject
def test_the_same_names_in_another_kind_of_frame_are_fine(subject):
    _, y, pandas = framed(subject, "pandas")
    polars = framed(subject, "polars")[-1]
    model = subject.make().fit(pandas("abcd"), y)
    assert_same_answers(model, model, pandas("abcd"), polars("abcd"))


@pytest.mark.fault(number=10)
@each_subject
def test_two_columns_of_one_name_are_refused(subject):
    X, y = subject.problem()
    with pytest.raises(ValueError, match=r"(?i)unique|duplicate|twice|2 times"):
        subject.make().fit(pd.DataFrame(X, columns=list("aacd")), y)


@pytest.mark.fault(number=10)
@each_subject
@each_frame
def test_a_second_fit_forgets_the_names_of_the_first(subject, kind):
    X, y, frame = framed(subject, kind)
    model = subject.make().fit(frame("abcd"), y).fit(X[:, :3], y)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 3
    assert len(ask(subject, model, X[:, :3])) == len(X)


@pytest.mark.fault(number=10)
@each(those(takes_validation=True))
@each_frame
def test_columns_of_validation_rows_are_known_by_name(subject, kind):
    _, y, frame = framed(subject, kind)
    for names, columns in (("abcz", range(4)), ("bacd", [1, 0, 2, 3]), ("abc", range(3))):
        with pytest.raises(ValueError, match="feature names should match"):
            subject.make().fit(frame("abcd"), y, X_val=frame(names, columns), y_val=y)
