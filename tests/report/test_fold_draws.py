"""Answers that are close to a limit: the folds are drawn again, and numbers are means over these draws."""

from dataclasses import replace
from math import inf, nan

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor

from surefoot.report import run as audit_order
from surefoot.report.audit import audit_run
from surefoot.report.sections.accuracy.measure import mean_accuracy
from surefoot.report.sections.stability.findings import StabilityFindings, StableSet
from surefoot.report.sections.stability.verdict import moved_leads, stability_line
from surefoot.report.statistics import Estimate, mean_record, narrowed_record, standard_error


def numbers(n_rows=200, noise=1.0, seed=0):
    """A target that depends on one of three columns."""
    generator = np.random.default_rng(seed)
    X = pd.DataFrame(generator.normal(size=(n_rows, 3)), columns=["a", "b", "c"])
    return X, 2 * X["a"] + noise * generator.normal(size=n_rows)


@pytest.fixture
def close(monkeypatch):
    """Every answer counts as close, so that the folds are drawn three times."""
    monkeypatch.setattr(audit_order, "MAX_DRAWS", 3)
    monkeypatch.setattr(audit_order.AuditRun, "_close", lambda *_: {"accuracy"})


@pytest.fixture(scope="module")
def thrice(quick_models):
    """A small audit with three draws of the folds, everything that was fitted for it, and its progress."""
    with quick_models(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit_order, "MAX_DRAWS", 3)
        patch.setattr(audit_order.AuditRun, "_close", lambda *_: {"accuracy"})
        (X, y), seen = numbers(300), []
        own, new = slice(200), slice(200, None)
        run, result = audit_run(
            X[own], y[own], X_new=X[new], y_new=y[new], callback=lambda done, what: seen.append(done)
        )
        return run, result, seen


def test_numbers_are_means_over_the_draws(thrice):
    run, result, _ = thrice
    assert result.subject.n_draws == len(run.draws) == 3
    assert "held out 3 times, in 5 folds that are drawn again each time" in result.subject.split
    audited = [each.audited for each in run.comparisons]
    assert len({each.name for each in audited}) == 1
    errors = [np.sqrt(each.outcome.losses.mean()) for each in audited]
    assert len(set(errors)) == 3
    model = next(each for each in result.accuracy.models if each.chosen)
    assert model.loss.value == pytest.approx(np.mean(errors))
    inside = [each.observed.value for each in result.uncertainty.calibration.coverage]
    places = [np.abs(2 * each.predictions.below - 1) for each in audited]
    assert inside == pytest.approx([np.mean([place <= level for place in places]) for level in (0.5, 0.8, 0.9, 0.95)])


def test_every_draw_has_other_folds(thrice):
    run, _, _ = thrice
    judged = [np.concatenate([test for _, test in fitted[0].splits.folds]) for fitted in run.draws]
    assert all(sorted(rows) == list(range(200)) for rows in judged)
    assert not any(np.array_equal(judged[0], other) for other in judged[1:])
    others = [[run.seed_of(draw) for draw in range(3)], [replace(run, seed=1).seed_of(draw) for draw in range(3)]]
    assert len({*others[0], *others[1]}) == 6  # seeds 0, 1 and 2 have no draws in common


def test_the_best_model_has_the_smallest_mean_loss(thrice):
    run, result, _ = thrice
    losses = {
        name: np.mean([each.outcome.losses.mean() for fitted in run.draws for each in fitted if each.name == name])
        for name in ("constant", "linear", "ensemble")
    }
    winner = next(each for each in result.stability.sets if each.selector == "winner")
    assert winner.single == min(losses, key=losses.get)


def test_clear_answers_need_one_draw(quick_audit, monkeypatch):
    monkeypatch.setattr(audit_order, "MAX_DRAWS", 3)
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(300, 3)), columns=["a", "b", "c"])
    _, result = quick_audit(X, pd.Series(generator.normal(size=300)), model=DummyRegressor())
    assert result.answer("accuracy") == "no"
    assert result.subject.n_draws == 1
    assert "held out once" in result.subject.split


def test_folds_by_time_predictions_and_large_tables_are_drawn_once(quick_audit, close, monkeypatch):
    X, y = numbers()
    by_time = quick_audit(X, y, time=np.arange(200))[1]
    given = quick_audit(X, y, predictions=2 * X["a"])[1]
    monkeypatch.setattr(audit_order, "MAX_DRAWN_CELLS", 1199)  # 1200 for two draws of 200 rows and 3 columns
    large = quick_audit(X, y)[1]
    assert [result.subject.n_draws for result in (by_time, given, large)] == [1, 1, 1]


def test_further_draws_need_enough_time(quick_audit, close):
    _, result = quick_audit(*numbers(), time_limit=3600.0)
    assert result.subject.n_draws > 1
    assert result.accuracy.curve is not None


def test_a_mean_record_averages_numbers_and_keeps_the_rest(thrice):
    result = thrice[1].accuracy
    wider = narrowed_record(result, -2.0)
    mean = mean_accuracy([result, wider])
    assert mean == mean_accuracy([wider, result])
    assert mean.gain.value == result.gain.value
    assert mean.gain.low == pytest.approx(result.gain.low - standard_error(result.gain))
    assert [model.name for model in mean.models] == [model.name for model in result.models]
    assert (mean.rival, mean.audited, mean.n_rows) == (result.rival, result.audited, result.n_rows)


