"""The paper prints some numbers in two tables, which reveals errors in copying."""

import csv
from importlib.resources import files

import pytest

from surefoot_experiments.uncertainty.datasets import BY_NAME, CLASSIFICATION, REGRESSION
from surefoot_experiments.uncertainty.methods import BOOSTERS, SGLB, SGLB_ENSEMBLE, VIRTUAL_SGLB
from surefoot_experiments.uncertainty.paper import CATBOOST, TableKey, printed

ROWS = list(
    csv.DictReader(files("surefoot_experiments.uncertainty").joinpath("paper.csv").read_text("utf-8").splitlines())
)


def test_every_table_has_all_its_rows() -> None:
    counts = {number: sum(row["table"] == number for row in ROWS) for number in "1234567"}
    assert counts == {"1": 72, "2": 20, "3": 0, "4": 36, "5": 16, "6": 10, "7": 68}
    assert {row["dataset"] for row in ROWS} == set(BY_NAME)


@pytest.mark.parametrize("name", BY_NAME)
def test_numbers_that_are_printed_twice_agree(name: str) -> None:
    task = BY_NAME[name].task
    for measure in ("nll", "error"):
        for method in (SGLB, SGLB_ENSEMBLE):
            again = printed(TableKey(5 if task == CLASSIFICATION else 6, name, measure, "", method))
            assert again == printed(TableKey(4, name, measure, "", method)) or (task == REGRESSION and measure == "nll")
        if task == REGRESSION:
            catboost, sgb = (
                printed(TableKey(2, name, measure, "", CATBOOST)),
                printed(TableKey(4, name, measure, "", "SGB")),
            )
            assert catboost is not None
            assert sgb is not None
            assert catboost.value == sgb.value
    for measure in ("prr", "auc"):
        for uncertainty in ("total", "knowledge") if name != "naval" else ():  # table 7 leaves it out
            for method in (SGLB_ENSEMBLE, VIRTUAL_SGLB):
                places = [TableKey(number, name, measure, uncertainty, method) for number in (1, 7)]
                assert printed(places[0]) == printed(places[1]) is not None


def test_single_models_have_no_knowledge_uncertainty() -> None:
    for name in BY_NAME:
        known = [printed(TableKey(1, name, "auc", "knowledge", method)) is not None for method in BOOSTERS]
        assert known == [False, False, True, True, True]


def test_some_numbers_as_the_paper_has_them() -> None:
    assert printed(TableKey(2, "yacht", "nll", "", "NGBoost")) == (0.20, 0.26, 2)
    assert printed(TableKey(2, "year", "error", "", "NGBoost")) == (8.94, None, 2)
    assert printed(TableKey(4, "amazon", "nll", "", "SGB ensemble")) == (0.140, None, 3)
    assert printed(TableKey(4, "naval", "nll", "", "SGLB ensemble")) == (-5.65, None, 2)
    assert printed(TableKey(7, "upselling", "prr", "total", "vRF")) == (66, None, 0)
    assert printed(TableKey(7, "boston", "prr", "total", "vRF")) is None
