"""``surefoot audit``: files in, a page out, exit codes for pipelines."""

import json

import numpy as np
import pytest
from reference.audit_tables import nothing, numbers, two_classes
from typer.testing import CliRunner

from surefoot import Audit, audit
from surefoot.cli.app import app
from surefoot.cli.table_file import read_table_file


def run(*arguments):
    return CliRunner().invoke(app, ["audit", *map(str, arguments)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory, small_candidates):
    """A folder with a table and the output files of an audit, and the result of the command."""
    folder = tmp_path_factory.mktemp("audit")
    X, y = two_classes()
    X.assign(state=y).to_csv(folder / "table.csv", index=False)
    X.assign(size=X["size"] + 1).to_csv(folder / "new.csv", index=False)
    result = run(
        folder / "table.csv", "--target", "state", "--new", folder / "new.csv", "-o", folder / "page.html", "--json",
        folder / "audit.json", "--jobs", "1", "--markdown", folder / "audit.md", "--junit", folder / "audit.xml",
        "--fail-on", "error_rate>1,subject.n_rows<20", "--fail-on", "log_loss>10",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    return folder, result


def test_the_numbers_are_the_same_as_in_python(folder):
    folder, _ = folder
    X, y = two_classes()
    saved = json.loads((folder / "audit.json").read_text(encoding="utf-8"))
    same = json.loads(audit(X, y, X_new=X.assign(size=X["size"] + 1)).to_json())
    for numbers_of in (saved, same):
        for key in ("seconds", "command"):
            numbers_of.pop(key)
        numbers_of["subject"].pop("source")
        for model in numbers_of["accuracy"]["models"]:
            model.pop("seconds")
    assert saved == same


def test_the_verdict_the_page_and_the_progress_are_printed(folder):
    folder, result = folder
    assert "predicts state" in result.stdout
    assert f"The page: {folder / 'page.html'}" in result.stdout
    assert "[0%] reading the table" in result.stderr
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert "predicts state" in page


def test_the_stored_audit_makes_the_same_files(folder):
    folder, _ = folder
    stored = Audit.from_json(folder / "audit.json")
    rules = ["error_rate>1,subject.n_rows<20", "log_loss>10"]
    assert stored.to_html() == (folder / "page.html").read_text(encoding="utf-8")
    assert stored.to_markdown(fail_on=rules) == (folder / "audit.md").read_text(encoding="utf-8")
    assert stored.to_junit(fail_on=rules) == (folder / "audit.xml").read_text(encoding="utf-8")
    assert "All rules are kept (3)." in stored.to_markdown(fail_on=rules)


def test_the_schema_is_printed_without_any_work():
    result = run("--schema")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["properties"]["format"]["const"] == 1


@pytest.mark.parametrize("ending", ["tsv", "parquet", "arrow", "csv.gz"])
def test_files_of_every_kind_hold_the_same_table(tmp_path, ending):
    X, y = two_classes()
    frame = X.assign(state=y)
    path = tmp_path / f"table.{ending}"
    write = {"tsv": lambda: frame.to_csv(path, sep="\t", index=False), "parquet": lambda: frame.to_parquet(path)}
    write |= {"arrow": lambda: frame.to_feather(path), "csv.gz": lambda: frame.to_csv(path, index=False)}
    write[ending]()
    read = read_table_file(path)
    assert read["colour"].tolist() == frame["colour"].tolist()
    np.testing.assert_allclose(read["age"], frame["age"])


def test_semicolons_and_a_byte_order_mark(tmp_path):
    (tmp_path / "table.csv").write_text("größe;b\n1,5;x\n2;y\n", encoding="utf-8-sig")
    read = read_table_file(tmp_path / "table.csv")
    assert read.columns.tolist() == ["größe", "b"]
    assert read["größe"].tolist() == [1.5, 2.0]  # a decimal comma
    assert read["b"].tolist() == ["x", "y"]


@pytest.mark.usefixtures("small_candidates")
def test_a_broken_rule_is_exit_code_1_and_the_page_is_still_written(tmp_path):
    X, y = nothing(60)
    X.assign(coin=y).to_csv(tmp_path / "table.csv", index=False)
    rules = ["--fail-on", "accuracy=unknown", "--fail-on", "rmse>0"]
    result = run(tmp_path / "table.csv", "--target", "coin", "-o", tmp_path / "p.html", *rules, "--quiet")
    assert result.exit_code == 1
    assert "; rmse>0: rmse is not measured." in result.stderr
    assert "accuracy is 'unknown'" in result.stderr or "accuracy is 'no'" in result.stderr
    assert result.stdout == ""
    assert (tmp_path / "p.html").exists()


@pytest.mark.fault(number=27)
@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (None, (), "There is no file"),
        ("", (), "cannot be read"),
        ("\x00\x01\x02", (), "table.csv"),
        ("a,b\n1,2\n", (), "has no column 'y'"),
        ("y\n1\n", (), "has no column except the target 'y'"),
        ("a,y\n1,2\n3,4\n", (), "at least 20"),
        ("a,y\n" + "1,one\n" * 30, (), "--target y: y is 'one' in every row that has a value"),
        ("a,y\n" + "1,2\n" * 30, ("--fail-on", "luck"), "--fail-on: 'luck' is not a rule"),
        ("a,y\n" + "1,2\n" * 30, ("--fail-on", "lucky>1"), "--fail-on: 'lucky>1' has the unknown name 'lucky'"),
        ("a,y\n" + "1,2\n" * 30, ("--time-limit", "soon"), "is not a duration"),
        ("a,y\n" + "1,2\n" * 30, ("--group", "g"), "--group g: There is no column 'g' in X"),
        ("a,y\n" + "1,2\n" * 30, ("--group", "a", "--time", "a"), "--group a: groups and time are both the column 'a'"),
        ("a,y\n" + "1,2\n" * 30, ("--time", "y"), "--time y is the target: name another column"),
        ("a,b,y\n" + "x,1,2\n" * 30, ("--time", "a"), "--time a: time has values that are neither numbers nor dates"),
        ("a,y\n" + "1,2\n" * 30, ("--new", "nowhere.csv"), "There is no file nowhere.csv"),
    ],
)
def test_input_that_cannot_be_audited_gives_one_line_and_exit_code_2(tmp_path, text, arguments, message):
    path = tmp_path / "table.csv"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    result = run(path, "--target", "y", "-o", tmp_path / "page.html", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len([line for line in result.stderr.splitlines() if line.startswith("surefoot:")]) == 1
    assert not (tmp_path / "page.html").exists()


@pytest.mark.fault(number=27)
def test_errors_name_files_and_options(tmp_path):
    X, y = two_classes()
    table, new = tmp_path / "table.csv", tmp_path / "new.csv"
    X.assign(y=y).to_csv(table, index=False)
    X.drop(columns="age").to_csv(new, index=False)
    result = run(table, "--target", "y", "--new", new, "-o", tmp_path / "page.html")
    assert f"{new}: X_new lacks the columns 'age'" in result.stderr
    X.assign(y="other").to_csv(new, index=False)
    result = run(table, "--target", "y", "--new", new, "-o", tmp_path / "page.html")
    assert f"column 'y' of {new}: y_new has none of the classes of y, such as 'sick'" in result.stderr
    new.write_text("prediction\nsick\n")
    result = run(table, "--target", "y", "--predictions", new, "-o", tmp_path / "page.html")
    assert f"{new}: predictions has 1 rows, but X has 160." in result.stderr


def test_a_missing_folder_is_refused_before_the_work(tmp_path):
    X, y = numbers(40)
    X.assign(y=y).to_csv(tmp_path / "table.csv", index=False)
    result = run(tmp_path / "table.csv", "--target", "y", "-o", tmp_path / "nowhere" / "page.html")
    assert result.exit_code == 2
    assert "there is no folder" in result.stderr
    assert "question" not in result.stderr


@pytest.mark.fault(number=19)
def test_ctrl_c_leaves_no_files(tmp_path, monkeypatch):
    X, y = numbers(40)
    X.assign(y=y).to_csv(tmp_path / "table.csv", index=False)

    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("surefoot.report.run.cross_fit", stop)
    result = run(tmp_path / "table.csv", "--target", "y", "-o", tmp_path / "page.html", "--json", tmp_path / "a.json")
    assert result.exit_code == 130
    assert "nothing was written" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]
