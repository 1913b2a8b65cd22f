"""Partial dependence with a band: against scikit-learn's, and what is drawn."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.inspection import partial_dependence
from sklearn.linear_model import LinearRegression

from surefoot import (
    BoostingEnsembleClassifier,
    BoostingEnsembleRegressor,
    DataError,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ParameterError,
    VirtualEnsemble,
)
from surefoot.plots import DependenceDisplay

SMALL = {"n_estimators": 10, "max_depth": 3, "random_state": 0}
ROWS = 120


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.fixture(scope="module")
def table():
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(ROWS, 2)), columns=["size", "age"], index=np.arange(ROWS) + 500)
    X["few"] = generator.integers(0, 4, ROWS) * 1.0
    X["kind"] = pd.Categorical(generator.choice(["red", "blue", "green"], ROWS), categories=["red", "blue", "green"])
    y = X["size"] + X["few"] + 2 * (X["kind"] == "blue") + 0.3 * generator.normal(size=ROWS)
    return X, y


@pytest.fixture(scope="module")
def ensemble(table):
    return BoostingEnsembleRegressor(n_members=3, **SMALL).fit(*table)


def label_of(y):
    return np.digitize(y, np.quantile(y, [0.3, 0.7]))


@pytest.mark.parametrize("feature", ["size", "few", 1, "kind"])
def test_means_are_those_of_scikit_learn(feature, table, ensemble, ax):
    X, _ = table
    weights = np.random.default_rng(1).random(ROWS)
    name = feature if isinstance(feature, str) else X.columns[feature]
    shared = {"grid_resolution": 7, "percentiles": (0.1, 0.8), "sample_weight": weights}
    display = DependenceDisplay.from_estimator(ensemble, X, feature, ax=ax, **shared)
    expected = partial_dependence(ensemble, X, [name], categorical_features=["kind"], kind="average", **shared)
    grid = expected["grid_values"][0]
    order = [list(display.categories).index(label) for label in grid] if name == "kind" else slice(None)
    np.testing.assert_allclose(display.mean[order], expected["average"][0])
    if name != "kind":
        np.testing.assert_allclose(display.positions, grid)
    assert display.feature == name
    for member, values in zip(ensemble.estimators_, display.members, strict=True):
        alone = partial_dependence(member, X, [name], categorical_features=["kind"], kind="average", **shared)
        np.testing.assert_allclose(values[order], alone["average"][0])


@pytest.mark.parametrize("target", [0, 2])
def test_means_of_classes_are_those_of_scikit_learn(target, table, ax):
    X, y = table
    for model in (BoostingEnsembleClassifier(n_members=2, **SMALL), GradientBoostingClassifier(**SMALL)):
        model.fit(X, label_of(y))
        display = DependenceDisplay.from_estimator(model, X, "size", target=target, grid_resolution=5, ax=ax)
        expected = partial_dependence(
            model, X, ["size"], grid_resolution=5, kind="average", response_method="predict_proba"
        )
        np.testing.assert_allclose(display.mean, expected["average"][target])
        assert display.ylabel == f"mean probability of {target}"
        ax = Figure().subplots()
    binary = GradientBoostingClassifier(**SMALL).fit(X, np.where(y > 2, "yes", "no"))
    display = DependenceDisplay.from_estimator(binary, X, "size", grid_resolution=5, ax=ax)
    expected = partial_dependence(
        binary, X, ["size"], grid_resolution=5, kind="average", response_method="predict_proba"
    )
    np.testing.assert_allclose(display.mean, expected["average"][0])
    assert display.ylabel == "mean probability of yes"


def test_arrays_frames_and_other_libraries_have_the_same_curve(table):
    X, y = table
    numbers = X[["size", "age"]].assign(few=X["few"].astype(int))
    model = GradientBoostingRegressor(**SMALL).fit(numbers.to_numpy(), y)
    frames = GradientBoostingRegressor(**SMALL).fit(numbers, y)
    for position, name in enumerate(numbers.columns):
        expected = DependenceDisplay.from_estimator(
            model, numbers.to_numpy(), position, grid_resolution=9, ax=Figure().subplots()
        ).mean
        for rows in (numbers, pl.from_pandas(numbers)):
            display = DependenceDisplay.from_estimator(frames, rows, name, grid_resolution=9, ax=Figure().subplots())
            np.testing.assert_array_equal(display.mean, expected)
    display = DependenceDisplay.from_estimator(
        LinearRegression().fit(numbers, y), numbers, "size", ax=Figure().subplots()
    )
    slopes = np.diff(display.mean) / np.diff(display.positions)
    np.testing.assert_allclose(slopes, LinearRegression().fit(numbers, y).coef_[0])
    assert display.band_ is None


def test_polars_categories_have_the_same_curve(table, ensemble):
    X, _ = table
    model = BoostingEnsembleRegressor(n_members=2, **SMALL)
    kinds = pl.from_pandas(X).with_columns(pl.col("kind").cast(pl.Enum(["red", "blue", "green"])))
    model.fit(kinds, np.arange(ROWS) * 1.0)
    display = DependenceDisplay.from_estimator(model, kinds, "kind", ax=Figure().subplots())
    for category, mean in zip(display.categories, display.mean, strict=True):
        changed = kinds.with_columns(pl.lit(category).cast(kinds["kind"].dtype).alias("kind"))
        assert mean == pytest.approx(model.predict(changed).mean())
    assert display.categories == ("red", "blue", "green")


def test_missing_categories_are_a_category_and_missing_numbers_are_left_out(table, ax):
    X, y = table
    X = X.copy()
    X.loc[X.index[::6], "kind"] = np.nan
    X.loc[X.index[::5], "size"] = np.nan
    model = GradientBoostingRegressor(**SMALL).fit(X, y)
    display = DependenceDisplay.from_estimator(model, X, "kind", ax=ax)
    assert display.categories == ("red", "blue", "green", "missing")
    nothing = X.assign(kind=pd.Categorical([None] * ROWS, categories=["red", "blue", "green"]))
    assert display.mean[3] == pytest.approx(model.predict(nothing).mean())
    display = DependenceDisplay.from_estimator(
        model, X, "size", percentiles=(0, 1), grid_resolution=9, ax=Figure().subplots()
    )
    assert display.positions[[0, -1]] == pytest.approx([X["size"].min(), X["size"].max()])
    with pytest.raises(DataError, match="size has no values"):
        DependenceDisplay.from_estimator(model, X.assign(size=np.nan), "size")


def test_numbers_listed_as_categories_are_categories(table, ax):
    X, y = table
    numbers = X[["size", "few"]].to_numpy()
    model = GradientBoostingRegressor(categorical_features=[1], **SMALL).fit(numbers, y)
    display = DependenceDisplay.from_estimator(model, numbers, 1, grid_resolution=2, ax=ax)
    assert display.categories == ("0", "1", "2", "3")
    for k in range(4):
        changed = numbers.copy()
        changed[:, 1] = k
        assert display.mean[k] == pytest.approx(model.predict(changed).mean())


def test_the_band_is_two_standard_deviations_of_the_members(table, ensemble, ax):
    X, _ = table
    display = DependenceDisplay.from_estimator(ensemble, X, "size", grid_resolution=6, ax=ax)
    vertices = display.band_.get_paths()[0].vertices
    assert vertices[:, 1].max() == pytest.approx((display.mean + 2 * display.members.std(axis=0)).max())
    assert vertices[:, 1].min() == pytest.approx((display.mean - 2 * display.members.std(axis=0)).min())
    assert "3 members" in ax.get_legend().get_texts()[0].get_text()
    kinds = DependenceDisplay.from_estimator(ensemble, X, "kind", ax=Figure().subplots())
    segments = kinds.band_.lines[2][0].get_segments()
    for segment, mean, std in zip(segments, kinds.mean, kinds.members.std(axis=0), strict=True):
        assert segment[:, 1] == pytest.approx([mean - 2 * std, mean + 2 * std])
    assert [tick.get_text() for tick in kinds.ax_.get_xticklabels()] == ["red", "blue", "green"]


def test_virtual_ensembles_have_a_band_of_their_members(table, ax):
    X, y = table
    model = GradientBoostingRegressor(langevin=True, early_stopping=False, **SMALL).fit(X, y)
    display = DependenceDisplay.from_estimator(VirtualEnsemble(model, 5), X, "size", grid_resolution=3, ax=ax)
    changed = X.assign(size=display.positions[1])
    means = VirtualEnsemble(model, 5).predict_members(changed).means.mean(axis=1)
    np.testing.assert_allclose(display.members[:, 1], means)
    labels = GradientBoostingClassifier(subsample=0.5, early_stopping=False, **SMALL).fit(X, label_of(y))
    display = DependenceDisplay.from_estimator(
        VirtualEnsemble(labels, 3), X, "size", target=1, grid_resolution=3, ax=Figure().subplots()
    )
    members = VirtualEnsemble(labels, 3).predict_members(X.assign(size=display.positions[2])).probabilities
    np.testing.assert_allclose(display.members[:, 2], members[:, :, 1].mean(axis=1))
    forest = RandomForestRegressor(20, random_state=0).fit(X[["size", "age"]], y)
    other = DependenceDisplay.from_estimator(
        VirtualEnsemble(forest, 4), X[["size", "age"]], "age", grid_resolution=5, ax=Figure().subplots()
    )
    assert other.members.shape == (4, 5)


def test_boosters_of_another_library_have_a_band(table, ax):
    lightgbm = pytest.importorskip("lightgbm")
    X, y = table
    numbers = X[["size", "age"]].to_numpy()
    settings = {"bagging_fraction": 0.5, "bagging_freq": 1, "verbose": -1, "num_threads": 1, "min_data_in_leaf": 5}
    for objective, target in (("regression", y), ("binary", y > 2)):
        data = lightgbm.Dataset(numbers, np.asarray(target, dtype=float))
        booster = lightgbm.train({"objective": objective, **settings}, data, num_boost_round=12)
        ensemble = VirtualEnsemble(booster, n_members=3)
        display = DependenceDisplay.from_estimator(ensemble, numbers, 0, grid_resolution=4, ax=Figure().subplots())
        changed = numbers.copy()
        changed[:, 0] = display.positions[2]
        assert np.median(display.members[:, 2]) == pytest.approx(booster.predict(changed).mean())
        assert display.std.max() > 0


def test_quantiles_are_means_of_predicted_quantiles(table, ensemble, ax):
    X, _ = table
    display = DependenceDisplay.from_estimator(ensemble, X, "size", quantiles=(0.1, 0.9), grid_resolution=3, ax=ax)
    distribution = ensemble.predict_distribution(X.assign(size=display.positions[2]))
    for level in (0.1, 0.9):
        assert display.quantiles[level][2] == pytest.approx(distribution.quantile(level).mean())
    assert [line.get_label() for line in display.quantile_lines_] == ["0.1 quantile", "0.9 quantile"]
    assert (display.quantiles[0.1] < display.mean).all()
    kinds = DependenceDisplay.from_estimator(ensemble, X, "kind", quantiles=(0.5,), ax=Figure().subplots())
    assert kinds.quantile_lines_[0].get_ydata() == pytest.approx(kinds.quantiles[0.5])


def test_models_share_axes_and_ticks_are_deciles(table, ensemble, ax):
    X, y = table
    display = DependenceDisplay.from_estimator(
        ensemble, X, "size", name="ensemble", percentiles=(0, 1), grid_resolution=9, ax=ax
    )
    ticks = ax.collections[-1].get_segments()
    assert [segment[0, 0] for segment in ticks] == pytest.approx(np.quantile(X["size"], np.arange(1, 10) / 10))
    single = GradientBoostingRegressor(**SMALL).fit(X, y)
    second = DependenceDisplay.from_estimator(single, X, "size", name="one", grid_resolution=9, ax=ax)
    assert len(ax.collections) == 2  # one band, and ticks once
    assert display.line_.get_color() != second.line_.get_color()
    assert {text.get_text() for text in ax.get_legend().get_texts()} >= {"ensemble", "one"}
    with pytest.raises(ParameterError, match="on axes of its own"):
        DependenceDisplay.from_estimator(single, X, "age", ax=ax)


def test_without_axes_a_figure_is_created(table, ensemble):
    display = DependenceDisplay.from_estimator(ensemble, table[0], "size", grid_resolution=3, color="black")
    assert display.figure_ is plt.gcf()
    assert display.line_.get_color() == "black"
    display.figure_.canvas.draw()
    plt.close(display.figure_)


def test_bad_arguments_are_named(table, ensemble):
    X, y = table
    draw = DependenceDisplay.from_estimator
    labels = GradientBoostingClassifier(**SMALL).fit(X, label_of(y))
    with pytest.raises(ParameterError, match="feature must be the name or the position of a column of X, got 'sizes'"):
        draw(ensemble, X, "sizes")
    with pytest.raises(ParameterError, match="target must be one of the classes"):
        draw(labels, X, "size")
    with pytest.raises(ParameterError, match="got 'red'"):
        draw(labels, X, "size", target="red")
    with pytest.raises(ParameterError, match="target is for classifiers"):
        draw(ensemble, X, "size", target=1)
    with pytest.raises(ParameterError, match="quantiles are for models with predict_distribution"):
        draw(labels, X, "size", target=1, quantiles=(0.5,))
    with pytest.raises(ParameterError, match="quantiles"):
        draw(ensemble, X, "size", quantiles=(1.5,))
    with pytest.raises(ParameterError, match="grid_resolution"):
        draw(ensemble, X, "size", grid_resolution=1)
    with pytest.raises(ParameterError, match="move them apart"):
        draw(ensemble, X.assign(size=[0.0] * (ROWS - 4) + [1.0, 2.0, 3.0, 4.0]), "size", grid_resolution=4)
    with pytest.raises(ParameterError, match="has no predict"):
        draw(object(), X, "size")
    with pytest.raises(NotFittedError):
        draw(GradientBoostingRegressor(), X, "size")
    with pytest.raises(DataError, match="members must have shape"):
        DependenceDisplay("size", [1.0, 2.0], [[1.0, 2.0, 3.0]])
