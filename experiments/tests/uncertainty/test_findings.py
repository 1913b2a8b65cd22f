"""The paper's findings on made-up results."""

import pytest
from made_up import result

from surefoot_experiments.uncertainty.findings import PerDatasetFinding, judge_tables
from surefoot_experiments.uncertainty.scores import Scores
from surefoot_experiments.uncertainty.table_2 import threshold_rows

NOISE = (0.01, -0.01, 0.02, -0.02, 0.0)


def judge(*lines: object) -> dict[str, PerDatasetFinding]:
    scores = Scores(lines)  # type: ignore[arg-type]
    return {
        finding.text.split(" (")[0].split(":")[0]: finding for finding in judge_tables(scores, threshold_rows(scores))
    }


def splits(dataset: str, method: str, n_splits: int = 5, noisy: str = "", **values: float) -> list[object]:
    """The same numbers on every split, with noise in one of them."""
    return [
        result(
            dataset, k, method, **{name: value + (NOISE[k] if name == noisy else 0) for name, value in values.items()}
        )
        for k in range(n_splits)
    ]


def verdicts(finding: PerDatasetFinding) -> dict[str, bool | None]:
    return {name: result.holds for name, result in finding.results.items()}


def test_a_finding_holds_fails_or_is_inconclusive_on_each_dataset() -> None:
    numbers = {"prr_total": 0.4, "auc_total": 0.5, "auc_knowledge": 0.9}
    findings = judge(
        *splits("wine", "SGB ensemble", noisy="prr_knowledge", prr_knowledge=0.3, **numbers),
        *splits("yacht", "SGB ensemble", noisy="prr_knowledge", prr_knowledge=0.5, **numbers),
        *splits("boston", "SGB ensemble", noisy="prr_knowledge", prr_knowledge=0.398, **numbers),
        *splits("adult", "SGB ensemble", 1, prr_knowledge=0.1, **numbers),
    )
    errors = findings["Total uncertainty detects errors better than knowledge uncertainty does"]
    assert verdicts(errors) == {
        "Wine (SGB ensemble)": True,
        "Yacht (SGB ensemble)": False,
        "Boston (SGB ensemble)": None,
        "Adult (SGB ensemble)": None,
    }
    assert "holds in 1 (Wine (SGB ensemble) +0.10 (+0.08 to +0.12))" in errors.markdown
    assert "does not hold in 1 (Yacht (SGB ensemble) -0.10 (-0.12 to -0.08))" in errors.markdown
    assert "inconclusive in 2 (Boston (SGB ensemble) +0.00 (-0.02 to +0.02); fewer than 5 splits" in errors.markdown
    assert errors.markdown.endswith("one ensemble each: Adult (SGB ensemble) +0.30).")


@pytest.mark.parametrize(("virtual", "holds"), [(0.71, True), (0.60, False), (0.725, None)])
def test_close_means_within_three_points(virtual: float, holds: bool | None) -> None:
    findings = judge(
        *splits("wine", "vRF", noisy="auc_knowledge", auc_knowledge=virtual),
        *splits("wine", "RF ensemble", auc_knowledge=0.7),
    )
    finding = findings["The virtual ensemble of a forest detects out-of-domain rows about as well as a true ensemble"]
    assert verdicts(finding) == {"Wine": holds}


def test_lower_likelihoods_are_better() -> None:
    findings = judge(*splits("wine", "SGB", nll=0.9), *splits("wine", "SGB ensemble", nll=0.8))
    assert verdicts(findings["Ensembles have a better likelihood than single models."]) == {"Wine (SGB)": True}


def test_claims_about_classifiers_ignore_regressors() -> None:
    findings = judge(
        result("wine", 0, "vSGLB", auc_knowledge=0.9),
        result("wine", 0, "SGLB", auc_total=0.5),
        result("adult", 0, "vSGLB", auc_knowledge=0.9),
        result("adult", 0, "SGLB", auc_total=0.5),
    )
    text = "On classification tasks the virtual ensemble still detects out-of-domain rows better than a single model."
    assert verdicts(findings[text]) == {"Adult": None}  # one ensemble is not enough


def test_without_results_nothing_is_claimed() -> None:
    assert all(finding.markdown.endswith("No results yet.") for finding in judge().values())
