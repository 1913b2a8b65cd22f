"""The whole run on tiny tables: its files, and that it continues where it stopped."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from run_checks import interrupting_callback, without_seconds

from surefoot import ParameterError
from surefoot_experiments.exceptions import DatasetMissingError
from surefoot_experiments.shift import bounds, experiment, methods, study
from surefoot_experiments.shift.protocol import ShiftSettings

pytestmark = pytest.mark.usefixtures("tiny_shift", "stand_in")
N_METHODS = 8


def run(
    tables: Path | None, out: Path, stop_before: int | None = None, report: bool = False, **options: object
) -> Path:
    """Run on two splits; with ``stop_before``, as if Ctrl-C came when that many units are done."""
    with pytest.MonkeyPatch.context() as patch:
        if not report:
            patch.setattr(experiment, "write_report", lambda *_: None)
        experiment.run(data=tables, out=out, callback=interrupting_callback(stop_before), **{"n_splits": 2, **options})  # type: ignore[arg-type]
    return out


def tables_of(folder: Path) -> dict[str, pd.DataFrame]:
    return {path.name: without_seconds(path) for path in sorted(folder.glob("*.csv"))}


def same(first: dict[str, pd.DataFrame], second: dict[str, pd.DataFrame]) -> bool:
    return first.keys() == second.keys() and all(first[name].equals(second[name]) for name in first)


def test_a_stopped_run_continues_to_the_same_results(shift_tables: Path, tmp_path: Path) -> None:
    whole = tables_of(run(shift_tables, tmp_path / "whole"))
    assert len(whole["results.csv"]) == 2 * 2 * 3 * 2 * N_METHODS  # datasets, splits, selections, budgets
    assert len(whole["bounds.csv"]) == 4 * 2 * 3
    for stop_before in (1, 14, 5, 2):
        with pytest.raises(KeyboardInterrupt):
            run(shift_tables, tmp_path / "stopped", stop_before)
    path = tmp_path / "stopped" / "results.csv"
    path.write_bytes(path.read_bytes()[:-5])  # as if the machine had stopped in a line
    assert not same(tables_of(tmp_path / "stopped"), whole)
    assert same(tables_of(run(shift_tables, tmp_path / "stopped")), whole)


def test_a_finished_run_fits_nothing_again(shift_tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = run(shift_tables, tmp_path / "out")
    before = {path.name: path.read_bytes() for path in out.glob("*.csv")}
    for module, name in ((bounds, "measure"), (study, "fit_method")):
        monkeypatch.setattr(module, name, lambda *_, **__: pytest.fail("run again"))
    run(shift_tables, out)
    assert {path.name: path.read_bytes() for path in out.glob("*.csv")} == before


def test_only_missing_lines_are_fitted(shift_tables: Path, tmp_path: Path, stand_in: type) -> None:
    options = {"parts": ["study"], "datasets": ["yacht"], "n_splits": 1}
    path = run(shift_tables, tmp_path / "out", **options) / "results.csv"
    before = without_seconds(path)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if ",product," not in line))
    stand_in.fits.clear()  # type: ignore[attr-defined]
    run(shift_tables, tmp_path / "out", **options)
    assert {fit["model"].kind for fit in stand_in.fits} == {"product"}  # type: ignore[attr-defined]
    columns = ["selection", "budget", "method"]
    first, second = (frame.sort_values(columns, ignore_index=True) for frame in (before, without_seconds(path)))
    assert first.equals(second)


def test_the_stored_results_belong_to_the_protocol_and_the_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run of the docs could be continued with this version."""
    monkeypatch.undo()  # the booster itself
    stored = Path(__file__).parents[3] / "docs" / "results" / "shift" / "settings.json"
    (tmp_path / "settings.json").write_bytes(stored.read_bytes())
    experiment.open_results(tmp_path, ShiftSettings(), {})
    assert json.loads((tmp_path / "settings.json").read_text()) == json.loads(stored.read_text())


def test_jobs_do_not_change_results(shift_tables: Path, tmp_path: Path) -> None:
    one, two = (tables_of(run(shift_tables, tmp_path / str(jobs), n_jobs=jobs)) for jobs in (1, 2))
    assert same(one, two)


