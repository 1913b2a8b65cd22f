"""Instability of rules, over trials and on one table."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy.stats import ecdf
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Lasso

from surefoot import DataError, ParameterError, StableSelector
from surefoot._exceptions import UndecidedWarning
from surefoot.plots.rule_curve import RuleCurve
from surefoot.plots.stability_display import StabilityDisplay
from surefoot.selection import Argmax, InflatedArgmax, LassoSelector, SINDySelector, TopK

RNG = np.random.default_rng(0)
TRIALS = RNG.integers(0, 20, size=50) / 40
ARGMAX = RuleCurve("argmax", TRIALS, worst=[TRIALS.max()], accuracy=[0.5], set_size=[1])
TOP = RuleCurve(
    "top-k", TRIALS / 5, worst=[0.4, 0.1, 0.0], accuracy=[0.5, 0.3, 0.2], set_size=[1, 2, 3], setting="k = 2"
)
SETTING = {"bag_size": 20, "n_bags": 400, "random_state": 0}


def correlated():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 6))
    X[:, 3] = X[:, 2] + 0.1 * rng.normal(size=30)
    return X, X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=30)


def lasso(**parameters):
    return StableSelector(LassoSelector(alpha=0.4, standardize=False), **SETTING, **parameters).fit(*correlated())


@pytest.fixture(scope="module")
def stable():
    return lasso(epsilon=0.2)


def axes(n_axes):
    return Figure(figsize=(4 * n_axes, 3.5), layout="constrained").subplots(1, n_axes, squeeze=False)[0]


def legend(holder):
    return [text.get_text() for text in holder.get_texts()]


def test_the_first_panel_is_the_distribution_over_trials():
    given = axes(3)
    display = StabilityDisplay([ARGMAX, TOP]).plot(axes=given)
    assert display.panels == ("cdf", "accuracy", "set size")
    for line, curve in zip(display.lines_["cdf"], (ARGMAX, TOP), strict=True):
        x, y = line.get_data()
        assert line.get_drawstyle() == "steps-post"
        expected = ecdf(curve.instabilities).cdf
        for value in (0.0, 0.05, 0.1, 0.12, 0.25, 0.475, 0.9, 1.0):
            assert y[np.searchsorted(x, value, side="right") - 1] == pytest.approx(expected.evaluate(value))
    assert given[0].get_xlabel() == "instability"
    assert (display.axes_, display.figure_) == (list(given), given[0].figure)


def test_the_other_panels_are_sweeps_against_the_worst_instability():
    given = axes(3)
    display = StabilityDisplay([ARGMAX, TOP]).plot(axes=given)
    for panel, name in (("accuracy", "accuracy"), ("set size", "set_size")):
        for line, curve in zip(display.lines_[panel], (ARGMAX, TOP), strict=True):
            np.testing.assert_array_equal(line.get_data(), (curve.worst, getattr(curve, name)))
    assert given[1].get_ylabel() == "utility-weighted accuracy"
    assert given[2].get_ylabel() == "median number of selected models"
    assert given[2].get_xlabel() == "worst instability over the trials"
    assert all(tick == int(tick) for tick in given[2].get_yticks())


def test_unknown_quantities_have_no_panel():
    bare = RuleCurve("bare", TRIALS, worst=[0.5])
    display = StabilityDisplay([bare, TOP]).plot(axes=axes(3))
    assert [len(display.lines_[panel]) for panel in display.panels] == [2, 1, 1]
    assert StabilityDisplay([bare]).panels == ("cdf",)
    sizes = RuleCurve("sizes", TRIALS, worst=[0.5, 0.2], set_size=[1, 4])
    assert StabilityDisplay([bare, sizes]).panels == ("cdf", "set size")


def test_curves_differ_in_more_than_colour_and_keep_their_style_in_all_panels():
    display = StabilityDisplay([ARGMAX, TOP]).plot(axes=axes(3))
    looks = [
        {(line.get_color(), line.get_linestyle()) for line in lines}
        for lines in zip(*display.lines_.values(), strict=True)
    ]
    assert [len(look) for look in looks] == [1, 1]
    (first,), (second,) = looks
    assert first[0] != second[0]
    assert first[1] != second[1]
    assert len({line.get_marker() for line in display.lines_["accuracy"]}) == 2


def test_the_legend_is_below_a_new_figure_and_inside_given_axes():
    display = StabilityDisplay([ARGMAX, TOP]).plot()
    assert legend(display.figure_.legends[0]) == ["argmax", "top-k (left: k = 2)"]
    display.figure_.canvas.draw()
    box = display.figure_.legends[0].get_window_extent()
    assert not any(box.overlaps(ax.get_tightbbox()) for ax in display.axes_)
    plt.close(display.figure_)
    given = axes(3)
    StabilityDisplay([ARGMAX, TOP]).plot(axes=given)
    assert legend(given[0].get_legend()) == ["argmax", "top-k (k = 2)"]


def test_numbers_of_models_with_a_wide_range_have_a_logarithmic_scale():
    wide = RuleCurve("wide", TRIALS, worst=[0.5, 0.0], set_size=[1, 200])
    given = axes(2)
    StabilityDisplay([wide]).plot(axes=given)
    assert given[1].get_yscale() == "log"


@pytest.mark.parametrize("method", ["pool", "refit"])
def test_on_one_table_every_point_equals_a_selector_with_that_rule(stable, method):
    given = axes(2)
    epsilons = [0.05, 0.2, 0.3]
    display = StabilityDisplay.from_estimator(stable, method=method, epsilons=epsilons, axes=given)
    inflated, top, argmax = display.curves
    assert display.panels == ("sweep", "set size")
    rules = [*map(InflatedArgmax, epsilons), TopK(2), TopK(3), Argmax()]
    others = [lasso(rule=rule) for rule in rules]
    expected = [other.leave_one_out(method).instability for other in others]
    assert [*inflated.worst, *top.worst[:2], *argmax.worst] == pytest.approx(expected)
    assert len(set(expected)) > 2
    sizes = [len(other.selected_) for other in others]
    assert [*inflated.set_size, *top.set_size[:2], *argmax.set_size] == sizes
    swept, level = display.lines_["sweep"][0], display.lines_["sweep"][2]
    np.testing.assert_array_equal(swept.get_data(), (epsilons, inflated.worst))
    assert set(level.get_ydata()) == {argmax.worst[0]}


def test_default_epsilons_end_before_the_bags_are_undecided(stable):
    inflated = StabilityDisplay.from_estimator(stable, axes=axes(2)).curves[0]
    assert (np.diff(inflated.epsilons) > 0).all()
    assert 0.2 in inflated.epsilons
    assert np.isfinite(inflated.set_size).all()
    largest = inflated.epsilons[-1]
    assert not lasso(epsilon=largest).undecided_
    with pytest.warns(UndecidedWarning):
        lasso(epsilon=1.05 * largest)
    beyond = StabilityDisplay.from_estimator(stable, epsilons=[1.05 * largest, 0.2], axes=axes(2)).curves[0]
    assert np.isnan(beyond.set_size).tolist() == [False, True]


def test_the_guarantee_and_the_selectors_epsilon_are_drawn(stable):
    given = axes(2)
    display = StabilityDisplay.from_estimator(stable, axes=given)
    inflated = display.curves[0]
    own = inflated.epsilons.tolist().index(0.2)
    assert inflated.promised[own] == pytest.approx(stable.delta_)
    assert (inflated.worst <= inflated.promised).all()
    assert "this selector's epsilon, 0.2" in legend(given[0].get_legend())
    assert any(set(line.get_xdata()) == {0.2} for line in given[0].lines)
    careful = lasso(epsilon=0.3, monte_carlo=True)
    with_chance = StabilityDisplay.from_estimator(careful, epsilons=[0.3], axes=axes(2)).curves[0]
    assert with_chance.promised[0] == pytest.approx(careful.delta_monte_carlo_)
    unmarked = axes(2)
    StabilityDisplay.from_estimator(lasso(rule=TopK(2)), axes=unmarked)
    assert not any("epsilon" in text for text in legend(unmarked[0].get_legend()))


def test_a_guarantee_outside_the_axes_is_not_in_the_legend():
    far = {"epsilons": [0.1, 0.2], "promised": [1.0, 0.9], "set_size": [1, 2]}
    given = axes(2)
    StabilityDisplay([RuleCurve("inflated argmax", [0.1], worst=[0.1, 0.0], **far)]).plot(axes=given)
    assert legend(given[0].get_legend()) == ["inflated argmax"]
    near = {**far, "promised": [1.0, 0.05]}
    given = axes(2)
    StabilityDisplay([RuleCurve("inflated argmax", [0.1], worst=[0.1, 0.0], **near)]).plot(axes=given)
    assert legend(given[0].get_legend()) == ["inflated argmax", "guaranteed at most"]


def test_a_selector_that_uses_rows_outside_its_bag_is_refitted():
    times = np.linspace(0, 6, 20)
    motion = pd.DataFrame({"x": np.cos(times), "v": np.sin(times)})
    motion += 0.05 * np.random.default_rng(0).normal(size=motion.shape)
    selector = SINDySelector(threshold=0.3, alpha=0.01)
    setting = {"n_bags": 60, "bag_size": 12, "random_state": 0}
    stable = StableSelector(selector, epsilon=0.1, **setting).fit(motion, t=times)
    with pytest.raises(ParameterError, match="use method='refit'"):
        StabilityDisplay.from_estimator(stable)
    display = StabilityDisplay.from_estimator(stable, method="refit", epsilons=[0.1], axes=axes(2))
    assert display.curves[0].worst[0] == stable.leave_one_out("refit").instability
    argmax = StableSelector(selector, rule=Argmax(), **setting).fit(motion, t=times)
    assert display.curves[2].worst[0] == argmax.leave_one_out("refit").instability


def test_invalid_arguments_are_refused(stable):
    with pytest.raises(ParameterError, match="must have leave_one_out"):
        StabilityDisplay.from_estimator(Lasso())
    with pytest.raises(NotFittedError):
        StabilityDisplay.from_estimator(StableSelector(LassoSelector(alpha=0.3, standardize=False)))
    with pytest.raises(ParameterError, match="method must be one of"):
        StabilityDisplay.from_estimator(stable, method="jackknife")
    with pytest.raises(ParameterError, match="epsilons must be at most the square root of 2"):
        StabilityDisplay.from_estimator(stable, epsilons=[0.1, 2.0])
    with pytest.raises(ParameterError, match="epsilons is empty"):
        StabilityDisplay.from_estimator(stable, epsilons=[])
    with pytest.raises(ParameterError, match="axes must be 2, for sweep, set size; got 3"):
        StabilityDisplay.from_estimator(stable, axes=axes(3))
    large = StableSelector(
        LassoSelector(alpha=0.4, standardize=False), epsilon=0.1, bag_size=29, n_bags=50, random_state=0
    )
    with pytest.raises(ParameterError, match="bag_size is 29 of 30 rows"):
        StabilityDisplay.from_estimator(large.fit(*correlated()), method="refit")
    with pytest.raises(DataError, match="curves is empty"):
        StabilityDisplay([])


def test_invalid_curves_are_refused():
    with pytest.raises(DataError, match="accuracy of 'top-k' must be one-dimensional, with a value for each setting"):
        RuleCurve("top-k", TRIALS, worst=[0.1, 0.2], accuracy=[0.5])
    for instabilities in ([], [[0.1]], 0.5):
        with pytest.raises(
            DataError, match="instabilities of 'x' must be one-dimensional, with a value for each trial"
        ):
            RuleCurve("x", instabilities, worst=[0.1])
    for worst in ([1.5], [float("nan")], [-0.1]):
        with pytest.raises(DataError, match="worst of 'x' must be fractions, between 0 and 1"):
            RuleCurve("x", TRIALS, worst=worst)
