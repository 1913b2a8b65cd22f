"""Tables 1, 4, 5, 6, 7 and 2 from made-up results."""

import csv

import pytest
from made_up import result

from surefoot_experiments.uncertainty import table_2
from surefoot_experiments.uncertainty.comparison_table import (
    TABLE_1,
    TABLE_4,
    TABLE_6,
    TableCell,
    as_csv,
    as_markdown,
    compare,
    count_reached,
)
from surefoot_experiments.uncertainty.scores import Scores


def cell_of(cells: list[TableCell], dataset: str, method: str, measure: str, uncertainty: str = "") -> TableCell:
    key = (dataset, method, measure, uncertainty)
    return next(cell for cell in cells if (cell.dataset.name, cell.method, cell.measure, cell.uncertainty) == key)


def test_a_table_has_our_numbers_and_the_papers() -> None:
    lines = [result("boston", k, "SGB", nll=2.40 + 0.02 * k, error=3.0) for k in range(3)]
    lines += [result("boston", k, "SGLB", nll=2.60 + 0.02 * k, error=3.2) for k in range(3)]
    lines += [result("adult", 0, "SGB", nll=0.2761, error=0.1274)]
    cells = compare(TABLE_4, Scores(lines))
    text = as_markdown(TABLE_4, cells)
    assert "Regression, NLL (lower is better):" in text
    assert "| Boston | 3 | 2.42* (2.47) | 2.62 (2.52) |  |  |  |" in text
    assert "| Adult | 1 | 12.7 (12.8) |" in text
    assert "| Adult | 1 | 0.276 (0.276) |" in text
    assert count_reached(cells) == {True: 0, False: 0, None: 6}  # three splits are too few
    written = list(csv.DictReader(as_csv(cells).splitlines()))
    assert written[0]["dataset"] == "adult"
    assert float(written[2]["ours"]) == pytest.approx(2.42)
    assert (written[2]["paper"], written[2]["splits"], written[2]["among_best"]) == ("2.47", "3", "True")


def test_uncertainties_have_a_row_each_and_a_common_best() -> None:
    lines = [
        result("wine", k, "SGB ensemble", auc_total=0.60 + k / 1000, auc_knowledge=0.74 + k / 900) for k in range(3)
    ]
    cells = compare(TABLE_1, Scores(lines))
    assert "| Wine | TU | 3 |  |  | 60 (60) |  |  |" in as_markdown(TABLE_1, cells)
    assert "| Wine | KU | 3 |  |  | 74* (74) |  |  |" in as_markdown(TABLE_1, cells)
    assert cell_of(cells, "wine", "SGB ensemble", "auc", "knowledge").is_reached is None  # three splits


@pytest.mark.parametrize(
    ("values", "reached"),
    [([2.45, 2.46, 2.44, 2.45, 2.46], True), ([2.6, 2.61, 2.6, 2.62, 2.61], False), ([2.3, 2.7, 2.4, 2.6, 2.5], None)],
)
def test_cells_are_compared_with_the_paper_over_splits(values: list[float], reached: bool | None) -> None:
    lines = [result("boston", k, "SGB", nll=value) for k, value in enumerate(values)]  # the paper prints 2.47
    verdicts = [cell.is_reached for cell in compare(TABLE_4, Scores(lines)) if cell.measure == "nll"]
    assert verdicts == [reached]


def test_partial_datasets_are_shown_but_not_counted() -> None:
    cells = compare(TABLE_4, Scores([result("churn", 0, "SGB", nll=0.6, error=0.3)]))
    assert count_reached(cells) == {True: 0, False: 0, None: 0}
    assert "| KDD-Churn† | 1 | 0.600 (0.235) |" in as_markdown(TABLE_4, cells)


def test_methods_are_compared_on_common_splits() -> None:
    lines = [result("boston", k, "SGLB", error=3.0 if k < 2 else 9.0) for k in range(20)]
    lines += [result("boston", k, "RF", error=2.9) for k in range(2)]
    cells = compare(TABLE_6, Scores(lines))
    assert cell_of(cells, "boston", "SGLB", "error").mean == 3.0
    assert "| Boston | 2 | 3.00 (3.12) | 2.90* (2.98) |  |  |" in as_markdown(TABLE_6, cells)
    assert sum(count_reached(cells).values()) == 1, "scikit-learn's forests are not ours"


def test_a_tiny_error_is_not_printed_as_zero() -> None:
    cells = compare(TABLE_4, Scores([result("naval", 0, "SGB", nll=-5.5, error=0.0008)]))
    assert "0.0008 (0.00)" in as_markdown(TABLE_4, cells)
    assert count_reached(cells) == {True: 0, False: 0, None: 2}


@pytest.mark.parametrize(
    ("dataset", "measure", "value", "threshold", "reached"),
    [
        ("boston", "nll", 2.46, 2.43 + 0.15 / 20**0.5, True),
        ("boston", "nll", 2.47, 2.43 + 0.15 / 20**0.5, False),
        ("energy", "nll", 0.70, 0.60 + 0.45 / 20**0.5, True),
        ("protein", "nll", 2.76, 2.73 + 0.07 / 5**0.5, True),
        ("protein", "nll", 2.77, 2.73 + 0.07 / 5**0.5, False),
        ("kin8nm", "error", 0.1449, 0.14, True),
        ("kin8nm", "error", 0.1451, 0.14, False),
        ("naval", "error", 0.0008, 0.0, True),
    ],
)
def test_the_threshold_of_table_2(dataset: str, measure: str, value: float, threshold: float, reached: bool) -> None:
    (row,) = table_2.threshold_rows(Scores([result(dataset, k, "SGB", **{measure: value}) for k in range(5)]))
    assert row.threshold == pytest.approx(threshold)
    assert row.verdict == ("reached" if reached else "not reached")


def test_a_threshold_is_judged_over_five_splits() -> None:
    """Around 2.43 + 0.15 / sqrt(20) = 2.464 for Boston."""
    for values, verdict in (
        ([2.3] * 4, "inconclusive"),
        ([2.3, 2.6, 2.4, 2.5, 2.3], "inconclusive"),
        ([2.30, 2.31, 2.32, 2.30, 2.31], "reached"),
        ([2.60, 2.61, 2.62, 2.60, 2.61], "not reached"),
    ):
        (row,) = table_2.threshold_rows(
            Scores([result("boston", k, "SGB", nll=value) for k, value in enumerate(values)])
        )
        assert row.verdict == verdict


def test_table_2_as_text() -> None:
    rows = table_2.threshold_rows(Scores([result("boston", k, "SGB", nll=2.4 + k, error=3.5) for k in range(2)]))
    text = table_2.as_markdown(rows)
    assert "| Boston | 2 | 2.900 ± 0.71 | 2.43 ± 0.15 | 2.47 ± 0.20 | 2.41 ± 0.25 | 2.464 | inconclusive |" in text
    lines = list(csv.DictReader(table_2.as_csv(rows).splitlines()))
    assert [(line["measure"], line["reached"]) for line in lines] == [
        ("nll", "inconclusive"),
        ("error", "inconclusive"),
    ]
    assert table_2.as_markdown([]) == "No results yet."
