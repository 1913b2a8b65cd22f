"""V-matrix boosting of class probabilities, by squared loss."""

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from surefoot.data.problem import check_problem
from surefoot.shift.base import VMatrixBooster


class VMatrixBoostingClassifier(ClassifierMixin, VMatrixBooster):
    """Boosted trees for class probabilities whose squared loss is taken as a target sample sees it.

    The probability of a class is the regression of its indicator, clipped to [0, 1]: the squared loss of the V-matrix
    has no other link. With three or more classes, each class has its own trees, and the clipped values are normalized
    to add up to 1.

    Parameters
    ----------
    n_estimators : int, default=200
        Number of trees.
    max_leaf_nodes : int, default=16
        Leaves of a tree, 2 to 256. No leaf lies deeper than 10 splits.
    learning_rate : float, default=0.1
        Step of each tree, above 0 and at most 1.
    l2_regularization : float, default=1.0
        Draws leaf values to zero: the lambda of the paper. With ``blend=0`` it is twice that of squared-loss boosting.
    min_gain : float, default=0.0
        By how much a split has to lower the score: the gamma of the paper.
    min_samples_leaf : int, default=5
        Rows that a leaf must have.
    kind : {"mean", "joint", "product"}, default="mean"
        The V-matrix: see :meth:`VMatrix.from_target`. ``product`` is estimated from the target's rows with every column
        in an order of its own.
    orientation : {"lower", "upper", "both"}, default="lower"
        Which side of a row a target must be on to dominate it.
    blend : float, default=0.5
        Share of the V-matrix in the loss, 0 to 1: 1 is the paper's own, 0 plain squared loss. The matrix is scaled so
        that both say the same of residuals that are all 1, whatever the number of rows and the scale of the weights.
    max_target : int, default=1000
        Most target rows to use; of more, so many are drawn.
    max_bins : int, default=255
        Most bins of a number, 2 to 255.
    categorical_features : "from_dtype", None, or list, default="from_dtype"
        Columns whose values are categories, besides those of categorical dtype: positions, names or booleans.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with ``sample_weight``.
    early_stopping : "auto" or bool, default="auto"
        Stop when the blended loss of held-out rows no longer falls. ``"auto"``: above 10,000 rows.
    validation_fraction : float, default=0.1
        Share of the rows to hold out.
    n_iter_no_change : int, default=20
        Rounds without a lower held-out loss before it stops.
    random_state : int, RandomState or None, default=None
        Decides which rows are held out, which target rows are used, and the orders of ``kind="product"``.
    n_jobs : int or None, default=None
        Threads. The model does not depend on it.
    verbose : int, default=0
        1: say on standard error when the trees are grown; 2: also every two seconds how far they are.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_trees_ : int
        Number of trees kept. With three or more classes, the largest number over the classes.
    validation_loss_ : list of arrays
        For each sequence of trees (two classes have one), the blended loss of the held-out rows after each round.
    coverage_ : float
        Fraction of the training rows that at least one target row dominates, with ``kind="mean"`` in any feature.
    feature_importances_ : ndarray of shape (n_columns,)
        Fraction of the total decrease of the score that the splits on each column account for.

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
            n_estimators=n_estimators,
            max_leaf_nodes=max_leaf_nodes,
            learning_rate=learning_rate,
            l2_regularization=l2_regularization,
            min_gain=min_gain,
            min_samples_leaf=min_samples_leaf,
            kind=kind,
            orientation=orientation,
            blend=blend,
            max_target=max_target,
            max_bins=max_bins,
            categorical_features=categorical_features,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
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
        """Predict the probability of each class.

        Parameters
        ----------
        X : array, pandas or polars frame of shape (n_rows, n_columns)
            Rows with the columns of the training data.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of ``classes_``. Each row adds up to 1.
        """
        raw = np.clip(self._raw(X), 0.0, 1.0)
        if len(raw) == 1:
            return np.stack([1.0 - raw[0], raw[0]], axis=1)
        total = raw.sum(axis=0)
        even = total < 1e-12  # no class is likely at all: none is likelier than another
        shares = np.where(even, 1.0 / len(raw), raw / np.where(even, 1.0, total))
        return np.ascontiguousarray(shares.T)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the most probable class of each row.

        Parameters
        ----------
        X : array, pandas or polars frame of shape (n_rows, n_columns)
            Rows with the columns of the training data.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels from ``classes_``.
        """
        probabilities = self.predict_proba(X)  # first of all: it says so if the model is not fitted
        return self.classes_[probabilities.argmax(axis=1)]
