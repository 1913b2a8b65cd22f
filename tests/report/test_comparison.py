"""Comparisons of audits: what changed, and what is shown to have changed."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from example_audit import around, classification, regression
from example_comparison import better_regression, losses, other_classification, squared_errors, with_loss
from example_edges import EXAMPLES, hostile
from page_outline import PageOutline
from reference.audit_tables import numbers, two_classes
from scipy.stats import norm, ttest_rel

from surefoot import DataError, ParameterError, compare
from surefoot.report.comparison.differences import REFOLDED, Difference, _paired, differences, outcome_of, simultaneous
from surefoot.report.files.markdown import MAX_LENGTH
from surefoot.report.row_losses import MAX_BLOCKS, RowLosses, blocks_of
from surefoot.report.run import AuditRun
from surefoot.report.sections.main_numbers import GOAL, HIGHER, LOWER, NEITHER, MainNumber
from surefoot.report.statistics import Estimate, paired_rate_difference, paired_rms_difference, unpaired_difference


def by_name(found):
    return {each.name: each for each in found}


def test_the_same_audit_has_no_difference():
    audit = classification()
    (change,) = compare([audit, audit]).changes
    assert {each.outcome for each in (*change.answers, *change.numbers)} == {"equal"}
    assert not change.is_worse
    assert repr(compare([audit, audit])) == (
        "audit 1 to audit 2: no answer has changed; no number is shown to have changed."
    )


def test_losses_on_the_same_rows_show_what_two_intervals_do_not():
    before, after = better_regression()
    found = by_name(differences(before, after))["rmse"]
    assert (found.relation, found.outcome) == ("paired", "better")
    paired = paired_rms_difference(np.array(after.row_losses.errors), np.array(before.row_losses.errors))
    assert found.estimate.value == pytest.approx(paired.value)
    assert found.estimate.low < paired.low  # the folds of another audit are another draw
    assert found.estimate.value - found.estimate.low == pytest.approx((paired.value - paired.low) * REFOLDED)
    alone = by_name(differences(before.but(row_losses=None), after.but(row_losses=None)))["rmse"]
    assert (alone.relation, alone.outcome) == ("same rows", "not shown")


def test_without_losses_the_half_widths_are_added_on_the_same_rows_and_their_squares_on_others():
    one, other = regression(), with_loss(regression(), around(50.0, 3.0))
    same = by_name(differences(one, other))["rmse"]
    assert same.relation == "same rows"
    assert same.estimate.low == pytest.approx(50.0 - 54.3 - 9.2)
    assert same.estimate.high == pytest.approx(50.0 - 54.3 + 9.2)
    elsewhere = other.but(subject=replace(other.subject, fingerprint="other"))
    different = by_name(differences(one, elsewhere))["rmse"]
    assert different.relation == "independent"
    assert different.estimate == unpaired_difference(around(50.0, 3.0), around(54.3, 6.2))


def test_rows_are_the_same_with_other_columns_and_differ_with_other_targets():
    before, after = better_regression()
    columns = after.but(subject=replace(after.subject, fingerprint="other", n_columns=3))
    assert by_name(differences(before, columns))["rmse"].relation == "paired"
    assert by_name(differences(before, columns))["gain"].relation == "same rows"
    rows = columns.but(row_losses=replace(after.row_losses, rows="b"))
    assert {each.relation for each in differences(before, rows)} == {"independent"}


def test_error_rates_and_log_losses_are_paired_too():
    rng = np.random.default_rng(1)
    wrong, fewer = rng.random(1000) < 0.3, rng.random(1000) < 0.2
    logs = rng.exponential(size=1000)
    audits = []
    for errors, log_losses in ((wrong, logs), (wrong & fewer, logs - 0.05)):
        audit = with_loss(
            classification(), around(errors.mean(), 0.05), row_losses=losses(errors, log_losses=log_losses)
        )
        models = tuple(replace(each, log_loss=around(float(log_losses.mean()), 0.1)) for each in audit.accuracy.models)
        audits.append(audit.but(accuracy=replace(audit.accuracy, models=models)))
    found = by_name(differences(*audits))
    paired = paired_rate_difference((wrong & fewer) * 1.0, wrong * 1.0)
    assert found["error_rate"].estimate.high == pytest.approx(paired.value + REFOLDED * (paired.high - paired.value))
    assert found["log_loss"].relation == "paired"
    assert found["log_loss"].estimate.value == pytest.approx(-0.05)
    assert found["log_loss"].outcome == "better"


def test_blocks_of_rows_give_nearly_the_interval_of_the_rows():
    rng = np.random.default_rng(2)
    first = rng.exponential(size=5000)
    second = first * rng.uniform(0.8, 1.1, size=5000)
    blocks = blocks_of(5000, None)
    counts = np.bincount(blocks)
    means = [np.bincount(blocks, weights=each) / counts for each in (first, second)]
    one, other = (regression().but(row_losses=losses(each, counts=counts.tolist())) for each in means)
    found = by_name(differences(one, other))["rmse"].estimate
    rows = paired_rms_difference(second, first)
    assert len(counts) == MAX_BLOCKS
    assert found.high - found.low == pytest.approx(REFOLDED * (rows.high - rows.low), rel=0.1)


def test_blocks_keep_groups_whole_and_in_order():
    units = np.repeat(["b", "a", "c"], [4, 2, 3])
    assert blocks_of(9, units).tolist() == [0] * 4 + [1] * 2 + [2] * 3
    many = np.random.default_rng(0).integers(0, 3000, size=20_000)
    blocks = blocks_of(20_000, many)
    assert len(np.unique(blocks)) == MAX_BLOCKS
    assert len(np.unique(np.column_stack([many, blocks]), axis=0)) == len(np.unique(many))


def test_groups_make_paired_intervals_wider():
    rng = np.random.default_rng(3)
    effects = np.repeat(rng.normal(size=20), 25)
    before = (50 + effects * 10) ** 2
    after = (50 + effects * 10 + np.repeat(rng.normal(size=20), 25) * 8) ** 2
    blocks = np.repeat(np.arange(20), 25)
    means = [np.bincount(blocks, weights=each) / 25 for each in (before, after)]
    grouped = [regression().but(row_losses=losses(each, counts=[25] * 20, by_groups=True)) for each in means]
    single = [regression().but(row_losses=losses(each)) for each in (before, after)]
    wide, narrow = (by_name(differences(*pair))["rmse"].estimate for pair in (grouped, single))
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)


@pytest.mark.parametrize("n_tested", [1, 7, 40])
def test_intervals_that_hold_together_are_those_of_bonferroni(n_tested):
    wide = simultaneous(Estimate(1.0, 1.0 - 1.959964, inf), n_tested)
    assert wide.low == pytest.approx(1 - norm.isf(0.05 / 2 / n_tested), abs=1e-5)
    assert wide.high == inf


@pytest.mark.parametrize(
    ("better", "before", "after", "outcome"),
    [
        (LOWER, around(10, 1), around(14, 1), "worse"),
        (HIGHER, around(10, 1), around(14, 1), "better"),
        (NEITHER, around(10, 1), around(14, 1), "changed"),
        (GOAL, around(10, 1), around(14, 1), "better"),  # the goal is 20
        (GOAL, around(30, 1), around(34, 1), "worse"),
        (GOAL, around(19, 2), around(24, 2), "changed"),
        (LOWER, around(10, 1), around(11, 1), "not shown"),
        (LOWER, 10.0, 14.0, "no interval"),
        (LOWER, 10.0, 10.0, "equal"),
        (LOWER, Estimate(10.0, 9.0, inf), around(5, 1), "better"),
        (LOWER, around(10, 1), Estimate(14.0, 1.0, inf), "not shown"),
    ],
)
def test_only_what_an_interval_shows_is_better_or_worse(better, before, after, outcome):
    one, other = (MainNumber("x", value, better, goal=20.0) for value in (before, after))
    estimate = unpaired_difference(other.estimate, one.estimate)
    assert outcome_of(Difference("x", one, other, "independent", estimate), 1) == outcome


def test_a_difference_that_one_number_would_show_is_not_shown_among_many():
    one, other = (MainNumber("x", around(value, 1.0)) for value in (10.0, 11.6))
    found = Difference("x", one, other, "independent", unpaired_difference(other.estimate, one.estimate))
    assert [outcome_of(found, n_tested) for n_tested in (1, 20)] == ["worse", "not shown"]


def squared_errors_of_folds(X, y, folds):
    """Squared errors of least squares, each for a model that was not trained on that row's fold."""
    A = np.column_stack([np.ones(len(y)), X])
    errors = np.empty(len(y))
    for part in folds:
        train = np.setdiff1d(np.arange(len(y)), part)
        errors[part] = (y[part] - A[part] @ np.linalg.lstsq(A[train], y[train], rcond=None)[0]) ** 2
    return errors


