"""``surefoot predict``: predictions and uncertainties for the rows of a table."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from surefoot import DataError, UnknownCategoryWarning, load
from surefoot._atomic_io import whole_file
from surefoot.cli.console import failures_in_one_line
from surefoot.cli.csv_text import as_plain_text
from surefoot.cli.dask_cluster import ClusterOption, cluster_client
from surefoot.cli.dask_tables import predict_on
from surefoot.cli.outputs import check_outputs, echo_beside
from surefoot.cli.table_batches import is_read_in_batches, kinds_of_types, read_batches, read_rows, require_columns
from surefoot.cli.table_file import read_table_file, with_kinds
from surefoot.cli.terminal import echo_line
from surefoot.cli.unusual_rows import UnusualRows, lines_of
from surefoot.data.record_batches import RecordBatches
from surefoot.report.inputs.column_readers import CATEGORY, DATE, NUMBER, ColumnReader, kind_of

LEVEL = 0.9


def predict(
    model: Annotated[Path, typer.Argument(help="A model file, written by surefoot fit or by surefoot.save.")],
    data: Annotated[Path, typer.Argument(help="The table: CSV, TSV, Parquet or Arrow, or a folder of Parquet files.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The predictions: CSV, with one line for each row.")],
    jobs: Annotated[int, typer.Option(help="Threads; -1: all cores. The results do not depend on it.")] = -1,
    cluster: ClusterOption = None,
    keep_formulas: Annotated[
        bool,
        typer.Option(
            "--keep-formulas",
            help="Write labels as they are. By default, labels that a spreadsheet would run as formulas begin with '.",
        ),
    ] = False,
) -> None:
    """Predict every row of a table, with its uncertainty.

    Columns: prediction; for classes, the probability of each class; for regression, low and high of the 90% prediction
    interval; total, data and knowledge uncertainty if the model is an ensemble. Standard error reports how many rows
    have categories that are not in the training data, and how many have numbers outside its range.

    Parquet and Arrow files are read and predicted in batches, so they may be larger than memory.

    Example: surefoot predict outcome.surefoot new-patients.csv -o predicted.csv
    """
    with failures_in_one_line({"cluster": f"--cluster {cluster}", "n_jobs": "--jobs"}), warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownCategoryWarning)  # unknown categories are counted below
        check_outputs({"--output": output}, {"the model": model, "the table": data})
        fitted = load(model)
        fitted.set_params(n_jobs=jobs)
        unusual = UnusualRows(fitted._schema)
        with cluster_client(cluster) as client, whole_file(output) as stream:
            for rows, predicted in _predicted(fitted, data, client):
                written = predicted if keep_formulas else as_plain_text(predicted)
                written.to_csv(stream, index=False, mode="wb", header=not unusual.n_rows)
                unusual.count(rows)
        _report(unusual)
    echo_beside(f"{unusual.n_rows:,} rows: {output}", output)


def _predicted(model: Any, path: Path, client: Any) -> Iterator[tuple[Any, Any]]:
    """The rows to predict and their predictions, frame by frame; with a client, workers of its cluster predict."""
    if client is not None:
        yield from predict_on(client, model, predictions, rows_for(model, path))
        return
    for rows in rows_for(model, path):
        yield rows, predictions(model, rows)


def rows_for(model: Any, path: Path) -> Iterator[Any]:
    """The rows to predict in one or several frames, with the types of the model: dates as days, text as categories."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise DataError("The model was fitted to an array without column names: predict in Python.")
    kinds = _kinds(names, model._schema)
    if is_read_in_batches(path):
        batches = RecordBatches.of(path)
        require_columns(names, batches.names, path)
        kinds |= kinds_of_types(batches, [name for name in names if name not in kinds])
        if len(kinds) == len(names):
            yield from read_batches(batches, {name: kinds[name] for name in names}, path)
            return
        _require_file(path, [name for name in names if name not in kinds])
    yield rows_of(model, read_table_file(path, kinds), path)


def rows_of(model: Any, frame: Any, source: Path) -> Any:
    """The rows of a frame from a file, with the types of the model."""
    names = model.feature_names_in_
    kinds = _kinds(names, model._schema)
    require_columns(names, frame.columns, source)
    typed = with_kinds(frame[list(names)], kinds, source)
    return read_rows(typed, {name: ColumnReader(name, kinds.get(name) or _kind(typed[name])) for name in names})


def _require_file(path: Path, unknown: list[str]) -> None:
    """Raise an error for a folder with columns of text that may have been dates or numbers in the training data."""
    if path.is_dir():
        raise DataError(
            f"The column {unknown[0]!r} in {path} is text, and the model does not store whether it was a date: make it "
            "a number or a date."
        )


def _kind(series: Any) -> str:
    return DATE if kind_of(series) == DATE else NUMBER


def _kinds(names: Any, schema: Any) -> dict[str, str]:
    """The kind of each column in the model. Older files do not store which numbers were dates: these are left out."""
    kinds = {}
    for position, name in enumerate(names):
        if position in schema.categories:
            kinds[name] = CATEGORY
        elif schema.dates is not None:
            kinds[name] = DATE if position in schema.dates else NUMBER
    return kinds


def _report(unusual: UnusualRows) -> None:
    """Report on standard error how many rows are unlike the training data."""
    lines = lines_of(unusual.unseen_categories(), "; they count as missing")
    if unusual.n_outside:
        rows = f"{unusual.n_outside:,} of {unusual.n_rows:,} rows"
        lines.append(f"{rows} have numbers outside the range of the training data:")
        lines += lines_of(unusual.outside_range())
    for line in lines:
        echo_line(line)


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
