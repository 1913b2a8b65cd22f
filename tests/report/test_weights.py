"""Weights of rows: every number of an audit against scikit-learn, copies of rows, and the same weights for all."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from reference.audit_tables import numbers, two_classes
from scipy.stats import norm
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import balanced_accuracy_score, mean_squared_error, roc_auc_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

from surefoot import DataError, ParameterError, audit
from surefoot.cli.app import app
from surefoot.metrics import prediction_rejection_ratio
from surefoot.report.inputs.row_weights import drawn_by_weight
from surefoot.report.inputs.target import Target
from surefoot.report.sections.uncertainty.calibration import recalibration
from surefoot.report.statistics import (
    auc_interval,
    explained_variance,
    mean_interval,
    mean_loss_interval,
    paired_auc_difference,
    paired_mean_difference,
    paired_rate_difference,
    rate_interval,
    rejection_ratio_interval,
    root_mean_square_interval,
    size_of,
)
from surefoot.report.statistics.standard_errors import spread_of

N = 400
# numbers that do not depend on weights: limits, grids and constants, fractions of bags and of rows left out
SAME = re.compile(
    r"level|tolerance|\.rejected|\.expected\[|thresholds|false_|threshold$|positions|random_state|"
    r"\.delta|epsilon|instability|p_value|n_expected|\.row_losses\.errors|cost\.positive|winner_changed|of_class"
)


def weights_of(n, seed=0):
    return np.random.default_rng(seed).gamma(2.0, size=n)


def numbers_of(value, path=""):
    """The fractions and other floats of a JSON, by their places."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from numbers_of(part, f"{path}.{key}")
    elif isinstance(value, list):
        for k, part in enumerate(value):
            yield from numbers_of(part, f"{path}[{k}]")
    elif isinstance(value, float):
        yield path, value


@pytest.fixture(scope="module")
def weighted(quick_models):
    """An audit of classes with deployment data, a metric and costs, with and without weights."""
    X, y = two_classes(N + 150)
    X["weight"] = weights_of(N + 150)
    now, later = slice(0, N), slice(N, None)
    options = {"metric": "balanced_accuracy", "costs": {"fp": 1, "fn": 4}, "n_jobs": 1, "slices": ["colour"]}
    given = X[now], y[now]
    with quick_models():
        with_weights = audit(*given, X_new=X[later], y_new=y[later], sample_weight="weight", **options)
        plain = audit(
            given[0].drop(columns="weight"), given[1], X_new=X[later].drop(columns="weight"), y_new=y[later], **options
        )
    return with_weights, plain


def test_every_number_depends_on_the_weights(weighted):
    with_weights, plain = (dict(numbers_of(json.loads(each.to_json()))) for each in weighted)
    trivial = (0.0, 1.0, 0.5)  # such as the ends of curves, and intervals that are cut off
    same = [
        path
        for path, value in with_weights.items()
        if plain.get(path) == value and value not in trivial and not SAME.search(path)
    ]
    assert same == []


def test_the_page_says_how_rows_count(weighted):
    with_weights, plain = weighted
    subject, page = with_weights.subject, with_weights.to_html()
    n_effective = size_of(np.ones(N), weights_of(N + 150)[:N])
    assert subject.weights == "weight"
    assert subject.n_effective == pytest.approx(n_effective)
    assert f"as much information as {n_effective:,.0f} rows of equal weight" in page
    assert "There is no guarantee, because the rows have weights" in page
    not_assessed = with_weights.stability.not_assessed
    assert [each.split(" (")[0] for each in not_assessed] == [
        "the columns that the LASSO chooses",
        "the columns that the decision tree chooses",
    ]
    assert "it takes no weights of rows" in page
    assert with_weights.answer("stability") in ("partly", "unknown")
    assert plain.subject.weights is None
    assert "rows of equal weight" not in plain.to_html()


@pytest.mark.parametrize("table", [two_classes, numbers])
def test_equal_weights_change_nothing(table, quick_audit):
    X, y = table(160)
    plain, equal = (
        json.loads(quick_audit(X, y, sample_weight=weights)[1].to_json()) for weights in (None, np.full(160, 0.3))
    )
    assert "All weights are equal, so that they change nothing." in equal["subject"]["remarks"]
    assert dict(numbers_of(plain)).keys() == dict(numbers_of(equal)).keys()
    timed = re.compile("seconds")
    assert [
        path
        for (path, one), (_, other) in zip(numbers_of(plain), numbers_of(equal), strict=True)
        if one != other and not timed.search(path)
    ] == []


