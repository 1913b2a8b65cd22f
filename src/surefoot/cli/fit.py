"""``surefoot fit``: train an ensemble with uncertainty, and save it to a file."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import TimeElapsedColumn

from surefoot import ParameterError, save
from surefoot._parameters import check_seed
from surefoot.cli.console import Bar, failures_in_one_line
from surefoot.cli.dask_cluster import ClusterOption, cluster_client
from surefoot.cli.dask_tables import ClusterTable
from surefoot.cli.large_table import LargeTable, is_large
from surefoot.cli.outputs import check_outputs, echo_beside
from surefoot.cli.table_batches import is_read_in_batches
from surefoot.cli.table_file import MISSING, read_table_file, take_target
from surefoot.cli.terminal import echo
from surefoot.data.table_folder import has_bins
from surefoot.report.inputs.column_readers import DATE
from surefoot.report.inputs.table import AuditTable
from surefoot.report.inputs.target import Target
from surefoot.report.models.candidate_models import new_ensemble
from surefoot.uncertainty.stored_rows import SHARD_ROWS, prepared_table
from surefoot.uncertainty.training_table import SET_CATEGORIES


def fit(
    data: Annotated[Path, typer.Argument(help="The table: CSV, TSV, Parquet or Arrow, or a folder of Parquet files.")],
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
            help="For regression: normal (default), lognormal, laplace, student_t or gamma; for counts: poisson, "
            "negative_binomial or zero_inflated_poisson."
        ),
    ] = None,
    members: Annotated[int, typer.Option(help="Number of models in the ensemble.")] = 10,
    seed: Annotated[int, typer.Option(help="Seed of all random numbers.")] = 0,
    jobs: Annotated[int, typer.Option(help="Threads; -1: all cores. The model does not depend on it.")] = -1,
    folder: Annotated[
        Path | None,
        typer.Option(
            help="A folder that keeps the bins of a Parquet or Arrow table, and the trees so far: after a stop, the "
            "same command continues."
        ),
    ] = None,
    cluster: ClusterOption = None,
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
        "n_jobs": "--jobs",
        "folder": "--folder",
        "cluster": f"--cluster {cluster}",
    }
    with failures_in_one_line(options, lambda: _what_is_left(folder)):
        check_seed("random_state", seed)
        check_outputs({"--output": output}, {"the table": data})
        settings: dict[str, Any] = {
            "n_members": members,
            "random_state": seed,
            "n_jobs": jobs,
            "verbose": int(not quiet),
        }
        if distribution is not None:
            settings["distribution"] = distribution
        with cluster_client(cluster) as client:
            train = _training_for(data, folder, client)
            model, table, kept = train(data, target, task, method, settings)
        model._schema = replace(model._schema, dates=_dates(table))
        save(model, output)
    if not quiet:
        for remark in table.remarks:
            echo_beside(f"{remark} {MISSING}", output)
        for note in table.notes:
            echo_beside(f"{note.column}: {note.sentence}", output)
        if distribution is None and _are_counts(kept):
            echo_beside(f"{target!r} contains counts: --distribution poisson would predict them as counts.", output)
        summary = f"{type(model).__name__} with {members} members for {target!r} ({kept.sentence})"
        echo_beside(f"{summary}: {output}", output)


def _training_for(data: Path, folder: Path | None, client: Any) -> Any:
    """How a table is trained on: in memory, in files, or on a cluster."""
    if client is not None:
        if folder is not None:
            raise ParameterError("the bins of a table on a cluster are not kept: leave it out.", argument="folder")
        return partial(_train_on, client=client)
    if folder is not None or is_large(data):
        return partial(_train_in_batches, folder=folder)
    return _train


def _train(
    data: Path, name: str, task: str | None, method: str | None, settings: dict[str, Any]
) -> tuple[Any, AuditTable, Target]:
    """A model of a table in memory, the table, and its target."""
    X, y = take_target(read_table_file(data), name, data)
    table = AuditTable.read(X, y, task)
    model = _new_model(table.target, method, settings)
    model.fit(table.frame, table.target.labels)
    return model, table, table.target


def _train_in_batches(
    data: Path, name: str, task: str | None, method: str | None, settings: dict[str, Any], folder: Path | None
) -> tuple[Any, AuditTable, Target]:
    """A model of a table that need not fit in memory, the sample that decides how it is read, and its target."""
    if data.exists() and not is_read_in_batches(data):
        message = f"the bins of {data.name} are not kept: that is for Parquet and Arrow tables. Leave the option out."
        raise ParameterError(message, argument="folder")
    table = LargeTable.read(data, name, task)
    if folder is not None and settings["verbose"] and has_bins(folder):
        echo(f"{folder} has the bins of an earlier run, which are used again.", err=True)
    with Bar(TimeElapsedColumn(), quiet=not settings["verbose"]) as bar:
        stored = table.store(
            max_categories=SET_CATEGORIES,
            shard_rows=SHARD_ROWS,
            n_jobs=settings["n_jobs"],
            callback=bar.show_fraction,
            folder=folder,
            keep=folder is not None,
        )
    with stored:
        target = table.target_of(stored, task)
        model = _new_model(target, method, settings)
        model.fit(prepared_table(stored, settings["n_jobs"]), target.labels)
    return model, table.sample, target


def _train_on(
    data: Path, name: str, task: str | None, method: str | None, settings: dict[str, Any], client: Any
) -> tuple[Any, AuditTable, Target]:
    """The same model, trained on the workers of a cluster."""
    from surefoot import dask

    table = ClusterTable.read(data, name, task)
    local = _new_model(table.target, method, settings)
    model = getattr(dask, type(local).__name__)(client=client, **local.get_params(deep=False))
    return model.fit(table.X, table.y).to_local(), table.sample, table.target


def _what_is_left(folder: Path | None) -> str:
    """What Ctrl-C leaves in the folder of bins."""
    if folder is None or not has_bins(folder):
        return "nothing was written."
    return f"the bins of the table and the trees so far are in {folder}. The same command continues from there."


def _new_model(target: Target, method: str | None, settings: dict[str, Any]) -> Any:
    """An ensemble for a target, with settings that suit it."""
    if "distribution" in settings:
        _for_regression(settings["distribution"], target)
    return new_ensemble(target, method, **settings)


def _dates(table: AuditTable) -> frozenset[int]:
    """Positions of the columns that were dates, so that later tables are read in the same way."""
    return frozenset(j for j, reader in enumerate(table.readers) if reader.kind == DATE)


def _for_regression(distribution: str, target: Target) -> None:
    if target.is_classes:
        message = f"{distribution} is for regression, but the target has classes: leave the option out."
        raise ParameterError(message, argument="distribution")


def _are_counts(target: Target) -> bool:
    """Whether all numbers are whole and none is negative."""
    return not target.is_classes and bool((target.y >= 0).all() and (target.y == target.y.round()).all())
