"""Conformal intervals and sets in the audit: against direct computation, and what is never claimed."""

import json

import numpy as np
import pandas as pd
import pytest
from reference.audit_tables import numbers, two_classes
from sklearn.linear_model import BayesianRidge, LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from surefoot.report.page.numbers import number
from surefoot.report.sections.guarantee import GuaranteeSection
from surefoot.report.sections.guarantee import deployment as deployment_module
from surefoot.report.sections.guarantee.measure import HeldOutScores, measure_guarantee, weights_of_units
from surefoot.report.sections.section import SectionContext


@pytest.fixture
def guarantee(two_candidates):
    """The section alone: its findings, its text and the run of the audit."""
    from surefoot.report.run import AuditRun

    def measured(X, y, **given):
        run = AuditRun.begin(X, y, random_state=0, **given).fit()
        findings = GuaranteeSection().measure(run)
        page = None
        if findings is not None:
            page = GuaranteeSection().page(findings, SectionContext(run.subject(), {"guarantee": findings}))
        return findings, page, run

    return measured


def order_statistic(scores, level=0.9):
    rank = int(np.ceil((len(scores) + 1) * level - 1e-9))
    return np.sort(scores)[rank - 1] if rank <= len(scores) else np.inf


def test_observed_coverage_is_that_of_limits_from_the_other_folds(guarantee):
    X, y = numbers(200)
    findings, page, run = guarantee(X, y, model=LinearRegression())
    errors = np.abs(run.audited.predictions.values - y.to_numpy())
    hits, widths = np.empty(200), {}
    for k, (_, test) in enumerate(run.splits.folds):
        limit = order_statistic(np.delete(errors, test))
        hits[test], widths[k] = errors[test] <= limit, 2 * limit
    assert findings.observed.value == pytest.approx(hits.mean())
    assert findings.observed.low < hits.mean() < findings.observed.high
    assert findings.size == pytest.approx(widths[0])
    assert (findings.guaranteed, findings.unit, findings.is_adaptive) == (pytest.approx(0.8 - 1.6 / 41), "rows", False)
    assert "contain the target of at least 76% of new rows on average" in page
    assert "About 90% are usual" in page
    assert "(CV+)" in page


def test_units_of_the_models_own_and_its_own_intervals(guarantee):
    X, y = numbers(200)
    findings, page, run = guarantee(X, y, model=BayesianRidge())
    predictions = run.audited.predictions
    scores = np.abs(predictions.values - y.to_numpy()) / predictions.std
    test = run.splits.folds[0][1]
    limit = order_statistic(np.delete(scores, test))
    assert findings.size == pytest.approx(np.mean(2 * limit * predictions.std[test]))
    assert findings.own_size == pytest.approx(np.mean(2 * 1.6448536 * predictions.std[test]))
    assert findings.own_observed.value == pytest.approx(np.mean(scores <= 1.6448536))
    assert f"width is {number(findings.size)}, proportional to the model&#39;s standard deviations" in page


def test_label_sets_and_classes(guarantee):
    X, y = two_classes(300)
    findings, page, run = guarantee(X[["size", "noise"]], y, model=GaussianNB())
    probabilities, truth = run.audited.predictions.probabilities, run.table.target.y
    scores = 1 - probabilities[np.arange(300), truth]
    hits, sizes = np.empty(300, dtype=bool), np.empty(300)
    for _, test in run.splits.folds:
        limit = order_statistic(np.delete(scores, test))
        members = 1 - probabilities[test] <= limit
        members[np.arange(len(test)), probabilities[test].argmax(axis=1)] = True
        hits[test], sizes[test] = members[np.arange(len(test)), truth[test]], members.sum(axis=1)
    assert findings.observed.value == pytest.approx(hits.mean())
    first = run.splits.folds[0][1]
    assert findings.size == pytest.approx(sizes[first].mean())
    assert findings.single == pytest.approx(np.mean(sizes[first] == 1))
    of_classes = {part.name: part.observed.value for part in findings.parts}
    assert of_classes == pytest.approx({"sick": hits[y == "sick"].mean(), "well": hits[y == "well"].mean()})
    assert "A set has" in page
    assert "labels on average" in page