def test_every_method_gets_the_rows_it_should(shift_tables: Path, tmp_path: Path, stand_in: type) -> None:
    run(shift_tables, tmp_path / "out", parts=["study"], datasets=["yacht"], n_splits=1)
    results = pd.read_csv(tmp_path / "out" / "results.csv")
    assert list(results.method.unique()) == ["plain", "weighted", "mean", "joint", "product", "pure mean", "pure joint",
                                             "unbiased rows"]  # fmt: skip
    plain = [fit for fit in stand_in.fits if fit["model"].blend == 0.0]  # type: ignore[attr-defined]
    assert all(fit["target"] is None for fit in plain)
    assert sum(fit["weight"] is not None for fit in plain) == 6
    others = [fit for fit in stand_in.fits if fit["model"].blend != 0.0]  # type: ignore[attr-defined]
    assert all(len(fit["target"]) == 15 and fit["weight"] is None for fit in others)
    assert {(fit["model"].n_estimators, fit["model"].early_stopping) for fit in others} == {(4, False), (2, False)}
    weighted = results[results.method == "weighted"]
    assert (weighted.effective_rows < weighted.train_rows).all()
    assert (results[results.method != "weighted"].effective_rows == 37).all()
    without = results.method.isin(["plain", "weighted", "unbiased rows"]) | results.refusal.notna()
    assert results.coverage.isna().equals(without)


def test_errors_are_those_of_the_test_rows(shift_tables: Path, tmp_path: Path, stand_in: type) -> None:
    run(shift_tables, tmp_path / "out", parts=["study"], datasets=["yacht"], n_splits=1)
    line = pd.read_csv(tmp_path / "out" / "results.csv").query("method == 'mean' and budget == 'small'").iloc[0]
    fit = next(fit for fit in stand_in.fits if fit["model"].n_estimators == 2 and fit["model"].blend == 0.3)  # type: ignore[attr-defined]
    frame, rows = pd.read_parquet(shift_tables / "yacht.parquet"), np.load(shift_tables / "yacht_splits.npz")["test_0"]
    test = frame.iloc[rows]
    misses = fit["model"].predict(test.drop(columns="target").to_numpy()) - test.target
    assert line.rmse == pytest.approx(np.sqrt((misses**2).mean()))
    assert line.source_rmse != line.rmse


def test_refusals_are_kept_and_reported(shift_tables: Path, tmp_path: Path) -> None:
    out = run(shift_tables, tmp_path / "out", parts=["study"], report=True)
    results = pd.read_csv(out / "results.csv")
    refused = results[results.refusal.notna()]
    assert 0 < len(refused) < 24
    assert refused.rmse.isna().all()
    assert set(refused.method) == {"pure joint"}
    text = (out / "summary.md").read_text(encoding="utf-8")
    assert f"which have no ratio: pure joint {len(refused)}. First: X_target dominates no row." in text


def test_a_default_of_its_own_gets_lines_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert methods.default_method() == "mean"
    assert "default" not in methods.methods()
    made = methods.make_model
    monkeypatch.setattr(
        methods, "make_model", lambda name, *given: made(name, *given).set_params(
            **({"orientation": "both"} if name == "default" else {})
        ),
    )  # fmt: skip
    assert methods.default_method() == "default"
    assert "default" in methods.methods()


def test_the_files_of_a_run(shift_tables: Path, tmp_path: Path) -> None:
    out = run(shift_tables, tmp_path / "out", report=True)
    pictures = {"bounds.png", "ratios.png"}
    tables = {"bounds.csv", "results.csv", "ratios.csv", "averages.csv"}
    assert {path.name for path in out.iterdir()} == {*pictures, *tables, "settings.json", "summary.md"}
    assert {path.name for path in experiment.Outputs(out).files} == {*pictures, *tables, "summary.md"}
    text = (out / "summary.md").read_text(encoding="utf-8")
    for words in (
        "The study is ours.",
        "The default (kind 'mean') does no harm",
        "No results for Concrete, Energy",
        "Boston 2 of 20, Yacht 2 of 20",
        "Theorem 3.2: at most 5% of draws",
    ):
        assert words in text
    assert "QUICK" not in text
    results = pd.read_csv(out / "results.csv")
    here = results[(results.dataset == "yacht") & (results.selection == "two features") & (results.budget == "small")]
    errors = here.pivot(index="split", columns="method", values="rmse")
    by_hand = float(np.exp(np.log(errors["mean"] / errors["plain"]).mean()))
    ratios = pd.read_csv(out / "ratios.csv").set_index(["dataset", "selection", "budget", "method"])
    assert ratios.loc[("yacht", "two features", "small", "mean"), "ratio"] == pytest.approx(by_hand, rel=1e-5)


