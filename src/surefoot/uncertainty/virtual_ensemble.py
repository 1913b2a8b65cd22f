"""An ensemble of truncated versions of a single model."""

from typing import Any

from surefoot._exceptions import NoTrainingNoiseWarning, ParameterError, warn_caller
from surefoot._parameters import check_integer
from surefoot.uncertainty.adapters import adapter_for
from surefoot.uncertainty.adapters.base import MIN_MEMBERS, TreeSequence
from surefoot.uncertainty.adapters.surefoot import OwnModel
from surefoot.uncertainty.decomposition import Uncertainty, row_index
from surefoot.uncertainty.member_predictions import Members


class VirtualEnsemble:
    """An ensemble for the cost of one model: the same booster, truncated at several numbers of trees.

    A booster of T trees grown with noise (Langevin noise, or other rows drawn for every tree) moves around its optimum.
    Truncated after T - (M-1)K, ..., T - K, T trees, with K = floor(T / (2M)), it gives M models. Their disagreement
    measures knowledge uncertainty (Malinin, Prokhorenkova & Ustimenko 2021). They are from a single run of training, so
    they disagree less than models trained independently: use the numbers to rank rows, not as an error in the target's
    units. A forest is divided into M parts instead.

    Nothing is trained and the model is not changed; after fitting it again, make a new VirtualEnsemble.

    Parameters
    ----------
    model : fitted model
        A gradient booster of surefoot; GradientBoosting, HistGradientBoosting, RandomForest or ExtraTrees of
        scikit-learn; a classifier, regressor or Booster of LightGBM or XGBoost; a CatBoost model. Only the trees that
        its own ``predict`` uses are used (after early stopping: up to the best iteration). Models that predict a number
        without a variance give only knowledge uncertainty.
    n_members : int, default=10
        At least 2. A booster needs twice as many trees, a forest as many.

    Attributes
    ----------
    members_ : tuple of int
        Number of trees of each member (for several classes: of rounds of trees).

    Warns
    -----
    NoTrainingNoiseWarning
        The model was grown without noise: the members still differ, but only because training had not converged.

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
                f"This {self._sequence.name} was grown without noise: the members of its virtual ensemble differ only "
                "because training had not converged, which says less about knowledge uncertainty. Refit it with "
                f"{self._sequence.noise_advice}.",
                NoTrainingNoiseWarning,
            )

    def __repr__(self) -> str:
        return f"VirtualEnsemble({self._sequence.name}, n_members={self.n_members}, members_={self.members_})"

    def predict_members(self, X: Any) -> Members:
        """Predict with each member.

        Parameters
        ----------
        X : table
            Any input that ``predict`` of the model accepts.

        Returns
        -------
        RegressionMembers or ClassificationMembers
            ``means`` and ``variances`` of shape (n_members, n_rows), or ``probabilities`` of shape
            (n_members, n_rows, n_classes) and the ``classes``; the last member of a booster is the full model.
        """
        return self._sequence.predict_members(X, self.members_)

    def predict_uncertainty(self, X: Any) -> Uncertainty:
        """Predict how uncertain every row is: total, data and knowledge uncertainty.

        Parameters
        ----------
        X : table
            Any input that ``predict`` of the model accepts.

        Returns
        -------
        Uncertainty
            In nats for classifiers, in units of the target squared for regressors.
        """
        return self._sequence.predict_uncertainty(X, self.members_, row_index(X))


def tree_sequence(model: Any) -> TreeSequence:
    """The model as a sequence of trees, or an error that names the reason and what to pass instead."""
    if isinstance(model, type):
        raise ParameterError(f"model must be a fitted model, got the class {model.__name__}: make one and fit it.")
    return OwnModel(model) if hasattr(model, "_member_raw") else adapter_for(model)
