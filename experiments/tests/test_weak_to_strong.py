"""A run on tiny tables: its outputs, and that it continues where it stopped."""

from pathlib import Path

import pandas as pd
import pytest
from run_checks import interrupting_callback, without_seconds

from surefoot import ParameterError
from surefoot_experiments.skeleton.run import default_folder
from surefoot_experiments.weak_to_strong import experiment as weak_to_strong

pytestmark = pytest.mark.usefixtures("tiny_settings")


def run(
    tables: Path, out: Path, stop_before: int | None = None, n_seeds: int = 2, report: bool = False, **options: float
) -> Path:
    """Run the experiment; ``stop_before`` simulates Ctrl-C after that many trials.

    Drawing takes longer than all the training: it is left out where no ``report`` is wanted.
    """
    with pytest.MonkeyPatch.context() as patch:
        if not report:
            patch.setattr(weak_to_strong, "write_report", lambda *_: None)
        callback = interrupting_callback(stop_before)
        weak_to_strong.run(data=tables, out=out, n_seeds=n_seeds, callback=callback, **options)  # type: ignore[arg-type]
    return out / "results.csv"


def test_a_stopped_run_continues_to_the_same_results(tiny_tables: Path, tmp_path: Path) -> None:
    whole = without_seconds(run(tiny_tables, tmp_path / "whole"))
    # per seed: AdaBoost, three of Majority, three of Bagged, and Larsen-Ritzert: three on large tables, one on small
    assert len(whole) == 2 * (2 * 10 + 2 * 8)
    for stop_before in (4, 9, 20):
        with pytest.raises(KeyboardInterrupt):
            run(tiny_tables, tmp_path / "stopped", stop_before)
    path = tmp_path / "stopped" / "results.csv"
    assert 0 < len(without_seconds(path)) < len(whole)
    path.write_bytes(path.read_bytes()[:-5])
    run(tiny_tables, tmp_path / "stopped")
    pd.testing.assert_frame_equal(without_seconds(path), whole)


def test_an_incomplete_training_is_completed(tiny_tables: Path, tmp_path: Path) -> None:
    path = run(tiny_tables, tmp_path / "out", n_seeds=1)
    whole = without_seconds(path)
    lines = path.read_text().splitlines(keepends=True)
    assert "Bagged AdaBoost,3," in lines[5]
    assert "Bagged AdaBoost,5," in lines[6]
    path.write_text("".join(lines[:6]))
    run(tiny_tables, tmp_path / "out", n_seeds=1)
    pd.testing.assert_frame_equal(without_seconds(path), whole)


def test_a_finished_run_trains_nothing_again(
    tiny_tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = run(tiny_tables, tmp_path / "out")
    before = path.read_bytes()
    monkeypatch.setattr(weak_to_strong, "run_trial", lambda *_: pytest.fail("trained again"))
    run(tiny_tables, tmp_path / "out")
    run(tiny_tables, tmp_path / "out", n_seeds=1)
    assert path.read_bytes() == before


def test_the_outputs_of_a_run(tiny_tables: Path, tmp_path: Path) -> None:
    path = run(tiny_tables, tmp_path / "out", n_seeds=3, report=True)
    assert sorted(file.name for file in path.parent.iterdir()) == [
        "adversarial-grid.csv",
        "figure-1.png",
        "figure-2.png",
        "results.csv",
        "settings.json",
        "summary.md",
    ]
    for name in ("figure-1.png", "figure-2.png"):
        assert (path.parent / name).read_bytes().startswith(b"\x89PNG")
    text = (path.parent / "summary.md").read_text(encoding="utf-8")
    assert "Higgs is PARTIAL: higgs_56k.parquet has 60 of the 300,000 rows." in text
    assert "MiniBooNE is not available" in text
    assert "are our choice" in text
    assert "QUICK" not in text
    assert "| gamma | 20 hypotheses | 40 hypotheses |" in text
    assert "of 2 pairs of parameters: 0 ahead, 0 behind, 2 neither" in text  # three seeds are too few
    grid = pd.read_csv(path.parent / "adversarial-grid.csv")
    assert len(grid) == 2 * 3 * (1 + 3)
    results = pd.read_csv(path)
    mean = results[(results.dataset == "pima") & (results.learner == "AdaBoost")].accuracy.mean()
    assert f"| AdaBoost |  | {mean:.4f} ±" in text


def test_quick_results_are_marked_and_kept_apart(tiny_tables: Path, tmp_path: Path) -> None:
    run(tiny_tables, tmp_path / "out", n_seeds=1, quick=True, report=True)
    assert "QUICK RUN" in (tmp_path / "out" / "summary.md").read_text(encoding="utf-8").splitlines()[0]
    with pytest.raises(ParameterError, match="quick was True, is False now"):
        run(tiny_tables, tmp_path / "out", n_seeds=1)
    with pytest.raises(ParameterError, match=r"gamma was 0\.05, is 0\.1 now"):
        run(tiny_tables, tmp_path / "out", n_seeds=1, quick=True, gamma=0.1)
    assert default_folder("x", quick=True) != default_folder("x", quick=False)


def test_jobs_do_not_change_results(tiny_tables: Path, tmp_path: Path) -> None:
    one = without_seconds(run(tiny_tables, tmp_path / "one", n_seeds=1, n_jobs=1))
    two = without_seconds(run(tiny_tables, tmp_path / "two", n_seeds=1, n_jobs=2))
    pd.testing.assert_frame_equal(one, two)
