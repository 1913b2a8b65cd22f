"""A folder of tiny tables, a fast stand-in for the booster, and settings for a run of seconds."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from stand_in import StandIn

from surefoot_experiments.shift import methods
from surefoot_experiments.shift.protocol import Budget, ShiftSettings

TINY = ShiftSettings(
    target_sizes=(10, 20, 40), draws=6, budgets=(Budget("flexible", 4, 3, 0.3), Budget("small", 2, 2, 0.3))
)
N_ROWS = 90


def write_tables(folder: Path) -> Path:
    """Boston and Yacht: three columns that count, one that is constant, and 20 splits."""
    folder.mkdir(exist_ok=True)
    for name in ("boston", "yacht"):
        rng = np.random.default_rng(len(name))
        frame = pd.DataFrame(rng.normal(size=(N_ROWS, 3)), columns=["a", "b", "c"]).assign(same=1.0)
        frame["target"] = 5 * frame["a"] + frame["b"] ** 2 + rng.normal(size=N_ROWS)
        frame.to_parquet(folder / f"{name}.parquet")
        splits = {}
        for k in range(20):
            order = np.random.default_rng(k).permutation(N_ROWS)
            splits |= {f"train_{k}": order[15:].astype(np.uint16), f"test_{k}": order[:15].astype(np.uint16)}
        np.savez(folder / f"{name}_splits.npz", **splits)
    return folder


@pytest.fixture(scope="session")
def shift_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tables(tmp_path_factory.mktemp("shift") / "tables")


@pytest.fixture
def tiny_shift(monkeypatch: pytest.MonkeyPatch) -> ShiftSettings:
    monkeypatch.setattr(ShiftSettings, "make", lambda quick: replace(TINY, quick=quick))
    return TINY


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> type[StandIn]:
    """Something much faster in place of the booster; it notes what it was fitted with."""
    monkeypatch.setattr(methods, "VMatrixBoostingRegressor", StandIn)
    monkeypatch.setattr(StandIn, "fits", [])
    return StandIn
