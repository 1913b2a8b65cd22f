"""The time limit of an audit: what does not end in time is left out, by name, and no answer is better for it."""

import time

import numpy as np
import pytest
from reference.audit_tables import numbers

import surefoot
from surefoot import audit
from surefoot.report.checks import data_checks
from surefoot.report.checks.copies import find_copies
from surefoot.report.checks.data_checks import NO_TIME, ORDER_MATTERS, STEP, check_data
from surefoot.report.inputs.splits import Splits
from surefoot.report.inputs.table import AuditTable
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
