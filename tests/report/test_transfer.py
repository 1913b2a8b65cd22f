"""Question 4: the target itself, weighted losses, and what the verdict makes of two looks at the columns."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ks_2samp
from sklearn.metrics import roc_auc_score

from surefoot.report.answers import Estimate, ShiftedColumn, Transfer
from surefoot.report.scoring import ERROR_RATE, RANKING_ERROR, RMSE, Outcome
from surefoot.report.target import Target
from surefoot.report.transfer import effective_rows, target_there, weighted_loss
from surefoot.report.verdict_of_transfer import transfer_line

SOME = Estimate(0.2, 0.18, 0.22)


class Ranked:
    """As much of an Accuracy as the line asks for."""

    measure, models = RANKING_ERROR, ()


def shift(p_column, p_all, **others):
    column = ShiftedColumn("age", 0.2, p_column, "shifted" if p_column < 0.05 else "not shifted", "")
    fields = {"models": (), "loss_here": None, "loss_there": None, "weighted": None, "measure": ERROR_RATE, **others}
    fields.setdefault("n_known", 200)
    return Transfer("the new rows", "What was found.", SOME, p_all, (column,), **fields)


@pytest.mark.parametrize(
    ("p_column", "p_all", "answer", "said"),
    [
        (0.4, 0.3, "yes", "Nothing was found that"),
        (0.04, 0.3, "yes", "One of two looks just shows a shift"),
        (0.4, 0.03, "yes", "One of two looks just shows a shift"),
        (0.02, 0.3, "unknown", "cannot be known"),
        (0.4, 0.001, "unknown", "cannot be known"),
    ],
)
def test_two_looks_have_one_level(p_column, p_all, answer, said):
    line = transfer_line(shift(p_column, p_all), Ranked())
    assert (line.answer, said in line.sentence) == (answer, True)


def test_the_line_says_if_the_target_has_moved_and_rows_could_not_be_ranked():
    moved = ShiftedColumn("state", 0.2, 0.001, "shifted", "sick: 10.0% of the rows here, 30.0% there")
    found = shift(0.4, 0.3, loss_here=SOME, loss_there=SOME, target=moved)
    line = transfer_line(found, Ranked())
    sentence = line.sentence
    assert line.answer == "unknown"  # the error rate of a rare class falls with the class
    assert "(one class has too few rows there to rank, and errors tell little of it)" in sentence
    assert sentence.endswith("The target itself has shifted (sick: 10.0% of the rows here, 30.0% there).")
    still = replace(found, target=replace(moved, outcome="not shifted"))
    assert "target itself" not in transfer_line(still, Ranked()).sentence


def test_weighted_losses_against_scikit_learn():
    generator = np.random.default_rng(0)
    second, scores = generator.random(300) < 0.2, generator.normal(size=300).round(1)
    losses, weights = (scores > 0) != second, generator.random(300)
    outcome = Outcome(losses, second, scores > 0, scores)
    rows = np.arange(0, 300, 2)
    expected = 1 - roc_auc_score(second[rows], scores[rows], sample_weight=weights[rows])
    assert weighted_loss(outcome, weights, rows, RANKING_ERROR) == pytest.approx(expected)
    expected = np.average(losses[rows], weights=weights[rows])
    assert weighted_loss(outcome, weights, rows, ERROR_RATE) == pytest.approx(expected)
    squares = Outcome(scores**2)
    expected = np.sqrt(np.average(scores**2, weights=weights))
    assert weighted_loss(squares, weights, np.arange(300), RMSE) == pytest.approx(expected)
    assert np.isnan(weighted_loss(outcome, weights, np.flatnonzero(second), RANKING_ERROR))


def test_numbers_there_are_compared_by_their_distribution():
    generator = np.random.default_rng(0)
    here, there = generator.normal(size=400), generator.normal(0.5, size=300)
    target, _ = Target.read(here, 400)
    found = target_there(target, np.arange(400), np.append(there, np.nan).astype(object))
    assert found.distance == pytest.approx(ks_2samp(here, there).statistic)
    assert found.outcome == "shifted"
    spreads = here.std(ddof=1), there.std(ddof=1)
    expected = f"mean {here.mean():.4g} here, {there.mean():.4g} there; standard deviation {spreads[0]:.4g} and"
    assert found.text == f"{expected} {spreads[1]:.4g}"
    same = target_there(target, np.arange(0, 400, 2), here[1::2].astype(object))
    assert same.outcome == "not shifted"


def test_classes_there_are_compared_by_their_shares():
    target, _ = Target.read(np.repeat([0, 1], [80, 20]), 100)
    found = target_there(target, np.arange(100), np.array(["0"] * 20 + ["1"] * 20 + ["2"] * 10 + [None], dtype=object))
    assert found.outcome == "shifted"
    assert found.text == "0: 80.0% of the rows here, 40.0% there; 2, not seen here: 20.0% there"


class Plain:
    measure, models = ERROR_RATE, ()


@pytest.mark.parametrize(("n_known", "answer"), [(9, "unknown"), (10, "yes")])
def test_a_few_rows_tell_nothing(n_known, answer):
    line = transfer_line(shift(0.4, 0.3, loss_here=SOME, loss_there=SOME, n_known=n_known), Plain())
    assert line.answer == answer
    assert line.sentence.startswith("9 rows with a target are too few" if n_known < 10 else "Error rate")


def test_rows_of_equal_weight_count_whole():
    assert effective_rows(np.full(7, 0.3)) == pytest.approx(7)
    assert effective_rows(np.array([1.0, 0.0, 0.0])) == 1