def test_the_gain_of_a_chosen_model_is_that_of_draws_with_all_candidates(thrice):
    """If only the best candidate is fitted again, it was chosen on the rows that test it."""
    result = thrice[1].accuracy
    assert not any(model.yours for model in result.models)
    better = replace(result, models=result.models[:2], gain=Estimate(0.99, 0.98, 1.0), is_better=True)
    assert mean_accuracy([result, better, better]).gain == result.gain
    assert mean_accuracy([result, replace(better, models=result.models)]).gain.value > result.gain.value


def test_every_draw_is_measured_once(thrice):
    run, _, _ = thrice
    measured = [key[0] for key in run.measurements]
    assert run.loss_increases.cache_info().misses == measured.count("uncertainty") == measured.count("accuracy") == 3


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ([(0.0, 2.0), (1.0, 3.0)], (0.5, 2.5)),
        ([(0.0, inf), (1.0, 3.0), (2.0, 4.0)], (1.0, 3.5)),  # open in one draw of three
        ([(0.0, inf), (1.0, inf), (2.0, 4.0)], (1.0, inf)),
        ([(-inf, inf), (1.0, 3.0)], (-inf, inf)),  # withheld in one of two: not known
    ],
)
def test_open_ends_stay_open_if_most_are(ends, expected):
    mean = mean_record([Estimate(1.5, *each) for each in ends])
    assert (mean.value, mean.low, mean.high) == (1.5, *expected)


def test_numbers_that_most_draws_lack_are_missing():
    one = Estimate(1.0, 0.0, 2.0)
    assert mean_record([None, one, one]) == one
    assert mean_record([None, None, one]) is None
    assert mean_record([(1.0, 2.0), (3.0, 5.0)]) == (2.0, 3.5)
    assert mean_record([True, True, False]) is True
    assert mean_record(["a", "b"]) == "a"


def test_intervals_are_moved_by_standard_errors():
    narrower = narrowed_record(Estimate(0.0, -1.96, 1.96), 1.0)
    assert (narrower.low, narrower.high) == pytest.approx((-0.96, 0.96), abs=1e-4)
    assert narrowed_record(Estimate(0.0, -1.96, inf), -1.0).low == pytest.approx(-2.96, abs=1e-4)
    assert narrowed_record(Estimate(0.0, -1.96, 1.96), 3.0) == Estimate(0.0, 0.0, 0.0)  # never past the value
    assert narrowed_record(Estimate(nan, -inf, inf), 1.0).high == inf


def found_set(**given):
    """A conclusion about the best model that survives."""
    settings = {
        "selector": "winner", "single": "linear", "single_weight": 1.0, "stable": "linear", "n_models": 1, "models": (),
        "inclusion": (), "undecided": False, "claim_inside": True, "holds": True, "lead": 3.5, "guarantee": "",
        "delta": 0.0, "instability": 0.0, "instability_limit": 0.01, "n_left_out": 300, "single_changed": 0,
        "n_dropped": 100, "n_units": 300, "unit": "row", "n_bags": 1000, "bag_size": 150, "remarks": (),
    }  # fmt: skip
    return StableSet(**{**settings, **given})


def answer(*sets):
    return stability_line(StabilityFindings(sets, (), None)).answer


def test_a_lead_near_its_limit_is_close():
    held = StabilityFindings((found_set(),), (), None)
    assert [stability_line(moved_leads(held, by)).answer for by in (-1.0, 0.0, 1.0)] == ["unknown", "yes", "yes"]
    behind = StabilityFindings((found_set(lead=2.5, holds=False),), (), None)
    assert [stability_line(moved_leads(behind, by)).answer for by in (-1.0, 0.0, 1.0)] == ["unknown", "unknown", "yes"]


def test_a_no_needs_conclusions_that_are_shown_not_to_survive():
    """Different choices of bags of the same losses do not show that a model is not the best."""
    tree = found_set(selector="decision tree", lead=None, n_models=2, holds=False)
    several = found_set(lead=1.0, n_models=3, holds=False)
    assert answer(tree) == "no"
    assert answer(tree, several) == "unknown"
    assert answer(tree, found_set()) == "partly"
    assert answer(found_set(lead=4.0, instability=0.2, instability_limit=0.25, holds=False)) == "no"


def test_progress_never_falls(thrice):
    seen = thrice[2]
    assert len(seen) > 10
    assert seen == sorted(seen)


def test_the_page_reports_how_often_rows_were_held_out(thrice):
    page = thrice[1].to_html()
    assert "held out 3 times" in page
    assert "numbers are means over these draws" in page


def test_question_4_compares_with_the_mean_over_the_draws(thrice):
    run, result, _ = thrice
    squares = np.mean([each.audited.outcome.losses for each in run.comparisons])
    assert len(run.draws) == 3
    assert result.shift.loss_here.value == pytest.approx(np.sqrt(squares))
    chosen = next(model for model in result.accuracy.models if model.chosen)
    assert result.shift.loss_here.value == pytest.approx(chosen.loss.value, rel=1e-3)
