"""A run on tiny tables: its outputs, and that it continues where it stopped."""

from pathlib import Path

import pandas as pd
import pytest
from run_checks import interrupting_callback, without_seconds

from surefoot import ParameterError
from surefoot_experiments.exceptions import DatasetMissingError
from surefoot_experiments.uncertainty import experiment, trainings

pytestmark = pytest.mark.usefixtures("tiny")


def run(
    tables: Path | None, out: Path, stop_before: int | None = None, report: bool = False, **options: object
) -> Path:
    """Run on two splits; ``stop_before`` simulates Ctrl-C after that many trainings.

    Drawing takes longer than all the training: it is left out where no ``report`` is wanted.
    """
    settings = {"n_splits": 2, "parts": ["boosters", "forests"], **options}
    with pytest.MonkeyPatch.context() as patch:
        if not report:
            patch.setattr(experiment, "write_report", lambda *_: None)
        experiment.run(data=tables, out=out, callback=interrupting_callback(stop_before), **settings)  # type: ignore[arg-type]
    return out


def test_a_stopped_run_continues_to_the_same_results(tables: Path, tmp_path: Path) -> None:
    whole = without_seconds(run(tables, tmp_path / "whole") / "results.csv")
    assert len(whole) == (1 + 2 * 2) * 8  # Internet has one split, Boston and Yacht two; eight methods each
    for stop_before in (1, 2, 5):
        with pytest.raises(KeyboardInterrupt):
            run(tables, tmp_path / "stopped", stop_before)
    path = tmp_path / "stopped" / "results.csv"
    assert 0 < len(without_seconds(path)) < len(whole)
    path.write_bytes(path.read_bytes()[:-5])
    run(tables, tmp_path / "stopped")
    pd.testing.assert_frame_equal(without_seconds(path), whole)
    tuning = [without_seconds(tmp_path / name / "tuning.csv") for name in ("whole", "stopped")]
    pd.testing.assert_frame_equal(tuning[0], tuning[1])


