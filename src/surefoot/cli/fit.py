"""``surefoot fit``: train an ensemble with uncertainty, and save it to a file."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from surefoot import ParameterError, save
from surefoot.cli.console import failures_in_one_line
from surefoot.cli.outputs import check_outputs, echo_beside
from surefoot.cli.table_file import read_table_file, take_target
from surefoot.report.inputs.column_readers import DATE
from surefoot.report.inputs.table import AuditTable
from surefoot.report.inputs.target import Target
from surefoot.report.models.candidate_models import new_ensemble


def fit(
    data: Annotated[Path, typer.Argument(help="The table: CSV, TSV, Parquet or Arrow.")],
    target: Annotated[str, typer.Option(help="The column to predict.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file, such as model.surefoot.")],
    task: Annotated[
        str | None, typer.Option(help="binary, classes or regression; detected from the target by default.")
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="sgb or sglb; by default sgb for classes, sglb for regression.")
    ] = None,
    distribution: Annotated[
        str | None,
        typer.Option(
            help="For regression: normal (default), lognormal, laplace, student_t, poisson (for counts) or gamma."
        ),
    ] = None,
    members: Annotated[int, typer.Option(help="Number of models in the ensemble.")] = 10,
    seed: Annotated[int, typer.Option(help="Seed of all random numbers.")] = 0,
    jobs: Annotated[int, typer.Option(help="Threads; -1: all cores. The model does not depend on it.")] = -1,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Train an ensemble of gradient boosters on a table, and save it to a file that is safe to share.

    Example: surefoot fit patients.csv --target outcome -o outcome.surefoot
    """
    options = {
        "X": data,
        "y": f"--target {target}",
        "task": "--task",
        "method": "--method",
        "distribution": "--distribution",
        "n_members": "--members",
        "random_state": "--seed",
    }
    with failures_in_one_line(options):
        check_outputs({"--output": output}, {"the table": data})
        X, y = take_target(read_table_file(data), target, data)
        table = AuditTable.read(X, y, task)
        settings: dict[str, Any] = {
            "n_members": members,
            "random_state": seed,
            "n_jobs": jobs,
            "verbose": int(not quiet),
        }
        if distribution is not None:
            settings["distribution"] = _for_regression(distribution, table.target)
        model = new_ensemble(table.target, method, **settings)
        model.fit(table.frame, table.target.labels)
        model._schema = replace(model._schema, dates=_dates(table))
        save(model, output)
    if not quiet:
        for note in table.notes:
            echo_beside(f"{note.column}: {note.sentence}", output)
        if distribution is None and _are_counts(table.target):
            echo_beside(f"{target!r} contains counts: --distribution poisson would predict them as counts.", output)
        summary = f"{type(model).__name__} with {members} members for {target!r} ({table.target.sentence})"
        echo_beside(f"{summary}: {output}", output)


def _dates(table: AuditTable) -> frozenset[int]:
    """Positions of the columns that were dates, so that later tables are read in the same way."""
    return frozenset(j for j, reader in enumerate(table.readers) if reader.kind == DATE)


def _for_regression(distribution: str, target: Target) -> str:
    if target.is_classes:
        message = f"{distribution} is for regression, but the target has classes: leave the option out."
        raise ParameterError(message, argument="distribution")
    return distribution


def _are_counts(target: Target) -> bool:
    """Whether all numbers are whole and none is negative."""
    return not target.is_classes and bool((target.y >= 0).all() and (target.y == target.y.round()).all())
