"""Fixtures of several tests of audits."""

from functools import partial

import pytest
from stored_audits import check_stored

from surefoot.report import run
from surefoot.report.audit import audit_run
from surefoot.report.sections.accuracy import AccuracySection
from surefoot.report.sections.shift import deployment_models
from surefoot.shift import VMatrixBoostingClassifier, VMatrixBoostingRegressor

QUICK = ("constant", "linear", "ensemble")


@pytest.fixture(scope="session")
def few_candidates():
    """The fast candidates, with a small ensemble."""

    def few(candidates):
        chosen = [candidate for candidate in candidates if candidate.name in QUICK]
        chosen[-1].model.set_params(n_members=3, n_estimators=30, learning_rate=0.3)
        return chosen

    return few


@pytest.fixture
def quick_audit(monkeypatch, few_candidates):
    """An audit with few candidates and small boosted models, and everything that was fitted for it."""
    every = run.candidate_models
    for booster in (VMatrixBoostingClassifier, VMatrixBoostingRegressor):
        monkeypatch.setattr(deployment_models, booster.__name__, partial(booster, n_estimators=20))
    monkeypatch.setattr(run, "candidate_models", lambda *given: few_candidates(every(*given)))

    def checked(*given, **options):
        every, result = audit_run(*given, **options)
        check_stored(result)
        return every, result

    return checked


@pytest.fixture
def two_candidates(monkeypatch):
    """Question 1 of an audit with a constant and a linear model only."""
    every = run.candidate_models
    monkeypatch.setattr(run, "candidate_models", lambda *arguments: every(*arguments)[:2])

    def answer(X, y, **given):
        return AccuracySection().measure(run.AuditRun.begin(X, y, random_state=0, **given).fit())

    return answer