def test_a_finished_run_trains_and_tunes_nothing_again(
    tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = run(tables, tmp_path / "out", datasets=["yacht"]) / "results.csv"
    before = path.read_bytes()
    for name in ("tune", "train_boosters", "train_forests"):
        monkeypatch.setattr(trainings, name, lambda *_: pytest.fail("trained again"))
    run(tables, tmp_path / "out", datasets=["yacht"])
    assert path.read_bytes() == before


def test_finished_tuning_is_used(tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = run(tables, tmp_path / "out", datasets=["yacht"], n_splits=1, parts=["boosters"])
    whole = without_seconds(out / "results.csv")
    lines = (out / "results.csv").read_text().splitlines(keepends=True)
    (out / "results.csv").write_text("".join(lines[:2]))
    monkeypatch.setattr(trainings, "tune", lambda *_: pytest.fail("tuned again"))
    run(tables, out, datasets=["yacht"], n_splits=1, parts=["boosters"])
    again = without_seconds(out / "results.csv")
    pd.testing.assert_frame_equal(again, whole)


def test_the_settings_used_are_the_best_of_the_tuning(tables: Path, tmp_path: Path) -> None:
    out = run(tables, tmp_path / "out", datasets=["boston"], n_splits=1, parts=["boosters"])
    tuning, results = pd.read_csv(out / "tuning.csv"), pd.read_csv(out / "results.csv")
    for method in ("SGB", "SGLB"):
        tried = tuning[tuning.method == method]
        best = tried.loc[tried.validation_nll.idxmin(), ["depth", "rate", "trees"]]
        used = results.loc[results.method == f"{method} ensemble", ["depth", "rate", "trees"]].iloc[0]
        assert used.tolist() == best.tolist()


def test_the_outputs_of_a_run(tables: Path, tmp_path: Path) -> None:
    out = run(tables, tmp_path / "out", report=True, parts=None)
    tables_written = [f"table-{k}.{kind}" for k in (1, 2, 4, 5, 6, 7) for kind in ("csv", "png")]
    figures = [f"figure-{k}.png" for k in (2, 3, 4)]
    others = ["heart.csv", "results.csv", "settings.json", "spiral.csv", "summary.md", "tuning.csv"]
    assert sorted(file.name for file in out.iterdir()) == sorted([*tables_written, *figures, *others])
    assert all((out / name).read_bytes().startswith(b"\x89PNG") for name in figures)
    assert {path.name for path in experiment.Outputs(out).files} == {
        *tables_written,
        *figures,
        *others,
    } - {"settings.json"}
    text = (out / "summary.md").read_text(encoding="utf-8")
    for words in (
        "No results for Adult (adult.parquet)",
        "Year MSD (YearPredictionMSD.txt)",
        "CT slices (slice_localization_data.csv) are not available",
        "Boston 2 of 20",
        "knowledge uncertainty separates the heart perfectly:",
        "The mask and the noise of the heart, and the spirals, are ours",
    ):
        assert words in text
    assert "QUICK" not in text
    results = pd.read_csv(out / "results.csv")
    mean = results[(results.dataset == "yacht") & (results.method == "SGB")].nll.mean()
    assert f"| Yacht | 2 | {mean:.3f} ±" in text


def test_datasets_and_splits_may_be_added(tables: Path, tmp_path: Path) -> None:
    out = run(tables, tmp_path / "out", datasets=["yacht"], n_splits=1, parts=["boosters"])
    run(tables, out, datasets=["boston"], n_splits=1, parts=["boosters"])
    run(tables, out, report=True, datasets=["yacht"])
    results = pd.read_csv(out / "results.csv")
    assert results.groupby("dataset").split.nunique().to_dict() == {"boston": 1, "yacht": 2}
    text = (out / "summary.md").read_text(encoding="utf-8")
    assert "Boston 1 of 20, Yacht 2 of 20" in text


def test_figures_alone_need_no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUREFOOT_DATA", raising=False)
    out = run(None, tmp_path / "out", report=True, parts=["figures"])
    assert (out / "figure-4.png").exists()
    before = (out / "heart.csv").read_bytes()
    run(None, out, parts=["figures"])
    assert (out / "heart.csv").read_bytes() == before
    with pytest.raises(DatasetMissingError, match="SUREFOOT_DATA"):
        run(None, out)


def test_quick_results_are_marked_and_kept_apart(tables: Path, tmp_path: Path) -> None:
    options = {"datasets": ["yacht"], "n_splits": 1, "parts": ["boosters"]}
    out = run(tables, tmp_path / "out", report=True, quick=True, **options)
    assert "QUICK RUN" in (out / "summary.md").read_text(encoding="utf-8").splitlines()[0]
    with pytest.raises(ParameterError, match="quick was True, is False now"):
        run(tables, out, **options)
    (tables / "HIGGS.csv").write_text("")
    with pytest.raises(ParameterError, match=r"Higgs was read from 'higgs_56k\.parquet', now from 'HIGGS\.csv'"):
        run(tables, out, quick=True, **options)


def test_jobs_do_not_change_results(tables: Path, tmp_path: Path) -> None:
    one, two = (
        without_seconds(run(tables, tmp_path / str(n_jobs), datasets=["internet"], n_jobs=n_jobs) / "results.csv")
        for n_jobs in (1, 2)
    )
    pd.testing.assert_frame_equal(one, two)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parts": ["tables"]}, "no part 'tables'; the parts are figures, boosters, forests"),
        ({"parts": []}, "parts is empty; the parts are figures"),
        ({"n_splits": 0}, "splits must be 1 or more"),
        ({"n_jobs": 0}, "jobs must not be 0"),
        ({"datasets": ["x"]}, "no dataset 'x'"),
    ],
)
def test_invalid_options_are_refused(tables: Path, tmp_path: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        run(tables, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()
