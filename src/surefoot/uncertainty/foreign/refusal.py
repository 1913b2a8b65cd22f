"""Why a model is refused, and what to pass instead."""

from typing import Any

from surefoot._exceptions import ParameterError

INSTEAD = (
    "Pass a fitted gradient booster of surefoot, scikit-learn, LightGBM, XGBoost or CatBoost, "
    "or a forest of scikit-learn"
)


def refusal(model: Any, why: str, instead: str = INSTEAD) -> ParameterError:
    """The error for a model that cannot be cut short; ``why`` goes on after the name of its class."""
    return ParameterError(f"model cannot be cut into a virtual ensemble: {type(model).__name__} {why}. {instead}.")


def loss_refusal(model: Any, parameter: str, loss: str, known: tuple[str, ...]) -> ParameterError:
    """The error for a model trained for a loss that does not tell whether it has learnt classes or a number."""
    return refusal(
        model,
        f"was trained for {parameter}={loss!r}, in which surefoot sees neither classes nor a regression",
        f"Pass one trained for one of {', '.join(known)}",
    )
