"""``surefoot reproduce``: run an experiment of a paper again."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import MofNCompleteColumn, TimeElapsedColumn

from surefoot import SurefootError
from surefoot.cli import INTERRUPTED
from surefoot.cli.console import Bar, fail
from surefoot.cli.outputs import check_output_folder
from surefoot.cli.terminal import echo, echo_line
from surefoot_experiments import EXPERIMENTS
from surefoot_experiments.shift import experiment as shift
from surefoot_experiments.skeleton.run import ENVIRONMENT
from surefoot_experiments.stability import experiment as stability
from surefoot_experiments.uncertainty import experiment as uncertainty
from surefoot_experiments.weak_to_strong import experiment as weak_to_strong
from surefoot_experiments.weak_to_strong.adversarial import DEFAULT_GAMMA, DEFAULT_HYPOTHESES

RUNS: dict[str, Any] = {
    weak_to_strong.NAME: weak_to_strong.run,
    uncertainty.NAME: uncertainty.run,
    stability.NAME: stability.run,
    shift.NAME: shift.run,
}
# The options that not every experiment has, and the names of these parameters in Python.
OWN_OPTIONS = {
    weak_to_strong.NAME: {"seeds": "n_seeds", "gamma": "gamma", "hypotheses": "hypotheses"},
    uncertainty.NAME: {"datasets": "datasets", "parts": "parts", "splits": "n_splits"},
    stability.NAME: {"parts": "parts"},
    shift.NAME: {"datasets": "datasets", "parts": "parts", "splits": "n_splits"},
}


def reproduce(
    experiment: Annotated[
        str | None, typer.Argument(help="Name of the experiment; without it, the experiments are listed.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the data files; default: the environment variable SUREFOOT_DATA.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the results; default: surefoot-results/EXPERIMENT.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Run a small part in a minute or two; this is not the experiment.")
    ] = False,
    jobs: Annotated[int, typer.Option(help="Number of threads; -1: all cores. The results do not depend on it.")] = 1,
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
            help="weak-to-strong: advantage of the adversarial weak learner; the paper does not give it. "
            f"Default: {DEFAULT_GAMMA}."
        ),
    ] = None,
    hypotheses: Annotated[
        int | None,
        typer.Option(
            help="weak-to-strong: number of random hypotheses of the adversarial weak learner; the paper does not give "
            f"it. Default: {DEFAULT_HYPOTHESES}."
        ),
    ] = None,
    datasets: Annotated[
        str | None,
        typer.Option(help="uncertainty, shift: datasets, separated by commas; default: all in the folder."),
    ] = None,
    parts: Annotated[
        str | None,
        typer.Option(
            help=f"Parts to run, separated by commas; uncertainty: {', '.join(uncertainty.PARTS)}; stability: "
            f"{', '.join(stability.PARTS)}; shift: {', '.join(shift.PARTS)}; default: all."
        ),
    ] = None,
    splits: Annotated[
        int | None,
        typer.Option(
            help=f"uncertainty, shift: largest number of splits of a dataset; default: {uncertainty.SPLITS}, "
            f"quick {uncertainty.QUICK_SPLITS}."
        ),
    ] = None,
) -> None:
    """Run an experiment of a paper again. After Ctrl-C, the same command continues where it stopped."""
    if experiment is None:
        return _list_experiments()
    if experiment not in EXPERIMENTS:
        fail(f"there is no experiment {experiment!r}; the experiments are {', '.join(EXPERIMENTS)}.")
    given: dict[str, Any] = {"seeds": seeds, "gamma": gamma, "hypotheses": hypotheses, "splits": splits}
    given |= {"datasets": _split_names(datasets), "parts": _split_names(parts)}
    source = data or (Path(os.environ[ENVIRONMENT]) if os.environ.get(ENVIRONMENT) else None)
    if out is not None:
        check_output_folder("--out", out, "the folder of the data", source)
    shared = {"data": data, "out": out, "quick": quick, "n_jobs": jobs}
    outputs = _run(experiment, {**shared, **_own_options(experiment, given)})
    echo(outputs.summary.read_text(encoding="utf-8"))
    for path in outputs.files:
        echo(f"written: {path}")


def _run(experiment: str, options: dict[str, Any]) -> Any:
    try:
        with Bar(MofNCompleteColumn(), TimeElapsedColumn()) as bar:
            return RUNS[experiment](callback=bar.show, **options)
    except SurefootError as error:
        fail(str(error))
    except KeyboardInterrupt:
        echo_line("stopped. Finished work is kept: the same command continues from there.")
        raise typer.Exit(INTERRUPTED) from None


def _own_options(experiment: str, given: dict[str, Any]) -> dict[str, Any]:
    """The given options as parameters of the experiment; an option of another experiment is refused."""
    own = OWN_OPTIONS[experiment]
    for name, value in given.items():
        if value is not None and name not in own:
            others = [other for other, options in OWN_OPTIONS.items() if name in options]
            known = ", ".join(f"--{option}" for option in own)
            fail(f"--{name} is an option of {' and '.join(others)}; {experiment} has {known}.")
    return {own[name]: value for name, value in given.items() if value is not None}


def _split_names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _list_experiments() -> None:
    for name, description in EXPERIMENTS.items():
        echo(f"{name}  {description}")
