"""Wrong labels: planted ones are found, and unlikely labels of a calibrated model are not called wrong."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from reference.audit_tables import numbers, two_classes
from scipy.integrate import quad
from scipy.optimize import check_grad
from scipy.stats import t as student
from sklearn.svm import LinearSVC

from surefoot.report.sections.labels import label_noise
from surefoot.report.sections.labels.label_noise import LabelNoise, fit_given_rates, log_probabilities, rate_groups
from surefoot.report.sections.labels.measure import FEW_ROWS, NO_MODEL, measure_labels
from surefoot.report.sections.labels.noise_fit import fit_classes, fit_numbers
from surefoot.report.sections.labels.value_noise import TwoPieceStudent, fit_values

N = 1500


def two_models(generator, n=N, spread=3.0):
    """Log-odds, the probabilities of two models that know them nearly, and labels from them."""
    odds = spread * generator.normal(size=n)
    labels = (generator.random(n) < 1 / (1 + np.exp(-odds))).astype(int)
    chances = [1 / (1 + np.exp(-0.8 * odds - shift * generator.normal(size=n))) for shift in (0.1, 0.2)]
    return [np.column_stack([1 - chance, chance]) for chance in chances], labels


def flipped(generator, labels, rate, of_class=None):
    wrong = generator.random(len(labels)) < rate
    wrong &= True if of_class is None else labels == of_class
    return np.where(wrong, 1 - labels, labels), wrong


def table_with_wrong_labels(n=300):
    """Two clouds, with a twentieth of the labels exchanged."""
    generator = np.random.default_rng(0)
    labels = np.repeat(["left", "right"], n // 2)
    X = pd.DataFrame(generator.normal(size=(n, 3)), columns=list("abc"))
    X["a"] += np.where(labels == "left", -3.0, 3.0)
    rows = generator.permutation(n)[: n // 20]
    given = labels.copy()
    given[rows] = np.where(labels[rows] == "left", "right", "left")
    X.index = [f"r{k}" for k in range(n)]
    return X, pd.Series(given, index=X.index, name="side"), {f"r{k}" for k in rows}


@pytest.mark.parametrize("of_class", [None, 1])
def test_planted_wrong_labels_are_counted_and_found(of_class):
    generator = np.random.default_rng(1)
    probabilities, labels = two_models(generator)
    given, wrong = flipped(generator, labels, 0.08, of_class)
    fit = fit_classes(probabilities, given, None, 0)
    assert fit.n_wrong.low <= wrong.sum() <= fit.n_wrong.high
    assert fit.n_wrong.value == pytest.approx(fit.wrong.sum(), rel=0.02)
    assert fit.rates[1] == pytest.approx(0.08, abs=0.04)
    first = np.argsort(-fit.wrong)[: round(0.02 * N)]
    assert wrong[first].mean() > 0.6
    # the probabilities are calibrated: as many rows are wrong as they say
    sure = fit.wrong > 0.5
    error = 3 * np.sqrt((fit.wrong * (1 - fit.wrong))[sure].sum())
    assert wrong[sure].sum() == pytest.approx(fit.wrong[sure].sum(), abs=error + 3)


@pytest.mark.parametrize("spread", [0.0, 1.0, 4.0])
def test_unlikely_labels_of_calibrated_models_are_not_wrong(spread):
    generator = np.random.default_rng(2)
    fits = [fit_classes(*two_models(generator, 400, spread), None, 0) for _ in range(12)]
    assert [fit.n_wrong for fit in fits] == [None] * 12
    contradicted = sum(int((fit.plausibility <= fit.level).sum()) for fit in fits)
    expected = sum(fit.n_expected for fit in fits)
    assert contradicted == pytest.approx(expected, abs=4 * expected**0.5 + 1)


def test_the_likelihood_and_its_gradient(monkeypatch):
    """Three classes: the joint probabilities are the noise matrix, and the search has the right slope."""
    generator = np.random.default_rng(3)
    logs = log_probabilities([generator.dirichlet([1.0, 1.0, 1.0], 40) for _ in range(2)])
    labels = generator.integers(0, 3, 40)
    rates = np.array([0.1, 0.2, 0.0])
    noise = LabelNoise(np.array([0.0, 0.3, -0.2]), np.array([0.7, 0.4]), rates, 0.0)
    matrix = np.diag(1 - rates) + (rates / 2)[:, np.newaxis] * (1 - np.eye(3))
    joint = noise.clean(logs) * matrix[:, labels].T
    assert np.allclose(noise.given(noise.clean(logs), labels), joint)
    assert np.allclose(noise.row_likelihoods(logs, labels), np.log(joint.sum(axis=1)))
    faults = []

    def checked(loss_of, begin, **_):
        start = begin + 0.05
        faults.append(check_grad(lambda x: loss_of(x)[0], lambda x: loss_of(x)[1], start))
        return type("Found", (), {"x": start, "fun": 0.0})

    monkeypatch.setattr(label_noise, "minimize", checked)
    label_noise.fit_noise(logs, labels, np.array([0, 1, 1]))
    assert max(faults) < 1e-4


def test_small_classes_share_a_rate():
    labels = np.repeat([0, 1, 2, 3], [150, 20, 200, 30])
    assert rate_groups(labels, 4).tolist() == [0, 2, 1, 2]
    assert rate_groups(labels[:20], 4).tolist() == [0, 0, 0, 0]


def test_one_group_of_wrong_labels_is_one_piece_of_evidence():
    generator = np.random.default_rng(4)
    probabilities, labels = two_models(generator, 600, 5.0)
    groups = np.arange(600) // 20
    given = np.where((groups < 1) & (np.abs(probabilities[0][:, 1] - 0.5) > 0.4), 1 - labels, labels)
    alone = fit_classes(probabilities, given, None, 0)
    together = fit_classes(probabilities, given, groups, 0)
    assert alone.n_wrong is not None
    assert together.n_wrong is None
    few = fit_classes(probabilities, given, np.repeat([0, 1], 300), 0)
    assert few.n_wrong is None


def test_the_two_piece_student_is_a_density():
    density = TwoPieceStudent(0.5, np.array([1.0, 3.0]), np.array([2.0, 6.0]))
    total = sum(
        quad(lambda x: np.exp(density.log_density(np.array([x]))[0]), *ends)[0]
        for ends in ((-np.inf, 0.5), (0.5, np.inf))
    )
    assert total == pytest.approx(1)
    even = TwoPieceStudent(0.0, np.array([2.0, 2.0]), np.array([5.0, 5.0]))
    x = np.linspace(-9, 9, 7)
    assert np.allclose(even.log_density(x), student.logpdf(x, 5, scale=2))
    assert np.allclose(even.tails(x), 2 * student.sf(np.abs(x), 5, scale=2))


@pytest.mark.parametrize("noise", ["normal", "heavy", "skewed"])
def test_tails_are_not_wrong_numbers_and_numbers_of_other_rows_are(noise):
    generator = np.random.default_rng(5)
    draws = {
        "normal": lambda n: generator.normal(size=n),
        "heavy": lambda n: generator.standard_t(3, n),
        "skewed": lambda n: generator.exponential(size=n),
    }
    shown, n, wrong = [], 500, np.arange(500) < 40
    for _ in range(6):
        mean, errors = 4 * generator.normal(size=n), draws[noise](n)
        scale = np.ones(n)
        shown.append(fit_numbers(mean, scale, mean + errors, None, 0).n_wrong)
    assert shown == [None] * 6
    y = mean + errors
    y[wrong] = y[generator.permutation(n)[:40]]
    fit = fit_numbers(mean, scale, y, None, 0)
    assert fit.n_wrong.low <= 40 <= fit.n_wrong.high
    assert wrong[np.argsort(-fit.wrong)[:10]].mean() >= 0.6  # 8% of the rows are wrong


def test_one_far_value_alone_is_not_shown_to_be_wrong():
    generator = np.random.default_rng(6)
    mean = generator.normal(size=300)
    y = mean + generator.normal(size=300)
    y[7] += 30
    fit = fit_numbers(mean, np.ones(300), y, None, 0)
    assert fit.n_wrong is None
    assert fit.plausibility.argmin() == 7
    assert fit_values(y - mean, np.zeros(300), 0.0).right.freedoms.min() < 10


def test_an_audit_lists_the_rows(quick_audit):
    X, y, wrong = table_with_wrong_labels()
    run, result = quick_audit(X, y)
    found = result.findings["labels"]
    assert run.audited.name in found.models
    assert run.audited.name not in measure_labels(run.fitted, run.audited, 0, is_unseen_unknown=True).models
    assert found.n_wrong.low <= len(wrong) <= found.n_wrong.high
    assert {row.row for row in found.rows[:10]} <= wrong
    assert all(row.given != row.predicted for row in found.rows[:10])
    assert found.loss_without < found.loss_of_right + 0.01
    assert found.loss_of_right < found.loss - 0.02
    stored = json.loads(result.to_json())["labels"]
    assert stored["n_wrong"]["value"] == found.n_wrong.value
    assert len(stored["rows"]) == 15
    page = result.to_html()
    assert "Which labels are probably wrong?" in page
    assert "or these rows are unlike the others with these columns" in page
    assert "That is too optimistic" in page


def test_audits_where_nothing_is_shown(quick_audit):
    X, y = two_classes()
    of_classes, of_numbers = quick_audit(X[["size", "noise"]], y, model=LinearSVC()), quick_audit(*numbers())
    for _, result in (of_classes, of_numbers):
        found = result.findings["labels"]
        assert found.n_wrong is None
        assert found.loss_of_right is None
        assert len(found.rows) == 8
        assert "No label is shown to be wrong. This does not show that all are right." in result.to_html()
    run, result = of_classes
    assert run.audited.name not in result.findings["labels"].models  # it has no probabilities


def test_few_rows_and_no_model(quick_audit):
    run = quick_audit(*two_classes(60), time_limit=0.01)[0]
    few = measure_labels(run.fitted, run.audited, 0)
    assert few.n_wrong is None
    assert few.note == NO_MODEL
    constant = run.fitted[0]
    few = measure_labels([constant, replace(constant, candidate=replace(constant.candidate, name="mine"))], constant, 0)
    assert few.note == FEW_ROWS


def test_rates_are_0_where_models_are_right():
    probabilities, labels = two_models(np.random.default_rng(7), 300)
    logs = log_probabilities(probabilities)
    right = fit_given_rates(logs, labels, np.zeros(2))
    assert (right.wrong(logs, labels) == 0).all()
