"""The settings of the weak-to-strong experiment."""

import pytest

from surefoot import ParameterError
from surefoot_experiments.weak_to_strong.experiment import WeakToStrongSettings, run


def test_the_papers_settings() -> None:
    settings = WeakToStrongSettings.make(False, 0.05, 1000)
    assert (settings.rounds, settings.members, settings.max_rows) == (300, tuple(range(3, 30, 2)), None)
    quick = WeakToStrongSettings.make(True, 0.05, 1000)
    assert quick.quick
    assert quick.rounds < 300


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gamma": 0.0}, "gamma must lie between"),
        ({"gamma": 0.5}, "gamma must lie between"),
        ({"hypotheses": 0}, "hypotheses must be 1 or more"),
        ({"n_seeds": 0}, "seeds must be 1 or more"),
        ({"n_jobs": 0}, "jobs must not be 0"),
    ],
)
def test_invalid_settings_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        run(**options)  # type: ignore[arg-type]
