"""Later files are read with the schema of the model or of the first table: no row depends on other rows."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from surefoot import GradientBoostingClassifier, load, save
from surefoot.cli.app import app
from surefoot.cli.table_file import kinds_of, read_table_file
from surefoot.report.inputs.column_readers import ColumnReader

STORED = Path(__file__).parents[1] / "models"
FIT = ("--target", "y", "--members", 2, "--quiet", "--jobs", 1)


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def coded(codes, n_rows=120, seed=0):
    """A table whose target depends on a code alone: the second and the last of the codes are "yes"."""
    generator = np.random.default_rng(seed)
    code = generator.choice(codes, size=n_rows)
    y = np.where(np.isin(code, [codes[1], codes[-1]]), "yes", "no")
    noise = generator.choice(np.linspace(-1, 1, 41), size=n_rows)
    noise[[0, -1]] = -1, 1  # every such table has the same range
    return pd.DataFrame({"code": code, "noise": noise, "y": y})


@pytest.fixture(scope="module", params=[("001", "002", "003", "A1"), ("1", "2", "3", "X")], ids=",".join)
def fitted(request, tmp_path_factory):
    """A folder with a model of codes, its table, and new rows."""
    folder = tmp_path_factory.mktemp("codes")
    coded(request.param).to_csv(folder / "train.csv", index=False)
    result = run("fit", folder / "train.csv", *FIT, "-o", folder / "m.surefoot")
    assert result.exit_code == 0, result.output
    return folder, coded(request.param, seed=1)


def accuracy_of(folder, rows):
    rows.to_csv(folder / "new.csv", index=False)
    result = run("predict", folder / "m.surefoot", folder / "new.csv", "-o", folder / "p.csv", "--jobs", 1)
    assert result.exit_code == 0, result.output
    return np.mean(pd.read_csv(folder / "p.csv")["prediction"] == rows["y"].to_numpy()), result


def test_the_model_stores_codes_as_they_are_written(fitted):
    folder, rows = fitted
    assert load(folder / "m.surefoot")._schema.categories[0] == tuple(sorted(rows["code"].unique()))


def test_codes_that_look_like_numbers_are_read_as_codes(fitted):
    folder, rows = fitted
    accuracy, result = accuracy_of(folder, rows[rows["code"].str.isdigit()])
    assert accuracy == 1.0
    assert result.stderr == ""


def test_an_empty_cell_does_not_change_the_other_rows(fitted):
    folder, rows = fitted
    rows = rows[rows["code"].str.isdigit()].reset_index(drop=True)
    rows.loc[7, "code"] = None
    accuracy, result = accuracy_of(folder, rows)
    assert accuracy >= 1.0 - 1 / len(rows)
    assert result.stderr == ""


def test_a_single_row_is_predicted_as_among_others(fitted):
    folder, rows = fitted
    accuracy_of(folder, rows[:12])
    together = pd.read_csv(folder / "p.csv")
    for place in range(0, 12, 3):
        accuracy_of(folder, rows[place : place + 1])
        pd.testing.assert_frame_equal(pd.read_csv(folder / "p.csv"), together[place : place + 1].reset_index(drop=True))


def test_unknown_values_are_counted_on_standard_error(fitted):
    folder, rows = fitted
    rows = rows.assign(code=rows["code"].mask(rows.index < 5, "B7"))
    _, result = accuracy_of(folder, rows)
    assert result.stderr == (
        "surefoot: column 'code': 5 of 120 rows have values that are not in the training data: 'B7'; they count as "
        "missing.\n"
    )


def test_a_parquet_file_of_numbers_has_the_codes_too(tmp_path):
    coded(("1", "2", "3", "X")).to_csv(tmp_path / "train.csv", index=False)
    assert run("fit", tmp_path / "train.csv", *FIT, "-o", tmp_path / "m.surefoot").exit_code == 0
    rows = coded(("1", "2", "3", "X"), seed=1)
    rows = rows[rows["code"] != "X"]
    for dtype in ("int64", "float64", "category"):
        rows.assign(code=rows["code"].astype(dtype)).to_parquet(tmp_path / "new.parquet")
        result = run("predict", tmp_path / "m.surefoot", tmp_path / "new.parquet", "-o", tmp_path / "p.csv")
        assert (result.exit_code, result.stderr) == (0, "")
        assert pd.read_csv(tmp_path / "p.csv")["prediction"].tolist() == rows["y"].tolist()


def test_categories_of_numbers_that_python_was_fitted_to_are_known(tmp_path):
    rows = coded(("1", "2", "3", "4"))
    X = rows[["code", "noise"]].assign(code=rows["code"].astype(int).astype("category"))
    model = GradientBoostingClassifier(n_estimators=30, random_state=0).fit(X, rows["y"])
    save(model, tmp_path / "m.surefoot")
    assert accuracy_of(tmp_path, rows)[0] == np.mean(model.predict(X) == rows["y"]) == 1.0


def test_numbers_outside_the_range_are_counted(tmp_path):
    rows = coded(("a", "b", "c")).assign(day=pd.date_range("2024-01-01", periods=120).strftime("%Y-%m-%d"))
    rows.to_csv(tmp_path / "train.csv", index=False)
    assert run("fit", tmp_path / "train.csv", *FIT, "-o", tmp_path / "m.surefoot").exit_code == 0
    low, high = rows["noise"].min(), rows["noise"].max()
    assert load(tmp_path / "m.surefoot")._schema.ranges[1] == (low, high)
    rows.loc[:3, "noise"] = [low - 1, low, high, high + 2]
    rows.loc[3, "day"] = "2025-01-01"
    _, result = accuracy_of(tmp_path, rows)
    assert result.stderr.splitlines() == [
        "surefoot: 2 of 120 rows have numbers outside the range of the training data:",
        f"surefoot: column 'noise': the training data has {low:.6g} to {high:.6g}, 2 of 120 rows have "
        f"{low - 1:.6g} to {high + 2:.6g}.",
        "surefoot: column 'day': the training data has 2024-01-01 to 2024-04-29, 1 of 120 rows have 2025-01-01.",
    ]


def test_a_file_of_the_first_version_has_no_ranges(tmp_path):
    pd.DataFrame({"a": [1e9, 0.0], "b": [0.0, -1e9], "c": ["1", "2"], "d": ["0", "1"]}).to_csv(
        tmp_path / "new.csv", index=False
    )
    result = run("predict", STORED / "1" / "depthwise.surefoot", tmp_path / "new.csv", "-o", tmp_path / "p.csv")
    assert (result.exit_code, result.stderr) == (0, "")
    assert len(pd.read_csv(tmp_path / "p.csv")) == 2


def test_text_in_a_column_of_numbers_is_refused(fitted):
    folder, rows = fitted
    rows.assign(noise=["many", *rows["noise"][1:]]).to_csv(folder / "odd.csv", index=False)
    result = run("predict", folder / "m.surefoot", folder / "odd.csv", "-o", folder / "none.csv")
    assert result.exit_code == 2
    assert "Column 'noise' held numbers" in result.stderr
    assert "'many'" in result.stderr


@pytest.mark.usefixtures("small_candidates")
@pytest.mark.parametrize("codes", [("001", "002", "003", "A1"), ("1", "2", "3", "X")], ids=",".join)
def test_new_rows_of_an_audit_are_read_with_the_types_of_the_table(codes, tmp_path):
    coded(codes).to_csv(tmp_path / "table.csv", index=False)
    new = coded(codes, seed=1)
    new = new[new["code"] != codes[-1]].reset_index(drop=True)
    new.loc[3, "code"] = None if codes[-1] == "X" else "009"
    new.to_csv(tmp_path / "new.csv", index=False)
    result = run(
        "audit", tmp_path / "table.csv", "--target", "y", "--new", tmp_path / "new.csv", "-o", tmp_path / "p.html",
        "--json", tmp_path / "a.json", "--jobs", 1,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    saved = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert saved["verdict"][4]["answer"] != "no", saved["verdict"][4]
    counted = [line for line in result.stderr.splitlines() if line.startswith("surefoot:")]
    seen = f"surefoot: {tmp_path / 'new.csv'}, column 'code': 1 of {len(new)} rows have values that are not in the"
    assert counted == ([] if codes[-1] == "X" else [f"{seen} training data: '009'."])


def test_predictions_of_codes_are_read_with_the_type_of_the_target(tmp_path):
    rows = coded(("001", "002", "003", "A1"))
    rows = rows.rename(columns={"code": "target", "y": "other"})
    rows.to_csv(tmp_path / "table.csv", index=False)
    pd.DataFrame({"prediction": ["001"] * 120}).to_csv(tmp_path / "mine.csv", index=False)
    result = run(
        "audit", tmp_path / "table.csv", "--target", "target", "--predictions", tmp_path / "mine.csv",
        "-o", tmp_path / "p.html", "--time-limit", "1s", "--quiet",
    )  # fmt: skip
    assert (result.exit_code, result.stderr) == (0, "")


def read(folder, text, kinds=None, name="t.csv"):
    (folder / name).write_text(text, encoding="utf-8")
    return read_table_file(folder / name, kinds)


def test_numbers_are_read_exactly(tmp_path):
    generator = np.random.default_rng(0)
    values = np.ldexp(generator.normal(size=2000), generator.integers(-300, 300, size=2000))
    frame = read(tmp_path, "a,b\n" + "".join(f"{value!r},x\n" for value in values.tolist()))
    assert frame["a"].tolist() == values.tolist()


def test_types_that_the_whole_column_decides(tmp_path):
    frame = read(
        tmp_path,
        "whole,some,truth,part,plus,large,text,empty\n"
        "007,1,True,true,+1,123456789012345678,1,\n"
        "10,,FALSE,,.5,9223372036854775808,x,NA\n"
        " 8,-2.5e1,false,False, 1e400,1,True,\n",
    )
    assert frame["whole"].tolist() == [7, 10, 8]
    assert frame["some"].isna().tolist() == [False, True, False]
    assert frame["truth"].tolist() == [True, False, False]
    assert frame["truth"].dtype == bool
    assert frame["part"].dropna().tolist() == [True, False]
    assert frame["plus"].tolist() == [1.0, 0.5, np.inf]
    assert frame["large"].tolist() == [123456789012345678.0, 9223372036854775808.0, 1.0]
    assert frame["text"].tolist() == ["1", "x", "True"]
    assert frame["empty"].isna().all()
    kinds = kinds_of(frame)
    assert [name for name, kind in kinds.items() if kind != "number"] == ["text"]


def test_large_whole_numbers_are_read_exactly(tmp_path):
    frame = read(tmp_path, "a\n9007199254740993\n9007199254740992\n")
    assert frame["a"].tolist() == [9007199254740993, 9007199254740992]


def test_types_that_a_schema_decides(tmp_path):
    kinds = {"code": "category", "flag": "number", "size": "number", "day": "date"}
    frame = read(tmp_path, "code,flag,size,day,other\n01,True,1,2024,5\n,0,x,2025,6\n", kinds)
    assert frame["code"].tolist()[:1] == ["01"]
    assert frame["code"].isna().tolist() == [False, True]
    assert frame["flag"].tolist() == [1.0, 0.0]
    assert frame["size"].tolist() == ["1", "x"]  # for its reader to refuse
    assert frame["day"].tolist() == ["2024", "2025"]
    assert frame["other"].tolist() == [5, 6]


def test_decimal_commas_where_a_comma_is_not_the_delimiter(tmp_path):
    assert read(tmp_path, "a;b\n1,5;x\n2;y\n")["a"].tolist() == [1.5, 2.0]
    assert read(tmp_path, "a;b\n1,5;x\n2;y\n", {"a": "category"})["a"].tolist() == ["1,5", "2"]
    assert read(tmp_path, "a;b\n1,5;x\n2.5;y\n")["a"].tolist() == ["1,5", "2.5"]


def test_a_date_is_read_independently_of_the_others():
    reader = ColumnReader("day", "date")
    others = ["2024-01-05"] * 50
    for text in ("05.02.2024", "05.02.2024 06:00", "2024/03/01", "2024/03/01 12:00:00", "2024-05-01T12:30+02:00"):
        alone = reader.read(pd.Series([text], dtype=object)).tolist()
        assert alone == reader.read(pd.Series([*others, text], dtype=object)).tolist()[-1:]
        assert np.isfinite(alone).all()


def test_whole_numbers_are_the_same_categories_with_and_without_a_missing_one():
    reader = ColumnReader("code", "category")
    for values in ([1, 2, 3], [1.0, 2.0, 3.0, np.nan], [1.0, 2.0, 3.0, 0.5]):
        for column in (pd.Series(values), pd.Series(values).astype("category")):
            assert reader.read(column).tolist()[:3] == ["1", "2", "3"]
    assert reader.read(pd.Series([0.5, np.nan, 1.0])).dropna().tolist() == ["0.5", "1"]


def test_types_of_a_file_with_types(tmp_path):
    frame = pd.DataFrame(
        {
            "code": pd.Series([1, None, 3]).astype("category"),
            "flag": [True, False, True],
            "text": ["1", None, "2.5"],
            "when": pd.to_datetime(["2024-01-01"] * 3),
        }
    )
    frame.to_feather(tmp_path / "t.arrow")
    read = read_table_file(tmp_path / "t.arrow")
    assert read["code"].dropna().tolist() == ["1", "3"]
    assert read["flag"].dtype == bool
    assert kinds_of(read) == {"code": "category", "flag": "number", "text": "category", "when": "date"}
    as_numbers = read_table_file(tmp_path / "t.arrow", {"code": "number", "text": "number", "flag": "category"})
    assert as_numbers["code"].dropna().tolist() == [1.0, 3.0]
    assert as_numbers["text"].dropna().tolist() == [1.0, 2.5]
    assert as_numbers["flag"].tolist() == ["True", "False", "True"]
