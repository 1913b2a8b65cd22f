"""The time limit of an audit: what does not end in time is left out, by name, and no answer is better for it."""

import time
from types import SimpleNamespace

import numpy as np
import pytest
from reference.audit_tables import numbers
from sklearn.base import BaseEstimator, RegressorMixin

import surefoot
from surefoot import ParameterError, audit
from surefoot.report.checks import data_checks
from surefoot.report.checks.copies import find_copies
from surefoot.report.checks.data_checks import NO_TIME, ORDER_MATTERS, STEP, check_data
from surefoot.report.inputs.splits import Splits
from surefoot.report.inputs.table import LEAK_SEARCH, AuditTable
from surefoot.report.models import cross_fitting
from surefoot.report.models.cross_fitting import CandidateModel, cross_fit
from surefoot.report.sections import SECTIONS
from surefoot.report.time_budget import TimeBudget


def endless_fit():
    X = np.random.default_rng(0).normal(size=(300, 4))
    return surefoot.GradientBoostingRegressor(n_estimators=10**6, early_stopping=False).fit(X, X[:, 0])


def test_what_ends_in_time_is_returned():
    for budget in (TimeBudget(), TimeBudget(60.0)):
        assert budget.within("a step", 0.5, lambda: 7) == 7
        assert budget.left_out == []


def test_a_fit_that_does_not_end_in_time_is_left_out():
    budget = TimeBudget(1.0)
    assert budget.within("comparison with ensemble", 0.3, endless_fit) is None
    assert budget.left_out_candidates == ["ensemble"]


def test_checks_without_time_are_undecided(monkeypatch):
    table = AuditTable.read(*numbers(400))
    splits = Splits.draw(table.target, None, None, False, 0)
    given = table, splits, find_copies(table.frame, table.target.y), None, None, 0, 1
    monkeypatch.setattr(data_checks, "MIN_SECONDS", 600.0)  # for slow machines
    for budget in (TimeBudget(), TimeBudget(1e-3)):  # the checks of small tables are made even if there is no time
        assert NO_TIME not in {check.sentence for check in check_data(*given, budget)}
    monkeypatch.setattr(data_checks, "MIN_SECONDS", 0.0)
    (check,) = check_data(*given, budget)
    assert (check.sentence, check.undecided, check.matters) == (NO_TIME, ORDER_MATTERS, False)
    assert budget.left_out == [STEP]


@pytest.mark.filterwarnings("ignore::surefoot.NoTrainingNoiseWarning")
def test_a_wide_table_is_audited_within_about_its_limit():
    """The ensemble alone would take minutes; the bound is far above the limit, for slow machines."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2000))
    started = time.perf_counter()
    result = audit(X, X[:, 0] + rng.normal(size=300), time_limit=5.0)
    assert "ensemble" in result.accuracy.left_out
    assert result.answer("accuracy") == "unknown"
    assert time.perf_counter() - started < 60.0


class SlowModel(RegressorMixin, BaseEstimator):
    """A model of another library, which looks at no deadline: slow to fit, or to predict."""

    def __init__(self, fit_seconds=0.0, predict_seconds=0.0):
        self.fit_seconds, self.predict_seconds = fit_seconds, predict_seconds

    def _wait(self, seconds):
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            time.sleep(0.01)

    def fit(self, X, y):
        self._wait(self.fit_seconds)
        return self

    def predict(self, X):
        self._wait(self.predict_seconds)
        return np.zeros(len(X))


@pytest.mark.parametrize("argument", ["fit_seconds", "predict_seconds"])
def test_models_of_other_libraries_are_stopped(argument):
    table = AuditTable.read(*numbers(200))
    splits = Splits.draw(table.target, None, None, False, 0)
    slow = CandidateModel("slow", "a model", SlowModel(**{argument: 600.0}))
    started, budget = time.perf_counter(), TimeBudget(0.5)
    assert cross_fit(table, splits, [slow], budget) == ([], [])
    assert budget.left_out_candidates == ["slow"]
    assert time.perf_counter() - started < 60.0


def test_a_trial_fit_is_stopped_too(monkeypatch):
    monkeypatch.setattr(cross_fitting, "TRIAL_ROWS", 50)
    table = AuditTable.read(*numbers(200))
    splits = Splits.draw(table.target, None, None, False, 0)
    slow, budget = CandidateModel("slow", "a model", SlowModel(600.0)), TimeBudget(0.5)
    assert cross_fit(table, splits, [slow], budget) == ([], [])
    assert budget.left_out_candidates == ["slow"]


def test_a_limit_that_is_too_short_for_the_audited_model_is_an_error(monkeypatch):
    monkeypatch.setattr(cross_fitting, "MIN_SECONDS", 0.1)
    with pytest.raises(ParameterError, match=r"time_limit=0\.5 is too short for your model") as error:
        audit(*numbers(160), model=SlowModel(600.0), time_limit=0.5)
    assert error.value.argument == "time_limit"


def test_the_search_for_leaks_is_stopped(monkeypatch):
    def endless(frame, target):
        while True:
            time.sleep(0.01)

    monkeypatch.setattr("surefoot.report.inputs.table.find_leaks", endless)
    monkeypatch.setattr("surefoot.report.inputs.table.MIN_SECONDS", 0.1)
    budget = TimeBudget(0.5)
    table = AuditTable.read(*numbers(100), budget=budget)
    assert budget.left_out == [LEAK_SEARCH]
    assert table.notes == ()


STOPPED = [section for section in SECTIONS if section.name not in ("accuracy", "stability")]


@pytest.mark.parametrize("section", STOPPED, ids=lambda section: section.name)
def test_a_section_without_time_measures_nothing(section):
    """Nothing of the run is looked at but its budget, and whether there is anything to measure."""
    deployment = SimpleNamespace(chunks=(1,), known=(), weights=None)
    run = SimpleNamespace(
        budget=TimeBudget(1e-9),
        deployment=deployment,
        metric="r2",
        costs=None,
        table=SimpleNamespace(weights=None),
        **dict.fromkeys(("audited", "slices", "seed", "fitted", "is_unseen_unknown", "comparisons", "groups")),
        **dict.fromkeys(("loss_increases", "n_jobs")),
    )
    assert section.measure(run) is None
    assert len(run.budget.left_out) == 1


class EndlessSection:
    """A section of the user, without a verdict."""

    name, question = "endless", "When does it end?"

    def measure(self, run):
        while True:
            time.sleep(0.01)

    def page(self, findings, context):
        raise AssertionError("a section without findings is not on the page")


def test_a_section_of_the_user_is_stopped(monkeypatch):
    monkeypatch.setattr("surefoot.report.run.MIN_SECONDS", 0.1)
    result = audit(*numbers(60), time_limit=0.01, sections=[EndlessSection()])
    assert result.findings["endless"] is None
    assert "section endless" in " ".join(result.subject.remarks)
    assert result.to_html()
