"""Shift reports: all kinds of tables, the text, and refused input."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from scipy.sparse import csr_array

from surefoot._exceptions import DataError, ParameterError
from surefoot.shift.shift_report import shift_report


def make_table(n_rows, shift, seed):
    generator = np.random.default_rng(seed)
    age = generator.normal(40 + 10 * shift, 10, n_rows)
    income = generator.lognormal(size=n_rows)
    income[generator.random(n_rows) < 0.1] = np.nan
    cities = ["Köln", "Bonn"] + ["Aachen"] * bool(shift)
    return pd.DataFrame(
        {"age": age, "income": income, "city": pd.Categorical(generator.choice(cities, n_rows)), "flag": age > 40}
    )


@pytest.fixture(scope="module")
def tables():
    return make_table(400, 0, seed=0), make_table(300, 1, seed=1)


@pytest.fixture(scope="module")
def report(tables):
    return shift_report(*tables, random_state=0)


def test_the_attributes_of_a_report(report, tables):
    assert (report.n_rows, report.n_target, report.note) == (400, 300, None)
    assert set(report.shifted_columns) == {"age", "city", "flag"}
    assert [column.name for column in report.columns][-1] == "income"  # those that have not shifted come last
    sizes = [column.size for column in report.columns if column.shifted]
    assert sizes == sorted(sizes, reverse=True)
    assert report.auc_interval[0] < report.auc < report.auc_interval[1]
    assert report.p_value < 1e-6
    assert report.jointly_shifted
    by_name = {column.name: column for column in report.columns}
    assert by_name["age"].distance == stats.ks_2samp(tables[0]["age"], tables[1]["age"]).statistic
    assert by_name["city"].unseen == (tables[1]["city"] == "Aachen").mean()
    assert by_name["city"].kind == "category"
    assert by_name["city"].importance > 0
    with pytest.raises(AttributeError):
        report.auc = 0.5


def test_a_frame_of_the_report_has_a_row_for_each_column(report):
    frame = report.to_frame()
    assert frame.index.tolist() == [column.name for column in report.columns]
    assert frame.index.name == "column"
    assert frame.loc["age", "distance"] == report.columns[frame.index.get_loc("age")].distance
    assert frame["shifted"].dtype == bool
    assert {"p_value", "stability_index", "missing", "missing_target", "unseen", "importance"} <= set(frame)


def test_the_report_as_text_and_as_html(report):
    assert repr(report) == str(report)
    lines = str(report).splitlines()
    assert "300 target rows against 400 rows: 3 of 4 columns have shifted" in lines[0]
    assert report.verdict in lines[0]
    table = [line.split() for line in lines[3:]]
    assert table[0][:4] == ["column", "kind", "distance", "p-value"]
    assert [row[0] for row in table[1:]] == [column.name for column in report.columns]
    assert [row[-1] == "shifted" for row in table[1:]] == [True, True, True, False]
    html = report._repr_html_()
    assert html.count("<tr>") == 5


def test_odd_names_work():
    names = ["<script>alert(1)</script>", "with\na line break", "x" * 200, "größe µ"]
    generator = np.random.default_rng(0)
    X, X_target = (pd.DataFrame(generator.normal(size=(50, 4)), columns=names) for _ in range(2))
    report = shift_report(X, X_target, random_state=0)
    assert len(str(report).splitlines()) == 3 + 1 + 4
    assert max(map(len, str(report).splitlines()[3:])) < 130
    assert "<script>" not in report._repr_html_()
    assert set(report.to_frame().index) == set(names)


def test_long_tables_are_cut(tables):
    generator = np.random.default_rng(0)
    report = shift_report(generator.normal(size=(15, 50)), generator.normal(size=(15, 50)))
    lines = str(report).splitlines()
    assert lines[-1] == "... 30 columns more, none of them shifted"
    assert len(lines) == 2 + 1 + 20 + 1


def test_verdicts():
    generator = np.random.default_rng(0)
    X, X_target = generator.normal(size=(2, 400, 2))
    same = shift_report(X, X_target, random_state=0).verdict
    assert same.startswith(
        "None of 2 columns has shifted, and a classifier does not tell the rows of both tables apart"
    )
    turned = np.column_stack([X_target[:, 0], X_target[:, 0] + 0.1 * X_target[:, 1]])
    assert "None of 2 columns has shifted, but a classifier tells" in shift_report(X, turned, random_state=0).verdict
    moved = shift_report(X[:, :1], X[:, :1] + 2, random_state=0).verdict
    assert moved.startswith("The only column has shifted (x0), and a classifier tells")
    few = shift_report(X[:10], X_target[:10]).verdict
    assert few.endswith("at least 20 rows of each table, and there are 10 of X and 10 of X_target.")
    assert "shifted; the joint test needs" in few
    one = shift_report(X[:10, :1], X[:10, :1]).verdict
    assert one.startswith("The only column has not shifted;")


def test_small_differences_are_called_slight():
    generator = np.random.default_rng(0)
    X, X_target = generator.normal(size=(2, 20_000, 3))
    report = shift_report(X, X_target + np.array([0.06, 0.06, 0.6]), random_state=0)
    assert report.shifted_columns == ("x2",)
    assert set(report.slightly_different_columns) == {"x0", "x1"}
    assert report.verdict.startswith("1 of 3 columns has shifted (x2; 2 differ slightly), and a classifier tells")
    small = shift_report(X[:, :1], X_target[:, :1] + 0.06, random_state=0)
    assert small.p_value < 0.05
    assert not small.jointly_shifted
    expected = "The only column has not shifted (1 differs slightly), but a classifier tells the rows of both tables"
    assert small.verdict.startswith(f"{expected} slightly apart")


def test_verdicts_mention_untested_columns():
    generator = np.random.default_rng(0)
    X, X_target = (pd.DataFrame(generator.normal(size=(50, 3)), columns=list("abc")) for _ in range(2))
    empty = X.assign(c=np.nan), X_target.assign(c=np.nan)
    one = shift_report(*empty, random_state=0)
    assert one.verdict.startswith("None of 2 tested columns has shifted (1 could not be tested), and a classifier")
    assert one.untested_columns == ("c",)
    two = shift_report(*(table.assign(b=np.nan) for table in empty), random_state=0).verdict
    assert two.startswith("The only tested column has not shifted (2 could not be tested),")
    none = shift_report(*(table.assign(a=np.nan, b=np.nan) for table in empty), random_state=0).verdict
    assert none.startswith("None of 3 columns could be tested, and")
    moved = shift_report(empty[0], empty[1].assign(a=X["a"] + 9), random_state=0).verdict
    assert moved.startswith("1 of 3 columns has shifted (a; 1 could not be tested), and a classifier tells")


def test_a_small_target_with_a_new_category_has_shifted():
    labels = np.random.default_rng(0).choice(list("abcde"), 2000)
    X, X_target = (pd.DataFrame({"c": pd.Categorical(side)}) for side in (labels, ["new"] * 10))
    report = shift_report(X, X_target)
    assert report.verdict.startswith("The only column has shifted (c);")
    assert (report.columns[0].test, report.columns[0].unseen) == ("permutation", 1.0)


def test_the_description_of_columns_that_are_not_shown():
    columns = {f"c{j}": np.arange(30.0) for j in range(25)}
    X, X_target = pd.DataFrame(columns), pd.DataFrame(columns) + 100
    assert str(shift_report(X, X_target, random_state=0)).endswith("... 5 columns more, all of them shifted")
    narrow = X.iloc[:, :21], X_target.iloc[:, :21]
    assert str(shift_report(*narrow, random_state=0)).endswith("... 1 column more, shifted")
    empty = shift_report(X.assign(c24=np.nan, c23=np.nan), X.assign(c24=np.nan, c23=np.nan), random_state=0)
    assert str(empty).endswith("... 5 columns more, none of them shifted, 2 not tested")


def test_the_seed_decides(tables, report):
    assert shift_report(*tables, random_state=0, n_jobs=2) == report
    assert shift_report(*tables, random_state=np.random.RandomState(3)).auc != report.auc
    few = shift_report(*tables, random_state=0, max_rows=20)
    assert few.auc != report.auc
    assert [column.p_value for column in few.columns] == [column.p_value for column in report.columns]


def test_a_table_has_not_shifted_against_itself(tables):
    report = shift_report(tables[0], tables[0], random_state=0)
    assert report.shifted_columns == ()
    assert report.p_value > 0.05


def test_every_kind_of_table_gives_the_same_report(tables, report):
    as_polars = [pl.from_pandas(table) for table in tables]
    assert shift_report(*as_polars, random_state=0) == report
    assert shift_report(as_polars[0], tables[1], random_state=0) == report
    reordered = tables[1][["flag", "city", "income", "age"]]
    assert shift_report(tables[0], reordered, random_state=0) == report  # columns are matched by name
    again = tables[1].assign(city=tables[1]["city"].cat.set_categories(["unused", "Bonn", "Aachen", "Köln"]))
    assert shift_report(tables[0], again, random_state=0) == report


def test_every_kind_of_array_gives_the_same_report():
    generator = np.random.default_rng(0)
    X, X_target = generator.normal(size=(2, 60, 3)).astype(np.float32)
    X[3, 1] = np.nan
    expected = shift_report(X, X_target, random_state=0)
    frozen = X.copy()
    frozen.flags.writeable = False
    doubled = np.repeat(X, 2, axis=0)[::2]
    for table in (X.astype(np.float64), np.asfortranarray(X), frozen, doubled, X.tolist(), pd.DataFrame(X)):
        given = shift_report(table, X_target, random_state=0)
        assert [column.p_value for column in given.columns] == [column.p_value for column in expected.columns]
        assert given.auc == expected.auc
    assert expected.columns[0].name in {"x0", "x1", "x2"}


def test_listed_columns_are_categories():
    generator = np.random.default_rng(0)
    X, X_target = generator.integers(0, 4, size=(2, 100, 2))
    for chosen in ([1], [False, True]):
        report = shift_report(X, X_target, categorical_features=chosen, random_state=0)
        assert {column.name: column.kind for column in report.columns} == {"x0": "number", "x1": "category"}
    first = pd.DataFrame(X, columns=["a", "b"])
    second = pd.DataFrame(X_target, columns=["a", "b"])[["b", "a"]]
    by_name = shift_report(first, second, categorical_features=["b"], random_state=0)
    assert by_name.auc == report.auc
    assert {column.name: column.kind for column in by_name.columns} == {"a": "number", "b": "category"}
    assert {column.kind for column in shift_report(X, X_target, categorical_features=None).columns} == {"number"}


def test_odd_columns_have_a_result():
    generator = np.random.default_rng(0)

    def odd(n_rows):
        labels = [f"c{code}" for code in generator.integers(0, 10_000, n_rows)]
        table = pd.DataFrame({"constant": 1.0, "empty": np.nan, "many": pd.Categorical(labels)}, index=range(n_rows))
        table["yes"] = generator.random(n_rows) < 0.5
        table["extreme"] = generator.choice([1e308, -1e308, 5e-324, 0.0], n_rows)
        table["nullable"] = pd.array(generator.integers(0, 9, n_rows), dtype="Int64")
        table.loc[:3, "nullable"] = pd.NA
        return table

    report = shift_report(odd(500), odd(400), random_state=0)
    assert report.shifted_columns == ()
    assert report.p_value > 0.01
    frame = report.to_frame().drop(columns="distance")
    assert np.isfinite(frame.loc["empty", ["p_value", "stability_index", "unseen", "importance"]].astype(float)).all()
    assert frame.select_dtypes("number").drop("empty").notna().all(axis=None)


def test_one_row_and_no_rows():
    report = shift_report([[1.0]], [[2.0]])
    assert np.isnan(report.auc)
    assert np.isnan(report.columns[0].p_value)
    assert report.untested_columns == ("x0",)
    assert str(report).startswith("Shift of 1 target row against 1 row: The only column could not be tested; the joint")
    assert str(report).endswith("not tested")
    assert report.to_frame()["outcome"].tolist() == ["not tested"]
    with pytest.raises(DataError, match="X has 0 rows and 2 columns: pass at least one of each"):
        shift_report(np.empty((0, 2)), np.ones((3, 2)))
    with pytest.raises(DataError, match="X_target has 3 rows and 0 columns"):
        shift_report(np.ones((3, 2)), np.empty((3, 0)))
    with pytest.raises(DataError, match="X_target has 0 sample"):
        shift_report(pd.DataFrame({"a": [1.0]}), pd.DataFrame({"a": np.empty(0)}))


@pytest.mark.parametrize(
    ("X_target", "message"),
    [
        (
            pd.DataFrame({"a": [1.0], "c": [1.0]}),
            "X_target lacks the column 'b' and has the column 'c', which X has not:",
        ),
        (pd.DataFrame({"a": [1.0]}), "X_target lacks the column 'b': give both tables the same columns"),
        (
            pd.DataFrame([range(9)], columns=list("abcdefghi")),
            "has the columns 'c', 'd', 'e', 'f', 'g' and 2 more, which",
        ),
        (np.ones((3, 5)), "X has 2 columns and X_target 5"),
        (pd.DataFrame({"a": [1.0], "b": ["text"]}), "Column 'b' of X_target has dtype String: make it a number"),
        (pd.DataFrame({"a": [1.0], "b": [np.inf]}), "Column 'b' of X_target contains infinity"),
        (pd.DataFrame({"a": [1.0], "b": pd.Categorical(["u"])}), "Column 'b' is categorical in X_target but not in X:"),
        (np.array([[1.0, np.inf]]), "Input X_target contains infinity"),
        (None, "^X_target must be a table, a frame or a 2-dimensional array of numbers, got None"),
        ({"a": [1.0], "b": [1.0]}, "^X_target must be a table, .* got dict: make a frame of it"),
        (
            pd.Series([1.0, 2.0], index=["a", "b"]),
            r"^X_target must be .* got Series: .* a pandas row by .to_frame\(\).T",
        ),
        (np.ones(2), "^X_target must be .* got ndarray of 1 dimension: put one row into a list"),
        ([1.0, 2.0], "^X_target must be .* got list of 1 dimension"),
        (["u", "v"], "^X_target must be .* got list of 1 dimension"),
        ("table.csv", "^X_target must be .* got str"),
        (np.ones((2, 2, 2)), "^X_target must be .* got ndarray of 3 dimensions"),
        ([["u", "v"]], "^X_target is an array with text .*: pass a frame, and make its columns of text categorical"),
        (np.array([[1.0, {}]], dtype=object), "^X_target cannot be read .*: pass an array of numbers, or a frame"),
        ([[1.0], [1.0, 2.0]], "^X_target has rows of different lengths"),
        (pl.LazyFrame({"a": [1.0], "b": [1.0]}), "X_target is a lazy frame: collect it"),
    ],
)
def test_targets_that_cannot_be_compared_are_refused(X_target, message):
    X = pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, 2.0]})
    with pytest.raises(DataError, match=message):
        shift_report(X, X_target)


@pytest.mark.parametrize("table", [None, {"a": [1.0]}, pd.Series([1.0]), np.ones(3), [1.0], [["u"]], [[1.0], []]])
def test_anything_else_than_a_table_is_refused_by_name(table):
    with pytest.raises(DataError, match=r"^X (must be a table|is an array with text|has rows of different lengths)"):
        shift_report(table, [[1.0]])


def test_the_number_of_columns_is_checked_before_categories():
    with pytest.raises(DataError, match="X has 3 columns and X_target 2: give both the same"):
        shift_report(np.ones((4, 3)), np.ones((4, 2)), categorical_features=[2])


def test_bad_arguments_are_refused():
    X = pd.DataFrame({"a": [1.0, 2.0], "X": pd.Categorical(["u", "v"])})
    with pytest.raises(DataError, match="Column 'X' is categorical in X but not in X_target"):
        shift_report(X, X.assign(X=1.0))
    with pytest.raises(DataError, match="Column 'X' of X_target contains infinity"):
        shift_report(X[["a"]].assign(X=1.0), X.assign(X=np.inf))
    with pytest.raises(ParameterError, match="max_rows must be 20 or more, got 3"):
        shift_report(X, X, max_rows=3)
    with pytest.raises(ParameterError, match="categorical_features must be one of 'from_dtype', got 'all'"):
        shift_report(X, X, categorical_features="all")
    with pytest.raises(ParameterError, match="categorical_features must be 'from_dtype', None, or a list"):
        shift_report(X, X, categorical_features=["z"])
    with pytest.raises(TypeError, match="Sparse data was passed for X_target"):
        shift_report(np.ones((3, 2)), csr_array(np.ones((3, 2))))
    with pytest.raises(TypeError, match="unexpected keyword"):
        shift_report(X, X, sample_weight=[1.0, 1.0])


def test_tables_are_not_modified(tables):
    before = [table.copy() for table in tables]
    shift_report(*tables, random_state=0, max_rows=20)
    for table, copy in zip(tables, before, strict=True):
        pd.testing.assert_frame_equal(table, copy)


def test_a_report_on_arrays_needs_no_pandas(fresh_process):
    script = (
        "import sys; sys.modules['pandas'] = None; from surefoot.shift.shift_report import shift_report; "
        "print(shift_report([[1.0], [2.0]], [[1.0], [3.0]]).n_rows, 'matplotlib' in sys.modules)"
    )
    run = fresh_process(script)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["2", "False"]