def test_one_fitted_model_has_the_full_guarantee_and_an_unknown_one_has_none(guarantee):
    X, y = numbers(200)
    model = LinearRegression().fit(X[:60], y[:60])
    findings, page, _ = guarantee(X, y, model=model, refit=False, trained_on=np.arange(200) < 60)
    assert findings.guaranteed == 0.9
    assert "at least 90% of new rows" in page
    assert "About 90%" not in page
    assert "(CV+)" not in page
    findings, page, _ = guarantee(X, y, model=model, refit=False)
    assert findings.guaranteed is None
    assert "There is no guarantee: it is not known which rows the model was trained on" in page
    assert "The guarantee is an average" not in page


def test_predictions_without_their_model(guarantee):
    X, y = numbers(120)
    findings, page, _ = guarantee(X, y, predictions=3 * X["x"])
    assert (findings.guaranteed, findings.doubt) == (None, "predictions")
    assert "It is not known which models made the predictions." in page


def test_the_choice_of_the_model_is_an_assumption(guarantee):
    findings, page, _ = guarantee(*numbers(120))
    assert findings.is_chosen
    assert "the choice of the model on the same rows matters little" in page


def test_by_time_nothing_is_guaranteed(guarantee):
    X, y = numbers(300)
    findings, page, run = guarantee(X.assign(day=np.arange(300)), y, model=LinearRegression(), time="day")
    assert (findings.guaranteed, findings.unit) == (None, "time")
    assert "There is no guarantee: rows of different times are not a random sample" in page
    assert "he guarantee" not in page
    held = HeldOutScores.of(run.audited)
    limits = held.cross_fitted_limits(by_time=True)
    assert np.isnan(limits[held.folds == 0]).all()
    assert limits[held.folds == 1][0] == pytest.approx(order_statistic(held.scores[held.folds == 0]))
    assert limits[held.folds == 2][0] == pytest.approx(order_statistic(held.scores[held.folds < 2]))
    assert findings.deployment.observed is not None  # the last rows by time, whose targets are known
    assert findings.deployment.n_rows == 60


def test_groups_are_the_units(guarantee):
    generator = np.random.default_rng(0)
    X, y = numbers(400)
    sizes = np.array([100, 60, 40, *[8] * 25])
    X["ward"] = [f"w{k}" for k in np.repeat(np.arange(28), sizes)]
    y = y + generator.normal(size=28)[np.repeat(np.arange(28), sizes)]
    findings, page, run = guarantee(X, y, model=LinearRegression(), groups="ward")
    assert (findings.unit, findings.n_units) == ("groups", 28)
    assert "each of a new group" in page
    groups, held = X["ward"].to_numpy(), HeldOutScores.of(run.audited)
    hits = held.hits(held.cross_fitted_limits(by_time=False))
    assert findings.observed.value == pytest.approx(pd.Series(hits * 1.0).groupby(groups).mean().mean())
    for part in findings.parts:
        assert part.kind == "group"
        assert part.observed.value == pytest.approx(hits[groups == part.name].mean())
    assert {part.name for part in findings.parts} == {"w0", "w1", "w2"}
    np.testing.assert_allclose(pd.Series(weights_of_units(groups)).groupby(groups).sum(), 1.0)


def test_too_few_groups_have_no_finite_interval(guarantee):
    X, y = numbers(120)
    findings, page, _ = guarantee(X.assign(ward=np.arange(120) % 6), y, model=LinearRegression(), groups="ward")
    assert findings.size is None
    assert "There is no guarantee at 90% with 6 groups: it takes at least 9." in page
    assert "The intervals are infinite" in page


