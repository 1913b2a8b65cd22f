"""``surefoot predict``: predictions and uncertainties for the rows of a table."""

import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from surefoot import DataError, UnknownCategoryWarning, load
from surefoot._atomic_io import whole_file
from surefoot.cli.console import failures_in_one_line
from surefoot.cli.outputs import check_outputs, echo_beside
from surefoot.cli.table_file import read_table_file
from surefoot.cli.unusual_rows import lines_of, outside_range, unseen_categories
from surefoot.report.inputs.column_readers import CATEGORY, DATE, NUMBER, ColumnReader, kind_of

LEVEL = 0.9


def predict(
    model: Annotated[Path, typer.Argument(help="A model file, written by surefoot fit or by surefoot.save.")],
    data: Annotated[Path, typer.Argument(help="The table: CSV, TSV, Parquet or Arrow.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The predictions: CSV, with one line for each row.")],
    jobs: Annotated[int, typer.Option(help="Threads; -1: all cores. The results do not depend on it.")] = -1,
) -> None:
    """Predict every row of a table, with its uncertainty.

    Columns: prediction; for classes, the probability of each class; for regression, low and high of the 90% prediction
    interval; total, data and knowledge uncertainty if the model is an ensemble. Standard error reports how many rows
    have categories that are not in the training data, and how many have numbers outside its range.

    Example: surefoot predict outcome.surefoot new-patients.csv -o predicted.csv
    """
    with failures_in_one_line(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownCategoryWarning)  # unknown categories are counted below
        check_outputs({"--output": output}, {"the model": model, "the table": data})
        fitted = load(model)
        fitted.set_params(n_jobs=jobs)
        rows = rows_for(fitted, data)
        predicted = predictions(fitted, rows)
        with whole_file(output) as stream:
            predicted.to_csv(stream, index=False, mode="wb")
        _warn_of_unusual_rows(rows, fitted._schema)
    echo_beside(f"{len(predicted):,} rows: {output}", output)


def rows_for(model: Any, path: Path) -> Any:
    """The columns that a model was fitted to, with its types: dates as days, text as categories."""
    import pandas as pd

    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise DataError("The model was fitted to an array without column names: predict in Python.")
    kinds = _kinds(names, model._schema)
    frame = read_table_file(path, kinds)
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise DataError(f"{path} lacks the columns {', '.join(map(repr, missing))}, which the model was fitted to.")
    columns = {}
    for name in names:
        kind = kinds.get(name) or (DATE if kind_of(frame[name]) == DATE else NUMBER)
        columns[name] = ColumnReader(name, kind).read(frame[name])
    return pd.DataFrame(columns)


def _kinds(names: Any, schema: Any) -> dict[str, str]:
    """The kind of each column in the model. Older files do not store which numbers were dates: these are left out."""
    kinds = {}
    for position, name in enumerate(names):
        if position in schema.categories:
            kinds[name] = CATEGORY
        elif schema.dates is not None:
            kinds[name] = DATE if position in schema.dates else NUMBER
    return kinds


def _warn_of_unusual_rows(rows: Any, schema: Any) -> None:
    """Report on standard error which rows are unlike the training data."""
    lines = lines_of(unseen_categories(rows, schema), "; they count as missing")
    outside, n_rows = outside_range(rows, schema)
    if outside:
        lines.append(f"{n_rows:,} of {len(rows):,} rows have numbers outside the range of the training data:")
        lines += lines_of(outside)
    for line in lines:
        typer.echo(f"surefoot: {line}", err=True)


def predictions(model: Any, rows: Any) -> Any:
    """A frame with a row for each row."""
    import pandas as pd

    columns: dict[str, Any] = {"prediction": model.predict(rows)}
    if hasattr(model, "predict_proba"):
        probabilities = model.predict_proba(rows)
        columns |= {f"probability of {label}": probabilities[:, k] for k, label in enumerate(model.classes_)}
    if hasattr(model, "predict_distribution"):
        columns["low"], columns["high"] = model.predict_distribution(rows).interval(LEVEL)
    if hasattr(model, "predict_uncertainty"):
        uncertainty = model.predict_uncertainty(rows)
        columns |= {name: getattr(uncertainty, name) for name in ("total", "data", "knowledge")}
    return pd.DataFrame(columns)
