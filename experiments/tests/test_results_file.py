"""The results file grows line by line, and results of other settings are refused."""

from pathlib import Path
from typing import Any

import pytest

from surefoot import DataError, ParameterError
from surefoot_experiments.skeleton.report import replace_file
from surefoot_experiments.skeleton.run import check_settings, write_settings
from surefoot_experiments.weak_to_strong.trials import Result, ResultsFile

SETTINGS: dict[str, Any] = {"quick": False, "gamma": 0.05, "sources": {"pima": "pima.parquet, 768 rows"}}


def result(n_members: int, accuracy: float = 0.1 + 0.2) -> Result:
    return Result("pima", 0, "Bagged AdaBoost", n_members, accuracy, 0.5, 768, "a note, with a comma")


def test_written_lines_are_read_again(tmp_path: Path) -> None:
    file = ResultsFile(tmp_path / "results.csv")
    file.append([result(3), result(5)])
    file.append([result(7)])
    again = ResultsFile(tmp_path / "results.csv")
    assert list(again.results.values()) == [result(3), result(5), result(7)]
    assert (
        (tmp_path / "results.csv").read_text().startswith("dataset,seed,learner,n_members,accuracy,seconds,rows,note\n")
    )


def test_a_unit_is_written_once(tmp_path: Path) -> None:
    file = ResultsFile(tmp_path / "results.csv")
    file.append([result(3)])
    ResultsFile(tmp_path / "results.csv").append([result(3, 0.9), result(5)])
    assert [line.accuracy for line in ResultsFile(tmp_path / "results.csv").results.values()] == [0.1 + 0.2, 0.1 + 0.2]


def test_an_incomplete_last_line_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    ResultsFile(path).append([result(3), result(5)])
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    file = ResultsFile(path)
    assert [unit.n_members for unit in file.results] == [3]
    file.append([result(5)])
    assert path.read_bytes() == whole


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    ResultsFile(path).append([result(3)])
    path.write_text(path.read_text() + "pima,0,Bagged\n")
    with pytest.raises(DataError, match="3 fields instead of 8"):
        ResultsFile(path)
    path.write_text("something,else\n")
    with pytest.raises(DataError, match="columns must be"):
        ResultsFile(path)


@pytest.mark.parametrize("change", [{"quick": True}, {"gamma": 0.1}, {"sources": {"pima": "pima.csv, 768 rows"}}])
def test_results_of_other_settings_are_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "settings.json"
    write_settings(path, SETTINGS)
    with pytest.raises(
        ParameterError, match=f"other settings .*{next(iter(change)).rstrip('s').replace('source', 'pima')}"
    ):
        check_settings(path, {**SETTINGS, **change}, tmp_path / "results.csv")


def test_tables_may_be_added_and_may_be_missing(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    write_settings(path, SETTINGS)
    more = check_settings(path, {**SETTINGS, "sources": {"boone": "b.txt, 9 rows"}}, tmp_path / "results.csv")
    assert more["sources"] == {"pima": "pima.parquet, 768 rows", "boone": "b.txt, 9 rows"}


def test_results_without_settings_are_refused(tmp_path: Path) -> None:
    (tmp_path / "results.csv").write_text("")
    with pytest.raises(ParameterError, match=r"without settings\.json"):
        check_settings(tmp_path / "settings.json", SETTINGS, tmp_path / "results.csv")
    (tmp_path / "settings.json").write_text("{")
    with pytest.raises(ParameterError, match="cannot be read"):
        check_settings(tmp_path / "settings.json", SETTINGS, tmp_path / "results.csv")


def test_a_stopped_write_keeps_the_previous_file(tmp_path: Path) -> None:
    path = tmp_path / "figure.png"
    path.write_text("the old one")

    def fail() -> None:
        with replace_file(path) as stream:
            stream.write(b"hal")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_text() == "the old one"
    assert list(tmp_path.iterdir()) == [path]