def test_parts_datasets_and_splits_may_be_added(shift_tables: Path, tmp_path: Path) -> None:
    out = run(None, tmp_path / "out", report=True, parts=["bounds"])
    assert "Not run, or not yet far enough: study." in (out / "summary.md").read_text(encoding="utf-8")
    first = (out / "bounds.csv").read_bytes()
    run(shift_tables, out, parts=["study"], datasets=["yacht"], n_splits=1)
    run(shift_tables, out, parts=["study"], datasets=["boston"], n_splits=1)
    run(shift_tables, out, report=True, parts=["study"], datasets=["yacht"])
    assert (out / "bounds.csv").read_bytes() == first
    results = pd.read_csv(out / "results.csv")
    assert results.groupby("dataset").split.nunique().to_dict() == {"boston": 1, "yacht": 2}
    text = (out / "summary.md").read_text(encoding="utf-8")
    assert "Boston 1 of 20, Yacht 2 of 20" in text
    assert "Not run" not in text


def test_lines_without_a_baseline_are_not_reported(shift_tables: Path, tmp_path: Path) -> None:
    out = run(shift_tables, tmp_path / "out", parts=["study"], datasets=["yacht"], n_splits=1)
    lines = (out / "results.csv").read_text().splitlines(keepends=True)
    (out / "results.csv").write_text("".join(lines[:2]))  # plain boosting alone
    run(None, out, parts=["bounds"], report=True)
    assert "Not run, or not yet far enough: study." in (out / "summary.md").read_text(encoding="utf-8")


def test_results_belong_to_settings_defaults_and_data(
    shift_tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stand_in: type
) -> None:
    options = {"parts": ["study"], "datasets": ["yacht"], "n_splits": 1}
    out = run(shift_tables, tmp_path / "out", **options)
    settings = json.loads((out / "settings.json").read_text())
    assert settings["booster"]["blend"] == 0.3
    assert settings["max_training_rows"] == 300
    assert settings["max_target_rows"] == 1000
    with pytest.raises(ParameterError, match="quick was False, is True now"):
        run(shift_tables, out, quick=True, **options)
    other = tmp_path / "other"
    other.mkdir()
    for path in shift_tables.iterdir():
        (other / path.name).write_bytes(path.read_bytes())
    pd.read_parquet(other / "yacht.parquet").assign(a=1.0).to_parquet(other / "yacht.parquet")
    with pytest.raises(ParameterError, match=r"yacht\.parquet was read from"):
        run(other, out, **options)
    monkeypatch.setattr(stand_in.__init__, "__kwdefaults__", {**stand_in.__init__.__kwdefaults__, "blend": 0.2})  # type: ignore[misc]
    with pytest.raises(ParameterError, match="booster"):
        run(shift_tables, out, **options)
    (out / "settings.json").unlink()
    (out / "results.csv").rename(out / "bounds.csv")
    with pytest.raises(ParameterError, match=r"bounds\.csv exists without settings\.json"):
        run(shift_tables, out, **options)


def test_quick_results_are_marked(tmp_path: Path) -> None:
    out = run(None, tmp_path / "out", report=True, quick=True, parts=["bounds"])
    assert "QUICK RUN" in (out / "summary.md").read_text(encoding="utf-8").splitlines()[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parts": ["tables"]}, "no part 'tables'; the parts are bounds, study"),
        ({"parts": []}, "parts is empty; the parts are bounds"),
        ({"n_splits": 0}, "splits must be 1 or more"),
        ({"n_jobs": 0}, "jobs must not be 0"),
        ({"datasets": ["adult"]}, "no dataset 'adult'; there is boston"),
        ({"datasets": []}, "datasets names none"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    shift_tables: Path, tmp_path: Path, options: dict[str, object], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        run(shift_tables, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_missing_data_are_named(shift_tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUREFOOT_DATA", raising=False)
    with pytest.raises(DatasetMissingError, match=r"lacks wine_red\.parquet, wine_red_splits\.npz"):
        run(shift_tables, tmp_path / "out", datasets=["wine", "yacht"])
    with pytest.raises(DatasetMissingError, match="SUREFOOT_DATA"):
        run(None, tmp_path / "out")
    assert not (tmp_path / "out").exists()
