"""Question 3: conclusions that are drawn again from bags of rows or groups, and the verdict."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from reference.audit_tables import numbers
from scipy.stats import binomtest, hypergeom, ttest_rel
from sklearn.linear_model import LinearRegression, LogisticRegression

from surefoot.report.inputs.splits import Splits
from surefoot.report.inputs.table import AuditTable
from surefoot.report.models.candidate_models import candidate_models
from surefoot.report.models.cross_fitting import CandidateModel, Comparison, cross_fit, row_losses
from surefoot.report.sections.section import NO, PARTLY, UNKNOWN, YES
from surefoot.report.sections.stability.bags import (
    BAG_SEED,
    GROUP,
    ROW,
    Bagged,
    SmallestSum,
    Units,
    choose_between_copies,
    upper_limit,
)
from surefoot.report.sections.stability.column_selection import LASSO, TREE, SelectionFrame, columns_of, copies_of
from surefoot.report.sections.stability.findings import StabilityFindings
from surefoot.report.sections.stability.leading_column import MAX_COLUMNS, N_PERMUTATIONS, LossIncreases
from surefoot.report.sections.stability.measure import column_set, column_sets, measure_stability
from surefoot.report.sections.stability.page import status_of
from surefoot.report.sections.stability.stable_sets import LEADING, WINNER, in_words, stable_set
from surefoot.report.sections.stability.verdict import stability_line
from surefoot.report.time_budget import TimeBudget
from surefoot.selection import inflated_argmax

pytestmark = pytest.mark.usefixtures("all_bags")


def clear_table(n_rows, seed=0, n_columns=5):
    """Two informative columns, the first more than the second."""
    generator = np.random.default_rng(seed)
    X = pd.DataFrame(generator.normal(size=(n_rows, n_columns)), columns=[f"c{j}" for j in range(n_columns)])
    return X, 2.0 * X["c1"] + 1.2 * X["c3"] + generator.normal(size=n_rows)


def cross_fitted(table, splits, model=None, raw=False):
    """The constant, the linear model, and one more."""
    quick = [each for each in candidate_models(table, 0, 1) if each.name in ("constant", "linear")]
    if model is not None:
        quick.append(CandidateModel("your model" if raw else "other", "", model, raw=raw))
    return cross_fit(table, splits, quick, TimeBudget())[0]


def measured(X, y, groups=None, seed=0, model=None):
    table = AuditTable.read(X, y)
    splits = Splits.draw(table.target, groups, None, False, seed)
    fitted = cross_fitted(table, splits, model)
    return measure_stability(table, [Comparison(fitted, fitted[-1])], groups, seed, 1, TimeBudget())


@pytest.fixture(scope="module")
def of_clear_table():
    return measured(*clear_table(300))


def test_groups_are_units_of_all_their_rows():
    generator = np.random.default_rng(0)
    groups, values = generator.integers(0, 30, 200).astype(str), generator.normal(size=(200, 3))
    units = Units.of(200, groups)
    assert (len(units), units.name) == (len(np.unique(groups)), GROUP)
    sums = units.sums(values)
    for unit in range(len(units)):
        rows = units.rows_of(np.array([unit]))
        assert len(set(groups[rows])) == 1
        assert len(rows) == np.sum(groups == groups[rows[0]])
        np.testing.assert_allclose(sums[unit], values[rows].sum(axis=0))
    assert sorted(units.rows_of(np.arange(len(units)))) == list(range(200))


def test_the_first_units_are_drawn_at_random():
    units = Units.of(10_000)
    assert units.name == ROW
    assert 4500 < units.rows[:2000].mean() < 5500
    assert units.bag_size == 1000


@pytest.mark.parametrize(("hits", "n"), [(0, 60), (0, 59), (3, 100), (7, 2000), (5, 5)])
def test_the_upper_limit_is_exact(hits, n):
    expected = binomtest(hits, n, alternative="less").proportion_ci(0.95, method="exact").high
    assert upper_limit(hits, n) == pytest.approx(expected)


def test_weights_are_those_of_all_bags():
    """The first of two models wins on 34 rows and loses on 26: the counts in a bag are hypergeometric."""
    differences = np.where(np.arange(60) < 34, -1.0, 1.0)
    units = Units.of(60)
    bagged = Bagged.run(
        SmallestSum(("a", "b"), units.sums(differences[:, np.newaxis] * [1, 0])), units, 10_000, 1, 0.05
    )
    wins = hypergeom(60, 34, 30)
    weights = dict(zip(bagged.models, bagged.weights, strict=True))
    assert bagged.single == ("a",)
    for model, expected in ((("a",), wins.sf(15)), (("a", "b"), wins.pmf(15)), (("b",), wins.cdf(14))):
        assert weights[model] == pytest.approx(expected, abs=4 * np.sqrt(0.25 / bagged.n_bags))


def test_dropping_a_row_gives_the_set_from_bags_without_it():
    """One row decides: bags without it never choose the first model."""
    losses = np.zeros((40, 2))
    losses[:, 0], losses[7, 0] = 0.01, -10.0
    units = Units.of(40)
    bagged = Bagged.run(SmallestSum(("a", "b"), units.sums(losses)), units, 2000, 1, 0.05)
    assert bagged.single == ("a",)
    assert bagged.changes == (1, 40)
    assert not stable_set(WINNER, bagged).holds  # half of the bags contain it
    only = Bagged.run(SmallestSum(("a", "b"), units.sums(np.tile([0.0, 1.0], (40, 1)))), units, 2000, 1, 0.05)
    assert (only.selected, only.n_disjoint, only.changes) == ([("a",)], 0, (0, 40))


def test_the_set_without_a_row_is_that_from_bags_drawn_without_it():
    generator = np.random.default_rng(3)
    losses = generator.normal(size=(30, 3)) + np.array([0.0, 0.05, 0.3])
    losses[4] = [-9.0, 4.0, 4.0]
    units = Units.of(30)
    bagged = Bagged.run(SmallestSum(("a", "b", "c"), units.sums(losses)), units, 20_000, 1, 0.2)
    n_disjoint = 0
    for unit in range(30):
        others = np.delete(units.sums(losses), unit, axis=0)
        bags = np.argsort(generator.random((20_000, 29)), axis=1)[:, : units.bag_size]
        winners = np.bincount(others[bags].sum(axis=1).argmin(axis=1), minlength=3) / 20_000
        places = bagged.models
        weights = np.array([winners["abc".index(model[0])] for model in places])
        without = {places[place] for place in inflated_argmax(weights, bagged.epsilon)}
        n_disjoint += not without & set(bagged.selected)
    assert bagged.n_disjoint == n_disjoint


@pytest.mark.parametrize("name", [LASSO, TREE])
@pytest.mark.parametrize("by_groups", [False, True])
def test_a_choice_depends_on_the_rows_of_its_bag_alone(name, by_groups):
    """The theorem needs this: values, missing values and scales of other rows have no effect."""
    X, y = clear_table(200)
    X.loc[::7, "c2"] = np.nan
    generator = np.random.default_rng(1)
    units = Units.of(200, np.arange(200) // 4 if by_groups else None)
    bags = np.sort(np.stack([generator.permutation(len(units))[: len(units) // 2] for _ in range(8)]), axis=1)
    chosen = SelectionFrame.of(AuditTable.read(X, y), np.arange(200)).prepare(name, units).select(bags)
    for bag, expected in zip(bags, chosen, strict=True):
        outside = np.setdiff1d(np.arange(200), units.rows_of(bag))
        other, target = X.copy(), y.copy()
        other.iloc[outside] = 1000 * generator.standard_cauchy(size=(len(outside), 5))
        target.iloc[outside] = -500 * target.iloc[outside] + 3e4
        frame = SelectionFrame.of(AuditTable.read(other, target), np.arange(200))
        np.testing.assert_array_equal(frame.prepare(name, units).select(bag[np.newaxis])[0], expected)


def test_the_choice_from_all_rows_has_the_penalty_of_all_rows():
    from sklearn.linear_model import Lasso

    X, y = clear_table(400, seed=5, n_columns=12)
    y = y + 0.18 * X["c7"]
    result = column_set(SelectionFrame.of(AuditTable.read(X, y), np.arange(400)), Units.of(400), LASSO, 1)[0]
    scaled = (X - X.mean()) / X.std(ddof=0)
    alpha = y.std(ddof=0) * np.sqrt(2 * np.log(2 * 12) / 400)
    chosen = X.columns[Lasso(alpha, tol=1e-10).fit(scaled, y).coef_ != 0]
    assert result.single == in_words(tuple(chosen))


def test_columns_of_trees():
    assert columns_of(("a", "yes", ("b", ("a", "yes", "no"), "no"))) == {"a", "b"}
    assert columns_of("yes") == set()


def test_rescaled_and_renamed_copies_are_found():
    generator = np.random.default_rng(0)
    a, kind = generator.normal(size=50), generator.choice(list("pqr"), 50)
    renamed = pd.Series(kind).map({"p": "z", "q": "a", "r": "m"})
    frame = pd.DataFrame({"a": a, "b": generator.normal(size=50), "c": 3 - 2.54 * a, "d": np.exp(a), "e": a})
    frame["k"], frame["l"] = pd.Categorical(kind), pd.Categorical(renamed)
    assert sorted(map(list, copies_of(frame))) == [[0, 2, 4], [5, 6]]
    frame.loc[:9, "c"] = np.nan
    assert sorted(map(list, copies_of(frame))) == [[0, 4], [5, 6]]
    frame["e"] += 0.3 * generator.normal(size=50)
    assert sorted(map(list, copies_of(frame))) == [[5, 6]]


@pytest.mark.parametrize("seed", range(5))
def test_columns_that_are_equal_except_for_noise_are_alternatives(seed):
    """Which of them has the larger correlation with the target depends on a few rows."""
    generator = np.random.default_rng(seed)
    X = pd.DataFrame(generator.normal(size=(400, 4)), columns=list("abcd"))
    X["twin"] = X["a"] + 0.01 * generator.normal(size=400)
    table = AuditTable.read(X, 2 * X["a"].to_numpy() + generator.normal(size=400))
    for name in (LASSO, TREE):
        result = column_set(SelectionFrame.of(table, np.arange(400)), Units.of(400), name, 1)[0]
        assert not result.holds
        assert "a or twin" in result.stable or "twin or a" in result.stable


def test_bags_choose_between_copies_at_random():
    chosen = np.zeros((2000, 4), dtype=bool)
    chosen[:, 0] = chosen[:, 3] = True
    choose_between_copies(chosen, [[0, 2]], np.arange(2000)[:, np.newaxis])
    assert (chosen[:, [0, 2]].sum(axis=1) == 1).all()
    assert 0.45 < chosen[:, 2].mean() < 0.55
    assert chosen[:, 3].all()
    assert not chosen[:, 1].any()


@pytest.mark.parametrize("scale", [1.0, -2.54])
def test_a_copy_of_a_column_is_an_alternative(scale):
    X, y = clear_table(300)
    X["c4"] = scale * X["c1"] + 1
    result = {each.selector: each for each in measured(X, y).sets}
    assert result[LASSO].stable == "c3 and (c1 or c4)"
    assert not result[LASSO].holds
    assert result[TREE].n_models > 1
    assert not result[TREE].holds


def test_increases_are_those_of_one_permutation_at_a_time():
    X, y = clear_table(120)
    X["kind"] = pd.Categorical(np.where(X["c0"] > 0, "high", "low"))
    table = AuditTable.read(X, y)
    splits = Splits.draw(table.target, None, None, False, 0)
    audited = cross_fitted(table, splits)[-1]
    result = LossIncreases.of(audited)
    assert result.columns == (*X.columns,)
    assert sorted(result.rows) == list(range(120))
    for model, (_, test) in zip(audited.fold_models, splits.folds, strict=True):
        test, generator = np.sort(test), np.random.default_rng(BAG_SEED)
        orders = [generator.permutation(len(test)) for _ in range(N_PERMUTATIONS)]
        rows, truth = table.frame.iloc[test], y.to_numpy()[test]
        before = (model.predict(rows) - truth) ** 2
        for place, name in enumerate(X.columns):
            after = []
            for order in orders:
                changed = rows.copy()
                changed[name] = rows[name].to_numpy()[order] if name != "kind" else rows[name].iloc[order].to_numpy()
                changed["kind"] = pd.Categorical(changed["kind"], categories=table.frame["kind"].cat.categories)
                after.append((model.predict(changed) - truth) ** 2)
            expected = np.mean(after, axis=0) - before
            ours = result.increases[[list(result.rows).index(row) for row in test], place]
            np.testing.assert_allclose(ours, expected, atol=1e-9)


def test_increases_of_classes_are_those_of_the_log_loss():
    X, y = clear_table(120)
    table = AuditTable.read(X, np.where(y > y.median(), "high", "low"))
    splits = Splits.draw(table.target, None, None, False, 0)
    audited = cross_fitted(table, splits, LogisticRegression())[-1]
    result = LossIncreases.of(audited)
    model, test = audited.fold_models[0], np.sort(splits.folds[0][1])
    rows, truth = table.frame.iloc[test], table.target.labels[test]
    generator = np.random.default_rng(BAG_SEED)
    orders = [generator.permutation(len(test)) for _ in range(N_PERMUTATIONS)]

    def losses(X):
        chance = model.predict_proba(X)[np.arange(len(X)), np.searchsorted(model.classes_, truth)]
        return -np.log(np.maximum(chance, 0.001))

    after = [losses(rows.assign(c1=rows["c1"].to_numpy()[order])) for order in orders]
    ours = result.increases[[list(result.rows).index(row) for row in test], 1]
    np.testing.assert_allclose(ours, np.mean(after, axis=0) - losses(rows), atol=1e-9)


def test_increases_are_about_twice_the_variance_that_a_column_explains():
    X, y = clear_table(3000)
    table = AuditTable.read(X, y)
    audited = cross_fitted(table, Splits.draw(table.target, None, None, False, 0))[-1]
    result = LossIncreases.of(audited)
    assert len(result.rows) == 2000
    np.testing.assert_allclose(result.increases.mean(axis=0), [0, 8.0, 0, 2.88, 0], atol=0.5)


@pytest.mark.parametrize("kind", ["array", "polars"])
def test_an_own_model_is_passed_the_table_of_the_user(kind):
    X, y = clear_table(120)
    raw = X.to_numpy() if kind == "array" else pl.from_pandas(X)
    table = AuditTable.read(raw, y)
    splits = Splits.draw(table.target, None, None, False, 0)
    audited = cross_fitted(table, splits, LinearRegression(), raw=True)[-1]
    result, pandas = LossIncreases.of(audited), AuditTable.read(X, y)
    other = LossIncreases.of(cross_fitted(pandas, splits, LinearRegression(), raw=True)[-1])
    np.testing.assert_allclose(result.increases, other.increases)


def test_of_many_columns_the_most_informative_are_permuted():
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(200, 40)), columns=[f"c{j}" for j in range(40)])
    y = np.where(X["c39"] + X["c2"] + generator.normal(size=200) > 0, "yes", "no")
    table = AuditTable.read(X, y)
    audited = cross_fitted(table, Splits.draw(table.target, None, None, False, 0), LogisticRegression())[-1]
    result = LossIncreases.of(audited)
    assert len(result.columns) == MAX_COLUMNS
    assert {"c2", "c39"} <= set(result.columns)
    assert "The 30 of 40 columns" in result.remarks[0]


def test_every_conclusion_of_a_clear_table_survives(of_clear_table):
    result = {each.selector: each for each in of_clear_table.sets}
    assert list(result) == [WINNER, LASSO, TREE, LEADING]
    assert (result[WINNER].single, result[LASSO].single) == ("linear", "c1 and c3")
    assert (result[TREE].single, result[LEADING].single) == ("c1 and c3", "c1")
    line = stability_line(of_clear_table)
    assert line.answer == YES
    assert line.sentence == (
        "Every conclusion survives: linear is the best model; the LASSO chooses c1 and c3; a small decision tree "
        "splits on c1 and c3; the model relies most on c1."
    )
    assert "For at most 5% of the rows" in result[LASSO].guarantee
    assert "It is not about training without that row" in result[WINNER].guarantee
    drop = of_clear_table.drops[0]
    assert (drop.what, drop.n_rows, drop.winner_changed, drop.n_refits) == ("a random 1% of the rows", 3, 0.0, 1)
    assert 0 < drop.predictions_changed < 0.5


def test_bags_do_not_depend_on_the_seed_or_on_threads(of_clear_table):
    X, y = clear_table(300)
    again = measured(X, y, seed=7)
    assert again.sets[1:3] == of_clear_table.sets[1:3]
    frame, units = SelectionFrame.of(AuditTable.read(X, y), np.arange(300)), Units.of(300)
    assert column_set(frame, units, LASSO, 1) == column_set(frame, units, LASSO, 2)


def test_equal_models_are_not_distinguished():
    X, y = clear_table(300)
    result = measured(X, y, model=LinearRegression()).sets[0]
    assert not result.holds
    assert set(dict(result.inclusion)) >= {"linear", "other"}


def test_whole_groups_are_dropped():
    X, y = clear_table(240)
    groups = np.repeat([f"g{k}" for k in range(40)], 6)
    result = measured(X, y, groups)
    assert {(each.unit, each.n_units, each.bag_size) for each in result.sets} == {(GROUP, 40, 20)}
    assert all("group" in each.guarantee for each in result.sets)
    assert len(result.drops) == 10
    assert all(drop.n_rows == 6 and drop.own_loss is not None for drop in result.drops)
    assert [drop.n_refits for drop in result.drops] == [1, 1, 1] + 7 * [0]
    line = stability_line(result)
    assert line.answer == UNKNOWN
    assert "linear is the best model (0 of 40 groups overturn it when dropped; about 59 groups" in line.sentence
    few = measured(X, y, np.repeat([f"g{k}" for k in range(10)], 24))
    assert few.sets == ()
    assert stability_line(few).answer == UNKNOWN
    assert "only 10 groups" in stability_line(few).sentence


def test_a_model_without_probabilities_is_compared_by_its_errors():
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(150, 3)), columns=list("abc"))
    y = np.where(X["a"] + generator.normal(size=150) > 0, "yes", "no")
    from sklearn.svm import LinearSVC

    table = AuditTable.read(X, y)
    fitted = cross_fitted(table, Splits.draw(table.target, None, None, False, 0), LinearSVC())
    names, losses = row_losses(fitted, fitted[-1])
    assert names == ("constant", "linear", "other")
    assert set(np.unique(losses)) == {0.0, 1.0}
    names, losses = row_losses(fitted, fitted[1])
    assert names == ("constant", "linear")
    assert losses.max() > 1


def test_a_slow_model_is_not_fitted_again(of_clear_table):
    from surefoot.report.sections.stability.row_removal import measure_removals

    X, y = clear_table(100)
    table = AuditTable.read(X, y)
    fitted = cross_fitted(table, Splits.draw(table.target, None, None, False, 0))
    slow = replace(fitted[-1], seconds=11.0 * len(fitted[-1].fold_models))
    drop = measure_removals([fitted[0], slow], slow, None, 0, TimeBudget())[0]
    assert (drop.n_refits, drop.predictions_changed) == (0, None)


def fake(selector=LASSO, **changes):
    """A record with the fields that the sentence needs."""
    fields = {
        "selector": selector, "single": "a and b", "stable": "a and (b or c)", "n_models": 1, "undecided": False,
        "claim_inside": True, "holds": False, "single_changed": 0, "n_dropped": 0, "unit": "row",
        "instability": 0.0, "lead": None, "n_left_out": 2000,
    }  # fmt: skip
    return SimpleNamespace(**{**fields, **changes})


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"undecided": True}, "the LASSO chooses a and b (bags of rows make too many different choices)"),
        ({"claim_inside": False}, "(bags of rows choose a and (b or c))"),
        ({"n_models": 2}, "(the rows cannot decide between 2 choices: a and (b or c))"),
        ({"single_changed": 7, "n_dropped": 100}, "(7 of 100 rows overturn it when dropped)"),
        ({"instability": 0.06}, "(120 of 2000 rows overturn it when dropped)"),
        ({"selector": WINNER, "undecided": True}, "a and b is the best model (no model is clearly best)"),
        ({"selector": LEADING, "single": "no column", "n_models": 3}, "the model relies on no column (the rows cannot"),
    ],
)
def test_the_sentence_gives_the_reason_why_a_conclusion_does_not_survive(changes, reason):
    line = stability_line(StabilityFindings((fake(**changes),), (), None))
    assert line.answer == NO
    assert line.sentence.startswith("No conclusion survives: ")
    assert reason in line.sentence
    both = stability_line(StabilityFindings((fake(holds=True), fake(**changes)), (), None))
    assert both.answer == PARTLY
    assert both.sentence.startswith("These survive: the LASSO chooses a and b. These do not, or may not: ")


@pytest.mark.parametrize("holds", [True, False])
def test_a_conclusion_that_is_not_assessed_makes_yes_and_no_unknown(holds):
    only = (fake(holds=True),) if holds else (fake(undecided=True),)
    assert stability_line(StabilityFindings(only, (), None)).answer == (YES if holds else NO)
    line = stability_line(StabilityFindings(only, (), None, ("the columns that the LASSO chooses (not enough time)",)))
    assert line.answer == UNKNOWN
    assert line.sentence.endswith(" Not assessed: the columns that the LASSO chooses (not enough time).")


def test_selectors_without_time_are_not_assessed():
    table = AuditTable.read(*numbers(160))
    rows = np.arange(160)
    for budget, expected in ((TimeBudget(), []), (TimeBudget(1e-9), ["not enough time"] * 2)):
        sets, not_assessed = column_sets(table, rows, Units.of(160), 1, budget)
        assert [each.split(" (")[1].rstrip(")") for each in not_assessed] == expected
        assert len(sets) == 2 - len(expected)


def test_too_few_rows_make_a_conclusion_unknown():
    few = fake(n_left_out=40, n_dropped=40)
    line = stability_line(StabilityFindings((few,), (), None))
    assert line.answer == UNKNOWN
    assert "about 59 rows would decide it" in line.sentence
    assert upper_limit(0, 59) < 0.05 <= upper_limit(0, 58)
    assert stability_line(StabilityFindings((few, fake(undecided=True)), (), None)).answer == UNKNOWN
    assert stability_line(StabilityFindings((few, fake(holds=True)), (), None)).answer == PARTLY


def test_a_small_lead_is_unknown():
    ahead = fake(WINNER, single="linear", lead=2.25)
    line = stability_line(StabilityFindings((ahead, fake(undecided=True)), (), None))
    assert line.answer == UNKNOWN
    assert line.sentence.startswith(
        "No conclusion is known to survive: linear is the best model (it leads by 2.2 standard errors; 3 are needed"
    )
    generator = np.random.default_rng(0)
    losses = generator.normal(size=(200, 3)) + np.array([0.0, 0.3, 0.1])
    expected = min(ttest_rel(losses[:, j], losses[:, 0]).statistic for j in (1, 2))
    units = Units.of(200)
    chooser = SmallestSum(("a", "b", "c"), units.sums(losses))
    assert chooser.lead == pytest.approx(expected)
    assert 0 < expected < 3
    assert not stable_set(WINNER, Bagged.run(chooser, units, 500, 1, 0.05)).holds
    assert SmallestSum(("a", "b"), np.zeros((5, 2))).lead == 0.0
    assert SmallestSum(("a", "b"), np.tile([0.0, 1.0], (5, 1))).lead == np.inf


def test_the_page_and_the_verdict_agree_on_what_survives():
    assert status_of(fake(holds=True)) == "survives"
    for changes in ({"undecided": True}, {"claim_inside": False}, {"n_models": 2}, {"instability": 0.06}):
        assert status_of(fake(**changes)) == "does not survive"
        assert stability_line(StabilityFindings((fake(**changes),), (), None)).answer == NO
    for changes in ({"lead": 2.0, "undecided": True}, {"n_left_out": 40, "n_dropped": 40}):
        assert status_of(fake(**changes)) == "not known"
        assert stability_line(StabilityFindings((fake(**changes),), (), None)).answer == UNKNOWN


def test_the_line_without_conclusions():
    assert stability_line(None).answer == UNKNOWN
    assert stability_line(StabilityFindings((), (), "Too few rows.")).sentence == "Too few rows."
