"""A run on small files: its outputs, and that it continues where it stopped."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from run_checks import interrupting_callback, without_seconds

from surefoot import ParameterError
from surefoot_experiments.exceptions import DatasetMissingError
from surefoot_experiments.skeleton.judge import Finding
from surefoot_experiments.skeleton.report import Section
from surefoot_experiments.stability import dynamics, experiment, larger_sample, regression
from surefoot_experiments.stability.settings import StabilitySettings
from surefoot_experiments.stability.summary import write_summary

pytestmark = pytest.mark.usefixtures("tiny_settings_of_stability")
MINE = ("regression", "larger_sample", "dynamics")


def run(
    tables: Path | None, out: Path, stop_before: int | None = None, report: bool = False, **options: object
) -> Path:
    """Run three of the parts; ``stop_before`` simulates Ctrl-C after that many units."""
    with pytest.MonkeyPatch.context() as patch:
        if not report:
            patch.setattr(experiment, "write_report", lambda *_: None)
        experiment.run(data=tables, out=out, callback=interrupting_callback(stop_before), **{"parts": MINE, **options})  # type: ignore[arg-type]
    return out


def tables_of(folder: Path) -> dict[str, pd.DataFrame]:
    """The content of the CSV files, without times."""
    return {path.name: without_seconds(path) for path in sorted(folder.glob("*.csv"))}


def same(first: dict[str, pd.DataFrame], second: dict[str, pd.DataFrame]) -> bool:
    return first.keys() == second.keys() and all(first[name].equals(second[name]) for name in first)


@pytest.fixture(scope="module")
def finished(
    stability_tables: Path, tmp_path_factory: pytest.TempPathFactory, tiny_stability: StabilitySettings
) -> Path:
    """The folder of a finished run of the three parts, on one thread."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StabilitySettings, "make", lambda quick: tiny_stability)
        return run(stability_tables, tmp_path_factory.mktemp("finished") / "out", n_jobs=1)


@pytest.fixture
def whole_run(finished: Path, tmp_path: Path) -> Path:
    """A copy of the finished run."""
    return Path(shutil.copytree(finished, tmp_path / "out"))