def test_equal_models_are_rarely_called_different():
    """The folds of another seed are no change; a paired test of the rows alone finds one too often."""
    rng = np.random.default_rng(4)
    shown = naive = 0
    for _ in range(100):
        X = rng.normal(size=(400, 8))
        y = X[:, 0] + 2 * np.sin(2 * X[:, 1]) + X[:, 2] * X[:, 3] + rng.normal(size=400)
        draws = [np.array_split(rng.permutation(400), 5) for _ in range(2)]
        errors = [squared_errors_of_folds(X, y, folds) for folds in draws]
        values = [MainNumber("RMSE", around(float(np.sqrt(each.mean())), 1.0)) for each in errors]
        estimate = _paired("rmse", losses(errors[0]), losses(errors[1]))
        shown += outcome_of(Difference("rmse", *values, "paired", estimate), 1) in ("better", "worse")
        naive += ttest_rel(*errors).pvalue < 0.05
    assert shown <= 5
    assert naive >= 12


def test_numbers_of_another_kind_are_not_compared():
    plain = classification()
    other = plain.but(shift=replace(plain.shift, measure="log-loss"))
    assert "deployment_loss" in by_name(differences(plain, plain))
    assert "deployment_loss" not in by_name(differences(plain, other))
    assert "rmse" not in by_name(differences(plain, plain))


