"""``surefoot reproduce``: remake an experiment of a paper."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import MofNCompleteColumn, TimeElapsedColumn

from surefoot import SurefootError
from surefoot.cli import INTERRUPTED
from surefoot.cli.console import Bar, fail
from surefoot.cli.outputs import check_output_folder
from surefoot_experiments import EXPERIMENTS
from surefoot_experiments.shift import experiment as shift
from surefoot_experiments.skeleton.run import ENVIRONMENT
from surefoot_experiments.stability import experiment as stability
from surefoot_experiments.uncertainty import experiment as uncertainty
from surefoot_experiments.weak_to_strong import experiment as weak_to_strong
from surefoot_experiments.weak_to_strong.adversarial import DEFAULT_GAMMA, DEFAULT_HYPOTHESES

RUNS: dict[str, Any] = {
    weak_to_strong.NAME: weak_to_strong.run, uncertainty.NAME: uncertainty.run, stability.NAME: stability.run,
    shift.NAME: shift.run,
}  # fmt: skip
# Options that not every experiment has, and what it calls them.
OWN_OPTIONS = {
    weak_to_strong.NAME: {"seeds": "n_seeds", "gamma": "gamma", "hypotheses": "hypotheses"},
    uncertainty.NAME: {"datasets": "datasets", "parts": "parts", "splits": "n_splits"},
    stability.NAME: {"parts": "parts"},
    shift.NAME: {"datasets": "datasets", "parts": "parts", "splits": "n_splits"},
}


def reproduce(
    experiment: Annotated[str | None, typer.Argument(help="Which experiment; without it, they are listed.")] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the data files; default: the environment variable SUREFOOT_DATA.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the results; default: surefoot-results/EXPERIMENT.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A minute or two: less of everything. Not the experiment.")
    ] = False,
    jobs: Annotated[int, typer.Option(help="Threads; -1: all cores. The results do not depend on it.")] = 1,
    seeds: Annotated[
        int | None,
        typer.Option(
            help=f"weak-to-strong: number of seeds; default: {weak_to_strong.SEEDS}, "
            f"quick {weak_to_strong.QUICK_SEEDS}."
        ),
    ] = None,
    gamma: Annotated[
        float | None,
        typer.Option(
            help="weak-to-strong: advantage that the adversarial weak learner keeps; the paper does not give it. "
            f"Default: {DEFAULT_GAMMA}."
        ),
    ] = None,
    hypotheses: Annotated[
        int | None,
        typer.Option(
            help="weak-to-strong: number of its random hypotheses; the paper does not give it. "
            f"Default: {DEFAULT_HYPOTHESES}."
        ),
    ] = None,
    datasets: Annotated[
        str | None,
        typer.Option(help="uncertainty, shift: datasets to run, with commas between; default: all at hand."),
    ] = None,
    parts: Annotated[
        str | None,
        typer.Option(
            help=f"uncertainty: which of {', '.join(uncertainty.PARTS)}; stability: which of "
            f"{', '.join(stability.PARTS)}; shift: which of {', '.join(shift.PARTS)}; with commas between; "
            "default: all."
        ),
    ] = None,
    splits: Annotated[
        int | None,
        typer.Option(
            help=f"uncertainty, shift: most splits of a dataset; default: {uncertainty.SPLITS}, "
            f"quick {uncertainty.QUICK_SPLITS}."
        ),
    ] = None,
) -> None:
    """Remake an experiment of a paper. Stopped with Ctrl-C, the same command goes on where it stopped."""
    if experiment is None:
        return _list_experiments()
    if experiment not in EXPERIMENTS:
        fail(f"there is no experiment {experiment!r}; there is {', '.join(EXPERIMENTS)}.")
    given: dict[str, Any] = {"seeds": seeds, "gamma": gamma, "hypotheses": hypotheses, "splits": splits}
    given |= {"datasets": _listed(datasets), "parts": _listed(parts)}
    source = data or (Path(os.environ[ENVIRONMENT]) if os.environ.get(ENVIRONMENT) else None)
    if out is not None:
        check_output_folder("--out", out, "the folder of the data", source)
    shared = {"data": data, "out": out, "quick": quick, "n_jobs": jobs}
    outputs = _run(experiment, {**shared, **_own_options(experiment, given)})
    typer.echo(outputs.summary.read_text(encoding="utf-8"))
    for path in outputs.files:
        typer.echo(f"written: {path}")


def _run(experiment: str, options: dict[str, Any]) -> Any:
    try:
        with Bar(MofNCompleteColumn(), TimeElapsedColumn()) as bar:
            return RUNS[experiment](watch=bar.show, **options)
    except SurefootError as error:
        fail(str(error))
    except KeyboardInterrupt:
        typer.echo("surefoot: stopped. What was finished is kept: the same command goes on from there.", err=True)
        raise typer.Exit(INTERRUPTED) from None


def _own_options(experiment: str, given: dict[str, Any]) -> dict[str, Any]:
    """The options that were given, under the names of the experiment; one of another experiment is refused."""
    own = OWN_OPTIONS[experiment]
    for name, value in given.items():
        if value is not None and name not in own:
            others = [other for other, options in OWN_OPTIONS.items() if name in options]
            known = ", ".join(f"--{option}" for option in own)
            fail(f"--{name} is an option of {' and '.join(others)}; {experiment} has {known}.")
    return {own[name]: value for name, value in given.items() if value is not None}


def _listed(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _list_experiments() -> None:
    for name, what in EXPERIMENTS.items():
        typer.echo(f"{name}  {what}")