def test_the_unit_of_the_weights_is_irrelevant(quick_audit):
    X, y = numbers(160)
    values = [
        dict(numbers_of(json.loads(quick_audit(X, y, sample_weight=weights_of(160) * factor)[1].to_json())))
        for factor in (1.0, 4.0)
    ]
    assert {path for path, one in values[0].items() if one != values[1][path] and "seconds" not in path} == set()


def test_losses_are_those_of_scikit_learn(quick_audit):
    X, y = two_classes(N)
    weights = weights_of(N)
    run, result = quick_audit(X, y, sample_weight=weights, costs={"fp": 1, "fn": 4}, metric="balanced_accuracy")
    truth, fitted = run.table.target.labels, {each.name: each for each in run.fitted}
    for model in result.accuracy.models:
        chances = fitted[model.name].predictions.probabilities
        chances = np.clip(chances, 0.001, 1.0)
        expected = np.average(-np.log(chances[np.arange(N), run.table.target.y]), weights=weights)
        assert model.log_loss.value == pytest.approx(expected)
        wrong = fitted[model.name].predictions.values != truth
        assert model.loss.value == pytest.approx(np.average(wrong, weights=weights))
        if model.auc is not None:
            scores = fitted[model.name].predictions.scores
            assert model.auc.value == pytest.approx(roc_auc_score(truth == "well", scores, sample_weight=weights))
    audited, own = run.audited.predictions, result.findings["own_measure"]
    expected = balanced_accuracy_score(truth, audited.values, sample_weight=weights)
    assert own.metric.audited.value == pytest.approx(expected)
    chance, positive = audited.probabilities[:, 1], truth == "well"
    costs = np.where(chance >= 0.2, ~positive * 1.0, positive * 4.0)
    assert own.cost.at_threshold.value == pytest.approx(np.average(costs, weights=weights))
    wrong = (audited.values != truth).astype(float)
    ratio = prediction_rejection_ratio(np.zeros(N), wrong, audited.total, loss="zero_one", sample_weight=weights)
    assert result.uncertainty.by_total.ratio.value == pytest.approx(ratio)
    gap = np.average(chance - positive, weights=weights)
    assert result.uncertainty.calibration.gap.value == pytest.approx(gap)
    part = next(each for each in result.subgroups.groups if each.name == "colour = red")
    red = (X["colour"] == "red").to_numpy()
    assert part.error == pytest.approx(np.average(wrong[red], weights=weights[red]))
    assert part.rest_error == pytest.approx(np.average(wrong[~red], weights=weights[~red]))
    second = np.average(positive, weights=weights)
    assert result.subject.shares == pytest.approx((1 - second, second))


def test_numbers_are_those_of_scikit_learn(quick_audit):
    X, y = numbers(N)
    weights = weights_of(N)
    run, result = quick_audit(X, y, sample_weight=weights, model=make_pipeline(StandardScaler(), LinearRegression()))
    predicted = run.audited.predictions.values
    rmse = mean_squared_error(y, predicted, sample_weight=weights) ** 0.5
    assert result.accuracy.models[1].loss.value == pytest.approx(rmse)
    fold = run.splits.folds[0]
    own = LinearRegression().fit(X.iloc[fold[0]], y.iloc[fold[0]], sample_weight=weights[fold[0]])
    assert predicted[fold[1]] == pytest.approx(own.predict(X.iloc[fold[1]]))  # and not that without weights
    assert result.guarantee.guaranteed is None
    assert result.guarantee.doubt == "weighted"


def test_a_rare_class_is_one_of_little_weight():
    y = np.array(["a", "b"] * 50)
    target = Target.read(y, 100)[0]
    assert target.rare is None
    light = np.where(y == "b", 0.01, 1.0)
    assert Target(**{**vars(target), "weights": light / light.mean()}).rare == 1


STATISTICS = {
    "mean": lambda a, b, positive, **given: mean_interval(a, **given),
    "mean loss": lambda a, b, positive, **given: mean_loss_interval(a**2, **given),
    "RMSE": lambda a, b, positive, **given: root_mean_square_interval(a**2, **given),
    "difference": lambda a, b, positive, **given: paired_mean_difference(a, b, **given),
    "R2": lambda a, b, positive, **given: explained_variance(a**2, b**2, **given),
    "rate": lambda a, b, positive, **given: rate_interval(a > 0, **given),
    "rates": lambda a, b, positive, **given: paired_rate_difference(a > 0, b > 0.5, **given),
    "AUC": lambda a, b, positive, **given: auc_interval(a, positive, **given),
    "AUCs": lambda a, b, positive, **given: paired_auc_difference(a, b, positive, **given),
    "rejection": lambda a, b, positive, **given: rejection_ratio_interval(b**2, a, **given),
    "rejection of errors": lambda a, b, positive, **given: rejection_ratio_interval(b > 0.5, a, **given),
}


