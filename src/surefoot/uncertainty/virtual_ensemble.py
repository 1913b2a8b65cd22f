"""An ensemble cut out of a single model."""

from typing import Any

from surefoot._exceptions import NoTrainingNoiseWarning, ParameterError, warn_caller
from surefoot._parameters import check_integer
from surefoot.uncertainty.adapters import adapter_for
from surefoot.uncertainty.adapters.base import MIN_MEMBERS, TreeSequence
from surefoot.uncertainty.adapters.surefoot import OwnModel
from surefoot.uncertainty.decomposition import Uncertainty, row_index
from surefoot.uncertainty.member_predictions import Members


class VirtualEnsemble:
    """An ensemble for the price of one model: the same booster, cut short at several places.

    A booster of T trees grown with noise (Langevin noise, or rows drawn anew for every tree) wanders around its
    optimum. Cut at T - (M-1)K, ..., T - K, T trees, with K = floor(T / (2M)), it gives M models whose disagreement
    tells what the model does not know (Malinin, Prokhorenkova & Ustimenko 2021). They are neighbours on one path, so
    they disagree less than models trained apart: use the numbers to rank rows, not as an error in the target's units. A
    forest is cut into M parts instead.

    Nothing is trained and the model is not changed; after fitting it anew, make a new VirtualEnsemble.

    Parameters
    ----------
    model : fitted model
        A gradient booster of surefoot; GradientBoosting, HistGradientBoosting, RandomForest or ExtraTrees of
        scikit-learn; a classifier, regressor or Booster of LightGBM or XGBoost; a CatBoost model. Only the trees that
        its own ``predict`` uses are looked at (after early stopping: up to the best iteration). Models that predict a
        number without a variance give knowledge uncertainty alone.
    n_members : int, default=10
        At least 2. A booster needs twice as many trees, a forest as many.

    Attributes
    ----------
    members_ : tuple of int
        How many trees each member has (of several classes: rounds of trees).

    Warns
    -----
    NoTrainingNoiseWarning
        The model was grown without noise: the members still differ, but only because training had not come to rest.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import GradientBoostingRegressor
    >>> from surefoot.uncertainty.virtual_ensemble import VirtualEnsemble
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = GradientBoostingRegressor(n_estimators=100, subsample=0.5, random_state=0).fit(X, y)
    >>> ensemble = VirtualEnsemble(model, n_members=5)
    >>> ensemble
    VirtualEnsemble(GradientBoostingRegressor, n_members=5, members_=(60, 70, 80, 90, 100))
    >>> uncertainty = ensemble.predict_uncertainty(X)
    >>> uncertainty.unit, len(uncertainty.knowledge)
    ('target squared', 442)
    >>> ensemble.predict_members(X)
    <RegressionMembers: means of 5 members on 442 rows>
    """

    def __init__(self, model: Any, n_members: int = 10) -> None:
        self.model = model
        self.n_members = check_integer("n_members", n_members, MIN_MEMBERS)
        self._sequence = tree_sequence(model)
        self.members_ = self._sequence.member_sizes(self.n_members)
        if self._sequence.noise_advice is not None:
            warn_caller(
                f"This {self._sequence.name} was grown without noise: its virtual ensemble shows how far training "
                "still moved the predictions, which says less about what the model does not know. Refit it with "
                f"{self._sequence.noise_advice}.",
                NoTrainingNoiseWarning,
            )

    def __repr__(self) -> str:
        return f"VirtualEnsemble({self._sequence.name}, n_members={self.n_members}, members_={self.members_})"

    def predict_members(self, X: Any) -> Members:
        """What each member predicts.

        Parameters
        ----------
        X : table
            Whatever the model's own ``predict`` takes.

        Returns
        -------
        RegressionMembers or ClassificationMembers
            ``means`` and ``variances`` of shape (n_members, n_rows), or ``probabilities`` of shape
            (n_members, n_rows, n_classes) and the ``classes``; the last member of a booster is the whole model.
        """
        return self._sequence.predict_members(X, self.members_)

    def predict_uncertainty(self, X: Any) -> Uncertainty:
        """How uncertain the prediction of each row is: total, data and knowledge.

        Parameters
        ----------
        X : table
            Whatever the model's own ``predict`` takes.

        Returns
        -------
        Uncertainty
        """
        return self._sequence.predict_uncertainty(X, self.members_, row_index(X))


def tree_sequence(model: Any) -> TreeSequence:
    """The model as a sequence of trees, or an error that says why it is none and what to pass instead."""
    if isinstance(model, type):
        raise ParameterError(f"model must be a fitted model, got the class {model.__name__}: make one and fit it.")
    return OwnModel(model) if hasattr(model, "_member_raw") else adapter_for(model)
