"""The protocol's rules on made-up results."""

from made_up_results import results

from surefoot_experiments.shift.study_findings import Averages, judge_study

METHODS = {"weighted": 1.05, "mean": 0.95, "joint": 1.0, "product": 1.0, "pure mean": 1.3, "pure joint": 1.5,
           "unbiased rows": 0.8}  # fmt: skip


def findings_with(**changed):
    ratios = {**METHODS, **{name.replace("_", " "): value for name, value in changed.items()}}
    return judge_study(Averages(results(ratios), "mean"))


def verdict(findings, words):
    (finding,) = [finding for finding in findings if words in finding.text]
    return finding.holds


def test_verdicts():
    findings = findings_with()
    assert verdict(findings, "does no harm") is True
    assert verdict(findings, "(the default) lowers") is True
    assert verdict(findings, "Importance-weighted boosting lowers") is False
    assert verdict(findings, "lower target RMSE than importance-weighted") is True
    assert verdict(findings, "raises the target's RMSE") is True
    assert verdict(findings, "something to gain") is True
    assert verdict(findings, 'V-matrix boosting, kind="joint" lowers') is not True
    text = findings[0].markdown
    assert "0.950 (0.950 to 0.950), better on 6, worse on 0 of 6 tasks" in text


def test_two_percent_are_no_harm():
    assert verdict(findings_with(mean=1.019), "does no harm") is True
    assert verdict(findings_with(mean=1.021), "does no harm") is False


def test_verdicts_the_other_way():
    findings = findings_with(mean=1.2, pure_mean=0.9, unbiased_rows=1.1)
    assert verdict(findings, "(the default) lowers") is False
    assert verdict(findings, "lower target RMSE than importance-weighted") is False
    assert verdict(findings, "raises the target's RMSE") is False
    assert verdict(findings, "something to gain") is False


def test_every_method_is_reported():
    texts = " ".join(finding.text for finding in findings_with())
    for words in ("Importance-weighted", 'kind="mean"', 'kind="joint"', 'kind="product"', "The pure V-matrix loss"):
        assert words in texts


def test_without_results_nothing_is_claimed():
    assert all(finding.holds is None for finding in judge_study(Averages([], "mean")))
