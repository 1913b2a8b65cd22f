"""Fixtures of several tests of audits."""

from contextlib import contextmanager
from functools import partial

import pytest
from stored_audits import check_stored

from surefoot.report import run
from surefoot.report.audit import audit_run
from surefoot.report.sections.accuracy import AccuracySection
from surefoot.report.sections.own_measure import metric
from surefoot.report.sections.shift import deployment_models
from surefoot.shift import VMatrixBoostingClassifier, VMatrixBoostingRegressor

QUICK = ("constant", "linear", "ensemble")


@pytest.fixture(scope="session")
def few_candidates():
    """The fast candidates, with a small ensemble."""

    def few(candidates):
        chosen = [candidate for candidate in candidates if candidate.name in QUICK]
        chosen[-1].model.set_params(n_members=2, n_estimators=15, learning_rate=0.3)
        return chosen

    return few


@pytest.fixture(scope="session")
def quick_models(few_candidates):
    """A context in which audits have few candidates and small boosted models: for fixtures of several tests."""

    @contextmanager
    def quick():
        every = run.candidate_models
        with pytest.MonkeyPatch.context() as patch:
            for booster in (VMatrixBoostingClassifier, VMatrixBoostingRegressor):
                patch.setattr(deployment_models, booster.__name__, partial(booster, n_estimators=20))
            patch.setattr(run, "candidate_models", lambda *given: few_candidates(every(*given)))
            patch.setattr(metric, "N_DRAWS", (100, 100))  # scikit-learn's scorers take a millisecond each
            yield

    return quick


@pytest.fixture
def quick_audit(quick_models):
    """An audit with few candidates and small boosted models, and everything that was fitted for it."""

    def checked(*given, **options):
        every, result = audit_run(*given, **options)
        check_stored(result)
        return every, result

    with quick_models():
        yield checked


@pytest.fixture
def two_candidates(monkeypatch):
    """Question 1 of an audit with a constant and a linear model only."""
    every = run.candidate_models
    monkeypatch.setattr(run, "candidate_models", lambda *arguments: every(*arguments)[:2])

    def answer(X, y, **given):
        return AccuracySection().measure(run.AuditRun.begin(X, y, random_state=0, **given).fit())

    return answer
