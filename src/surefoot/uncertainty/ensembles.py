"""Ensembles of gradient boosters that differ by chance: where they disagree, they do not know."""

from collections.abc import Sequence
from typing import Any

from surefoot._exceptions import ParameterError
from surefoot._parameters import check_choice, check_integer, check_number
from surefoot.uncertainty.adapters.surefoot import members_uncertainty
from surefoot.uncertainty.base import SHARED
from surefoot.uncertainty.classification import ClassificationBooster
from surefoot.uncertainty.decomposition import Uncertainty, row_index
from surefoot.uncertainty.families import ClassificationFamily, RegressionFamily
from surefoot.uncertainty.gradient_boosting import GradientBoostingClassifier, GradientBoostingRegressor
from surefoot.uncertainty.member import Member
from surefoot.uncertainty.regression import RegressionBooster
from surefoot.uncertainty.single import ResumableBooster


class EnsembleBooster(ResumableBooster):
    """Several models on one table, each with its own draws of rows or noise."""

    method: str
    n_members: int

    @property
    def _uses_langevin(self) -> bool:
        return self.method == "sglb"

    @property
    def _row_share(self) -> float:
        if self.subsample is None:
            return 1.0 if self.method == "sglb" else 0.5
        return float(self.subsample)

    def _check_parameters(self) -> None:
        check_choice("method", self.method, ("sglb", "sgb"))
        check_integer("n_members", self.n_members, 1)
        if self.subsample is not None:
            check_number("subsample", self.subsample, 0, 1, most_included=True)
        if self.method == "sgb" and self._row_share == 1.0:
            raise ParameterError("subsample must be below 1 with method='sgb': else all members are the same.")
        super()._check_parameters()

    @property
    def _n_members(self) -> int:
        return int(self.n_members)

    def _member_parameters(self) -> dict[str, Any]:
        """Parameters of one of the members as a model of its own."""
        shared = {name: getattr(self, name) for name in (*SHARED, "temperature")}
        return {**shared, "subsample": self._row_share, "langevin": self._uses_langevin}

    def _new_member(self) -> Any:
        raise NotImplementedError

    def _uncertainty(self, X: Any) -> Uncertainty:
        columns = self._columns(X)  # first of all: it says so if the model is not fitted
        return members_uncertainty(self._members, self.family_, columns, self.n_jobs, index=row_index(X))

    def _adopt(self, family: RegressionFamily | ClassificationFamily, members: Sequence[Member]) -> None:
        self.family_ = family
        self._members = list(members)
        self.estimators_ = []
        for member in members:
            estimator = self._new_member()
            for name in ("n_features_in_", "feature_names_in_", "_schema", "classes_"):
                if hasattr(self, name):
                    setattr(estimator, name, getattr(self, name))
            estimator._adopt(family, [member])
            self.estimators_.append(estimator)