WIDENED = ("mean loss", "RMSE", "difference", "R2", "rejection")  # the more of the spread is in one row


def check_like_copies(name, own, copies):
    """The interval of the copies, or a wider one where it allows for large weights of single rows."""
    assert own.value == pytest.approx(copies.value)
    if name in WIDENED:
        assert own.low <= copies.low + 1e-9
        assert own.high >= copies.high - 1e-9
    else:
        assert (own.low, own.high) == pytest.approx((copies.low, copies.high), rel=0.03, abs=0.004)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("name", STATISTICS)
def test_whole_weights_are_copies_that_were_drawn_together(name, grouped):
    """A row of weight k is k copies in one group: the same value, and about the same interval."""
    rng = np.random.default_rng(3)
    groups = rng.integers(0, 60, 500) if grouped else np.arange(500)
    shift = rng.normal(size=500)[groups] * grouped
    a, b, positive = rng.normal(size=500) + shift, rng.normal(0.3, 1, 500) + shift, rng.random(500) < 0.4
    weights = rng.integers(1, 5, 500)
    rows = np.repeat(np.arange(500), weights)
    given = {"weights": weights.astype(float), "groups": groups if grouped else None}
    copies = STATISTICS[name](a[rows], b[rows], positive[rows], groups=groups[rows])
    check_like_copies(name, STATISTICS[name](a, b, positive, **given), copies)


def test_the_spread_of_weighted_rows_is_that_of_copies():
    rng = np.random.default_rng(3)
    values, weights = rng.normal(size=500) ** 2, rng.integers(1, 5, 500)
    rows = np.repeat(np.arange(500), weights)
    own, copies = spread_of(values, weights=weights.astype(float)), spread_of(values[rows], rows)
    assert (own.error, own.dof, own.skewness) == pytest.approx((copies.error, copies.dof, copies.skewness))
    assert own.dominance > copies.dominance  # a row counts as one, however many copies it stands for


def test_intervals_of_weighted_rows_hold():
    """Weights that go with the values: 95% of the intervals contain the weighted mean of the population."""
    rng = np.random.default_rng(0)
    hits = {"mean": 0, "rate": 0, "loss": 0, "auc": 0}
    n_tables, n = 400, 400
    # weights exp(u / 2), values u / 2 + noise: the weighted population is that with u shifted by 1 / 2
    auc = norm.cdf(1.0 / np.sqrt(2))
    for _ in range(n_tables):
        u, noise = rng.normal(size=(2, n))
        weights, values = np.exp(u / 2), u / 2 + noise
        positive = rng.random(n) < 0.5
        scores = positive + rng.normal(size=n)
        hits["mean"] += _holds(mean_interval(values, weights=weights), 0.25)
        hits["rate"] += _holds(rate_interval(values > 0.25, weights=weights), 0.5)
        hits["loss"] += _holds(mean_loss_interval(values**2, weights=weights), 1.25 + 0.0625)
        hits["auc"] += _holds(auc_interval(scores, positive, weights=weights), auc)
    lowest = 0.95 - 3 * (0.95 * 0.05 / n_tables) ** 0.5
    assert {name: hit / n_tables for name, hit in hits.items() if hit / n_tables < lowest} == {}


def _holds(estimate, truth):
    return estimate.low <= truth <= estimate.high


def test_the_calibration_slope_is_that_of_a_weighted_logistic_regression():
    rng = np.random.default_rng(0)
    chance, weights = rng.uniform(0.05, 0.95, 600), weights_of(600)
    outcome = rng.random(600) < chance**2
    log_odds = np.log(chance / (1 - chance))[:, np.newaxis]
    peer = LogisticRegression(C=np.inf).fit(log_odds, outcome, sample_weight=weights)
    assert recalibration(chance, outcome, weights=weights).slope.value == pytest.approx(peer.coef_[0, 0], rel=1e-3)


def test_drawn_rows_are_in_proportion_to_their_weights():
    weights = np.tile([1.0, 2.0, 4.0], 20_000)
    drawn = drawn_by_weight(weights, len(weights), 0)
    fractions = np.bincount(drawn % 3) / 20_000
    assert fractions == pytest.approx([0.25, 0.5, 1.0], abs=0.015)
    assert drawn_by_weight(None, 5, 0).tolist() == [0, 1, 2, 3, 4]


