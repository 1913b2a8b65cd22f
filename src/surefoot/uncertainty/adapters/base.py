"""A fitted model as a sequence of trees that can be truncated, and the errors for models that cannot."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from surefoot._exceptions import ParameterError
from surefoot.uncertainty.decomposition import Uncertainty
from surefoot.uncertainty.explanations.shap_values import ShapValues
from surefoot.uncertainty.member_predictions import Members
from surefoot.uncertainty.virtual_members import increment_sizes, spread_by_increments

MIN_MEMBERS = 2
MIN_TREES = 4  # two pairs, or two increments of the second half
METHODS = ("auto", "copies", "increments", "truncation")


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

    methods: ClassVar[tuple[str, ...]] = ("increments", "truncation")  # the first is the default
    can_learn_noise: ClassVar[bool] = False

    def __init__(self, model: Any, n_trees: int, noise_advice: str | None) -> None:
        self.model = model
        self.n_trees = n_trees
        self.noise_advice = noise_advice
        self.method = self.methods[0]

    def use(self, method: str, X_train: Any) -> None:
        """Choose how members are made; ``X_train`` are training rows, or None."""
        if method == "copies" or (method == "auto" and X_train is not None):
            if not self.can_learn_noise:
                why = "method='copies' and X_train are" if method == "copies" else "X_train is"
                raise ParameterError(f"{why} for gradient boosters of surefoot, got a {self.name}: leave them out.")
            if X_train is None:
                raise ParameterError("method='copies' needs X_train: pass the training table, or a sample of it.")
            self.learn_noise(X_train)
            self.method = "copies"
            return
        if X_train is not None:
            raise ParameterError(f"X_train is for method='copies', got method={method!r}: leave one of them out.")
        if method != "auto" and method not in self.methods:
            raise ParameterError(f"method={method!r} is for boosters, got a {self.name}: leave it at 'auto'.")
        self.method = self.methods[0] if method == "auto" else method

    def learn_noise(self, X_train: Any) -> None:
        """Learn from training rows how far the model could have come out elsewhere."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        return type(self.model).__name__

    def member_sizes(self, n_members: int) -> tuple[int, ...]:
        """The number of trees of each member: all, or evenly spaced over the second half, up to all trees."""
        if self.method != "truncation":
            if self.n_trees < MIN_TREES:
                message = f"A virtual ensemble needs a model of at least {MIN_TREES} trees, this {self.name} uses "
                raise ParameterError(f"{message}{self.n_trees}: refit it with more.")
            return (self.n_trees,) * n_members
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

    def predict_members(self, X: Any, sizes: tuple[int, ...]) -> Members:
        """The predictions of the members with these numbers of trees, from ``member_sizes``."""
        if self.method != "increments":
            return self.predict_truncated(X, sizes)
        return spread_by_increments(self.predict_truncated(X, increment_sizes(self.n_trees)), len(sizes))

    @abstractmethod
    def predict_truncated(self, X: Any, sizes: tuple[int, ...]) -> Members:
        """The predictions of the model truncated after these numbers of trees."""

    def predict_uncertainty(self, X: Any, sizes: tuple[int, ...], index: Any = None) -> Uncertainty:
        """The uncertainty of the members; ``index`` are the labels of the rows."""
        return self.predict_members(X, sizes).uncertainty(index=index)

    def shap_knowledge(self, X: Any, sizes: tuple[int, ...], background: Any) -> ShapValues:
        """What each column adds to the knowledge uncertainty of the members."""
        raise ParameterError(
            f"shap_knowledge is for gradient boosters of surefoot, got {self.name}: train one, or explain the output "
            "of predict_uncertainty with a method for any model, such as shap's PermutationExplainer."
        )


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