class BoostingEnsembleRegressor(EnsembleBooster, RegressionBooster):
    """An ensemble of probabilistic gradient boosters (Malinin, Prokhorenkova & Ustimenko 2021).

    The members are trained on the same rows and differ by chance alone. What they agree on is known; their
    disagreement is uncertainty of knowledge, which more data could take away, as opposed to the noise of the data.
    Unless ``early_stopping`` is False or there are ``X_val, y_val``, models on trial hold rows out to find the number
    of trees and the scale; the members then learn from all rows, for exactly so many rounds. So a chain of Langevin
    noise does not run until it overfits, unless it has a ``temperature`` of its own and is to sample.

    Parameters
    ----------
    method : {"sglb", "sgb"}, default="sglb"
        Where chance comes in: Langevin noise in the leaves, or rows drawn anew for each tree.
    n_members : int, default=10
        Models to train.
    subsample : float, default=None
        Probability with which each row takes part in a tree; None: 0.5 for ``"sgb"``, 1 for ``"sglb"``.
    learning_rate : float, default=0.15
        More than for a single model: the mean of ten is as accurate as with 0.1, and takes a third fewer trees.

    The other parameters are those of :class:`GradientBoostingRegressor`.

    Attributes
    ----------
    estimators_ : list of GradientBoostingRegressor
        The members.
    feature_importances_ : array of shape (n_columns,)

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from surefoot import BoostingEnsembleRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BoostingEnsembleRegressor(n_members=3, n_estimators=50, random_state=0).fit(X, y)
    >>> model.predict_uncertainty(X).unit
    'target squared'
    """

    def __init__(
        self,
        *,
        method: str = "sglb",
        n_members: int = 10,
        subsample: float | None = None,
        distribution: Any = "normal",
        n_estimators: int = 3000,
        learning_rate: float = 0.15,
        max_depth: int = 6,
        grow_policy: str = "symmetric",
        min_samples_leaf: int = 1,
        l2_regularization: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        temperature: float | None = None,
        early_stopping: Any = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 50,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_estimators=n_estimators, learning_rate=learning_rate, max_depth=max_depth, grow_policy=grow_policy,
            min_samples_leaf=min_samples_leaf, l2_regularization=l2_regularization, max_bins=max_bins,
            categorical_features=categorical_features, monotonic_cst=monotonic_cst, early_stopping=early_stopping,
            validation_fraction=validation_fraction, n_iter_no_change=n_iter_no_change, subsample=subsample,
            temperature=temperature, random_state=random_state, n_jobs=n_jobs, verbose=verbose,
        )  # fmt: skip
        self.method = method
        self.n_members = n_members
        self.warm_start = warm_start
        self.distribution = distribution

    def _new_member(self) -> GradientBoostingRegressor:
        return GradientBoostingRegressor(distribution=self.distribution, **self._member_parameters())

    def predict_uncertainty(self, X: Any) -> Uncertainty:
        """Total variance of every row, parted into that of the data and that of our knowledge."""
        return self._uncertainty(X)


class BoostingEnsembleClassifier(EnsembleBooster, ClassificationBooster):
    """An ensemble of gradient boosting classifiers: see :class:`BoostingEnsembleRegressor`.

    Parameters
    ----------
    class_weight : dict, "balanced" or None, default=None
    l2_regularization : float, default=0.1
        Less than for a single model: what is not known shows in leaves of few rows, whose values it would draw to zero.

    The other parameters are those of :class:`BoostingEnsembleRegressor`.

    Attributes
    ----------
    classes_ : array
    estimators_ : list of GradientBoostingClassifier
    feature_importances_ : array of shape (n_columns,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surefoot import BoostingEnsembleClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BoostingEnsembleClassifier(n_members=3, n_estimators=50, random_state=0).fit(X, y)
    >>> model.predict_uncertainty(X).unit
    'nats'
    """

    def __init__(
        self,
        *,
        method: str = "sglb",
        n_members: int = 10,
        subsample: float | None = None,
        n_estimators: int = 3000,
        learning_rate: float = 0.1,
        max_depth: int = 6,
        grow_policy: str = "symmetric",
        min_samples_leaf: int = 1,
        l2_regularization: float = 0.1,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        temperature: float | None = None,
        early_stopping: Any = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 50,
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_estimators=n_estimators, learning_rate=learning_rate, max_depth=max_depth, grow_policy=grow_policy,
            min_samples_leaf=min_samples_leaf, l2_regularization=l2_regularization, max_bins=max_bins,
            categorical_features=categorical_features, monotonic_cst=monotonic_cst, early_stopping=early_stopping,
            validation_fraction=validation_fraction, n_iter_no_change=n_iter_no_change, subsample=subsample,
            temperature=temperature, random_state=random_state, n_jobs=n_jobs, verbose=verbose,
        )  # fmt: skip
        self.method = method
        self.n_members = n_members
        self.warm_start = warm_start
        self.class_weight = class_weight

    def _new_member(self) -> GradientBoostingClassifier:
        return GradientBoostingClassifier(class_weight=self.class_weight, **self._member_parameters())

    def predict_uncertainty(self, X: Any) -> Uncertainty:
        """Entropy of every row's mean probabilities, parted into that of the data and that of our knowledge."""
        return self._uncertainty(X)