@pytest.fixture(scope="module")
def finished_regression(
    stability_tables: Path, tmp_path_factory: pytest.TempPathFactory, tiny_stability: StabilitySettings
) -> Path:
    """The folder of a finished run of the first part."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StabilitySettings, "make", lambda quick: tiny_stability)
        return run(stability_tables, tmp_path_factory.mktemp("regression") / "out", parts=["regression"])


@pytest.fixture
def regression_run(finished_regression: Path, tmp_path: Path) -> Path:
    """A copy of the run of the first part."""
    return Path(shutil.copytree(finished_regression, tmp_path / "out"))


def test_a_stopped_run_continues_to_the_same_results(stability_tables: Path, finished: Path, tmp_path: Path) -> None:
    whole = tables_of(finished)
    assert len(whole["dynamics-validation.csv"]) == 36
    assert whole["regression.csv"].trial.nunique() == 3
    for stop_before in (1, 2, 20, 21):
        with pytest.raises(KeyboardInterrupt):
            run(stability_tables, tmp_path / "stopped", stop_before)
    path = tmp_path / "stopped" / "regression.csv"
    path.write_bytes(path.read_bytes()[:-5])  # as if the machine had stopped in a line
    assert not same(tables_of(tmp_path / "stopped"), whole)
    assert same(tables_of(run(stability_tables, tmp_path / "stopped")), whole)


def test_an_incomplete_trial_is_run_again(stability_tables: Path, regression_run: Path) -> None:
    out = regression_run
    whole = tables_of(out)
    lines = (out / "regression.csv").read_text().splitlines(keepends=True)
    (out / "regression.csv").write_text("".join(lines[:-70]))
    run(stability_tables, out, parts=["regression"])
    assert same(tables_of(out), whole)


def test_a_finished_run_fits_nothing_again(
    stability_tables: Path, whole_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = whole_run
    before = {path.name: path.read_bytes() for path in out.glob("*.csv")}
    for module, name in (
        (regression, "fit_trial"),
        (larger_sample, "fit_draw"),
        (dynamics, "fit_bags"),
        (dynamics, "validate"),
        (dynamics.lynx_hare, "fit_bags"),
    ):
        monkeypatch.setattr(module, name, lambda *_, **__: pytest.fail("fitted again"))
    run(stability_tables, out)
    assert {path.name: path.read_bytes() for path in out.glob("*.csv")} == before


def test_jobs_do_not_change_results(stability_tables: Path, finished: Path, tmp_path: Path) -> None:
    assert same(tables_of(finished), tables_of(run(stability_tables, tmp_path / "two", n_jobs=2)))


def test_the_outputs_of_a_run(stability_tables: Path, whole_run: Path) -> None:
    out = run(stability_tables, whole_run, report=True)
    numbers = ("2", "3", "3-replaced", "6", "7", "8", "10", "12", "13", "13-replaced")
    pictures = {f"figure-{number}.png" for number in numbers} | {"larger_sample-draws.png", "lynx_hare-models.png"}
    there = {path.name for path in out.iterdir()}
    assert pictures <= there
    assert all((out / name).read_bytes().startswith(b"\x89PNG") for name in pictures)
    tables = {name for part in MINE for name in experiment.PARTS[part].lines}
    assert there - pictures - {"figure-9.png"} == {*tables, "settings.json", "summary.md"}
    assert {path.name for path in experiment.Outputs(out).files} == there - {"settings.json"}
    text = (out / "summary.md").read_text(encoding="utf-8")
    results = pd.read_csv(out / "regression.csv")
    top = results[(results.rule == "top-k") & (results.parameter == 2) & (results.bags == 60)]
    assert f"| top-2 | {top.utility.mean():.3f} (0.18) | {top.instability.mean():.3f} |" in text
    for words in (
        "Not run, or too early for results: graph, trees.",
        "It does not say that any of them is right.",
        "Table 3 and figure 10",
        "Lynx and hare, 1900 to 1920",
        "that is no guarantee",
    ):
        assert words in text
    assert "QUICK" not in text


def test_parts_may_be_added(stability_tables: Path, tmp_path: Path) -> None:
    out = run(None, tmp_path / "out", report=True, parts=["larger_sample"])
    first = (out / "larger_sample.csv").read_bytes()
    assert "Not run, or too early for results: regression, dynamics, graph, trees." in (out / "summary.md").read_text()
    run(stability_tables, out, report=True, parts=["regression"])
    text = (out / "summary.md").read_text()
    assert "## Correlated covariates" in text
    assert "## Larger sample" in text
    assert (out / "larger_sample.csv").read_bytes() == first


def test_the_summary_lists_parts_without_data_files(
    stability_tables: Path, regression_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = regression_run
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SUREFOOT_DATA", raising=False)
    run(None, out, report=True, parts=["larger_sample"])
    assert "Not shown, because their data files are missing: regression." in (out / "summary.md").read_text()
    monkeypatch.setenv("SUREFOOT_DATA", str(stability_tables))
    run(None, out, report=True, parts=["larger_sample"])
    text = (out / "summary.md").read_text()
    assert "## Correlated covariates" in text
    assert "Not shown" not in text


def test_an_incomplete_trial_is_not_reported(stability_tables: Path, regression_run: Path) -> None:
    out = regression_run
    lines = (out / "regression.csv").read_text().splitlines(keepends=True)
    (out / "regression.csv").write_text("".join(lines[:-1]))  # the weights of that trial are all there
    run(stability_tables, out, report=True, parts=["larger_sample"])
    assert "2 trials of 30 rows" in (out / "summary.md").read_text()
    (out / "regression.csv").write_text("".join(lines[:2]))
    run(stability_tables, out, report=True, parts=["larger_sample"])
    assert "Not run, or too early for results: regression, dynamics, graph, trees." in (out / "summary.md").read_text()


def test_results_of_other_settings_are_refused(stability_tables: Path, regression_run: Path) -> None:
    out = regression_run
    with pytest.raises(ParameterError, match="quick was False, is True now"):
        run(stability_tables, out, parts=["regression"], quick=True)
    (out / "settings.json").unlink()
    with pytest.raises(ParameterError, match=r"regression\.csv exists without settings\.json"):
        run(stability_tables, out, parts=["larger_sample"])


def test_other_data_are_refused(regression_run: Path, tmp_path: Path) -> None:
    out = regression_run
    np.savez(tmp_path / "correlated_regression_trials.npz", data=np.zeros((3, 30, 9)))
    with pytest.raises(ParameterError, match=r"correlated_regression_trials\.npz was read from"):
        run(tmp_path, out, parts=["regression"])
    with pytest.raises(
        ParameterError, match=r"correlated_regression_trials\.npz was read from"
    ):  # the report would read it
        run(tmp_path, out, parts=["larger_sample"])


def test_quick_results_are_marked(stability_tables: Path, tmp_path: Path) -> None:
    out = run(stability_tables, tmp_path / "out", report=True, quick=True, parts=["larger_sample"])
    assert "QUICK RUN" in (out / "summary.md").read_text(encoding="utf-8").splitlines()[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parts": ["tables"]}, "no part 'tables'; the parts are regression, larger_sample, dynamics, graph, trees"),
        ({"parts": []}, "parts is empty; the parts are regression"),
        ({"n_jobs": 0}, "jobs must not be 0"),
    ],
)
def test_invalid_options_are_refused(tmp_path: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        run(tmp_path, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_missing_data_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUREFOOT_DATA", raising=False)
    with pytest.raises(DatasetMissingError, match=r"lacks lotka_volterra_trials\.npz, lynx_hare\.parquet.* dynamics"):
        run(tmp_path, tmp_path / "out", parts=["dynamics", "larger_sample"])
    with pytest.raises(DatasetMissingError, match=r"SUREFOOT_DATA to a folder with correlated_regression_trials\.npz"):
        run(None, tmp_path / "out", parts=["regression"])
    assert not (tmp_path / "out").exists()


def test_verdicts_as_text() -> None:
    lines = [Finding("It is so.", holds, "see.").markdown for holds in (True, False, None)]
    assert lines == [
        "**It is so.** Holds: see.",
        "**It is so.** Does not hold: see.",
        "**It is so.** Inconclusive: see.",
    ]
    section = Section("A part", "text", (Finding("It is so.", True, "see."),), ("beware",), 90.0)
    page = write_summary([section], ["Not run: trees."], StabilitySettings())
    assert page.index("## A part") < page.index("It is so.") < page.index("text") < page.index("- beware")
    assert "1.5 minutes on one thread" in page
    assert "- Not run: trees." in page
