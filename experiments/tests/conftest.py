"""A folder of tiny tables, and settings for a run of a second."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from surefoot_experiments.skeleton import report
from surefoot_experiments.weak_to_strong import adversarial_grid
from surefoot_experiments.weak_to_strong.experiment import WeakToStrongSettings

os.environ.setdefault("MPLBACKEND", "Agg")
sys.path.insert(0, str(Path(__file__).parent))
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a background job of a script
    signal.signal(signal.SIGINT, signal.default_int_handler)


def write_tiny_tables(folder: Path) -> Path:
    """Parts of the three required tables, as Parquet files of 60 rows and three columns."""
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(0)
    for name, low in (("pima", 0), ("higgs_56k", 0), ("covertype_177k", 1)):
        X = rng.normal(size=(60, 3))
        target = (X[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(int) + low
        pd.DataFrame(X, columns=["a", "b", "c"]).assign(target=target).to_parquet(folder / f"{name}.parquet")
    return folder


@pytest.fixture(scope="session", autouse=True)
def coarse_figures() -> Iterator[None]:
    """Pictures that nobody looks at have few dots."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "DOTS_PER_INCH", 30)
        yield


@pytest.fixture
def tiny_tables(tmp_path: Path) -> Path:
    return write_tiny_tables(tmp_path / "tables")


@pytest.fixture
def tiny_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    def make(quick: bool, gamma: float, hypotheses: int) -> WeakToStrongSettings:
        return WeakToStrongSettings(quick, 3, (3, 5, 7), 1000, gamma, 40)

    monkeypatch.setattr(WeakToStrongSettings, "make", make)
    monkeypatch.setattr(adversarial_grid, "GAMMAS", (0.1,))
    monkeypatch.setattr(adversarial_grid, "HYPOTHESES", (20, 40))
