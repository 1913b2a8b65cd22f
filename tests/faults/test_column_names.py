"""Columns are known by name: renamed, reordered or vanished ones are an error, a lost header a warning."""

import numpy as np
import pandas as pd
import pytest
from reference.models import BOOSTERS, FRAMES, make_frame, small_booster, two_classes

X, y = two_classes()
each_booster = pytest.mark.parametrize("booster", BOOSTERS)
each_frame = pytest.mark.parametrize("kind", FRAMES)


def frame(kind, names, columns=range(4)):
    return make_frame(kind, {name: X[:, j] for name, j in zip(names, columns, strict=True)})


@each_booster
@each_frame
def test_names_are_remembered(booster, kind):
    model = small_booster(booster).fit(frame(kind, "abcd"), y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert model.n_features_in_ == 4


@each_booster
@each_frame
def test_renamed_columns_are_refused(booster, kind):
    model = small_booster(booster).fit(frame(kind, "abcd"), y)
    with pytest.raises(ValueError, match=r"(?s)feature names should match.*- z"):
        model.predict(frame(kind, "abcz"))


@each_booster
@each_frame
def test_reordered_columns_are_refused(booster, kind):
    model = small_booster(booster).fit(frame(kind, "abcd"), y)
    with pytest.raises(ValueError, match=r"(?s)feature names should match.*same order"):
        model.predict(frame(kind, "bacd", [1, 0, 2, 3]))


@each_booster
@each_frame
def test_columns_too_many_or_too_few_are_refused(booster, kind):
    model = small_booster(booster).fit(frame(kind, "abcd"), y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame(kind, "abc", range(3)))
    unnamed = small_booster(booster).fit(X, y)
    with pytest.raises(ValueError, match=r"3 features, but .* is expecting 4"):
        unnamed.predict(X[:, :3])


@each_booster
@each_frame
def test_an_array_after_a_frame_warns_and_counts_by_position(booster, kind):
    model = small_booster(booster).fit(frame(kind, "abcd"), y)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        votes = model.decision_function(X)
    np.testing.assert_array_equal(votes, model.decision_function(frame(kind, "abcd")))


@each_booster
@each_frame
def test_a_frame_after_an_array_warns_and_counts_by_position(booster, kind):
    model = small_booster(booster).fit(X, y)
    with pytest.warns(UserWarning, match="X has feature names"):
        votes = model.decision_function(frame(kind, "abcd"))
    np.testing.assert_array_equal(votes, model.decision_function(X))


@each_booster
def test_the_same_names_in_another_kind_of_frame_are_fine(booster):
    model = small_booster(booster).fit(frame("pandas", "abcd"), y)
    np.testing.assert_array_equal(
        model.decision_function(frame("polars", "abcd")), model.decision_function(frame("pandas", "abcd"))
    )


@each_booster
def test_two_columns_of_one_name_are_refused(booster):
    with pytest.raises(ValueError, match=r"(?i)unique|duplicate|twice|2 times"):
        small_booster(booster).fit(pd.DataFrame(X, columns=list("aacd")), y)


@each_booster
@each_frame
def test_a_second_fit_forgets_the_names_of_the_first(booster, kind):
    model = small_booster(booster).fit(frame(kind, "abcd"), y).fit(X[:, :3], y)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 3
    assert len(model.predict(X[:, :3])) == len(X)
