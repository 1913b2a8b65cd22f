"""A folder of tiny tables in the format of the real ones, and settings for a run of a few seconds."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from surefoot_experiments.uncertainty import spiral
from surefoot_experiments.uncertainty.methods import UncertaintySettings
from surefoot_experiments.uncertainty.out_of_domain import read_standardized
from surefoot_experiments.uncertainty.problem import Problem

TINY = UncertaintySettings(False, 12, (2, 3), (0.1, 0.3), members=3, forest_trees=6, forest_depth=3, rows_per_cell=3)


def numbers(rng: np.random.Generator, n_rows: int, n_columns: int) -> pd.DataFrame:
    return pd.DataFrame(rng.normal(size=(n_rows, n_columns)), columns=[f"v{j}" for j in range(n_columns)])


def write_regression(folder: Path, name: str, n_splits: int) -> None:
    rng = np.random.default_rng(len(name))
    frame = numbers(rng, 60, 3)
    frame["target"] = 5 * frame["v0"] + frame["v1"] * rng.normal(size=60)
    frame.to_parquet(folder / f"{name}.parquet")
    splits = {}
    for k in range(n_splits):
        order = np.random.default_rng(k).permutation(60)
        splits |= {f"train_{k}": order[15:].astype(np.uint16), f"test_{k}": order[:15].astype(np.uint16)}
    np.savez(folder / f"{name}_splits.npz", **splits)


def write_classification(folder: Path) -> None:
    rng = np.random.default_rng(7)
    frame = numbers(rng, 120, 2)
    frame["colour"] = pd.Categorical(rng.choice(["red", "green", "blue"], 120))
    frame["target"] = ((frame["v0"] + (frame["colour"] == "red") + rng.normal(size=120)) > 0.3).astype(np.int8)
    frame.to_parquet(folder / "internet_usage.parquet")
    order = rng.permutation(120).astype(np.uint16)
    np.savez(folder / "internet_usage_splits.npz", train=order[40:], test=order[:40])


def write_tables(folder: Path) -> Path:
    """Boston and Yacht, Internet, and the two sources of out-of-domain rows."""
    folder.mkdir(exist_ok=True)
    for name in ("boston", "yacht"):
        write_regression(folder, name, 20)
    write_classification(folder)
    rng = np.random.default_rng(1)
    numbers(rng, 50, 5).assign(target=2000).to_parquet(folder / "year_msd_head1176.parquet")
    numbers(rng, 50, 4).assign(target=np.arange(50) % 2).to_parquet(folder / "higgs_56k.parquet")
    return folder


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    read_standardized.cache_clear()
    return write_tables(tmp_path / "tables")


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> UncertaintySettings:
    """Tiny settings, and a tiny spiral."""
    monkeypatch.setattr(
        UncertaintySettings, "make", lambda quick: UncertaintySettings(**{**TINY.__dict__, "quick": quick})
    )
    monkeypatch.setattr(spiral, "ROWS_PER_CLASS", 30)
    monkeypatch.setattr(spiral, "STEPS", 5)
    return TINY


def regression_problem(n_rows: int = 80, split: int = 0) -> Problem:
    rng = np.random.default_rng(3)
    X = numbers(rng, n_rows + 30, 3)
    y = (3 * X["v0"] + rng.normal(size=len(X))).to_numpy()
    out_of_domain = X.iloc[n_rows:] * 4, X.iloc[n_rows:] + 9
    return Problem("boston", split, True, X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:], out_of_domain)


def classification_problem(n_rows: int = 120) -> Problem:
    rng = np.random.default_rng(4)
    X = numbers(rng, n_rows + 60, 2).assign(c=pd.Categorical(rng.choice(list("abc"), n_rows + 60)))
    y = np.where(X["v0"] + rng.normal(size=len(X)) > 0, "yes", "no")
    out_of_domain = X[n_rows:].assign(v0=9.0), X[n_rows:].assign(v1=9.0)
    return Problem("internet", 0, False, X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:], out_of_domain)


@pytest.fixture
def regression() -> Problem:
    return regression_problem()


@pytest.fixture
def classification() -> Problem:
    return classification_problem()
