"""V-matrix boosting of class probabilities, by squared loss."""

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from surefoot.data.problem import check_problem
from surefoot.shift.base import VMatrixBooster


class VMatrixBoostingClassifier(ClassifierMixin, VMatrixBooster):
    """Boosted trees for class probabilities whose squared loss is taken as a target sample sees it.

    The probability of a class is the regression of its indicator, clipped to [0, 1]: the square loss of the V-matrix
    has no other link. Of three or more classes each has trees of its own, and the clipped values are made to add up
    to 1.

    Parameters
    ----------
    All but ``class_weight`` are those of :class:`VMatrixBoostingRegressor`.

    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with ``sample_weight``.

    Attributes
    ----------
    classes_ : array
    n_trees_ : int
        Trees kept; of several classes, those of the class that has most.
    validation_loss_ : list of arrays
        For each sequence of trees (two classes have one), the blended loss of the held-out rows after each round.
    coverage_, feature_importances_
        As those of :class:`VMatrixBoostingRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from surefoot import VMatrixBoostingClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> small = X[:, 0] < 14
    >>> model = VMatrixBoostingClassifier(n_estimators=50, random_state=0)
    >>> model = model.fit(X[small], y[small], X_target=X[~small])
    >>> model.predict_proba(X[~small]).shape
    (232, 2)
    """

    def __init__(
        self,
        *,
        n_estimators: int = 200,
        max_leaf_nodes: int = 16,
        learning_rate: float = 0.1,
        l2_regularization: float = 1.0,
        min_gain: float = 0.0,
        min_samples_leaf: int = 5,
        kind: str = "mean",
        orientation: str = "lower",
        blend: float = 0.5,
        max_target: int = 1000,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        early_stopping: Any = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 20,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_estimators=n_estimators, max_leaf_nodes=max_leaf_nodes, learning_rate=learning_rate,
            l2_regularization=l2_regularization, min_gain=min_gain, min_samples_leaf=min_samples_leaf, kind=kind,
            orientation=orientation, blend=blend, max_target=max_target, max_bins=max_bins,
            categorical_features=categorical_features, early_stopping=early_stopping,
            validation_fraction=validation_fraction, n_iter_no_change=n_iter_no_change, random_state=random_state,
            n_jobs=n_jobs, verbose=verbose,
        )  # fmt: skip
        self.class_weight = class_weight

    def _fit(self, X: Any, y: Any, sample_weight: Any, X_target: Any, V: Any) -> Self:
        problem = check_problem(
            self, X, y, sample_weight, self.class_weight, categorical=self._listed_categories, relative_weights=False
        )
        self.classes_ = problem.classes
        wanted = [1] if problem.n_classes == 2 else range(problem.n_classes)
        outputs = [(problem.codes == code).astype(np.float64) for code in wanted]
        self._train(problem.columns, outputs, problem.weights, X, X_target, V)
        self.validation_loss_ = [boosted.held_out_loss for boosted in self._boosted]
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class, in the order of ``classes_``."""
        raw = np.clip(self._raw(X), 0.0, 1.0)
        if len(raw) == 1:
            return np.stack([1.0 - raw[0], raw[0]], axis=1)
        total = raw.sum(axis=0)
        even = total < 1e-12  # no class is likely at all: none is likelier than another
        shares = np.where(even, 1.0 / len(raw), raw / np.where(even, 1.0, total))
        return np.ascontiguousarray(shares.T)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row."""
        probabilities = self.predict_proba(X)  # first of all: it says so if the model is not fitted
        return self.classes_[probabilities.argmax(axis=1)]