def test_answers_are_better_worse_or_not_comparable():
    plain, other = classification(), other_classification()
    comparison = compare([plain, other], names=["May", "June"])
    (change,) = comparison.changes
    assert [each.outcome for each in change.answers] == ["worse", "worse", "worse", "equal"]
    assert change.is_worse
    back = compare([other, plain]).changes[0]
    assert [each.outcome for each in back.answers] == ["better", "better", "better", "equal"]
    unknown = plain.but(verdict=tuple(replace(line, answer="unknown") for line in plain.verdict))
    assert {each.outcome for each in compare([plain, unknown]).changes[0].answers} == {"not comparable"}
    assert "accuracy is worse (partly, now no)" in repr(comparison)


def test_a_timeline_is_against_the_first_or_the_previous():
    before, after = better_regression()
    first = compare([before, after, after])
    assert [(each.before, each.after) for each in first.changes] == [(0, 1), (0, 2)]
    previous = compare([before, after, after], against="previous")
    assert [(each.before, each.after) for each in previous.changes] == [(0, 1), (1, 2)]
    assert {each.outcome for each in previous.changes[1].numbers} == {"equal"}


def test_audits_that_cannot_be_compared_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"May is about 'risk' \(binary\), and June about 'progression' \(regression\)"):
        compare([classification(), regression()], names=["May", "June"])
    with pytest.raises(ParameterError, match="two audits or more"):
        compare([classification()])
    with pytest.raises(ParameterError, match="against must be one of"):
        compare([classification()] * 2, against="next")
    with pytest.raises(ParameterError, match="names has 1 names for 2 audits"):
        compare([classification()] * 2, names=["May"])
    (tmp_path / "x.json").write_text("{}", encoding="utf-8")
    with pytest.raises(DataError, match=r"x\.json is not an audit"):
        compare([classification(), tmp_path / "x.json"])


