"""The paper's sentences against made-up results."""

import pytest
from made_up import result

from surefoot.reproduce.uncertainty.findings import Finding, judge
from surefoot.reproduce.uncertainty.scores import Scores
from surefoot.reproduce.uncertainty.table_2 import bar_rows


def found(*lines: object) -> dict[str, Finding]:
    scores = Scores(lines)  # type: ignore[arg-type]
    return {finding.text.split(" (")[0].split(":")[0]: finding for finding in judge(scores, bar_rows(scores))}


def test_where_a_sentence_holds_and_where_not() -> None:
    findings = found(
        result("wine", 0, "SGB ensemble", prr_total=0.4, prr_knowledge=0.3, auc_total=0.5, auc_knowledge=0.9),
        result("yacht", 0, "SGB ensemble", prr_total=0.4, prr_knowledge=0.5, auc_total=0.5, auc_knowledge=0.9),
    )
    errors = findings["Total uncertainty finds errors better than knowledge uncertainty does"]
    assert errors.places == {"Wine (SGB ensemble)": True, "Yacht (SGB ensemble)": False}
    assert errors.words.endswith("Holds in 1 of 2. Not: Yacht (SGB ensemble).")
    rows = findings["Knowledge uncertainty finds out-of-domain rows better than total uncertainty does"]
    assert rows.words.endswith("Holds in 2 of 2.")


@pytest.mark.parametrize(("virtual", "holds"), [(0.72, True), (0.60, False)])
def test_close_means_within_three_points(virtual: float, holds: bool) -> None:
    findings = found(
        result("wine", 0, "vRF", auc_knowledge=virtual), result("wine", 0, "RF ensemble", auc_knowledge=0.7)
    )
    finding = findings["A forest's virtual ensemble finds them about as well as a true ensemble"]
    assert finding.places == {"Wine": holds}


def test_lower_likelihoods_are_better() -> None:
    findings = found(result("wine", 0, "SGB", nll=0.9), result("wine", 0, "SGB ensemble", nll=0.8))
    assert findings["Ensembles have a better likelihood than single models."].places == {"Wine (SGB)": True}


def test_sentences_about_classifiers_leave_regressors_out() -> None:
    findings = found(
        result("wine", 0, "vSGLB", auc_knowledge=0.9),
        result("wine", 0, "SGLB", auc_total=0.5),
        result("adult", 0, "vSGLB", auc_knowledge=0.9),
        result("adult", 0, "SGLB", auc_total=0.5),
    )
    text = "On classification tasks the virtual ensemble still finds them better than a single model."
    assert findings[text].places == {"Adult": True}


def test_without_results_nothing_is_claimed() -> None:
    assert all(finding.words.endswith("No results yet.") for finding in found().values())
