"""``surefoot select``: sets of variables that are stable when a row is dropped."""

import json as json_format
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from surefoot import DataError
from surefoot._atomic_io import write_text
from surefoot._parameters import check_seed
from surefoot.cli.console import failures_in_one_line
from surefoot.cli.dask_cluster import ClusterOption, task_runner
from surefoot.cli.outputs import check_outputs, echo_beside
from surefoot.cli.table_file import MISSING, read_table_file, take_target
from surefoot.report.inputs.table import AuditTable
from surefoot.report.sections.stability.bags import Units
from surefoot.report.sections.stability.column_selection import MAX_CATEGORIES, SelectionFrame
from surefoot.report.sections.stability.findings import StableSet
from surefoot.report.sections.stability.measure import column_set

TOO_LARGE = "Columns have numbers too large, or too small, to be squared: change their units."
NO_COLUMN = f"no column is left to choose from: all have more than {MAX_CATEGORIES} categories."


def select(
    data: Annotated[Path, typer.Argument(help="The table: CSV, TSV, Parquet or Arrow.")],
    target: Annotated[str, typer.Option(help="The column to predict.")],
    task: Annotated[
        str | None, typer.Option(help="binary, classes or regression; detected from the target by default.")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write all numbers to this file as JSON.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the bags of rows.")] = 0,
    jobs: Annotated[int, typer.Option(help="Threads; -1: all cores. The results do not depend on it.")] = -1,
    cluster: ClusterOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors; use with --json.")] = False,
) -> None:
    """Select sets of variables by the LASSO and by small trees, from thousands of bags of rows, with a guarantee.

    Example: surefoot select patients.csv --target outcome
    """
    options = {
        "X": data,
        "y": f"--target {target}",
        "task": "--task",
        "random_state": "--seed",
        "n_jobs": "--jobs",
        "cluster": f"--cluster {cluster}",
    }
    with failures_in_one_line(options):
        check_seed("random_state", seed)
        check_outputs({"--json": json}, {"the table": data})
        with task_runner(cluster) as runner:
            X, y = take_target(read_table_file(data), target, data)
            table = AuditTable.read(X, y, task)
            frame = SelectionFrame.of(table, np.arange(table.n_rows))
            units = Units.of(table.n_rows)
            found = {name: column_set(frame, units, name, jobs, seed, runner) for name in frame.selectors}
        sets = [each for of_selector in found.values() for each in of_selector]
        if not sets:
            raise DataError(TOO_LARGE if found else NO_COLUMN, argument="X")
        if json is not None:
            write_text(json, json_format.dumps([asdict(each) for each in sets], indent=1, allow_nan=False) + "\n")
    if not quiet:
        for line in _left_out(table, [name for name, of_selector in found.items() if not of_selector]):
            echo_beside(line, json)
        echo_beside("\n\n".join(_in_words(each) for each in sets), json)


def _left_out(table: AuditTable, selectors: list[str]) -> list[str]:
    """Lines on rows, columns and selectors that are left out."""
    rows = [f"{remark} {MISSING}" for remark in table.remarks]
    columns = [f"{note.column}: {note.sentence}" for note in table.notes if not note.used]
    return [*rows, *columns, *(f"{name}: left out. {TOO_LARGE}" for name in selectors)]


def _in_words(result: StableSet) -> str:
    """The result of one selector."""
    bags = f"{result.n_bags:,} bags of {result.bag_size:,} rows"
    lines = [
        f"{result.selector} on all rows: {result.single} (chosen by {result.single_weight:.0%} of {bags})",
        f"stable set: {result.stable}",
        result.guarantee,
    ]
    measured = f"{result.instability:.1%} (95% upper limit {result.instability_limit:.1%})"
    lines.append(f"Measured by leaving out {result.n_left_out:,} rows in turn: {measured}.")
    lines += [f"  {weight:6.1%}  {model}" for model, weight in result.models]
    return "\n".join([*lines, *result.remarks])
