"""The deployment data over time: what is shown about each chunk, in numbers, in sentences and on the page."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from page_outline import PageOutline
from scipy.stats import betabinom
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression
from typer.testing import CliRunner

from surefoot.cli.app import app
from surefoot.report.inputs.arguments import AuditArguments
from surefoot.report.models.cross_fitting import CONSTANT, CandidateModel, cross_fit
from surefoot.report.sections.over_time.findings import OverTimeFindings
from surefoot.report.sections.over_time.measure import OverTimeInputs, corrected, measure_over_time
from surefoot.report.sections.over_time.page import over_time_page, withheld_reasons
from surefoot.report.sections.over_time.sentences import sentences_of
from surefoot.report.sections.section import SectionContext
from surefoot.report.sections.shift.deployment_models import DeployedModel
from surefoot.report.statistics import mean_loss_interval, root_of
from surefoot.report.time_budget import TimeBudget
from surefoot.shift.column_shift import holm

NAMES = ["jan", "feb", "mar", "apr"]
KINDS = ("worse", "stranger", "shifted")


class Knowing(LinearRegression):
    """A line with a constant standard deviation, whose knowledge uncertainty is the distance from the origin."""

    def predict(self, X, return_std=False):
        values = super().predict(X)
        return (values, np.ones(len(values))) if return_std else values

    def predict_uncertainty(self, X):
        return type("Uncertainty", (), {"total": None, "knowledge": np.linalg.norm(np.asarray(X), axis=1)})()


class FewSteps(TimeBudget):
    """Not enough time for some steps."""

    def __init__(self, *without):
        super().__init__()
        self.without = without

    def has_time_for(self, name, *others):
        return not any(part in name for part in self.without)


def draw(generator, n, moved=0.0, noise=1.0, slope=1.0):
    X = generator.normal([moved, 0, 0], size=(n, 3))
    size = noise * (0.5 + 1 / (1 + np.exp(-X[:, 0])))  # the noise is larger where the first column is
    return pd.DataFrame(X, columns=["a", "b", "c"]), slope * X[:, 0] + size * generator.uniform(-1.5, 1.5, size=n)


def findings_of(X, y, X_new, y_new=None, budget=None, seed=0, **options) -> OverTimeFindings:
    inputs = AuditArguments(X=X, y=y, X_new=X_new, y_new=y_new, random_state=seed, **options).read()
    budget = budget or TimeBudget()
    models = [CandidateModel(CONSTANT, "", DummyRegressor()), CandidateModel("line", "", Knowing())]
    audited = cross_fit(inputs.table, inputs.splits, models, budget)[0][-1]
    known = len(inputs.deployment.known) > 0
    return measure_over_time(
        OverTimeInputs(
            table=inputs.table,
            splits=inputs.splits,
            deployment=inputs.deployment,
            audited=audited,
            deployed=DeployedModel.of(audited, inputs.deployment) if known else None,
            ensemble=audited,
            groups=inputs.groups,
            time=inputs.time,
            tolerance=0.25,
            seed=seed,
            n_jobs=1,
            budget=budget,
        )
    )


@pytest.fixture(scope="module")
def growing():
    """Four tables of which the last two have moved; the targets of the first two are known."""
    generator = np.random.default_rng(0)
    X, y = draw(generator, 1000)
    parts = {name: draw(generator, 200, moved) for name, moved in zip(NAMES, (0, 0, 0.9, 1.8), strict=True)}
    unknown = np.full(200, np.nan)
    targets = {name: part[1] if name in NAMES[:2] else unknown for name, part in parts.items()}
    return X, y, parts, findings_of(X, y, {name: part[0] for name, part in parts.items()}, targets)


def test_chunks_that_have_moved_are_named_and_the_others_are_not(growing):
    *_, findings = growing
    jan, feb, mar, apr = findings.chunks
    assert [jan.differs, feb.differs] == [False, False]
    assert (mar.shifted, apr.shifted, apr.stranger) == (True, True, True)
    assert mar.column == apr.column == "a"
    assert 0.5 < mar.auc.value < apr.auc.value < 1
    assert apr.outside.fraction.value > apr.outside.expected
    assert mar.expected.loss.value > jan.expected.loss.value > 0
    assert apr.expected.loss is None
    assert (findings.by, findings.counted, findings.measure) == ("tables", "rows", "RMSE")
    sentences = " ".join(sentences_of(findings))
    assert sentences.startswith("The first chunk that is shown to differ from the training data is mar: it is ")
    assert "2 of 4 chunks differ." in sentences
    assert "This concerns mar and apr." in sentences


def test_measured_losses_and_fractions_by_their_definitions(growing):
    X, y, parts, findings = growing
    model = LinearRegression().fit(X, y)
    for name, chunk in zip(NAMES[:2], findings.chunks[:2], strict=True):
        Z, there = parts[name]
        assert chunk.measured == root_of(mean_loss_interval((model.predict(Z) - there) ** 2))
        outside = ((X.min() > Z) | (X.max() < Z)).any(axis=1)
        assert (chunk.n_known, chunk.outside.n_unusual) == (200, outside.sum())
        assert chunk.outside.expected == pytest.approx(6 / 1000, abs=0.001)
    assert [chunk.measured for chunk in findings.chunks[2:]] == [None, None]
    limit = np.sort(np.linalg.norm(X, axis=1))[-50]  # near that of the last fold
    above = np.linalg.norm(parts["apr"][0], axis=1) > limit
    assert findings.chunks[3].uncertain.fraction.value == pytest.approx(above.mean(), abs=0.1)
    assert (findings.n_compared, findings.n_tests) == (2, 15)  # no expected loss of april, so no test of it


def test_p_values_are_corrected_together(growing):
    chunks = list(growing[3].chunks)
    raw = [
        replace(
            chunk,
            loss_p_value=0.004 * (k + 1),
            auc_p_value=0.001,
            uncertain=None,
            outside=replace(chunk.outside, p_value=0.5),
        )
        for k, chunk in enumerate(chunks)
    ]
    done, n_tests = corrected(raw)
    expected = holm(np.array([0.004, 0.008, 0.012, 0.016] + [0.5] * 4 + [0.001] * 4))
    assert n_tests == 12
    assert [chunk.loss_p_value for chunk in done] == pytest.approx(expected[:4])
    assert [chunk.worse for chunk in done] == [value < 0.05 for value in expected[:4]] == [True, False, False, False]
    assert all(chunk.shifted and not chunk.stranger for chunk in done)


def test_a_rule_that_is_turned_round_is_worse_with_targets_and_not_all_right_without():
    generator = np.random.default_rng(4)
    X, y = draw(generator, 600)
    parts = [draw(generator, 120, slope=slope) for slope in (1, 1, -1)]
    tables, targets = [part[0] for part in parts], [part[1] for part in parts]
    without = findings_of(X, y, tables)
    assert not any(chunk.worse for chunk in without.chunks)
    sentences = sentences_of(without)
    assert "a change in how the target depends on the columns cannot be seen" in sentences[-1]
    assert "need not be all right" in sentences[-1]
    known = findings_of(X, y, tables, targets)
    assert [chunk.worse for chunk in known.chunks] == [False, False, True]
    assert (known.n_agreeing, known.n_compared) == (2, 3)
    text = " ".join(sentences_of(known))
    assert "agree within their intervals in 2 of 3 chunks" in text
    assert "cannot be seen" not in text


def test_equal_chunks_are_not_called_anything():
    generator = np.random.default_rng(2)
    hits = 0
    for seed in range(3):
        X, y = draw(generator, 300)
        parts = [draw(generator, 60) for _ in range(3)]
        found = findings_of(X, y, [part[0] for part in parts], [part[1] for part in parts], seed=seed)
        hits += any(chunk.differs for chunk in found.chunks)
        if not hits:
            assert sentences_of(found)[0].startswith("None of the 3 chunks is shown to be worse, stranger or shifted")
    assert hits <= 1


def test_groups_and_runs_of_time_are_counted():
    generator = np.random.default_rng(3)
    X, y = draw(generator, 600)
    effects = generator.normal(size=(90, 3))
    X = X + effects[np.arange(600) // 10]
    tables = [draw(generator, 100)[0] + effects[60 + 10 * k + np.arange(100) // 10] for k in range(3)]
    tables = [each.assign(g=[f"{k}-{i // 10}" for i in range(100)]) for k, each in enumerate(tables)]
    by_groups = findings_of(X.assign(g=np.arange(600) // 10), y, tables, groups="g")
    by_rows = findings_of(X, y, [each.drop(columns="g") for each in tables])
    assert (by_groups.counted, by_rows.counted) == ("groups", "rows")
    assert not any(chunk.shifted for chunk in by_groups.chunks)
    widths = [[chunk.auc.high - chunk.auc.low for chunk in each.chunks] for each in (by_groups, by_rows)]
    assert np.mean(widths[0]) > 1.3 * np.mean(widths[1])
    series = np.cumsum(generator.normal(size=1000)) / 10
    table = draw(generator, 1000)[0].assign(a=series, t=np.arange(1000.0))
    in_time = findings_of(table, series + generator.normal(size=1000), None, time="t")
    assert (in_time.by, in_time.counted, len(in_time.chunks)) == ("time", "runs of rows", 2)
    assert not any(chunk.worse for chunk in in_time.chunks)


def test_steps_for_which_there_is_no_time_are_left_out(growing):
    X, y, parts, _ = growing
    found = findings_of(X, y, [part[0] for part in parts.values()], budget=FewSteps("weights", "uncertain"))
    assert all(chunk.expected is None and chunk.auc is None and chunk.uncertain is None for chunk in found.chunks)
    assert found.chunks[3].stranger  # outside the range
    assert found.chunks[3].outside.p_value < 0.01
    html = str(over_time_page(found, SectionContext(None, {"accuracy": type("A", (), {"audited": "line"})})))
    assert "Uncertain rows" not in html


def test_tiny_chunks_and_chance_of_rows_outside(growing):
    X, y, *_ = growing
    generator = np.random.default_rng(5)
    tables = [draw(generator, n)[0] for n in (3, 30)]
    tables[1].iloc[:4, 0] = 99.0
    few, some = findings_of(X, y, tables).chunks
    assert (few.auc, few.expected.loss, some.auc) == (None, None, None)
    assert some.outside.n_unusual >= 4
    raw = betabinom.sf(some.outside.n_unusual - 1, 30, 6, 1001 - 6)
    assert raw < some.outside.p_value < 6 * raw + 1e-12
    assert some.stranger


def test_the_page(growing):
    findings = growing[3]
    context = SectionContext(None, {"accuracy": type("A", (), {"audited": "line"})})
    html = str(over_time_page(findings, context))
    assert len(html) < 20_000
    assert html.count("<tr") == 2 + 4
    assert "No expected RMSE of apr, because too many of the deployment rows lie outside the range" in html
    assert len(withheld_reasons(findings)) == 1
    assert "The section makes 15 tests." in html
    hostile = replace(findings.chunks[3], name="<script>alert(1)</script>\u202e" * 9, column="<b>")
    risky = str(over_time_page(replace(findings, chunks=(*findings.chunks[:3], hostile)), context))
    assert "<script>" not in risky
    assert PageOutline(f"<!DOCTYPE html><html><body>{risky}</body></html>").tags.count("svg") == 1


def test_several_files_on_the_command_line(tmp_path, quick_audit):
    generator = np.random.default_rng(0)
    X, y = draw(generator, 150)
    X.assign(y=y).to_csv(tmp_path / "table.csv", index=False)
    options = ["audit", tmp_path / "table.csv", "--target", "y"]
    for name, moved in (("jan", 0.0), ("feb", 5.0)):
        Z, there = draw(generator, 60, moved)
        Z.assign(y=there).to_csv(tmp_path / f"{name}.csv", index=False)
        options += ["--new", tmp_path / f"{name}.csv"]
    options += ["-o", tmp_path / "page.html", "--json", tmp_path / "a.json", "--jobs", "1"]
    result = CliRunner().invoke(app, list(map(str, options)))
    assert result.exit_code == 0, result.output
    saved = json.loads((tmp_path / "a.json").read_text())
    assert [(chunk["name"], chunk["n_known"]) for chunk in saved["over_time"]["chunks"]] == [("jan", 60), ("feb", 60)]
    assert saved["over_time"]["chunks"][1]["shifted"]
    assert saved["shift"]["n_rows"] == 120
    assert "How does it change over time?" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ("a,b,c\n1,2,3\n", "column 'y' of --new: y_new has no target for 'feb', but for others"),
        ("a,b,y\n1,2,3\n", "--new: X_new lacks the columns 'c' for 'feb'"),
        ("a,b,c,y\n", "feb.csv has no rows"),
    ],
)
def test_files_that_do_not_fit(tmp_path, second, message):
    generator = np.random.default_rng(0)
    for name, n in (("table", 80), ("jan", 20)):
        Z, there = draw(generator, n)
        Z.assign(y=there).to_csv(tmp_path / f"{name}.csv", index=False)
    (tmp_path / "feb.csv").write_text(second)
    files = [str(tmp_path / f"{name}.csv") for name in ("table", "jan", "feb")]
    output = str(tmp_path / "page.html")
    arguments = ["audit", files[0], "--target", "y", "--new", files[1], "--new", files[2], "-o", output]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (tmp_path / "page.html").exists()
