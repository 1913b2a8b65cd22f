"""An ensemble made from a single model."""

from typing import Any

from surefoot._exceptions import NoTrainingNoiseWarning, ParameterError, warn_caller
from surefoot._fitted_state import current_fit
from surefoot._parameters import check_choice, check_integer
from surefoot.uncertainty.adapters import adapter_for
from surefoot.uncertainty.adapters.base import METHODS, MIN_MEMBERS, TreeSequence
from surefoot.uncertainty.adapters.surefoot import OwnModel
from surefoot.uncertainty.decomposition import Uncertainty, row_index
from surefoot.uncertainty.explanations.shap_values import ShapValues
from surefoot.uncertainty.member_predictions import Members


class VirtualEnsemble:
    """An ensemble for the cost of one model: copies of a booster that differ by the noise of its training.

    A booster grown with noise (Langevin noise, noise in the choice of splits, or other rows drawn for every tree) could
    have come out elsewhere. How far, for each row, is its knowledge uncertainty. It can be read off the trees of a
    single model:

    - ``method="copies"``: two trees in turn would be nearly equal but for noise. Copies of the model get their
      differences with other signs, and the trees after them correct the copies as they would have done in training.
      This takes training rows, ``X_train``. Members differ by about as much as models trained independently.
    - ``method="increments"``: what the model gains from every few trees in the second half of training, less the mean
      gain, with other signs. This takes no training rows. Use it to rank rows, not as an error in the target's units.
    - ``method="truncation"``: the model truncated at several numbers of trees (Malinin, Prokhorenkova & Ustimenko
      2021). Unless training has converged, the members differ mostly by how far training had come.

    A forest is divided into M parts instead. Nothing is trained and the model is not changed; after fitting it again,
    make a new VirtualEnsemble.

    Parameters
    ----------
    model : fitted model
        A gradient booster of surefoot; GradientBoosting, HistGradientBoosting, RandomForest or ExtraTrees of
        scikit-learn; a classifier, regressor or Booster of LightGBM or XGBoost; a CatBoost model. Only the trees that
        its own ``predict`` uses are used (after early stopping: up to the best iteration). Models that predict a number
        without a variance give only knowledge uncertainty.
    n_members : int, default=10
        At least 2. With ``method="truncation"``, a booster needs twice as many trees; a forest needs as many.
    method : {"auto", "copies", "increments", "truncation"}, default="auto"
        How members are made; "auto": "copies" if there is an ``X_train``, else "increments".
    X_train : table, default=None
        The training table of the model, or a sample of some thousand of its rows (at most 10,000 are used). For
        gradient boosters of surefoot.

    Attributes
    ----------
    members_ : tuple of int
        Number of trees of each member (for several classes: of rounds of trees).
    method_ : str
        How members are made; "parts" for a forest.

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
    VirtualEnsemble(GradientBoostingRegressor, n_members=5, method='increments')
    >>> uncertainty = ensemble.predict_uncertainty(X)
    >>> uncertainty.unit, len(uncertainty.knowledge)
    ('target squared', 442)
    >>> ensemble.predict_members(X)
    <RegressionMembers: means of 5 members on 442 rows>
    """

    def __init__(self, model: Any, n_members: int = 10, *, method: str = "auto", X_train: Any = None) -> None:
        self.model = model
        self.n_members = check_integer("n_members", n_members, MIN_MEMBERS)
        self.method = check_choice("method", method, METHODS)
        self._sequence = tree_sequence(model)
        self._sequence.use(method, X_train)
        self.method_ = self._sequence.method
        self.members_ = self._sequence.member_sizes(self.n_members)
        if self._sequence.noise_advice is not None:
            warn_caller(
                f"This {self._sequence.name} was grown without noise: the members of its virtual ensemble differ only "
                "because training had not converged, which says less about knowledge uncertainty. Refit it with "
                f"{self._sequence.noise_advice}.",
                NoTrainingNoiseWarning,
            )

    def __repr__(self) -> str:
        return f"VirtualEnsemble({self._sequence.name}, n_members={self.n_members}, method={self.method_!r})"

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
            (n_members, n_rows, n_classes) and the ``classes``. Each member is as far from the model, in every row, as a
            draw of a normal distribution. It is on the same side in all rows, so means over rows differ more between
            members than between independent models. With ``method="truncation"``, the last member is the model.
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

    def shap_knowledge(self, X: Any, *, background: Any = None) -> ShapValues:
        """Compute how much each column adds to the knowledge uncertainty of every row.

        For gradient boosters of surefoot and ``method="truncation"`` only, as in ``BoostingEnsembleRegressor``.

        Parameters
        ----------
        X : table
            Any input that ``predict`` of the model accepts.
        background : table, default=None
            As in ``shap_values`` of the model.

        Returns
        -------
        ShapValues
            The values of a row and ``base_value`` add up to ``predict_uncertainty(X).knowledge``.
        """
        return self._sequence.shap_knowledge(X, self.members_, background)


def tree_sequence(model: Any) -> TreeSequence:
    """The model as a sequence of trees, or an error that names the reason and what to pass instead."""
    if isinstance(model, type):
        raise ParameterError(f"model must be a fitted model, got the class {model.__name__}: make one and fit it.")
    return OwnModel(current_fit(model)) if hasattr(model, "_member_raw") else adapter_for(model)
