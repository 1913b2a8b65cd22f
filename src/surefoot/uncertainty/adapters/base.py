"""A fitted model as a sequence of trees that can be truncated, and the errors for models that cannot."""

from abc import ABC, abstractmethod
from typing import Any

from sklearn.utils.validation import check_is_fitted

from surefoot._exceptions import ParameterError
from surefoot.uncertainty.decomposition import Uncertainty
from surefoot.uncertainty.member_predictions import Members

MIN_MEMBERS = 2


class TreeSequence(ABC):
    """What a virtual ensemble needs to know about a model.

    Parameters
    ----------
    model : fitted model
        The model to truncate.
    n_trees : int
        Number of trees (for several classes: of rounds of trees) that ``predict`` of the model uses.
    noise_advice : str or None
        None if the model was grown with noise; else the parameters that add noise.
    """

    def __init__(self, model: Any, n_trees: int, noise_advice: str | None) -> None:
        self.model = model
        self.n_trees = n_trees
        self.noise_advice = noise_advice

    @property
    def name(self) -> str:
        return type(self.model).__name__

    def member_sizes(self, n_members: int) -> tuple[int, ...]:
        """The number of trees of each member: evenly spaced over the second half, up to all trees."""
        step = self.n_trees // (2 * n_members)
        if step == 0:
            raise self._too_few(n_members, trees_per_member=2)
        return tuple(range(self.n_trees - (n_members - 1) * step, self.n_trees + 1, step))

    def _too_few(self, n_members: int, trees_per_member: int) -> ParameterError:
        needed, possible = trees_per_member * n_members, self.n_trees // trees_per_member
        trees = f"{self.n_trees} tree{'' if self.n_trees == 1 else 's'}"
        start = f"n_members={n_members} needs a model of at least {needed} trees, this {self.name} uses {trees}: "
        if possible < MIN_MEMBERS:
            return ParameterError(f"{start}too few for any virtual ensemble, refit it with at least {needed}.")
        return ParameterError(f"{start}ask for at most {possible} members, or refit it with more trees.")

    @abstractmethod
    def predict_members(self, X: Any, sizes: tuple[int, ...]) -> Members:
        """The predictions of the members with these numbers of trees, from ``member_sizes``."""

    def predict_uncertainty(self, X: Any, sizes: tuple[int, ...], index: Any = None) -> Uncertainty:
        """The uncertainty of the members; ``index`` are the labels of the rows."""
        return self.predict_members(X, sizes).uncertainty(index=index)


def check_fitted(model: Any) -> None:
    """Raise scikit-learn's NotFittedError, with our message, for a model that is not fitted."""
    check_is_fitted(model, msg="model is not fitted: call fit on this %(name)s before making a VirtualEnsemble of it.")


INSTEAD = (
    "Pass a fitted gradient booster of surefoot, scikit-learn, LightGBM, XGBoost or CatBoost, "
    "or a forest of scikit-learn"
)


def refusal(model: Any, why: str, instead: str = INSTEAD) -> ParameterError:
    """The error for a model that cannot be truncated; ``why`` follows the name of its class."""
    return ParameterError(f"model cannot be cut into a virtual ensemble: {type(model).__name__} {why}. {instead}.")


def loss_refusal(model: Any, parameter: str, loss: str, known: tuple[str, ...]) -> ParameterError:
    """The error for a model with a loss that is neither one for classification nor one for regression."""
    return refusal(
        model,
        f"was trained for {parameter}={loss!r}, which surefoot knows neither for classification nor for regression",
        f"Pass one trained for one of {', '.join(known)}",
    )
