"""``surefoot audit``: four questions about a table and its model, on one page."""

import re
import shlex
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import TimeElapsedColumn, TimeRemainingColumn

from surefoot import DataError, UnknownCategoryWarning
from surefoot._atomic_io import write_text
from surefoot._parameters import check_seed
from surefoot.cli.console import Bar, exit_if_broken, fail, failures_in_one_line
from surefoot.cli.cost_option import read_cost
from surefoot.cli.drawn_table import DrawnTable
from surefoot.cli.model_option import read_model
from surefoot.cli.new_tables import names_of, new_names
from surefoot.cli.outputs import check_outputs, echo_beside
from surefoot.cli.table_file import kinds_of, read_table_file, take_target
from surefoot.cli.terminal import echo_line
from surefoot.cli.unusual_rows import lines_of, unseen_texts
from surefoot.report import Audit
from surefoot.report.audit import audit_run
from surefoot.report.fail_rules import RuleResult, apply_rules, read_rules
from surefoot.report.files.audit_json import json_of
from surefoot.report.files.json_schema import stored_schema
from surefoot.report.files.junit import audit_junit
from surefoot.report.files.markdown import audit_markdown
from surefoot.report.inputs.arguments import AuditArguments
from surefoot.report.inputs.column_readers import CATEGORY, NUMBER, kind_of
from surefoot.report.inputs.table import MAX_ROWS

UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
NONE = "none"


def _print_schema(is_requested: bool) -> None:
    if is_requested:
        typer.echo(stored_schema(), nl=False)
        raise typer.Exit


