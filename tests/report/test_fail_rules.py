"""Rules about the answers and the numbers of an audit."""

from dataclasses import replace
from math import inf, nan

import pytest
from example_audit import around, classification, regression
from example_edges import EXAMPLES, bare
from test_audit_json import with_own_sections

from surefoot import ParameterError
from surefoot.report.fail_rules import read_rules
from surefoot.report.sections import ANSWERED, SECTIONS
from surefoot.report.sections.main_numbers import main_numbers, names_of
from surefoot.report.statistics import Estimate


def broken(audit, *rules):
    return [each.rule for each in audit.check_rules(rules) if each.is_broken]


@pytest.mark.parametrize(
    ("rule", "is_broken"),
    [
        ("rmse>54.2", True),
        ("rmse > 54.3", False),
        ("rmse>=54.3", True),
        ("rmse.high>60", True),
        ("rmse.low<48.2", True),
        ("rmse.value<54.4", True),
        ("rmse<5e1", False),
        ("coverage<0.85", False),
        ("coverage>=85%", True),
        ("coverage_50.low<.4", True),
        ("accuracy.models.1.loss.value<54.4", True),
        ("accuracy.models.1.loss<54.4", True),
        ("subject.n_rows<=442", True),
        ("shift.auc.high>1", False),
        ("seconds>147", True),
    ],
)
def test_numbers_are_compared_with_their_limits(rule, is_broken):
    assert bool(broken(regression(), rule)) == is_broken


@pytest.mark.parametrize(
    "rule", ["auc<0.8", "error_rate>1", "accuracy.models.9.loss>0", "shift.weighted.rise>9", "metric<0"]
)
def test_a_number_that_was_not_measured_breaks_its_rule(rule):
    (result,) = regression().check_rules(rule)
    assert result.is_broken
    assert result.reason.endswith("is not measured")


def test_open_ends_and_nan_break_their_rules():
    plain = regression()
    model = replace(plain.accuracy.models[1], loss=Estimate(54.3, -inf, inf))
    audit = plain.but(accuracy=replace(plain.accuracy, models=(plain.accuracy.models[0], model), gain=around(nan, 1)))
    assert broken(audit, "rmse>60", "rmse.high>1000", "rmse.low>1000", "gain<-5") == [
        "rmse.high>1000",
        "rmse.low>1000",
        "gain<-5",
    ]
    assert broken(bare(), "coverage<0", "rmse>1e9") == ["coverage<0", "rmse>1e9"]


def test_answers_and_numbers_in_one_rule_and_in_several():
    audit = classification()
    assert broken(audit, "shift,accuracy, error_rate>=0.1", "auc<.8") == ["shift", "error_rate>=0.1", "auc<.8"]
    assert broken(audit, "any") == ["any"]
    assert len(audit.check_rules("any")) == len(ANSWERED)
    assert broken(audit, "accuracy=partly", "accuracy") == ["accuracy=partly"]
    assert broken(bare(), "any=unknown", "any=partly") == ["any=unknown"] * 4
    assert audit.check_rules(["", " , "]) == ()


def test_the_reason_has_the_value_and_its_interval():
    reasons = [each.reason for each in regression().check_rules("rmse>50, shift=unknown")]
    assert reasons == ["rmse>50: rmse is 54.3 (95% interval 48.1 to 60.5)", "shift is 'unknown'"]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("luck", r"'luck' is not a rule: write one of accuracy, .* Numbers are rmse, error_rate"),
        ("shift=never", "is not a rule"),
        ("rmse=60", "is not a rule"),
        ("rmse>", "is not a rule"),
        ("rmse>sixty", "is not a rule"),
        ("rmse>nan", "is not a rule"),
        ("rmsee>60", "unknown name 'rmsee': write one of rmse, error_rate, .*coverage"),
        ("rmse.width>60", "unknown name 'rmse.width'"),
        ("accuracy.models>0", "unknown name"),
        ("accuracy.models.best.loss>0", "unknown name"),
        ("accuracy.audited>0", "unknown name"),
        ("accuracy.is_better<1", "unknown name"),
        ("own.rate>0", "unknown name"),
        ("check_rules>0", "unknown name"),
    ],
)
def test_rules_that_cannot_be_checked_are_refused(rule, message):
    with pytest.raises(ParameterError, match=message) as caught:
        regression().check_rules(rule)
    assert caught.value.argument == "fail_on"


def test_own_sections_have_rules():
    audit = with_own_sections()
    assert broken(audit, "own.rate>0.2", "own.rate>0.3", "own.limit<0", "own.nothing>0", "more.1>=2") == [
        "own.rate>0.2",
        "own.limit<0",
        "own.nothing>0",
        "more.1>=2",
    ]
    assert broken(audit, "own=unknown") == []


class Published:
    """A section that publishes a name with a dot."""

    name, question = "parts", "Are all parts as good?"
    main_numbers = {"worst_part.error": lambda findings: around(findings["worst"], 0.1)}  # noqa: RUF012


def test_a_section_publishes_its_own_names():
    plain = classification()
    audit = plain.but(own_findings={"parts": {"worst": 0.4}}, sections=(*plain.sections, Published()))
    assert broken(audit, "worst_part.error>0.3", "worst_part.error.low>0.35") == ["worst_part.error>0.3"]
    assert main_numbers(audit)["worst_part.error"].label == "worst part.error"


def test_every_name_belongs_to_one_section_and_can_be_read_from_every_audit():
    assert len(names_of(SECTIONS)) == sum(len(getattr(section, "main_numbers", {})) for section in SECTIONS)
    for make in EXAMPLES.values():
        assert set(main_numbers(make())) == set(names_of(SECTIONS))
    measured = {name for make in EXAMPLES.values() for name, each in main_numbers(make()).items() if each.estimate}
    assert {"rmse", "error_rate", "auc", "coverage", "calibration_gap", "surviving", "deployment_loss"} <= measured
    assert read_rules(f"{name}>1" for name in names_of(SECTIONS))