def test_files_are_called_by_their_names(tmp_path):
    (tmp_path / "old").mkdir()
    paths = [tmp_path / "may.json", tmp_path / "june.json", tmp_path / "old" / "may.json"]
    for path in paths:
        regression().to_json(path)
    assert compare(paths[:2]).names == ("may", "june")
    assert compare(paths).names == tuple(map(str, paths))
    assert compare([regression(), paths[0]]).names == ("audit 1", "may")


@pytest.mark.parametrize(
    ("rule", "is_broken"),
    [
        ("worse", True),
        ("error_rate.change>0.1", True),
        ("error_rate.change>10%", True),
        ("error_rate.change.low>0.1", True),
        ("error_rate.change.low>0.2", False),
        ("error_rate.change>0.3", False),
        ("rmse.change>0", True),  # not measured
        ("surviving.change.high>1", True),  # no interval
        ("error_rate>0.4", True),
        ("stability", False),
        ("shift", True),
    ],
)
def test_rules_are_about_changes_and_the_last_audit(rule, is_broken):
    (result,) = compare([classification(), other_classification()]).check_rules(rule)
    assert result.is_broken == is_broken
    with pytest.raises(ParameterError, match="unknown name 'luck'"):
        compare([classification()] * 2).check_rules("luck.change>0")
    assert [each.is_broken for each in compare([classification()] * 2).check_rules("worse, auc.change<0")] == [
        False
    ] * 2


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_page_and_the_markdown_of_any_audits(name):
    audit = EXAMPLES[name]()
    comparison = compare([audit, audit, audit], names=["<May>", "June|", "@July"])
    outline = PageOutline(comparison.to_html())
    assert outline.tags.count("script") == 1
    assert outline.tags.count("style") == 1
    text = comparison.to_markdown()
    assert len(text) <= MAX_LENGTH
    assert "<May>" not in text
    assert "@July" not in text


def test_the_page_has_the_changes_and_how_they_were_measured(tmp_path):
    comparison = compare([classification(), other_classification()], names=["May", "June"])
    page = comparison.to_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
    for text in ("▼ worse", "20.0 points", "independent", "credit-may.csv", "Different rows:"):
        assert text in page
    text = comparison.to_markdown(tmp_path / "page.md")
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == text
    assert "| error rate | 24.0% | 44.0% | 20.0 points (" in text
    assert "credit-may.csv" in text


def test_many_audits_still_fit():
    text = compare([hostile()] * 30).to_markdown()
    assert len(text) <= MAX_LENGTH
    assert "17 earlier comparisons are on the page." in text


def test_the_losses_of_an_audit_are_those_of_its_held_out_rows(two_candidates):
    X, y = numbers(60)
    two_candidates(X, y)  # from here on, every run has these two
    runs = [AuditRun.begin(X, y, random_state=seed).fit() for seed in (0, 1)]
    stored = [RowLosses.of(each) for each in (*runs, AuditRun.begin(X.iloc[:, :2], y).fit())]
    assert len({each.rows for each in stored}) == 1
    assert stored[0].counts == (1,) * 60
    np.testing.assert_allclose(stored[0].errors, runs[0].audited.outcome.losses, rtol=1e-5)
    assert RowLosses.of(AuditRun.begin(X.iloc[::-1], y.iloc[::-1]).fit()).rows != stored[0].rows
    grouped = RowLosses.of(AuditRun.begin(X, y, groups=np.arange(60) // 6).fit())
    assert (grouped.by_groups, grouped.counts) == (True, (6,) * 10)
    assert grouped.rows != stored[0].rows
    X, y = two_classes()
    run = AuditRun.begin(X, y).fit()
    found = RowLosses.of(run)
    assert np.mean(found.errors) == pytest.approx(run.audited.outcome.losses.mean())
    assert np.mean(found.log_losses) == pytest.approx(run.audited.outcome.log_losses.mean(), rel=1e-4)


def test_squared_errors_of_the_examples_are_of_their_scale():
    assert np.sqrt(squared_errors(54.3).mean()) == pytest.approx(54.3, rel=0.1)
