"""A metric of the user's own, and the costs of errors: against scikit-learn and direct computation."""

import json

import numpy as np
import pandas as pd
import pytest
from reference.audit_tables import numbers, two_classes
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, make_scorer, mean_absolute_error, roc_auc_score
from sklearn.svm import LinearSVC
from typer.testing import CliRunner

from surefoot import ParameterError, audit
from surefoot.cli.app import app
from surefoot.report.audit import audit_run
from surefoot.report.sections.own_measure.cost import Costs, best_threshold
from surefoot.report.sections.own_measure.metric import bootstrap, measure_metric

COSTS = {"fp": 1, "fn": 10}


@pytest.fixture(scope="module")
def sick(quick_models):
    """An audit with a metric and with costs; the second class is "well"."""
    X, y = two_classes(400)
    with quick_models():
        return audit_run(X, y, metric="f1", costs={**COSTS, "positive": "sick"})


def test_a_metric_is_that_of_scikit_learn_for_every_model(sick):
    run, result = sick
    metric = result.findings["own_measure"].metric
    truth = run.table.target.labels
    expected = {each.name: f1_score(truth, each.predictions.values, pos_label="well") for each in run.fitted}
    assert {each.name: each.value for each in metric.models} == pytest.approx(expected)
    assert [each.value for each in metric.models] == sorted(expected.values(), reverse=True)
    assert metric.audited.value == pytest.approx(expected[run.audited.name])
    assert metric.audited.low < metric.audited.value < metric.audited.high
    assert metric.ahead.value == pytest.approx(metric.audited.value - expected[metric.rival])


def test_costs_are_those_of_the_confusion_matrix(sick):
    run, result = sick
    cost = result.findings["own_measure"].cost
    chance, is_sick = run.audited.predictions.probabilities[:, 0], run.table.target.labels == "sick"
    assert cost.threshold == pytest.approx(1 / 11)
    for threshold, measured in ((1 / 11, cost.at_threshold), (0.5, cost.at_half)):
        missed, wrong = np.sum((chance < threshold) & is_sick), np.sum((chance >= threshold) & ~is_sick)
        assert measured.value == pytest.approx((10 * missed + wrong) / 400)
        assert measured.low < measured.value < measured.high
    assert cost.saving.value == pytest.approx(cost.at_half.value - cost.at_threshold.value)
    assert cost.saving.low > 0  # errors of one kind are ten times as expensive
    assert cost.always == pytest.approx((10 * is_sick.mean(), 1 - is_sick.mean()))
    assert cost.curve[50] == pytest.approx(cost.at_half.value)
    page = result.to_html()
    assert "So sick should be predicted from a probability of 9.1% on." in page
    assert "How good is it by your own measure?" in page
    assert json.loads(result.to_json())["own_measure"]["cost"]["positive"] == "sick"


def test_the_best_threshold_is_found_among_all():
    generator = np.random.default_rng(0)
    costs = Costs(false_positive=2.0, false_negative=3.0, positive=1)
    for _ in range(50):
        chance = generator.integers(0, 12, 40) / 12  # with ties
        is_positive = generator.random(40) < chance**0.5
        of_threshold = {at: costs.of_rows(is_positive, chance >= at).sum() for at in (*np.unique(chance), 2.0)}
        best = best_threshold(costs, chance, is_positive)
        assert costs.of_rows(is_positive, chance >= best).sum() == min(of_threshold.values())


def test_a_function_of_ones_own_and_a_negated_scorer(quick_audit):
    X, y = numbers(200)

    def largest_error(y_true, y_pred):
        return np.abs(y_true - y_pred).max()

    run, result = quick_audit(X, y, metric=make_scorer(largest_error, greater_is_better=False))
    metric = result.findings["own_measure"].metric
    assert metric.audited.value == pytest.approx(-largest_error(y, run.audited.predictions.values))
    metric = measure_metric("neg_mean_absolute_error", run.audited, run.fitted, seed=0)
    assert metric.name == "mean absolute error"
    assert not metric.larger_is_better
    assert metric.audited.value == pytest.approx(mean_absolute_error(y, run.audited.predictions.values))
    assert [each.value for each in metric.models] == sorted(each.value for each in metric.models)


