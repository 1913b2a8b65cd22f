"""How an audit reads columns and targets of all kinds."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from surefoot import DataError, ParameterError
from surefoot.report.inputs.column_readers import CATEGORY, DATE, NUMBER, kind_of
from surefoot.report.inputs.table import AuditTable, to_pandas
from surefoot.report.inputs.target import Target


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2, 3], NUMBER),
        ([True, False, True], NUMBER),
        ([1.5, None, 2], NUMBER),
        (pd.array([1, None, 3], dtype="Int64"), NUMBER),
        ([True, None, False], NUMBER),
        (["a", "b", None], CATEGORY),
        (pd.Categorical([1, 2, 1]), CATEGORY),
        (pd.to_datetime(["2020-01-01", None, "2021-01-01"]), DATE),
        (["2020-01-01", "2020-02-03", None], DATE),
        (["2020-01-01T10:00:00", "2020-02-03T11:30:00", None], DATE),
        ([datetime.date(2020, 1, 1), None, datetime.date(2020, 1, 2)], DATE),
        (pd.to_timedelta([1, 2, 3], unit="D"), DATE),
        (["27.08.2021", "1.9.2021", None], DATE),
        (["2021/08/27", "2021/9/1", None], DATE),
        (["27.08.2021 13:05", "1.9.2021 00:00", None], DATE),
        (["08/27/2021", "09/01/2021", None], CATEGORY),  # the day may come first
        (["1.2.3", "1.2.4", "2.0.0"], CATEGORY),
        ([None, None, None], CATEGORY),
        (["1", "x", "2"], CATEGORY),
    ],
)
def test_kinds_of_columns(values, kind):
    assert kind_of(pd.Series(values, name="column")) == kind


def make_table(n=60, **columns):
    rng = np.random.default_rng(0)
    return pd.DataFrame({"x": rng.normal(size=n), **columns})


def notes(X, y=None):
    table = AuditTable.read(X, np.random.default_rng(1).normal(size=len(X)) if y is None else y)
    return {note.column: note.what for note in table.notes}, list(table.frame.columns)


def test_uninformative_columns_are_noted_and_left_out():
    n = 60
    X = make_table(
        empty=[None] * n, same=7, number=np.arange(n) + 1000, key=[f"k{i}" for i in range(n)], whole=np.arange(n) % 9,
        infinite=np.where(np.arange(n) == 3, np.inf, np.arange(n) * 1.5), day=pd.date_range("2020-01-01", periods=n),
    )  # fmt: skip
    result, used = notes(X)
    assert result == {
        "empty": "all missing", "same": "constant", "number": "identifier", "key": "identifier",
        "infinite": "infinite", "day": "date",
    }  # fmt: skip
    assert used == ["x", "whole", "infinite", "day"]


def test_a_leak_is_noted_and_used():
    y = np.random.default_rng(3).normal(size=80)
    result, used = notes(make_table(80, copy=np.round(y, 2) * 3 + 1), y)
    assert result == {"copy": "leak"}
    assert "copy" in used
    labels = np.random.default_rng(3).integers(0, 3, 80)
    assert notes(make_table(80, code=np.array(["u", "v", "w"])[labels]), labels)[0] == {"code": "leak"}
    assert notes(make_table(80, noisy=y + np.random.default_rng(4).normal(size=80)), y)[0] == {}


def test_dates_are_days_since_1970_and_categories_are_text():
    X = make_table(40, day=pd.date_range("1970-01-02", periods=40).strftime("%Y-%m-%d"), word=["a", "b"] * 20)
    table = AuditTable.read(X, np.random.default_rng(0).normal(size=40))
    assert table.frame["day"].tolist()[:2] == [1.0, 2.0]
    assert table.categories == ["word"]


@pytest.mark.parametrize("written", ["%d.%m.%Y", "%Y/%m/%d", "%Y-%m-%d", "%d.%m.%Y %H:%M:%S"])
def test_all_date_formats_give_the_same_days(written):
    days = pd.date_range("1970-01-02", periods=40)
    X = make_table(40, day=[*days.strftime(written)[:39], "soon"])
    table = AuditTable.read(X, np.random.default_rng(0).normal(size=40))
    np.testing.assert_array_equal(table.frame["day"], [*np.arange(1.0, 40.0), np.nan])
    assert [note.sentence for note in table.notes if note.column == "day"] == [
        "A date: models see it as days since 1970. Values that are not dates count as missing (1 row)."
    ]


def test_later_dates_must_be_written_as_dates_too():
    days = pd.date_range("2020-01-01", periods=40)
    table = AuditTable.read(make_table(40, day=days.strftime("%Y-%m-%d")), np.random.default_rng(0).normal(size=40))
    later = table.like(make_table(40, day=days.strftime("%d.%m.%Y")), "X_new")
    np.testing.assert_array_equal(later["day"], table.frame["day"])
    mixed = [*days.strftime("%Y-%m-%d")[:20], *days.strftime("%d.%m.%Y")[20:]]  # each format is unambiguous
    np.testing.assert_array_equal(table.like(make_table(40, day=mixed), "X_new")["day"], table.frame["day"])
    message = r"Column 'day' held dates in the training data, but has other values now in 40 rows, .* write them all as"
    with pytest.raises(DataError, match=message):
        table.like(make_table(40, day=days.strftime("%m/%d/%Y")), "X_new")


def test_ambiguous_dates_are_noted():
    days = pd.date_range("2020-01-01", periods=60).strftime("%m/%d/%Y")
    table = AuditTable.read(make_table(60, day=days, month=days[::-1][np.arange(60) % 5]), np.arange(60) * 0.5)
    hints = {note.column: (note.what, note.used) for note in table.notes if "look like dates" in note.sentence}
    assert hints == {"day": ("identifier", False), "month": ("text", True)}


def test_another_table_is_read_in_the_same_way():
    X = make_table(40, word=["a", "b"] * 20, number=np.arange(40))
    table = AuditTable.read(X, np.random.default_rng(0).normal(size=40))
    later = table.like(pd.DataFrame({"word": ["b", "new", None], "x": ["1", "2.5", None], "more": 1}), "X_new")
    assert later["word"].astype(object).fillna("-").tolist() == ["b", "new", "-"]
    np.testing.assert_array_equal(later["x"], [1.0, 2.5, np.nan])
    with pytest.raises(DataError, match="has other values now in 1 row, such as '3 kg'"):
        table.like(pd.DataFrame({"word": ["a"], "x": ["3 kg"]}), "X_new")
    with pytest.raises(DataError, match="X_new lacks the columns 'word'"):
        table.like(pd.DataFrame({"x": [1.0]}), "X_new")


def test_all_types_of_tables_are_read_alike():
    rng = np.random.default_rng(0)
    array, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    frame = pd.DataFrame(array, columns=["x0", "x1"])
    frames = [AuditTable.read(X, y).frame for X in (array, frame, pl.from_pandas(frame), array.astype(object))]
    for other in frames[1:]:
        pd.testing.assert_frame_equal(frames[0], other)
    with pytest.raises(DataError, match="lazy"):
        to_pandas(pl.from_pandas(frame).lazy(), "X")
    with pytest.raises(DataError, match="two columns of the same name"):
        to_pandas(pd.concat([frame, frame], axis=1), "X")


@pytest.mark.parametrize(
    ("y", "task", "classes"),
    [
        ([0, 1] * 10, "binary", [0, 1]),
        ([0.5, 1.5] * 10, "binary", ["0.5", "1.5"]),
        ([True, False] * 10, "binary", ["False", "True"]),
        (["b", "a", None, "b"] * 5, "binary", ["a", "b"]),
        ([1, 2, 3, np.nan] * 5, "classes", [1, 2, 3]),
        (list(range(11)) * 2, "regression", []),
        ([0.1, 0.2, 0.3] * 7, "regression", []),
        (pd.Categorical([3, 1, 2] * 7), "classes", [1, 2, 3]),
        (pd.array([3, None, 2] * 7, dtype="Int64"), "binary", [2, 3]),
        (pl.Series([True, None, False] * 7), "binary", ["False", "True"]),
    ],
)
def test_the_task_is_detected(y, task, classes):
    target, known = Target.read(y, len(y))
    assert (target.task, target.classes.tolist()) == (task, classes)
    assert len(target.y) == known.sum() == np.sum(pd.Series(list(y)).notna())


def test_the_task_can_be_requested():
    assert Target.read(list(range(11)) * 2, 22, "classes")[0].task == "classes"
    assert Target.read([0, 1, 2] * 7, 21, "regression")[0].task == "regression"
    with pytest.raises(ParameterError, match="task"):
        Target.read([0, 1], 2, "clustering")
    with pytest.raises(DataError, match="3 classes"):
        Target.read([0, 1, 2], 3, "binary")


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.5] * 9, "every row"),
        (["a"] * 9, "one class"),
        ([None] * 9, "no value"),
        ([f"name {i}" for i in range(300)], "too many classes"),
        ([1.5, np.inf, 2.5, 3.5], "infinite"),
    ],
)
def test_targets_with_nothing_to_predict_are_refused(y, message):
    with pytest.raises(DataError, match=message):
        Target.read(y, len(y))


def test_predictions_are_read_as_labels_probabilities_or_numbers():
    target, _ = Target.read(["no", "yes", "no"], 3)
    assert target.read_predictions([0.2, 0.7, 0.5], 3, "p").tolist() == ["no", "yes", "yes"]
    assert target.read_predictions(["yes", "no", "no"], 3, "p").tolist() == ["yes", "no", "no"]
    with pytest.raises(DataError, match=r"p has values that are not a class of the target: maybe"):
        target.read_predictions(["yes", "maybe", "no"], 3, "p")
    with pytest.raises(DataError, match="p has 2 rows"):
        target.read_predictions(["yes", "no"], 3, "p")
    numbers, _ = Target.read([0.1, 0.2, 0.3], 3)
    assert numbers.read_predictions([1, 2, 3], 3, "p").tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(DataError, match="not finite"):
        numbers.read_predictions([1, 2, np.nan], 3, "p")
