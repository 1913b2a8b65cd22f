"""Means over splits, and the paired t-test of the paper's A.4."""

import numpy as np
import pytest
from made_up import result
from scipy.stats import ttest_rel

from surefoot_experiments.uncertainty.scores import Score, Scores, not_worse_than_best, on_common_splits, p_value


def score(*values: float, first: int = 0) -> Score:
    return Score(tuple(range(first, first + len(values))), np.array(values))


def test_means_and_deviations_are_over_splits_in_order() -> None:
    scores = Scores([result("boston", split, "SGB", nll=2.0 + split, prr_total=0.5) for split in (2, 0, 1)])
    nll = scores.get("boston", "SGB", "nll")
    assert nll is not None
    assert (nll.splits, nll.mean, nll.deviation) == ((0, 1, 2), 3.0, 1.0)
    assert scores.get("boston", "SGB", "prr", "knowledge") is None
    assert scores.get("yacht", "SGB", "nll") is None
    assert np.isnan(score(1.0).deviation)


def test_the_marks_are_those_of_the_t_test() -> None:
    rng = np.random.default_rng(0)
    base = rng.normal(size=20)
    values = [base, base + 0.02 * rng.normal(size=20), base + 0.3 + 0.1 * rng.normal(size=20)]
    scores = [Score(tuple(range(20)), each) for each in values]
    for measure, sign in (("nll", 1), ("auc", -1)):
        best = min(range(3), key=lambda k: sign * values[k].mean())
        expected = [k == best or ttest_rel(values[best], values[k]).pvalue > 0.05 for k in range(3)]
        assert not_worse_than_best(scores, measure) == expected
    assert not_worse_than_best(scores, "nll") == [True, True, False]


def test_with_one_split_nothing_is_marked() -> None:
    assert not_worse_than_best([score(1.0), score(2.0), None], "nll") == [False, False, False]


def test_differences_that_do_not_vary() -> None:
    assert p_value(score(1, 2, 3), score(1, 2, 3)) == 1.0
    assert p_value(score(1, 2, 3), score(2, 3, 4)) == 0.0
    assert p_value(score(1.0, 2.0), score(1.0 + 1e-15, 2.0)) > 0.05


def test_only_common_splits_are_compared() -> None:
    wide, narrow = score(1, 2, 3, 100), score(5, 6, 7)
    assert p_value(wide, narrow) == p_value(score(1, 2, 3), narrow)
    kept, missing, same = on_common_splits([wide, None, narrow])
    assert missing is None
    assert kept is not None
    assert same is not None
    assert kept.splits == same.splits == (0, 1, 2)
    assert kept.mean == 2.0
    assert on_common_splits([score(1, 2), score(1, first=5)]) == [None, None]


def test_a_gap_is_taken_over_common_splits() -> None:
    lines = [result("boston", split, "SGLB", nll=1.0 + split) for split in range(4)]
    lines += [result("boston", split, "RF", nll=3.0 + split) for split in range(2)]
    scores = Scores(lines)
    assert scores.gaps("boston", ("RF", "nll"), ("SGLB", "nll")) == pytest.approx([2.0, 2.0])
    assert not len(scores.gaps("boston", ("vRF", "nll"), ("SGLB", "nll")))