def test_a_model_without_probabilities_has_no_costs_and_its_own_scores(quick_audit):
    X, y = two_classes(300)
    run, result = quick_audit(X[["size", "noise"]], y, model=LinearSVC(), metric="roc_auc", costs=COSTS)
    found = result.findings["own_measure"]
    assert found.cost is None
    assert found.without_probabilities
    assert found.metric.audited.value == pytest.approx(roc_auc_score(y == "well", run.audited.predictions.scores))
    assert "predicts no probabilities, so there is no threshold" in result.to_html()


def test_intervals_draw_whole_groups(quick_audit):
    units = np.repeat(np.arange(20), 15)
    for rows in bootstrap(300, units, 0)[:20]:
        counts = np.bincount(rows, minlength=300).reshape(20, 15)
        assert (counts == counts[:, :1]).all()
    assert bootstrap(300, np.repeat([0, 1], 150), 0) == []  # two groups do not show how groups differ
    X, y = two_classes(300)
    _, result = quick_audit(X, y, groups=units, metric="accuracy")
    assert np.isfinite(result.findings["own_measure"].metric.audited.low)


def test_bootstrap_intervals_hold_about_as_often_as_they_should():
    generator, inside = np.random.default_rng(0), 0
    for k in range(200):
        hits = generator.random(200) < 0.8
        low, high = np.quantile([hits[rows].mean() for rows in bootstrap(200, None, k)], [0.025, 0.975])
        inside += low <= 0.8 <= high
    assert inside >= 182  # 190 are expected; fewer than 182 are once in a thousand


def test_without_a_wish_there_is_no_such_section(quick_audit):
    _, result = quick_audit(*numbers())
    assert result.findings["own_measure"] is None
    assert "own_measure" not in result.to_html()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metric": "f1_score"}, "metric 'f1_score' is not a scorer of scikit-learn; similar are .*f1_"),
        ({"metric": 3}, "metric must be the name of a scorer"),
        ({"metric": "r2_of_nothing"}, "is not a scorer"),
        ({"metric": lambda model, X, y: 1 / 0}, "cannot score this target: ZeroDivisionError"),
        ({"costs": 20}, "costs must be a dict"),
        ({"costs": {"fp": 1}}, "costs must be a dict"),
        ({"costs": {"fp": 1, "fn": -1}}, "a number above 0 for 'fn'"),
        ({"costs": {**COSTS, "tp": 1}}, "unknown entry 'tp'"),
        ({"costs": {**COSTS, "positive": "ill"}}, "the classes are sick and well"),
    ],
)
def test_measures_that_cannot_be_used_are_refused_at_once(arguments, message):
    with pytest.raises(ParameterError, match=message):
        audit(*two_classes(), **arguments)


def test_costs_are_for_two_classes():
    with pytest.raises(ParameterError, match="costs is for a target with two classes"):
        audit(*numbers(), costs=COSTS)


def test_the_command_line(tmp_path, small_candidates):
    X, y = two_classes(200)
    pd.concat([X, y], axis=1).to_csv(tmp_path / "t.csv", index=False)
    shared = ["audit", str(tmp_path / "t.csv"), "--target", "state", "-o", str(tmp_path / "p.html"), "-q"]
    asked = ["--metric", "roc_auc", "--cost", "fp=1,fn=20,positive=sick", "--json", str(tmp_path / "a.json")]
    result = CliRunner().invoke(app, [*shared, *asked])
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "a.json").read_text())["own_measure"]
    assert found["cost"]["threshold"] == pytest.approx(1 / 21)
    assert found["metric"]["name"] == "roc auc"
    wrong = CliRunner().invoke(app, [*shared, "--cost", "fp:1"])
    assert wrong.exit_code == 2
    assert "write fp=1,fn=20" in " ".join(wrong.output.split())


def test_calibrated_probabilities_have_their_best_threshold_where_costs_say():
    generator = np.random.default_rng(1)
    x = generator.normal(size=40_000)
    is_positive = generator.random(len(x)) < 1 / (1 + np.exp(-2 * x))
    chance = LogisticRegression().fit(x[:, np.newaxis], is_positive).predict_proba(x[:, np.newaxis])[:, 1]
    costs = Costs(false_positive=1.0, false_negative=4.0, positive=1)
    assert best_threshold(costs, chance, is_positive) == pytest.approx(costs.threshold, abs=0.03)
