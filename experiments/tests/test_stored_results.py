"""The results in docs/results can be continued and reported by the present code; this needs no data."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from surefoot import ParameterError
from surefoot_experiments.shift import experiment as shift
from surefoot_experiments.shift.protocol import ShiftSettings
from surefoot_experiments.skeleton.run import SETTINGS
from surefoot_experiments.stability import experiment as stability
from surefoot_experiments.stability.settings import StabilitySettings
from surefoot_experiments.uncertainty import experiment as uncertainty
from surefoot_experiments.uncertainty.methods import UncertaintySettings
from surefoot_experiments.weak_to_strong import experiment as weak_to_strong
from surefoot_experiments.weak_to_strong.experiment import WeakToStrongSettings

RESULTS = Path(__file__).parents[2] / "docs" / "results"
EXPERIMENTS: dict[str, tuple[Any, Any]] = {
    weak_to_strong.NAME: (weak_to_strong.open_results, WeakToStrongSettings()),
    uncertainty.NAME: (uncertainty.open_results, UncertaintySettings.make(quick=False)),
    stability.NAME: (stability.open_results, StabilitySettings.make(quick=False)),
    shift.NAME: (shift.open_results, ShiftSettings.make(quick=False)),
}
pytestmark = pytest.mark.skipif(not RESULTS.exists(), reason="docs/results is not part of this distribution")


def test_every_folder_of_results_belongs_to_an_experiment() -> None:
    assert {path.parent.name for path in RESULTS.glob(f"*/{SETTINGS}")} == set(EXPERIMENTS)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_stored_results_are_accepted(name: str, tmp_path: Path) -> None:
    """The settings must be those of a full run, and the CSV files must have the columns of the present code."""
    open_results, settings = EXPERIMENTS[name]
    folder = shutil.copytree(RESULTS / name, tmp_path / name)
    stored = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    open_results(folder, settings, stored["sources"])
    assert json.loads((folder / SETTINGS).read_text(encoding="utf-8")) == stored


def test_a_renamed_setting_is_noticed(tmp_path: Path) -> None:
    folder = shutil.copytree(RESULTS / stability.NAME, tmp_path / stability.NAME)
    text = (folder / SETTINGS).read_text(encoding="utf-8")
    (folder / SETTINGS).write_text(text.replace('"fewer_bags"', '"fewest_bags"'), encoding="utf-8")
    with pytest.raises(ParameterError, match="fewer_bags was None"):
        stability.open_results(folder, StabilitySettings(), {})
