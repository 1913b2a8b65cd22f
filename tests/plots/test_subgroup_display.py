"""The display of subgroups: against pandas and scipy, and what is drawn."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, t

from surefoot import DataError
from surefoot.plots import SubgroupDisplay


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    groups = rng.choice(["a", "b", "c"], 300, p=[0.6, 0.3, 0.1])
    return rng.normal(size=300), rng.normal(size=300), groups


def test_rates_are_those_of_pandas_with_wilsons_interval_at_the_corrected_level(rows):
    truth, predicted, groups = rows
    display = SubgroupDisplay.from_predictions(truth > 0, predicted > 0, groups, loss="zero_one")
    wrong = pd.Series((truth > 0) != (predicted > 0))
    rates = wrong.groupby(groups).mean().sort_values(ascending=False)
    assert display.names == rates.index.tolist()
    assert display.value.tolist() == pytest.approx(rates.tolist())
    assert display.overall == pytest.approx(wrong.mean())
    first = wrong[groups == display.names[0]]
    exact = binomtest(int(first.sum()), len(first)).proportion_ci(1 - 0.05 / 3, method="wilson")
    assert (display.low[0], display.high[0]) == pytest.approx((exact.low, exact.high))


def test_numbers_have_the_rmse_with_students_interval(rows):
    truth, predicted, groups = rows
    display = SubgroupDisplay.from_predictions(truth, predicted, groups)
    squares = (truth - predicted)[groups == display.names[0]] ** 2
    ends = t.interval(1 - 0.05 / 3, len(squares) - 1, squares.mean(), squares.std(ddof=1) / len(squares) ** 0.5)
    assert (display.low[0] ** 2, display.high[0] ** 2) == pytest.approx(ends)
    assert display.value[0] == pytest.approx(squares.mean() ** 0.5)


def test_what_is_drawn():
    display = SubgroupDisplay(["one", "other"], [0.3, 0.2], [0.2, 0.1], [0.4, np.inf], 0.25, highlighted=["one"]).plot()
    assert [float(dot.get_xdata()[0]) for dot in display.dots_] == [0.3, 0.2]
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["one", "other"]
    assert display.line_.get_xdata()[0] == 0.25
    ends = [segment[:, 0].tolist() for segment in display.whiskers_.get_segments()]
    assert ends == [[0.2, 0.4], [0.1, 0.2]]  # an open end is not drawn
    assert display.plot(ax=display.ax_).ax_ is display.ax_


def test_wrong_input_is_refused(rows):
    truth, predicted, groups = rows
    with pytest.raises(DataError, match="groups must have one value for each of the 300 rows"):
        SubgroupDisplay.from_predictions(truth, predicted, groups[:3])
    with pytest.raises(DataError, match="overall must be a finite number"):
        SubgroupDisplay(["one"], [0.3], [0.2], [0.4], np.nan)
