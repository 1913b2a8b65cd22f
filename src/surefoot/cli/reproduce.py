"""``surefoot reproduce``: remake an experiment of a paper."""

from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from surefoot import SurefootError
from surefoot.cli import INTERRUPTED, USER_ERROR
from surefoot.reproduce import EXPERIMENTS, weak_to_strong
from surefoot.reproduce.adversarial import DEFAULT_GAMMA, DEFAULT_HYPOTHESES


def reproduce(
    experiment: Annotated[str | None, typer.Argument(help="Which experiment; without it, they are listed.")] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the data files; default: the environment variable SUREFOOT_DATA.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the results; default: surefoot-results/EXPERIMENT.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="About a minute: fewer rows, rounds, members and seeds. Not the experiment.")
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option(help=f"Number of seeds; default: {weak_to_strong.SEEDS}, quick {weak_to_strong.QUICK_SEEDS}."),
    ] = None,
    gamma: Annotated[
        float, typer.Option(help="Advantage that the adversarial weak learner keeps; the paper does not give it.")
    ] = DEFAULT_GAMMA,
    hypotheses: Annotated[
        int, typer.Option(help="Number of its random hypotheses; the paper does not give it.")
    ] = DEFAULT_HYPOTHESES,
    jobs: Annotated[int, typer.Option(help="Threads; -1: all cores. The results do not depend on it.")] = 1,
) -> None:
    """Remake an experiment of a paper. Stopped with Ctrl-C, the same command goes on where it stopped."""
    if experiment is None:
        return _list_experiments()
    if experiment not in EXPERIMENTS:
        _fail(f"there is no experiment {experiment!r}; there is {', '.join(EXPERIMENTS)}.")
    console = Console(stderr=True)
    try:
        with _progress(console) as progress:
            bar = progress.add_task("reading the data", total=None)
            outputs = weak_to_strong.run(
                data=data, out=out, quick=quick, n_seeds=seeds, gamma=gamma, hypotheses=hypotheses, n_jobs=jobs,
                watch=lambda done, total, label: _show(progress, bar, done, total, label),
            )  # fmt: skip
    except SurefootError as error:
        _fail(str(error))
    except KeyboardInterrupt:
        typer.echo("surefoot: stopped. What was finished is kept: the same command goes on from there.", err=True)
        raise typer.Exit(INTERRUPTED) from None
    typer.echo(outputs.summary.read_text(encoding="utf-8"))
    for path in (outputs.summary, outputs.results, *outputs.figures):
        typer.echo(f"written: {path}")


def _list_experiments() -> None:
    for name, what in EXPERIMENTS.items():
        typer.echo(f"{name}  {what}")


def _progress(console: Console) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def _show(progress: Progress, bar: TaskID, done: int, total: int, label: str) -> None:
    """Move the bar; where there is no terminal to draw it on, write a line instead."""
    progress.update(bar, completed=done, total=total, description=label)
    if progress.disable:
        typer.echo(f"[{done}/{total}] {label}", err=True)


def _fail(message: str) -> NoReturn:
    """One line that says what to do, and the exit code for it."""
    typer.echo(f"surefoot: {message}", err=True)
    raise typer.Exit(USER_ERROR)
