"""Categories: by dtype, position, name or mask; unseen, missing, many."""

import numpy as np
import pandas as pd
import pytest
from reference.gradient_boosters import (
    GRADIENT_BOOSTERS,
    REGRESSORS,
    answers,
    assert_finite_answers,
    assert_same_answers,
    differing,
    small,
    target_of,
)
from reference.models import FRAMES, make_frame

from surefoot import GradientBoostingClassifier, GradientBoostingRegressor, ParameterError

each_estimator = pytest.mark.parametrize("estimator", GRADIENT_BOOSTERS)
each_policy = pytest.mark.parametrize("grow_policy", ["symmetric", "depthwise"])
each_frame = pytest.mark.parametrize("kind", FRAMES)


def coded(estimator, n_rows=200, n_codes=6, seed=0):
    """A number, a code without an order, and a target that depends on both."""
    generator = np.random.default_rng(seed)
    codes, number = generator.integers(0, n_codes, size=n_rows), generator.normal(size=n_rows)
    values = number + 3.0 * np.isin(codes, [0, 2, 5]) + 0.3 * generator.normal(size=n_rows)
    return number, codes, target_of(estimator, values)


def frame_of(kind, number, codes):
    labels = [None if code is None else f"c{code}" for code in codes]
    return make_frame(kind, {"size": number}, {"kind": labels})


@each_estimator
@each_policy
@each_frame
def test_categories_are_used(estimator, grow_policy, kind):
    number, codes, y = coded(estimator)
    X = frame_of(kind, number, codes)
    model = small(estimator, grow_policy=grow_policy, n_estimators=40).fit(X, y)
    assert model.feature_importances_[1] > 0.3
    assert model.score(X, y) > 0.85


@pytest.mark.parametrize("estimator", REGRESSORS)
@each_policy
def test_one_split_separates_any_set_of_categories(estimator, grow_policy):
    codes = np.arange(120) % 8
    X = make_frame("pandas", categories={"kind": [f"c{code}" for code in codes]})
    y = np.isin(codes, [1, 4, 6]).astype(float) + 0.01 * (np.arange(120) % 5)
    model = small(estimator, max_depth=1, learning_rate=0.5, n_estimators=30, grow_policy=grow_policy).fit(X, y)
    assert np.abs(model.predict(X) - y).max() < 0.1


@each_estimator
@each_policy
def test_positions_and_masks_on_an_array_mean_what_the_dtype_means(estimator, grow_policy):
    number, codes, y = coded(estimator)
    settings = {"grow_policy": grow_policy}
    by_dtype = pd.DataFrame({"size": number, "kind": pd.Categorical(codes)})
    expected = answers(small(estimator, **settings).fit(by_dtype, y), by_dtype)
    array = np.stack([number, codes], axis=1)
    for chosen in ([1], np.array([1]), [False, True], np.array([False, True])):
        model = small(estimator, categorical_features=chosen, **settings).fit(array, y)
        assert differing(expected, answers(model, array)) == [], chosen


@each_estimator
@pytest.mark.parametrize("labels", ["numbers", "words"])
def test_names_positions_and_masks_on_a_frame_mean_what_the_dtype_means(estimator, labels):
    number, codes, y = coded(estimator)
    values = codes if labels == "numbers" else np.array([f"c{code}" for code in codes])
    by_dtype = pd.DataFrame({"size": number, "kind": pd.Categorical(values)})
    expected = answers(small(estimator).fit(by_dtype, y), by_dtype)
    for kind in FRAMES:
        plain = make_frame(kind, {"size": number, "kind": values.tolist()})
        for chosen in (["kind"], np.array(["kind"]), [1], [False, True]):
            model = small(estimator, categorical_features=chosen).fit(plain, y)
            assert differing(expected, answers(model, plain)) == [], (kind, chosen)


@each_estimator
def test_columns_of_categorical_dtype_need_not_be_listed(estimator):
    number, codes, y = coded(estimator)
    X = frame_of("pandas", number, codes)
    for listed in (None, [], [1]):
        assert_same_answers(small(estimator).fit(X, y), small(estimator, categorical_features=listed).fit(X, y), X)


@each_estimator
@pytest.mark.parametrize("chosen", [[4], [-1], ["colour"], [True], [0.5], "kind", 1, [[1]]], ids=repr)
def test_columns_that_do_not_exist_are_refused(estimator, chosen):
    number, codes, y = coded(estimator)
    X = pd.DataFrame({"size": number, "kind": codes})
    with pytest.raises(ParameterError, match="categorical_features"):
        small(estimator, categorical_features=chosen).fit(X, y)


