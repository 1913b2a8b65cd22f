"""The numbers of the paper's tables 1, 2, 4, 5, 6 and 7, as printed."""

import csv
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

NGBOOST, CATBOOST, DEEP_ENSEMBLE = "NGBoost", "CatBoost", "Deep ensemble"


class Printed(NamedTuple):
    """A number and what follows its ±; decimals as printed."""

    value: float
    spread: float | None
    decimals: int


class Place(NamedTuple):
    """Where a number stands; ``uncertainty`` is ``"total"``, ``"knowledge"`` or empty."""

    table: int
    dataset: str
    measure: str
    uncertainty: str
    method: str


def printed(place: Place) -> Printed | None:
    """What the paper prints there, if anything."""
    return _numbers().get(place)


@lru_cache(maxsize=1)
def _numbers() -> dict[Place, Printed]:
    text = files("surefoot_experiments.uncertainty").joinpath("paper.csv").read_text(encoding="utf-8")
    found = {}
    for row in csv.DictReader(text.splitlines()):
        table, dataset, measure, uncertainty, *_ = row.values()
        for method, cell in list(row.items())[4:]:
            if cell:
                found[Place(int(table), dataset, measure, uncertainty, method)] = _parse(cell)
    return found


def _parse(cell: str) -> Printed:
    value, _, spread = cell.partition("±")
    return Printed(float(value), float(spread) if spread else None, len(value.partition(".")[2]))
