"""Question 4: answers with and without targets of deployment rows, and the sentences of the verdict."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import betabinom, ks_2samp
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

from surefoot.report.inputs.deployment_data import DeploymentData
from surefoot.report.inputs.splits import Splits
from surefoot.report.inputs.table import AuditTable
from surefoot.report.inputs.target import Target
from surefoot.report.models.cross_fitting import CONSTANT, CandidateModel, cross_fit
from surefoot.report.models.scoring import ERROR_RATE, LOG_LOSS, RMSE, Outcome
from surefoot.report.sections.shift.deployment_loss import Tolerances, bias_of, decisive, rise_of
from surefoot.report.sections.shift.expected_loss import weighted_mean
from surefoot.report.sections.shift.findings import (
    DeploymentLoss,
    OutsideRange,
    ShiftedColumn,
    ShiftFindings,
    WeightedEstimate,
)
from surefoot.report.sections.shift.measure import ShiftInputs, measure_shift, no_deployment_data, target_shift
from surefoot.report.sections.shift.unusual_rows import rows_outside
from surefoot.report.sections.shift.verdict import bias_in_words, rise_in_words, shift_line
from surefoot.report.statistics import Estimate
from surefoot.report.time_budget import TimeBudget
from surefoot.shift.density_ratio import DensityRatio, effective_rows

SOME = Estimate(0.2, 0.18, 0.22)
SLOPES = np.array([1.0, 2.0, 0.0, 1.0])


class NoBoosters(TimeBudget):
    """Enough time for everything except models that are trained for the deployment data."""

    def has_time_for(self, what, *others):
        return "boosters" not in what


def named(X):
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])


def read(X, y, seed=0, groups=None):
    table = AuditTable.read(named(X), pd.Series(y, name="target"))
    return table, Splits.draw(table.target, groups, None, True, seed)


def prepared(X, y, seed, groups=None):
    table, splits = read(X, y, seed, groups)
    classes = table.target.is_classes
    models = [
        CandidateModel(CONSTANT, "", DummyClassifier() if classes else DummyRegressor()),
        CandidateModel("model", "", LogisticRegression() if classes else LinearRegression()),
    ]
    return table, splits, cross_fit(table, splits, models, NoBoosters())[0]


def deployed(table, X, y=None, groups=None):
    truth = None if y is None else np.array(list(y), dtype=object)
    return DeploymentData("the new rows", table.like(named(X), "X_new"), named(X), truth, groups, groups)


def answer_of(X, y, X_new, y_new=None, groups=None, groups_new=None, seed=0):
    """The findings, and the line of the verdict."""
    table, splits, (constant, model) = prepared(X, y, seed, groups)
    deployment = deployed(table, X_new, y_new, groups_new)
    given = ShiftInputs(
        table=table,
        splits=splits,
        deployment=deployment,
        audited=model,
        constant=constant,
        ensemble=None,
        groups=groups,
        tolerance=0.25,
        seed=seed,
        n_jobs=None,
        budget=NoBoosters(),
    )
    result = measure_shift(given)
    return result, shift_line(result)


def numbers(generator, n_rows, noise=1.0, moved=0.0):
    X = generator.normal(size=(n_rows, 4)) + moved
    return X, X @ SLOPES + noise * generator.normal(size=n_rows)


def in_groups(n_groups, size, first=0):
    return np.repeat(np.arange(first, first + n_groups), size).astype(str).astype(object)


def test_a_flipped_rule_without_targets_is_unknown():
    generator = np.random.default_rng(0)
    result, line = answer_of(*numbers(generator, 400), generator.normal(size=(200, 4)))
    assert line.answer == "unknown"
    assert line.sentence.startswith(
        "Without targets of deployment rows, a change in how the target depends on the columns cannot be seen."
    )
    assert result.loss_there is None
    assert result.weighted.loss.low < result.loss_here.value < result.weighted.loss.high


def test_rows_outside_the_training_range_are_a_no():
    generator = np.random.default_rng(0)
    result, line = answer_of(*numbers(generator, 300), generator.normal([9, 0, 0, 0], size=(100, 4)))
    assert line.answer == "no"
    assert "100% of the deployment rows lie outside the range of the training data (c0" in line.sentence
    assert (result.outside.n_outside, result.outside.columns[0]) == (100, ("c0", 100))
    assert result.weighted.loss is None


def test_targets_decide():
    answers = {"same": [], "noisier": [], "few": [], "biased": [], "flipped": []}
    for seed in range(4):
        generator = np.random.default_rng(seed)
        X, y = numbers(generator, 600)
        Z, there = numbers(generator, 600)
        answers["same"].append(answer_of(X, y, Z, there)[1].answer)
        answers["noisier"].append(answer_of(X, y, *numbers(generator, 600, noise=1.6))[1].answer)
        answers["few"].append(answer_of(X, y, *numbers(generator, 12, noise=1.56))[1].answer)
        biased = answer_of(X, y, Z, there + 1.2)[1]  # the target's standard deviation is 2.6
        assert "predictions are too low by 1." in biased.sentence
        answers["biased"].append(biased.answer)
        answers["flipped"].append(answer_of(X, y, Z, -there)[1].answer)
    assert answers["biased"] == answers["flipped"] == ["no"] * 4
    assert answers["same"].count("yes") >= 3  # one large error can leave it undecided
    assert answers["noisier"].count("no") >= 3
    assert "no" not in answers["same"]
    assert "yes" not in answers["noisier"] + answers["few"]


def test_targets_decide_for_classes():
    generator = np.random.default_rng(0)
    (X, y), (Z, there) = numbers(generator, 1000), numbers(generator, 1500)
    result, line = answer_of(X, (y > 0).astype(int), Z, (there > 0).astype(int))
    assert (line.answer, result.measure) == ("yes", LOG_LOSS)
    assert result.bias_tolerance == pytest.approx(0.05, abs=0.001)
    assert answer_of(X, (y > 0).astype(int), Z, (there < 0).astype(int))[1].answer == "no"


def test_a_rare_class_must_also_be_ranked_in_the_deployment_data():
    generator = np.random.default_rng(0)
    (X, y), (Z, there) = numbers(generator, 2000, noise=0.5), numbers(generator, 1500, noise=0.5)
    result, _ = answer_of(X, (y > 4).astype(int), Z, (there > 4).astype(int))
    assert abs(result.losses[0].auc_change.value) < 0.02
    unrelated = generator.permutation(there > 4).astype(int)
    result, line = answer_of(X, (y > 4).astype(int), Z, unrelated)
    assert result.losses[0].auc_change.high < -0.3
    assert line.answer == "no"
    few = answer_of(X, (y > 4).astype(int), Z[:30], np.zeros(30, dtype=int))
    assert np.isnan(few[0].losses[0].auc_change.value)
    assert few[1].answer == "unknown"


def test_a_rule_that_is_flipped_in_new_groups_is_not_a_yes():
    generator = np.random.default_rng(0)
    (X, y), (Z, there) = numbers(generator, 600), numbers(generator, 1000)
    groups, groups_new = in_groups(40, 15), in_groups(50, 20, first=15)  # 25 are training groups
    result, line = answer_of(X, y, Z, there, groups, groups_new)
    assert [part.name for part in result.losses] == ["all rows", "groups seen in training", "new groups"]
    assert [part.n_units for part in result.losses] == [50, 25, 25]
    assert line.answer == "yes"
    flipped = np.where(groups_new.astype(int) >= 40, -1, 1) * there
    result, line = answer_of(X, y, Z, flipped, groups, groups_new)
    assert [part.outcome for part in result.losses[1:]] == ["inside", "outside"]
    assert line.answer == "no"
    assert "on new groups of the deployment data" in line.sentence


def part(name, outcome, n_rows, rise=0.0):
    return DeploymentLoss(name, n_rows, None, SOME, Estimate(rise, rise, rise), None, None, outcome, None)


def test_the_worst_part_decides_and_a_tiny_one_cannot_prevent_a_yes():
    every, seen = part("all rows", "inside", 100), part("groups seen in training", "inside", 95)
    assert decisive((every, seen, part("new groups", "undecided", 5))).outcome == "inside"
    assert decisive((every, seen, part("new groups", "undecided", 10))).name == "new groups"
    assert decisive((every, seen, part("new groups", "outside", 5))).outcome == "outside"


def test_rises_and_biases_by_their_definitions():
    generator = np.random.default_rng(0)
    here, there = generator.normal(size=800), generator.normal(0.3, 1.2, size=900)
    first, second = Outcome(there**2, errors=there), Outcome(here**2, errors=here)
    rise = rise_of(first, second, RMSE)
    assert rise.value == pytest.approx(np.sqrt(np.mean(there**2) / np.mean(here**2)) - 1)
    assert rise.low < rise.value < rise.high
    bias = bias_of(first)
    assert bias.value == pytest.approx(there.mean())
    assert bias.high - bias.value == pytest.approx(1.96 * there.std() / 30, rel=0.01)
    wrong = (generator.random(500) < 0.3), (generator.random(500) < 0.2)
    rise = rise_of(Outcome(wrong[0]), Outcome(wrong[1]), ERROR_RATE)
    assert rise.value == pytest.approx(wrong[0].mean() / wrong[1].mean() - 1)
    logs = [Outcome(wrong[0], log_losses=generator.gamma(2, size=500)) for _ in range(2)]
    expected = logs[0].log_losses.mean() / logs[1].log_losses.mean() - 1
    assert rise_of(*logs, LOG_LOSS).value == pytest.approx(expected)


def test_tolerances_of_bias():
    y = np.arange(100.0)
    assert Tolerances.of(Target.read(y, 100)[0], np.arange(100), 0.25).bias == pytest.approx(0.25 * y.std())
    even, rare = (Target.read(np.repeat([0, 1], [100 - n, n]), 100)[0] for n in (50, 4))
    assert Tolerances.of(even, np.arange(100), 0.25).bias == pytest.approx(0.05)
    assert Tolerances.of(rare, np.arange(100), 0.25).bias == pytest.approx(0.1 * np.sqrt(0.04 * 0.96))


def test_rows_outside_the_range_by_chance():
    generator = np.random.default_rng(0)
    p_values, outside = [], []
    for seed in range(60):
        X = generator.normal(size=(150, 3))
        table, splits = read(X, X[:, 0], seed)
        result = rows_outside(table, splits, deployed(table, generator.normal(size=(80, 3))), None, seed)
        p_values.append(result.p_value)
        outside.append(result.fraction.value)
    assert result.expected == pytest.approx(6 / 150, abs=0.01)
    assert np.mean(outside) == pytest.approx(6 / 151, abs=0.012)
    assert np.mean(np.array(p_values) < 0.05) <= 0.2
    X = generator.normal(size=(50, 1))
    table, splits = read(X, X[:, 0])
    values = np.array([-9.0, 9.0, 9.5, *X[:7, 0]])
    one = rows_outside(table, splits, deployed(table, values[:, np.newaxis]), None, 0)
    assert one.p_value == pytest.approx(betabinom.sf(2, 10, 2, 49))


def test_unknown_categories_are_outside():
    values = np.random.default_rng(0).normal(size=(2, 40))
    frame = pd.DataFrame({"city": ["Bonn", "Köln"] * 20, "size": values[0]})
    table = AuditTable.read(frame, pd.Series(values[1], name="target"))
    splits = Splits.draw(table.target, None, None, True, 0)
    new = pd.DataFrame({"city": ["Bonn", "Ulm", None, "Ulm"], "size": [0.1, 0.2, 0.3, 99.0]})
    result = rows_outside(table, splits, DeploymentData("new", table.like(new, "X_new"), new), None, 0)
    assert (result.n_outside, result.columns) == (2, (("city", 2), ("size", 1)))


def test_ranges_of_groups_are_compared_by_groups():
    """Different groups lie outside each other's range even without a shift."""
    generator = np.random.default_rng(0)
    hits = {"rows": 0, "groups": 0}
    for seed in range(25):
        groups, groups_new = in_groups(12, 10), in_groups(8, 10, first=50)
        X, Z = (generator.normal(size=(len(each) // 10, 2)).repeat(10, axis=0) * 3 for each in (groups, groups_new))
        X, Z = X + generator.normal(size=X.shape), Z + generator.normal(size=Z.shape)
        table, splits = read(X, generator.normal(size=len(X)), seed)
        new = deployed(table, Z, None, groups_new)
        hits["groups"] += rows_outside(table, splits, new, groups, seed).p_value < 0.05
        hits["rows"] += rows_outside(table, splits, new, None, seed).p_value < 0.05
    assert hits["groups"] <= 5 < hits["rows"]


def test_weights_of_two_normal_tables_are_close_to_their_density_ratio():
    generator = np.random.default_rng(0)
    X, Z = generator.normal(size=(3000, 2)), generator.normal([0.8, 0.0], [1.0, 0.7], size=(3000, 2))
    table, _ = read(X, X[:, 0])
    weights = DensityRatio.fit(table.frame, table.like(named(Z), "X_new"), seed=0).weights
    log_ratio = (X[:, 0] ** 2 - (X[:, 0] - 0.8) ** 2) / 2 + X[:, 1] ** 2 / 2 - X[:, 1] ** 2 / (2 * 0.49)
    assert np.corrcoef(np.log(weights), log_ratio)[0, 1] > 0.95
    assert weights.mean() == pytest.approx(1)
    for power, expected in ((1, 0.8), (2, 1.64)):
        assert np.average(X[:, 0] ** power, weights=weights) == pytest.approx(expected, abs=0.12)
    assert np.average(X[:, 1] ** 2, weights=weights) == pytest.approx(0.49, abs=0.06)


def test_weighted_means_against_numpy():
    generator = np.random.default_rng(0)
    losses, weights = generator.gamma(3, size=1000), generator.random(1000)
    weights /= weights.mean()
    level = np.full(1000, 2.0)
    result = weighted_mean(losses, weights, None, level, level)
    assert result.value == pytest.approx(np.average(losses, weights=weights))
    error = np.sqrt(np.sum((weights * (losses - result.value)) ** 2)) / 1000
    reach = (result.high - result.low) / 2
    assert 1.96 * error < reach < 1.1 * 1.96 * error  # wider by the fraction of the spread in one row
    uneven = weighted_mean(losses, weights, None, level, level + 1)  # predicted losses differ by 1
    assert uneven.high - uneven.value == pytest.approx(np.hypot(result.high - result.value, 1), rel=1e-6)
    assert effective_rows(np.full(7, 0.3)) == pytest.approx(7)
    assert effective_rows(np.array([1.0, 0.0, 0.0])) == 1


def noisy(generator, mean, spread, n_rows):
    """A linear target with noise that grows with the first column."""
    X = generator.normal([mean, 0.0], spread, size=(n_rows, 2))
    return X, X[:, 0] + (1 + 0.5 * np.tanh(X[:, 0])) * generator.uniform(-2, 2, size=n_rows)


def held(generator, spread):
    """Whether the interval of the expected RMSE contains the truth; None if it is withheld."""
    X, y = noisy(generator, 0.0, 1.0, 800)
    result, _ = answer_of(X, y, noisy(generator, 0.5, spread, 500)[0], seed=int(generator.integers(1000)))
    Z, there = noisy(generator, 0.5, spread, 100_000)
    truth = np.sqrt(np.mean((LinearRegression().fit(X, y).predict(Z) - there) ** 2))
    loss = result.weighted.loss
    return None if loss is None else bool(loss.low <= truth <= loss.high)


def test_the_interval_of_the_expected_error_contains_the_truth_or_is_withheld():
    generator = np.random.default_rng(0)
    near = [held(generator, 0.8) for _ in range(6)]
    assert sum(each is not None for each in near) >= 3
    assert sum(each is False for each in near) <= 1
    far = [held(generator, 3.0) for _ in range(2)]  # a third of the rows lie outside the range
    assert far == [None] * 2


def test_shift_of_a_numeric_target():
    generator = np.random.default_rng(0)
    here, there = generator.normal(size=400), generator.normal(0.5, size=300)
    target, _ = Target.read(here, 400)
    result = target_shift(target, np.arange(400), np.append(there, np.nan).astype(object))
    assert result.distance == pytest.approx(ks_2samp(here, there).statistic)
    assert result.outcome == "shifted"
    assert result.text.startswith(f"mean {here.mean():.4g} in the training data, {there.mean():.4g} in the deployment")
    same = target_shift(target, np.arange(0, 400, 2), here[1::2].astype(object))
    assert same.outcome == "not shifted"


def test_shift_of_a_class_target():
    target, _ = Target.read(np.repeat([0, 1], [80, 20]), 100)
    result = target_shift(target, np.arange(100), np.array(["0"] * 20 + ["1"] * 20 + ["2"] * 10 + [None], dtype=object))
    assert result.outcome == "shifted"
    expected = "0: 80.0% of the training rows, 40.0% of the deployment rows; 2, not in the training data: 20.0%"
    assert result.text == expected


def findings(**others):
    column = ShiftedColumn("age", 0.02, 0.5, "not shifted", "")
    result = {"models": (), "loss_here": SOME, "loss_there": None, "weighted": None, "measure": RMSE, **others}
    return ShiftFindings("the new rows", "The shift report.", SOME, 0.4, (column,), **result)


@pytest.mark.parametrize(("rise", "answer"), [(0.1, "unknown"), (0.3, "unknown"), (0.5, "no")])
def test_an_expected_rise_can_be_a_no_but_never_a_yes(rise, answer):
    expected = WeightedEstimate(SOME, SOME, 200.0, 300, "If.", Estimate(rise, rise - 0.1, rise + 0.1))
    assert shift_line(findings(weighted=expected)).answer == answer


def test_a_part_without_any_target_prevents_a_yes():
    every = part("all rows", "inside", 100)
    known = replace(findings(), losses=(every,), loss_here=SOME, loss_there=SOME, bias_tolerance=0.1)
    assert shift_line(known).answer == "yes"
    line = shift_line(replace(known, without_targets=("feb", "mar")))
    assert line.answer == "unknown"
    assert "No target is known of feb and mar: the loss there is not known." in line.sentence


def test_what_can_be_a_no_without_targets():
    assert shift_line(findings()).answer == "unknown"
    apart = replace(findings(), auc=Estimate(0.99, 0.96, 1.0))
    assert shift_line(apart).answer == "no"
    assert shift_line(replace(findings(), auc=Estimate(0.97, 0.94, 0.99))).answer == "unknown"
    outside = OutsideRange(100, 70, Estimate(0.7, 0.6, 0.79), 0.02, 1e-9, (("age", 70),))
    assert shift_line(findings(outside=outside)).answer == "no"
    some = replace(outside, n_outside=30, fraction=Estimate(0.3, 0.2, 0.4))
    line = shift_line(findings(outside=some))
    assert (line.answer, "30.0% of the deployment rows lie outside" in line.sentence) == ("unknown", True)


def test_without_deployment_data_the_answer_is_unknown():
    line = shift_line(no_deployment_data())
    assert line.answer == "unknown"
    assert "(X_new in Python, --new on the command line)" in line.sentence
    assert shift_line(None).answer == "unknown"


def test_rises_and_biases_in_words():
    assert rise_in_words(Estimate(0.12, -0.03, 0.29)) == "12% higher (3% lower to 29% higher)"
    assert rise_in_words(Estimate(0.5, 0.1, np.inf)) == "50% higher (from 10% higher, without an upper limit)"
    assert rise_in_words(Estimate(0.001, -0.2, 0.2)) == "unchanged (20% lower to 20% higher)"
    assert rise_in_words(Estimate(0.5, -np.inf, np.inf)) == "50% higher (no interval)"
    sentence = bias_in_words(Estimate(-1.5, -2.0, 0.5), RMSE)
    assert sentence == "predictions are too low by 1.50 on average (\N{MINUS SIGN}0.500 to 2.00)"
    sentence = bias_in_words(Estimate(0.02, 0.01, 0.03), LOG_LOSS)
    assert sentence == "probabilities are too high by 2.0 points on average (1.0 point to 3.0 points)"