@each_estimator
@each_policy
@each_frame
@pytest.mark.parametrize("some_missing", [False, True])
@pytest.mark.filterwarnings("ignore::surefoot.UnknownCategoryWarning")
def test_unseen_categories_are_treated_as_missing(estimator, grow_policy, kind, some_missing):
    number, codes, y = coded(estimator)
    labels = [None if some_missing and i % 4 == 0 else code for i, code in enumerate(codes)]
    model = small(estimator, grow_policy=grow_policy).fit(frame_of(kind, number, labels), y)
    unseen, missing = frame_of(kind, number, ["violet"] * 200), frame_of(kind, number, [None] * 200)
    assert_same_answers(model, model, unseen, missing)
    assert_finite_answers(model, unseen)


@each_estimator
@pytest.mark.filterwarnings("ignore::surefoot.UnknownCategoryWarning")
def test_unseen_numbers_in_an_array_are_treated_as_missing(estimator):
    number, codes, y = coded(estimator)
    model = small(estimator, categorical_features=[1]).fit(np.stack([number, codes], axis=1), y)
    missing = np.stack([number, np.full(200, np.nan)], axis=1)
    for unseen in (6.0, -1.0, 2.5, 1e300):
        assert_same_answers(model, model, np.stack([number, np.full(200, unseen)], axis=1), missing)


@each_estimator
def test_pandas_and_polars_agree(estimator):
    number, codes, y = coded(estimator)
    pandas, polars = (frame_of(kind, number, codes) for kind in FRAMES)
    models = [small(estimator).fit(X, y) for X in (pandas, polars)]
    for model in models:
        for X in (pandas, polars):
            assert_same_answers(models[0], model, pandas, X)


@each_estimator
def test_the_order_of_the_dtype_does_not_matter(estimator):
    number, codes, y = coded(estimator)
    X = frame_of("pandas", number, codes)
    model = small(estimator).fit(X, y)
    turned = X.assign(kind=X.kind.cat.set_categories(["c5", "violet", "c0", "c3", "c1", "c4", "c2"]))
    assert_same_answers(model, model, X, turned)
    if estimator is GradientBoostingRegressor:  # in other models, noise depends on the order of the categories
        assert_same_answers(model, small(estimator).fit(turned, y), X)


@each_estimator
@each_frame
def test_a_category_that_became_a_number_is_refused_and_the_reverse(estimator, kind):
    number, codes, y = coded(estimator)
    labelled, numeric = frame_of(kind, number, codes), make_frame(kind, {"size": number, "kind": number})
    with pytest.raises(ValueError, match="'kind' of X was categorical"):
        small(estimator).fit(labelled, y).predict(numeric)
    with pytest.raises(ValueError, match="'kind' of X is categorical, but was numeric"):
        small(estimator).fit(numeric, y).predict(labelled)


@each_estimator
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_an_array_is_refused_if_the_training_frame_had_words(estimator):
    number, codes, y = coded(estimator)
    model = small(estimator).fit(frame_of("pandas", number, codes), y)
    with pytest.raises(ValueError, match="X is an array, but the model was fitted on a frame with categorical columns"):
        model.predict(np.stack([number, codes], axis=1))


@each_frame
@pytest.mark.parametrize("n_categories", [254, 255, 256, 257, 1000])
@pytest.mark.parametrize("estimator", [GradientBoostingRegressor, GradientBoostingClassifier])
@pytest.mark.filterwarnings("ignore::surefoot.UnknownCategoryWarning")
def test_more_categories_than_a_byte_holds(estimator, kind, n_categories):
    codes = np.repeat(np.arange(n_categories), 3)
    y = target_of(estimator, (codes % 2).astype(float) + 0.001 * np.arange(len(codes)))
    X = make_frame(kind, categories={"kind": [f"c{code}" for code in codes]})
    model = small(estimator, n_estimators=30).fit(X, y)
    assert_finite_answers(model, X)
    unseen = make_frame(kind, categories={"kind": ["violet", None]})
    assert_finite_answers(model, unseen)


@each_estimator
def test_validation_rows_may_have_other_categories(estimator):
    number, codes, y = coded(estimator)
    X_val = frame_of("pandas", number[:50], ["violet", *codes[1:50]])
    model = small(estimator).fit(frame_of("pandas", number, codes), y, X_val=X_val, y_val=y[:50])
    assert_finite_answers(model, X_val)