def test_coverage_of_new_groups():
    """Large groups with large errors do not decide alone; the mean over new groups is covered."""
    generator, hits = np.random.default_rng(0), []
    for _ in range(300):
        sizes = generator.integers(1, 20, size=25)
        spread = np.where(sizes > 10, 3.0, 1.0)
        units = np.repeat(np.arange(25), sizes)
        scores = np.abs(generator.normal(size=len(units))) * spread[units]
        held = HeldOutScores(scores, None, None, np.zeros(len(units), dtype=int), weights_of_units(units))
        limit = held.calibration(np.arange(len(units)), single_model=True).limits(0.9, np.ones(1))[0]
        new = np.where(generator.integers(1, 20, size=200) > 10, 3.0, 1.0)
        hits.append(np.mean(np.abs(generator.normal(size=200)) * new <= limit))
    assert 0.9 - 2 * np.std(hits) / 300**0.5 < np.mean(hits) < 0.95


def noisy(generator, n_rows, shift):
    X = pd.DataFrame(generator.normal([0.0, shift], 1.0, size=(n_rows, 2)), columns=["a", "b"])
    return X, X["a"] + np.exp(0.7 * X["b"]) * generator.normal(size=n_rows)


def test_deployment_rows_with_and_without_targets(guarantee):
    generator = np.random.default_rng(0)
    (X, y), (Z, truth) = noisy(generator, 600, 0.0), noisy(generator, 400, 0.7)
    seen, page, _ = guarantee(X, y, model=LinearRegression(), X_new=Z, y_new=truth)
    there = seen.deployment
    assert there.observed.high < 0.9 < seen.observed.high
    assert there.n_rows == 400
    assert "less than the 90% of rows like the training rows" in page
    findings, page, _ = guarantee(X, y, model=LinearRegression(), X_new=Z)
    there = findings.deployment
    assert there.estimated.low < 0.9 < there.estimated.high + 0.02
    assert there.size > 1.15 * findings.size
    assert 100 < there.effective_rows < 600
    assert "With these weights" in page
    assert json.dumps(there.reason) == '""'


def test_coverage_of_deployment_rows_is_withheld_without_overlap(guarantee):
    generator = np.random.default_rng(0)
    X, y = noisy(generator, 300, 0.0)
    findings, page, _ = guarantee(X, y, model=LinearRegression(), X_new=noisy(generator, 300, 6.0)[0])
    assert findings.deployment.estimated is None
    assert "the coverage is not known" in page
    assert "outside the range of the training data" in page
    in_groups = X.assign(ward=np.arange(300) % 20)
    Z = noisy(generator, 300, 0.5)[0].assign(ward=np.arange(300) % 20)
    findings, page, _ = guarantee(in_groups, y, model=LinearRegression(), X_new=Z, groups="ward")
    assert findings.deployment.estimated is None
    assert "not a random sample of single rows" in page


def test_few_effective_rows_are_no_estimate(guarantee, monkeypatch):
    generator = np.random.default_rng(0)
    X, y = noisy(generator, 300, 0.0)
    monkeypatch.setattr(deployment_module, "MIN_EFFECTIVE", 1000)
    findings, page, _ = guarantee(X, y, model=LinearRegression(), X_new=noisy(generator, 200, 0.3)[0])
    assert findings.deployment.estimated is None
    assert "carry the information of only" in page


def test_labels_of_deployment_rows(guarantee):
    X, y = two_classes(300)
    Z, truth = two_classes(150, seed=1)
    for given in ({"y_new": truth}, {}):
        findings, _, _ = guarantee(X[["size", "noise"]], y, model=GaussianNB(), X_new=Z[["size", "noise"]], **given)
        there = findings.deployment
        assert 1 <= there.size <= 2
        assert 0.85 < (there.observed or there.estimated).value <= 1


def test_a_model_without_probabilities_has_no_such_section(guarantee):
    X, y = two_classes(200)
    assert guarantee(X[["size", "noise"]], y, model=LinearSVC())[0] is None


def test_the_section_in_an_audit(quick_audit):
    X, y = numbers(200)
    run, result = quick_audit(X, y, model=LinearRegression())
    stored = json.loads(result.to_json())["guarantee"]
    assert stored["observed"]["value"] == measure_guarantee(run.audited, None, False).observed.value
    assert '<section id="guarantee" class="supporting">\n<h2>With what guarantee?</h2>' in result.to_html()
