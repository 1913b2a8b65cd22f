"""Labels that a spreadsheet would run as formulas."""

import csv

import numpy as np
import pandas as pd
import pytest
from reference.audit_tables import numbers
from typer.testing import CliRunner

from surefoot import GradientBoostingClassifier, save
from surefoot.cli.app import app
from surefoot.cli.csv_text import as_plain_text

pytestmark = pytest.mark.fault(number=27)
LABELS = ["=HYPERLINK(\"http://x\")", "+cmd", "@x", "-1+1", "\tx", "-5", "fine"]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table, and a model of such labels."""
    folder = tmp_path_factory.mktemp("formulas")
    X, _ = numbers(70)
    y = np.array(LABELS)[np.arange(70) % len(LABELS)]
    X["z"] = np.arange(70) % len(LABELS)
    save(GradientBoostingClassifier(n_estimators=20, random_state=0).fit(X, y), folder / "m.surefoot")
    X.to_csv(folder / "t.csv", index=False)
    return folder


def predicted(folder, *options):
    arguments = ["predict", folder / "m.surefoot", folder / "t.csv", "-o", folder / "p.csv", *options]
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == 0, result.output
    with open(folder / "p.csv", newline="", encoding="utf-8") as stream:
        return list(csv.reader(stream))


def test_predictions_have_no_formulas(folder):
    names, *rows = predicted(folder)
    assert not [cell for row in (names, *rows) for cell in row if cell[:1] in "=+@\t" or cell[:2] == "-1"]
    assert {row[0] for row in rows} == {f"'{label}" for label in LABELS[:5]} | {"-5", "fine"}
    as_they_are = predicted(folder, "--keep-formulas")
    assert as_they_are[0] == names
    assert {row[0] for row in as_they_are[1:]} == set(LABELS)
    assert [row[1:] for row in as_they_are[1:]] == [row[1:] for row in rows]


def test_numbers_are_never_changed():
    frame = pd.DataFrame({"=a": [-1.5, np.nan], "b": ["-1e5", "=x"], "c": pd.Categorical(["+x", None])})
    plain = as_plain_text(frame)
    assert list(plain.columns) == ["'=a", "b", "c"]
    pd.testing.assert_series_equal(plain["'=a"], frame["=a"], check_names=False)
    assert plain["b"].tolist() == ["-1e5", "'=x"]
    assert plain["c"].dropna().tolist() == ["'+x"]