def test_rows_of_weight_0_are_left_out(quick_audit):
    X, y = numbers(160)
    weights = weights_of(160)
    weights[::4] = 0.0
    run, result = quick_audit(X, y, sample_weight=weights)
    assert result.subject.n_rows == 120
    assert "40 rows with a weight of 0 were left out." in result.subject.remarks
    assert run.table.rows.tolist() == np.flatnonzero(weights).tolist()


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.full(160, -1.0), "negative values"),
        (np.r_[np.nan, np.ones(159)], "missing values"),
        (np.r_[np.inf, np.ones(159)], "infinite values"),
        (np.array(["heavy"] * 160), "values that are not numbers"),
        (np.zeros(160), "0 in every row"),
        (np.ones(3), "one value for each of the 160 rows"),
        ("mass", "There is no column 'mass'"),
    ],
)
def test_wrong_weights_are_refused(weights, message):
    with pytest.raises(DataError, match=message) as caught:
        audit(*numbers(160), sample_weight=weights)
    assert caught.value.argument == "sample_weight"


def test_weights_are_refused_where_they_would_be_ignored():
    X, y = numbers(160)
    with pytest.raises(ParameterError, match=r"KNeighborsRegressor, whose fit takes no sample_weight"):
        audit(X, y, model=KNeighborsRegressor(), sample_weight=weights_of(160))
    with pytest.raises(ParameterError, match=r"cannot score this target with weights") as caught:
        audit(X, y, metric=_without_weights, sample_weight=weights_of(160))
    assert caught.value.argument == "metric"
    heavy = np.r_[1e6, np.ones(159)]
    with pytest.raises(ParameterError, match="so uneven that only"):
        audit(X, y, X_new=X[:50], sample_weight=heavy)
    with pytest.raises(ParameterError, match="says something else"):
        audit(X.assign(g=np.arange(160) % 8), y, groups="g", sample_weight="g")


def test_new_rows_without_weight_are_refused_and_few_new_rows_are_not():
    X, y = numbers(160)
    X = X.assign(mass=weights_of(160))
    new = X[:12].assign(mass=np.r_[0.0, np.ones(11)])
    with pytest.raises(DataError, match="X_new has rows with a weight of 0") as caught:
        audit(X, y, X_new=new, sample_weight="mass")
    assert caught.value.argument == "sample_weight"
    assert len(drawn_by_weight(np.r_[0.9, np.ones(11)], 12, 0)) >= 6


def _without_weights(model, X, y):
    return -float(np.abs(model.predict(X) - y).mean())


def test_a_fitted_model_needs_no_weights(quick_audit):
    X, y = numbers(160)
    model = KNeighborsRegressor().fit(*numbers(100, seed=5))
    weights = weights_of(160)
    run, result = quick_audit(X, y, model=model, refit=False, trained_on=False, sample_weight=weights)
    rmse = mean_squared_error(y, model.predict(X), sample_weight=weights) ** 0.5
    own = next(model for model in result.accuracy.models if model.yours)
    assert own.loss.value == pytest.approx(rmse)
    assert run.audited.name == own.name


def test_rows_that_were_not_drawn_have_their_weights(quick_audit):
    X, y = numbers(400)
    weights = weights_of(400)
    run, result = quick_audit(X, y, sample_weight=weights, max_rows=200)
    others = ~run.table.is_audited
    model = run.audited.candidate.fit(run.table, run.splits.rows)
    rmse = mean_squared_error(y[others], model.predict(X[others]), sample_weight=weights[others]) ** 0.5
    assert result.accuracy.other_rows.loss.value == pytest.approx(rmse)


def test_the_command_line_takes_a_column(tmp_path, quick_models):
    X, y = numbers(160)
    table = X.assign(height=y, mass=weights_of(160))
    table.to_csv(tmp_path / "t.csv", index=False)
    outputs = ["-o", str(tmp_path / "p.html"), "--json", str(tmp_path / "a.json"), "-q"]
    with quick_models():
        done = CliRunner().invoke(
            app, ["audit", str(tmp_path / "t.csv"), "--target", "height", "--weight", "mass", *outputs]
        )
        assert done.exit_code == 0, done.output
        read = pd.read_csv(tmp_path / "t.csv")
        expected = audit(read[["x", "z"]], read["height"], sample_weight=read["mass"])
    stored = json.loads((tmp_path / "a.json").read_text())
    assert stored["subject"]["weights"] == "mass"
    assert stored["accuracy"]["models"][0]["loss"]["value"] == expected.accuracy.models[0].loss.value
    refused = CliRunner().invoke(app, ["audit", str(tmp_path / "t.csv"), "--target", "height", "--weight", "height"])
    assert refused.exit_code == 2
    assert "--weight height is the target" in refused.output
