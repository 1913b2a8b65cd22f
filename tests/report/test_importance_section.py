"""What the model uses: importance of columns, partial dependence, and the choices of question 3 beside them."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from example_audit import around, classification, stable_set
from scipy.stats import spearmanr, t
from sklearn.inspection import partial_dependence
from sklearn.linear_model import LinearRegression, LogisticRegression

from surefoot.report.page.document import page_html
from surefoot.report.sections.importance.association import neighbours_of
from surefoot.report.sections.importance.dependence import grid_of, measure_dependence
from surefoot.report.sections.importance.measure import MAYBE_SEEN, NO_COLUMN, NO_MODEL, measure_importance
from surefoot.report.sections.importance.page import chosen_fraction
from surefoot.report.statistics import paired_mean_difference


def table(n=200, seed=0):
    generator = np.random.default_rng(seed)
    X = pd.DataFrame(generator.normal(size=(n, 3)), columns=["strong", "weak", "noise"])
    X["twin"] = X["noise"] + 0.1 * generator.normal(size=n)
    X["kind"] = generator.choice(["red", "green", "blue"], n)
    y = 3 * X["strong"] + 0.5 * X["weak"] + 2 * (X["kind"] == "red") + generator.normal(size=n)
    return X, pd.Series(y, name="height")


@pytest.fixture
def run_of(two_candidates, monkeypatch):
    """A run of the constant and the linear model, on one draw of the folds."""
    from surefoot.report import run

    def fitted(X, y, **given):
        return run.AuditRun.begin(X, y, random_state=0, **given).fit()

    return fitted


def test_importance_is_the_mean_increase_with_simultaneous_intervals(run_of):
    run = run_of(*table())
    found = measure_importance(run.comparisons, run.loss_increases)
    increases = run.loss_increases(run.audited)
    by_column = dict(zip(increases.columns, increases.increases.T, strict=True))
    assert found.columns[0].column == "strong"
    assert [each.rise.value for each in found.columns] == sorted((x.mean() for x in by_column.values()), reverse=True)
    for each in found.columns:
        values = by_column[each.column]
        assert each.rise.value == pytest.approx(values.mean())
        reach = t.ppf(1 - 0.025 / 5, len(values) - 1) * values.std(ddof=1) / len(values) ** 0.5
        assert each.rise.high - each.rise.low > 1.9 * reach
    alone = by_column["noise"]
    assert alone.mean() > 3 * alone.std(ddof=1) / len(alone) ** 0.5  # the model uses a difference of two noises
    used = {each.column for each in found.columns if each.rise.low > 0}
    assert {"strong", "kind"} <= used
    assert not used & {"noise", "twin"}


def test_intervals_of_a_higher_confidence_are_wider():
    values = np.random.default_rng(0).uniform(size=400)
    one, many = (paired_mean_difference(values, 0 * values, confidence=1 - 0.05 / n) for n in (1, 20))
    ratio = t.ppf(1 - 0.025 / 20, 399) / t.ppf(0.975, 399)
    assert (many.high - many.low) / (one.high - one.low) == pytest.approx(ratio, rel=0.01)


def test_curves_are_those_of_scikit_learn(run_of):
    X, y = table()
    frame = X[["strong", "weak"]]
    run = run_of(frame, y, model=LinearRegression())
    output, (curve,) = measure_dependence(run.audited, ["weak"])
    assert output == "prediction of height"
    held_out = run.audited.splits.folds
    expected = [
        partial_dependence(model, frame.iloc[test], ["weak"], custom_values={"weak": np.array(curve.positions)})[
            "average"
        ][0]
        for model, (_, test) in zip(run.audited.fold_models, held_out, strict=True)
    ]
    assert np.allclose(curve.mean, np.mean(expected, axis=0))
    assert np.allclose(curve.low, np.min(expected, axis=0))
    assert np.allclose(curve.high, np.max(expected, axis=0))
    assert set(curve.positions) <= set(frame["weak"])


def test_curves_of_categories_and_of_probabilities(run_of):
    X, y = table()
    state = pd.Series(np.where(y > 0, "tall", "short"), name="state")
    run = run_of(X, state)
    output, (kind, strong) = measure_dependence(run.audited, ["kind", "strong"])
    assert output == "probability of tall"
    assert kind.is_category
    assert sorted(kind.values) == ["blue", "green", "red"]
    assert kind.values[int(np.argmax(kind.mean))] == "red"
    assert list(strong.mean) == sorted(strong.mean)
    assert all(0 <= low <= high <= 1 for low, high in zip(strong.low, strong.high, strict=True))


def test_a_model_that_reads_arrays_as_they_are(run_of):
    X, y = table()
    array, state = X[["strong", "weak"]].to_numpy(), np.where(y > 0, 1, 0)
    model = LogisticRegression().fit(array, state)
    run = run_of(array, state, model=model, refit=False, trained_on=False)
    found = measure_importance(run.comparisons, run.loss_increases)
    assert found.columns[0].column == "x0"
    assert found.n_models == 1
    assert found.remarks == ()
    assert measure_importance(run.comparisons, run.loss_increases, True).remarks == (MAYBE_SEEN,)
    assert found.dependence[0].mean[0] < 0.2 < 0.8 < found.dependence[0].mean[-1]


def test_missing_values_are_not_on_the_grid(run_of):
    X, y = table()
    X.loc[:60, "weak"] = np.nan
    run = run_of(X, y)
    reader = next(each for each in run.table.readers if each.name == "weak")
    _, values, positions = grid_of(run.audited, reader)
    assert np.isfinite(positions).all()
    assert len(values) == len(positions) == 12
    run.table.frame["weak"] = np.nan
    assert measure_dependence(run.audited, ["weak"])[1] == ()


def test_alternatives_are_strongly_associated_columns(run_of):
    X, y = table()
    X["colour"] = X["kind"].map({"red": "r", "green": "g", "blue": "b"})
    X["level"] = X["kind"].map({"red": 0, "green": 1, "blue": 5}) + 0.001 * X["weak"]
    run = run_of(X, y)
    found, related = neighbours_of(run.table, tuple(X.columns), run.splits.held_out)
    assert spearmanr(X["noise"], X["twin"]).statistic > 0.9
    assert found["noise"] == ("twin",)
    assert found["twin"] == ("noise",)
    assert set(found["kind"]) == {"colour", "level"}
    assert found["strong"] == found["weak"] == ()
    assert all(set(found[name]) <= set(related[name]) for name in found)


def test_nothing_is_said_without_a_model(run_of):
    X, y = table()
    run = run_of(X, y, predictions=y + 1.0)
    assert measure_importance(run.comparisons, run.loss_increases).note == NO_MODEL
    constant = [replace(each, audited=each.fitted[0]) for each in run.comparisons]
    found = measure_importance(constant, run.loss_increases)
    assert found.note == NO_COLUMN
    assert found.columns == found.dependence == ()


def test_the_choices_of_question_3_are_beside_it():
    audit = classification()
    columns = {each.column: each for each in audit.importance.columns}
    assert chosen_fraction(columns["duration"], audit.stability) == pytest.approx(0.981)
    assert chosen_fraction(columns["savings"], audit.stability) is None  # it has too many categories
    assert chosen_fraction(columns["other_plans"], audit.stability) == 0
    assert chosen_fraction(columns["duration"], None) is None
    page = page_html(audit)
    assert "3 of 4 columns are shown to be used by gradient boosting" in page
    assert "The model uses other_plans, but bags of rows do not agree on choosing it (question 3)." in page
    assert '<span class="tag">used, not held</span>' in page
    weak = [replace(each, rise=around(0.0, 0.01)) for each in audit.importance.columns]
    held = stable_set("LASSO", "duration", "duration", inclusion=(("duration", 1.0),))
    other = audit.but(
        importance=replace(audit.importance, columns=tuple(weak)),
        stability=replace(audit.stability, sets=(held,)),
    )
    page = page_html(other)
    assert "No column is shown to be used by gradient boosting" in page
    assert '<span class="tag">held, not shown to be used</span>' in page


def test_an_audit_has_the_section(quick_audit):
    run, result = quick_audit(*table(160))
    found = result.findings["importance"]
    assert found.columns[0].column == "strong"
    assert run.loss_increases(run.audited) is run.loss_increases(run.audited)
    stored = json.loads(result.to_json())["importance"]
    assert stored["columns"][0]["rise"]["value"] == found.columns[0].rise.value
    assert stored["dependence"][0]["column"] == "strong"
    assert "What does it use?" in result.to_html()
