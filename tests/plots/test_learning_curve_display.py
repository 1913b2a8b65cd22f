"""Charts of learning curves."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import LinearRegression
from sklearn.metrics import root_mean_squared_error, zero_one_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from surefoot import DataError, ParameterError
from surefoot.plots.learning_curve_display import LearningCurveDisplay

X, Y = load_wine(return_X_y=True)
TRAIN, TEST = np.arange(178) % 3 != 0, np.arange(178) % 3 == 0
HELD_OUT = {"X_test": X[TEST], "y_test": Y[TEST]}


class Recorder(ClassifierMixin, BaseEstimator):
    """Records the rows that each of its clones was fitted to."""

    seen: list = []  # noqa: RUF012 (shared by clones on purpose)

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        Recorder.seen.append((X, y))
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


class MeanOfRows(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        self.mean_ = np.mean(y)
        return self

    def predict(self, X):
        return np.full(X.shape[0], self.mean_)


@pytest.fixture
def ax():
    return Figure(figsize=(6, 4)).subplots()


def test_the_last_point_is_the_model_on_all_rows(ax):
    display = LearningCurveDisplay.from_estimator(GaussianNB(), X[TRAIN], Y[TRAIN], **HELD_OUT, random_state=0, ax=ax)
    model = GaussianNB().fit(X[TRAIN], Y[TRAIN])
    assert display.n_rows.tolist() == [14, 29, 59, 118]
    assert display.value[-1] == pytest.approx(zero_one_loss(Y[TEST], model.predict(X[TEST])))
    assert (display.low <= display.value).all()
    assert (display.value <= display.high).all()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("training rows", "error rate")
    assert (display.ax_, display.figure_) == (ax, ax.figure)
    np.testing.assert_allclose(display.line_.get_data(), (display.n_rows, display.value))


def test_the_loss_of_regressors_is_the_rmse(ax):
    table, target = load_diabetes(return_X_y=True)
    display = LearningCurveDisplay.from_estimator(
        LinearRegression(), table[:300], target[:300], X_test=table[300:], y_test=target[300:], random_state=0, ax=ax
    )
    model = LinearRegression().fit(table[:300], target[:300])
    assert display.value[-1] == pytest.approx(root_mean_squared_error(target[300:], model.predict(table[300:])))
    assert display.value[0] > display.value[-1]
    assert ax.get_ylabel() == "RMSE"


def test_parts_contain_the_smaller_ones_and_classes_in_equal_proportions(ax):
    Recorder.seen.clear()
    rows = np.arange(118)[:, np.newaxis]
    LearningCurveDisplay.from_estimator(
        Recorder(),
        rows,
        Y[TRAIN],
        X_test=rows,
        y_test=Y[TRAIN],
        sizes=(1.0, 0.25, 0.5),
        random_state=3,
        ax=ax,
    )
    parts = [set(table[:, 0].tolist()) for table, _ in Recorder.seen]
    assert [len(part) for part in parts] == [29, 59, 118]
    assert parts[0] < parts[1] < parts[2]
    fractions = np.bincount(Y[TRAIN]) / 118
    for table, labels in Recorder.seen:
        np.testing.assert_array_equal(labels, Y[TRAIN][table[:, 0]])
        assert np.abs(np.bincount(labels) - len(labels) * fractions).max() <= 1


def test_the_seed_decides_the_parts(ax):
    def curve(seed):
        tree = DecisionTreeClassifier(random_state=0)
        return LearningCurveDisplay.from_estimator(
            tree, X[TRAIN], Y[TRAIN], **HELD_OUT, random_state=seed, ax=Figure().subplots()
        ).value.tolist()

    assert curve(1) == curve(1)
    assert len({tuple(curve(seed)) for seed in range(4)}) > 1


def test_all_kinds_of_tables(ax):
    target = np.linspace(0, 1, 40)
    plain = X[:40]
    tables = [plain, pd.DataFrame(plain), pl.DataFrame(plain), csr_array(plain), plain.tolist()]
    values = [
        LearningCurveDisplay.from_estimator(
            MeanOfRows(), table, target, X_test=plain, y_test=target, random_state=0, ax=Figure().subplots()
        ).value.tolist()
        for table in tables
    ]
    assert all(value == values[0] for value in values)


def test_steps_double_the_rows_and_ticks_are_numbers_of_rows(ax):
    display = LearningCurveDisplay([100, 200, 400], [0.3, 0.2, 0.1], [0.2, 0.1, 0.0], [0.4, 0.3, 0.2]).plot(ax=ax)
    ax.figure.canvas.draw()
    places = ax.transData.transform([(count, 0.1) for count in display.n_rows])[:, 0]
    assert np.diff(places)[0] == pytest.approx(np.diff(places)[1])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["100", "200", "400"]
    assert all(label.get_text().endswith("%") for label in ax.get_yticklabels())
    assert ax.get_ylim()[0] == 0


def test_unknown_ends_are_not_drawn(ax):
    LearningCurveDisplay([1, 2], [5.0, 4.0], [-np.inf, 3.0], [np.nan, 5.0], "RMSE").plot(ax=ax)
    ax.figure.canvas.draw()
    assert ax.get_ylim()[1] < 6


def test_several_models_share_axes(ax):
    first = LearningCurveDisplay([10, 20], [0.9, 0.8], [0.8, 0.7], [0.95, 0.9], name="first").plot(ax=ax)
    second = LearningCurveDisplay([10, 21], [0.2, 0.1], [0.1, 0.05], [0.3, 0.2], name="second").plot(ax=ax)
    assert first.line_.get_color() != second.line_.get_color()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["first", "second"]
    low, high = ax.get_ylim()
    assert low <= 0.05 < 0.95 <= high
    assert ax.get_xticks().tolist() == [10, 21]  # the label of 20 would overlap that of 21
    ax.set_xlabel("something else")
    with pytest.raises(ParameterError, match="axes of its own"):
        second.plot(ax=ax)


def test_invalid_arguments_are_refused(ax):
    with pytest.raises(ParameterError, match="must have fit"):
        LearningCurveDisplay.from_estimator(object(), X, Y, X_test=X, y_test=Y)
    with pytest.raises(ParameterError, match="sizes must be"):
        LearningCurveDisplay.from_estimator(GaussianNB(), X, Y, X_test=X, y_test=Y, sizes=(0.0, 1.0))
    with pytest.raises(DataError, match="sizes is empty"):
        LearningCurveDisplay.from_estimator(GaussianNB(), X, Y, X_test=X, y_test=Y, sizes=())
    with pytest.raises(DataError, match="a part of 1 rows with a single class"):
        LearningCurveDisplay.from_estimator(GaussianNB(), X, Y, X_test=X, y_test=Y, sizes=(0.001,))
    with pytest.raises(DataError, match="y must be one value per row"):
        LearningCurveDisplay.from_estimator(GaussianNB(), X, Y[:, np.newaxis], X_test=X, y_test=Y)
    with pytest.raises(DataError, match="increasing"):
        LearningCurveDisplay([20, 10], [0.1, 0.2], [0.0, 0.1], [0.2, 0.3])
    with pytest.raises(DataError, match="high must have 2 values"):
        LearningCurveDisplay([10, 20], [0.1, 0.2], [0.0, 0.1], [0.2])
