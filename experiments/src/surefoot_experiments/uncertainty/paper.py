"""The numbers of the paper's tables 1, 2, 4, 5, 6 and 7, as printed."""

import csv
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

NGBOOST, CATBOOST, DEEP_ENSEMBLE = "NGBoost", "CatBoost", "Deep ensemble"


class PrintedNumber(NamedTuple):
    """A number, the number after ±, and the printed decimals."""

    value: float
    spread: float | None
    decimals: int


class TableKey(NamedTuple):
    """Identifies a number in a table; ``uncertainty`` is ``"total"``, ``"knowledge"`` or empty."""

    table: int
    dataset: str
    measure: str
    uncertainty: str
    method: str


def printed(key: TableKey) -> PrintedNumber | None:
    """The number that the paper prints, if any."""
    return _numbers().get(key)


@lru_cache(maxsize=1)
def _numbers() -> dict[TableKey, PrintedNumber]:
    text = files("surefoot_experiments.uncertainty").joinpath("paper.csv").read_text(encoding="utf-8")
    numbers = {}
    for row in csv.DictReader(text.splitlines()):
        table, dataset, measure, uncertainty, *_ = row.values()
        for method, cell in list(row.items())[4:]:
            if cell:
                numbers[TableKey(int(table), dataset, measure, uncertainty, method)] = _parse(cell)
    return numbers


def _parse(cell: str) -> PrintedNumber:
    value, _, spread = cell.partition("±")
    return PrintedNumber(float(value), float(spread) if spread else None, len(value.partition(".")[2]))
