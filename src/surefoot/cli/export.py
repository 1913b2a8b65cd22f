"""``surefoot export``: a model file for other programs."""

from pathlib import Path
from typing import Annotated

import typer

from surefoot import ParameterError, dump_model, load, to_onnx
from surefoot.cli.console import fail, failures_in_one_line
from surefoot.cli.outputs import check_outputs, echo_beside

ONNX, JSON = ".onnx", ".json"


def export(
    model: Annotated[Path, typer.Argument(help="A model file, written by surefoot fit or by surefoot.save.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file: .onnx, or .json for the trees as text.")],
    outputs: Annotated[
        str | None, typer.Option(help="Outputs of the ONNX model, separated by commas, such as prediction,std.")
    ] = None,
    quantiles: Annotated[
        str | None, typer.Option(help="Levels of quantiles that are further outputs, such as 0.05,0.95.")
    ] = None,
    float32: Annotated[bool, typer.Option("--float32", help="Inputs and outputs of 32 bits; the default: 64.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Write a gradient booster as an ONNX model, or its trees as JSON.

    Example: surefoot export outcome.surefoot -o outcome.onnx
    """
    options = {"outputs": "--outputs", "quantiles": "--quantiles", "model": "the model", "dtype": "--float32"}
    with failures_in_one_line(options):
        check_outputs({"--output": output}, {"the model": model})
        suffix = output.suffix.lower()
        if suffix not in (ONNX, JSON):
            raise ParameterError(f"{output} must end in {ONNX} or {JSON}: name another file.")
        if suffix == JSON:
            if outputs or quantiles or float32:
                raise ParameterError(f"--outputs, --quantiles and --float32 are for {ONNX}: leave them out.")
            dump_model(load(model), output)
        else:
            names = None if outputs is None else [name.strip() for name in outputs.split(",")]
            dtype = "float32" if float32 else "float64"
            try:
                to_onnx(load(model), output, outputs=names, quantiles=_levels(quantiles), dtype=dtype)
            except ImportError as error:
                fail(str(error))
    if not quiet:
        echo_beside(f"The model: {output}", output)


def _levels(quantiles: str | None) -> list[float]:
    try:
        return [] if quantiles is None else [float(level) for level in quantiles.split(",")]
    except ValueError as error:
        message = f"quantiles must be numbers separated by commas, got {quantiles!r}."
        raise ParameterError(message, argument="quantiles") from error