def audit(
    data: Annotated[Path, typer.Argument(help="The table: CSV, TSV, Parquet or Arrow, or a folder of Parquet files.")],
    target: Annotated[str, typer.Option(help="The column to predict.")],
    new: Annotated[
        list[Path] | None,
        typer.Option(
            help="Deployment data: rows from where the model will be used, if known with target. Repeat it for tables "
            "in the order of time."
        ),
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option(help="Your own predictions, one for each row, by a model that was not trained on that row."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="Your own model: a file (.surefoot, .onnx, .joblib), or package.module:name in Python."),
    ] = None,
    refit: Annotated[
        bool | None,
        typer.Option(help="Fit copies of the model, one for each fold; by default if it is not in a file."),
    ] = None,
    trained_on: Annotated[
        str | None,
        typer.Option(help="Column that is true for the rows that the model was trained on; none: it saw none of them."),
    ] = None,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Load a pickle: this runs a program that its author wrote.")
    ] = False,
    models: Annotated[
        str | None,
        typer.Option(
            help="Models of other libraries that take part, such as lightgbm,catboost; installed: all that are."
        ),
    ] = None,
    metric: Annotated[
        str | None, typer.Option(help="Your own measure: the name of a scorer of scikit-learn, such as f1.")
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option(help="What errors cost, such as fp=1,fn=20 or fp=1,fn=20,positive=sick; gives a threshold."),
    ] = None,
    slices: Annotated[
        list[str] | None,
        typer.Option(
            "--slice",
            help="Column, or crossing such as sex*age, by which errors are compared; may be repeated. Columns that "
            "models use are compared anyway.",
        ),
    ] = None,
    group: Annotated[
        str | None, typer.Option(help="Column of groups that belong together, such as patients: held out together.")
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(help="Column of time: without --new, the last fifth of the rows is the deployment data."),
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option(help="Column of weights: how much each row counts, in training and in every number."),
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="binary, classes or regression; detected from the target by default.")
    ] = None,
    shift_tolerance: Annotated[
        float, typer.Option(help="By what fraction the loss may be higher on the deployment data.")
    ] = AuditArguments.shift_tolerance,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The page; by default the table's name with -audit.html.")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write all numbers to this file as JSON.")] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Write the verdict and the main numbers to this file, for a pull request.")
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(help="Write a JUnit report to this file: a test case for each question and rule.")
    ] = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            help="Exit with code 1 if an answer is no: accuracy, uncertainty, stability, shift or any, separated by "
            "commas; 'shift=partly' is stricter, 'shift=unknown' strictest. Or if a number passes a limit: 'rmse>60', "
            "'coverage.low<0.85'. Can be repeated."
        ),
    ] = None,
    time_limit: Annotated[
        str | None, typer.Option(help="Such as 90s, 10m or 1h: steps that do not fit are left out.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all random numbers.")] = AuditArguments.random_state,
    max_rows: Annotated[
        int, typer.Option(help="Of a table with more rows, as many are drawn at random; the page says so.")
    ] = MAX_ROWS,
    jobs: Annotated[int, typer.Option(help="Threads; -1: all cores. The results do not depend on it.")] = -1,
    schema: Annotated[
        bool,
        typer.Option(
            "--schema", help="Print the JSON schema of --json and exit.", callback=_print_schema, is_eager=True
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Answer four questions about a table and its model, on one HTML page.

    Is it as accurate as the data allows? Does it know what it does not know? Would the conclusion survive dropping a
    row? Does it hold where it will be used?

    Example: surefoot audit patients.csv --target outcome --group hospital --new next-year.csv
    """
    new_tables = new or []
    new_in_errors = new_tables[0] if len(new_tables) == 1 else "--new"
    options = {
        "X": data,
        "y": f"--target {target}",
        "X_new": new_in_errors,
        "y_new": f"column {target!r} of {new_in_errors}",
        "model": f"--model {model}",
        "refit": "--no-refit" if refit is False else "--refit",
        "trained_on": f"--trained-on {trained_on}",
        "predictions": predictions,
        "models": "--models",
        "metric": "--metric",
        "costs": "--cost",
        "slices": "--slice",
        "groups": f"--group {group}",
        "time": f"--time {time}",
        "sample_weight": f"--weight {weight}",
        "task": "--task",
        "shift_tolerance": "--shift-tolerance",
        "random_state": "--seed",
        "n_jobs": "--jobs",
        "max_rows": "--max-rows",
        "time_limit": f"--time-limit {time_limit}",
        "fail_on": "--fail-on",
    }
    with failures_in_one_line(options):
        for option, column in (("group", group), ("time", time), ("trained-on", trained_on), ("weight", weight)):
            if column == target:
                fail(f"--{option} {target} is the target: name another column.")
        check_seed("random_state", seed)
        rules = read_rules(fail_on or ())
        limit = None if time_limit is None else _seconds(time_limit)
        page = output or Path(f"{data.name.split('.')[0]}-audit.html")
        check_outputs(
            {"--output": page, "--json": json, "--markdown": markdown, "--junit": junit},
            {"the table": data, "--predictions": predictions, **new_names(new_tables)},
        )
        with Bar(TimeElapsedColumn(), TimeRemainingColumn(), quiet=quiet) as bar, warnings.catch_warnings():
            warnings.simplefilter("ignore", UnknownCategoryWarning)  # unknown categories are counted below
            given = DrawnTable.read(data, target, max_rows, seed)
            own, is_fitted = (None, False) if model is None else read_model(model, trust_pickle)
            tables = _tables(given, target, new_tables, predictions)
            _, result = audit_run(
                **tables,
                model=own,
                refit=not is_fitted if refit is None else refit,
                metric=metric,
                costs=None if cost is None else read_cost(cost),
                slices=slices,
                models=None if models is None else [name.strip() for name in models.split(",")],
                trained_on=False if trained_on == NONE and NONE not in given.frame.columns else trained_on,
                other_rows=given.other_rows(target, weight),
                groups=group,
                time=time,
                sample_weight=weight,
                task=task,
                shift_tolerance=shift_tolerance,
                time_limit=limit,
                random_state=seed,
                n_jobs=jobs,
                max_rows=max_rows,
                callback=bar.show_fraction,
            )
            subject = given.noted_on(replace(result.subject, source=data.name), seed)
            result = replace(result, subject=subject, command=shlex.join(["surefoot", *sys.argv[1:]]))
            bar.show_fraction(0.97, "drawing the page")
            result.to_html(page)
            results = apply_rules(rules, result)
            _write(result, results, json, markdown, junit)
    if not quiet:
        for line in _unknown_texts(tables, new_tables):
            echo_line(line)
        drawn = f"\n\n{subject.draw}" if subject.draw else ""
        echo_beside(f"{result}{drawn}\n\nThe page: {page}", page, json, markdown, junit)
    exit_if_broken(results)


def _write(result: Audit, results: Sequence[RuleResult], *paths: Path | None) -> None:
    """Write the JSON, the Markdown and the JUnit report, if there is a path for them."""
    texts = (
        lambda: json_of(result),
        lambda: audit_markdown(result, results),
        lambda: audit_junit(result, results),
    )
    for path, text in zip(paths, texts, strict=True):
        if path is not None:
            write_text(path, text())


def _tables(given: DrawnTable, target: str, new: list[Path], predictions: Path | None) -> dict[str, Any]:
    """The arguments of an audit from files; later files are read with the types of the first table."""
    first = given.frame
    X, y = take_target(first, target, given.path)
    tables: dict[str, Any] = {"X": X, "y": y}
    if new:
        later = [read_table_file(path, kinds_of(first)) for path in new]
        targets = [frame.pop(target) if target in frame.columns else None for frame in later]
        names = names_of(new)
        several = {"X_new": dict(zip(names, later, strict=True)), "y_new": dict(zip(names, targets, strict=True))}
        tables |= several if len(new) > 1 else {"X_new": later[0], "y_new": targets[0]}
    if predictions is not None:
        tables["predictions"] = given.rows_of(_predictions(predictions, y), predictions)
    return tables


def _unknown_texts(tables: dict[str, Any], new: list[Path]) -> list[str]:
    """A line for each column of the new rows with text that the table does not have."""
    if not new:
        return []
    later = tables["X_new"].values() if len(new) > 1 else [tables["X_new"]]
    columns = [name for name, kind in kinds_of(tables["X"]).items() if kind == CATEGORY]
    return [
        f"{path}, {line}"
        for path, frame in zip(new, later, strict=True)
        for line in lines_of(unseen_texts(tables["X"], frame, columns))
    ]


def _predictions(path: Path, y: Any) -> Any:
    """The column of predictions; as text, if all of them are values of a target that is text."""
    frame = read_table_file(path)
    name = _column_of_predictions(frame, str(y.name), path)
    if kind_of(y) != NUMBER:
        text = read_table_file(path, {name: CATEGORY})[name]
        if text.dropna().isin(y.dropna().unique()).all():
            return text
    return frame[name]


def _column_of_predictions(frame: Any, target: str, path: Path) -> str:
    """The column named prediction, or like the target, or the only one."""
    for name in ("prediction", "predictions", target):
        if name in frame.columns:
            return name
    if len(frame.columns) == 1:
        return str(frame.columns[0])
    raise DataError(f"{path} has several columns, and none is named 'prediction': rename the one with predictions.")


def _seconds(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", text.strip())
    if match is None or float(match[1]) == 0:
        fail(f"--time-limit {text!r} is not a duration: write 90s, 10m or 1h.")
    return float(match[1]) * UNITS[match[2]]
