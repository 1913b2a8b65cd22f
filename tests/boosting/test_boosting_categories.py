"""Categories: unknown, missing, reordered, too many, or no longer categories; in pandas and polars."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from reference.models import BOOSTERS, FRAMES, make_frame, small_booster

from surefoot import AdaBoostClassifier, GradientBoostingRegressor, UnknownCategoryWarning

each_frame = pytest.mark.parametrize("kind", FRAMES)
each_depth = pytest.mark.parametrize("max_depth", [1, 2])
each_booster = pytest.mark.parametrize("booster", BOOSTERS)


def coloured(n_rows=200, with_missing=False):
    """Colours, a number, and labels that depend on both."""
    generator = np.random.default_rng(0)
    colours = generator.choice(["red", "green", "blue", "grey"], size=n_rows).astype(object)
    if with_missing:
        colours[generator.random(n_rows) < 0.25] = None
    numbers = generator.normal(size=n_rows)
    score = np.isin(colours, ["red", "blue"]) * 1.5 + numbers + 0.3 * generator.normal(size=n_rows)
    return colours.tolist(), numbers, (score > 0.7).astype(int)


def table(kind, colours, numbers):
    return make_frame(kind, {"size": numbers}, {"colour": colours})


@each_booster
@each_frame
@each_depth
def test_categories_are_used(booster, kind, max_depth):
    colours, numbers, y = coloured()
    X = table(kind, colours, numbers)
    model = small_booster(booster, max_depth=max_depth).fit(X, y)
    assert model.feature_importances_[1] > 0.1
    assert model.score(X, y) > 0.75


@each_frame
@each_depth
def test_unknown_categories_are_treated_as_missing(kind, max_depth):
    colours, numbers, y = coloured(with_missing=True)
    model = AdaBoostClassifier(n_estimators=8, max_depth=max_depth).fit(table(kind, colours, numbers), y)
    with pytest.warns(UnknownCategoryWarning, match="Column 'colour' of X has none of the categories"):
        unknown = model.decision_function(table(kind, ["violet"] * 200, numbers))
    missing = model.decision_function(table(kind, [None] * 200, numbers))
    np.testing.assert_array_equal(unknown, missing)
    assert np.isfinite(unknown).all()


@each_frame
@each_depth
def test_unknown_and_missing_categories_are_alike_if_none_was_missing_in_training(kind, max_depth):
    colours, numbers, y = coloured()
    model = AdaBoostClassifier(n_estimators=8, max_depth=max_depth).fit(table(kind, colours, numbers), y)
    with pytest.warns(UnknownCategoryWarning, match="Column 'colour' of X has none of the categories"):
        unknown = model.decision_function(table(kind, ["violet"] * 200, numbers))
    np.testing.assert_array_equal(unknown, model.decision_function(table(kind, [None] * 200, numbers)))


@each_frame
@each_depth
def test_a_missing_value_is_a_category(kind, max_depth):
    colours = [None, "red", "green"] * 30
    y = [int(colour is None) for colour in colours]
    X = make_frame(kind, categories={"colour": colours})
    model = AdaBoostClassifier(n_estimators=3, max_depth=max_depth).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.predict(make_frame(kind, categories={"colour": ["red", None, "violet"]})).tolist() == [0, 1, 1]


@each_depth
@pytest.mark.parametrize("with_missing", [False, True])
def test_pandas_and_polars_agree(max_depth, with_missing):
    colours, numbers, y = coloured(with_missing=with_missing)
    models = {
        kind: AdaBoostClassifier(n_estimators=8, max_depth=max_depth).fit(table(kind, colours, numbers), y)
        for kind in FRAMES
    }
    votes = [models[fit].decision_function(table(new, colours, numbers)) for fit in FRAMES for new in FRAMES]
    for other in votes[1:]:
        np.testing.assert_array_equal(other, votes[0])


@each_depth
def test_the_order_of_the_dtype_does_not_matter(max_depth):
    colours, numbers, y = coloured()
    X = table("pandas", colours, numbers)
    model = AdaBoostClassifier(n_estimators=8, max_depth=max_depth).fit(X, y)
    reordered = X.assign(colour=X.colour.cat.set_categories(["grey", "violet", "red", "blue", "green"]))
    np.testing.assert_array_equal(model.decision_function(reordered), model.decision_function(X))
    refitted = AdaBoostClassifier(n_estimators=8, max_depth=max_depth).fit(reordered, y)
    np.testing.assert_array_equal(refitted.decision_function(X), model.decision_function(X))


def test_a_polars_enum_is_a_category():
    colours, numbers, y = coloured()
    X = table("polars", colours, numbers)
    model = AdaBoostClassifier(n_estimators=8).fit(X, y)
    enum = X.with_columns(pl.col("colour").cast(pl.String).cast(pl.Enum(["violet", "red", "grey", "green", "blue"])))
    np.testing.assert_array_equal(model.decision_function(enum), model.decision_function(X))


def test_whole_numbers_as_categories_are_recognised_despite_a_missing_value():
    codes = np.array([1, 2, 3, 4] * 30)
    y = np.isin(codes, [1, 3]).astype(int)
    model = AdaBoostClassifier(n_estimators=3).fit(pd.DataFrame({"code": pd.Series(codes).astype("category")}), y)
    # with a value missing, pandas turns whole numbers, and so the categories, into floats
    later = pd.DataFrame({"code": pd.Series([1, 2, 3, 4, None]).astype("category")})
    assert model.predict(later)[:4].tolist() == [1, 0, 1, 0]


SPELLINGS = {
    "pandas whole numbers": lambda codes: pd.DataFrame({"code": pd.Series(codes).astype("category")}),
    "pandas floats": lambda codes: pd.DataFrame({"code": pd.Series([*codes, None]).astype("category")[:-1]}),
    "pandas text": lambda codes: pd.DataFrame({"code": pd.Series(codes).astype(str).astype("category")}),
    "pandas objects": lambda codes: pd.DataFrame({"code": pd.Series(codes).astype(object).astype("category")}),
    "polars text": lambda codes: pl.DataFrame({"code": pl.Series(codes).cast(pl.String).cast(pl.Categorical)}),
    "Arrow numbers": lambda codes: pa.table({"code": pa.array(codes).dictionary_encode()}),
    "Arrow text": lambda codes: pa.table({"code": pa.array(list(map(str, codes))).dictionary_encode()}),
}


@pytest.mark.parametrize("later", SPELLINGS)
@pytest.mark.parametrize("first", SPELLINGS)
def test_whole_numbers_mean_the_same_in_every_type(first, later):
    codes = [3, 1, 20, 4] * 30
    y = np.isin(codes, [1, 20]).astype(int)
    model = AdaBoostClassifier(n_estimators=3).fit(SPELLINGS[first](codes), y)
    np.testing.assert_array_equal(model.predict(SPELLINGS[later](codes)), y)


@pytest.mark.parametrize("later", SPELLINGS)
@pytest.mark.parametrize("first", SPELLINGS)
def test_truth_values_mean_the_same_in_every_type(first, later):
    codes = [True, False, False] * 30
    model = AdaBoostClassifier(n_estimators=3).fit(SPELLINGS[first](codes), codes)
    np.testing.assert_array_equal(model.predict(SPELLINGS[later](codes)), codes)


def test_listed_whole_numbers_are_recognised_as_text():
    codes = [3, 1, 20, 4] * 30
    y = np.isin(codes, [1, 20]).astype(float)
    model = GradientBoostingRegressor(n_estimators=20, categorical_features=["code"], random_state=0)
    model.fit(pd.DataFrame({"code": codes}), y)
    expected = model.predict(pd.DataFrame({"code": codes}))
    np.testing.assert_array_equal(model.predict(pl.DataFrame({"code": list(map(str, codes))})), expected)


def test_texts_that_are_not_equal_are_not_the_same_category():
    X = pd.DataFrame({"code": pd.Series(["1", "2"] * 30).astype("category")})
    model = AdaBoostClassifier(n_estimators=3).fit(X, [0, 1] * 30)
    for other in (["001", "002"], ["1.0", "2.0"], [" 1", "2 "]):
        with pytest.warns(UnknownCategoryWarning, match=f"It had '1', '2'; now it has '{other[0]}', '{other[1]}'"):
            model.predict(pd.DataFrame({"code": pd.Series(other).astype("category")}))


def test_unknown_categories_among_known_ones_give_no_warning():
    colours, numbers, y = coloured()
    model = AdaBoostClassifier(n_estimators=3).fit(table("pandas", colours, numbers), y)
    model.predict(table("pandas", ["violet"] * 199 + ["red"], numbers))
    model.predict(table("pandas", [None] * 200, numbers))


def test_a_column_of_unknown_numbers_in_an_array_gives_a_warning():
    X = np.array([[1.0], [2.0]] * 30)
    model = GradientBoostingRegressor(n_estimators=3, categorical_features=[0]).fit(X, X[:, 0])
    with pytest.warns(UnknownCategoryWarning, match="Column 0 of X has none of the categories"):
        model.predict(X + 5)


@each_booster
@each_frame
def test_numbers_in_a_categorical_column_are_refused(booster, kind):
    colours, numbers, y = coloured()
    model = small_booster(booster).fit(table(kind, colours, numbers), y)
    with pytest.raises(ValueError, match="'colour' of X was categorical"):
        model.predict(make_frame(kind, {"size": numbers, "colour": numbers}))
    with pytest.raises(ValueError, match="'colour' of X was categorical"):
        model.predict(make_frame(kind, {"size": numbers, "colour": np.array(colours, dtype=str).tolist()}))


@each_booster
@each_frame
def test_categories_in_a_numeric_column_are_refused(booster, kind):
    colours, numbers, y = coloured()
    model = small_booster(booster).fit(make_frame(kind, {"size": numbers, "colour": numbers}), y)
    with pytest.raises(ValueError, match="'colour' of X is categorical, but was numeric"):
        model.predict(table(kind, colours, numbers))


@each_booster
@each_frame
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_an_array_instead_of_a_frame_with_categories_is_refused(booster, kind):
    colours, numbers, y = coloured()
    model = small_booster(booster).fit(table(kind, colours, numbers), y)
    with pytest.raises(ValueError, match="X is an array, but the model was fitted on a frame with categorical columns"):
        model.predict(np.stack([numbers, numbers], axis=1))


@each_frame
@each_depth
def test_more_categories_than_a_byte_holds(kind, max_depth):
    generator = np.random.default_rng(0)
    labels = np.array([f"c{k:03d}" for k in range(400)])
    rows = np.concatenate([np.repeat(labels[:100], 10), np.repeat(labels[100:], 2)])
    y = generator.integers(0, 2, size=400)[np.searchsorted(labels, rows)]
    X = make_frame(kind, categories={"a": rows})
    model = AdaBoostClassifier(n_estimators=10, max_depth=max_depth).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    common = np.isin(rows, labels[:100])
    np.testing.assert_array_equal(model.predict(X)[common], y[common])  # frequent categories have their own codes
    rare = make_frame(kind, categories={"a": labels[350:]})
    assert len(set(model.predict(rare))) == 1  # the rarest share a code


@each_depth
def test_pandas_and_polars_agree_on_which_of_many_categories_are_rare(max_depth):
    generator = np.random.default_rng(0)
    rows = np.array([f"c{k:03d}" for k in generator.integers(0, 500, size=3000)])
    y = generator.integers(0, 2, size=500)[[int(label[1:]) for label in rows]]
    tables = {kind: make_frame(kind, categories={"a": rows}) for kind in FRAMES}
    votes = [
        AdaBoostClassifier(n_estimators=5, max_depth=max_depth).fit(X, y).decision_function(X) for X in tables.values()
    ]
    np.testing.assert_array_equal(*votes)


@each_frame
@pytest.mark.parametrize("n_categories", [254, 255, 256, 257])
def test_numbers_of_categories_near_the_maximum(kind, n_categories):
    labels = np.repeat([f"c{k:03d}" for k in range(n_categories)], 3)
    y = np.repeat(np.arange(n_categories) % 2, 3)
    X = make_frame(kind, categories={"a": labels})
    model = AdaBoostClassifier(n_estimators=5).fit(X, y)
    wrong = set(labels[model.predict(X) != y])
    assert len(wrong) <= max(0, n_categories - 254)  # only those that share a code may be wrong


@each_depth
@each_frame
def test_a_column_of_missing_categories_is_never_used(kind, max_depth):
    _, numbers, y = coloured()
    X = table(kind, [None] * 200, numbers)
    without = make_frame(kind, {"size": numbers})
    model = AdaBoostClassifier(n_estimators=5, max_depth=max_depth).fit(X, y)
    plain = AdaBoostClassifier(n_estimators=5, max_depth=max_depth).fit(without, y)
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(without))
    coloured_later = table(kind, ["red"] * 200, numbers)
    np.testing.assert_array_equal(model.decision_function(coloured_later), plain.decision_function(without))


@each_depth
@each_frame
def test_votes_of_step_functions_equal_those_of_the_trees(kind, max_depth):
    colours, numbers, y = coloured(with_missing=True)
    X = table(kind, colours, numbers)
    model = AdaBoostClassifier(n_estimators=8, max_depth=max_depth).fit(X, y)
    *_, last = model.staged_predict(X)
    np.testing.assert_array_equal(last, model.predict(X))
