"""V-matrix boosting of class probabilities, by squared loss."""

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from surefoot._exceptions import DataError
from surefoot._fitted_state import reads_one_fit
from surefoot.data.problem import check_problem
from surefoot.shift.base import DEPRECATED, VMatrixBooster

MAX_CLASSES = 100  # each is boosted by itself


class VMatrixBoostingClassifier(ClassifierMixin, VMatrixBooster):
    """Boosted trees for class probabilities with a squared loss that is weighted by the deployment data.

    The probability of a class is the regression of its indicator, clipped to [0, 1]: the squared loss of the V-matrix
    has no other link function. With three or more classes, each class has its own trees, and the clipped values are
    normalized to add up to 1. More than 100 classes are refused.

    Parameters
    ----------
    n_estimators : int, default=200
        Maximum number of trees; early stopping may end training sooner.
    max_leaf_nodes : int, default=16
        Maximum number of leaves of a tree, 2 to 256. No leaf is deeper than 10 splits.
    learning_rate : float, default=0.1
        Fraction of each step that a round takes, above 0 and at most 1.
    l2_regularization : float, default=1.0
        Shrinks leaf values towards zero: the lambda of the paper. With ``blend=0`` it is twice that of squared-loss
        boosting.
    min_gain : float, default=0.0
        A split must lower the score by more than this: the gamma of the paper.
    min_samples_leaf : int, default=5
        Minimum number of rows in a leaf.
    kind : {"mean", "joint", "product"}, default="mean"
        The V-matrix: see :meth:`VMatrix.from_target`. With ``"product"``, time and memory grow with the square of the
        number of rows, which is limited to 10,000.
    orientation : {"lower", "upper", "both"}, default="lower"
        Which side of a row a target must be on to dominate it.
    blend : float, default=0.5
        Weight of the V-matrix in the loss, 0 to 1: 1 is the paper's loss, 0 is squared loss. The matrix is scaled so
        that both agree for residuals that are all 1, whatever the number of rows and the scale of the weights.
    max_target_rows : int, default=1000
        Maximum number of target rows to use; from a larger target, this many are drawn.
    max_bins : int, default=255
        Maximum number of bins of a numeric column, 2 to 255.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Columns of categorical dtype, always; further columns by position, name or a boolean for each.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply those of the rows.
    early_stopping : "auto" or bool, default="auto"
        Trial models hold rows out and stop after ``n_iter_no_change`` rounds without a gain; the model is then
        trained on all rows for as many rounds. ``"auto"`` is True. Tables with fewer than 10 rows are trained without.
    validation_fraction : float, default=0.1
        Fraction of the rows that each trial model holds out. There are as many trial models, at most 5, as give 400
        held-out rows; each holds out other rows.
    n_iter_no_change : int, default=50
        Rounds without a gain on held-out rows before training stops.
    random_state : int, RandomState or None, default=None
        Decides which rows are held out, and which target rows are drawn.
    n_jobs : int or None, default=None
        Number of threads. The model does not depend on it, to the byte.
    verbose : int, default=0
        1: print a line when the trees have been grown; 2: also print progress every two seconds.
    max_target : int
        The earlier name of ``max_target_rows``; it goes with the next release.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, in order.
    n_iter_ : int
        Number of rounds that are kept; for three or more classes the largest over the classes.
    validation_loss_ : array of shape (n_rounds,), or list of arrays
        Mean blended loss of the held-out rows after each round; empty without early stopping. For three or more
        classes, a list with an array for each.
    coverage_ : float
        Fraction of the training rows that at least one target row dominates, with ``kind="mean"`` in any feature.
    feature_importances_ : array of shape (n_columns,)
        Each column's fraction of the gains of all splits.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_columns,)
        Names of the columns, if X was a frame.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from surefoot import VMatrixBoostingClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> small = X[:, 0] < 14
    >>> model = VMatrixBoostingClassifier(n_estimators=10, random_state=0)
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
        max_target_rows: int = 1000,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        early_stopping: Any = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 50,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        max_target: Any = DEPRECATED,
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
            max_target_rows=max_target_rows,
            max_bins=max_bins,
            categorical_features=categorical_features,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
            max_target=max_target,
        )
        self.class_weight = class_weight

    def _fit(self, X: Any, y: Any, sample_weight: Any, X_target: Any, V: Any) -> Self:
        problem = check_problem(
            self, X, y, sample_weight, self.class_weight, categorical=self._listed_categories, relative_weights=False
        )
        if problem.n_classes > MAX_CLASSES:
            raise DataError(
                f"y has {problem.n_classes} classes; V-matrix boosting takes at most {MAX_CLASSES}, because each class "
                "has trees of its own: merge rare classes, or use a booster that votes, such as AdaBoostClassifier.",
                argument="y",
            )
        self.classes_ = problem.classes
        classes = [1] if problem.n_classes == 2 else range(problem.n_classes)
        outputs = [(problem.codes == code).astype(np.float64) for code in classes]
        self._train(problem, outputs, problem.codes, X, X_target, V)
        losses = [boosted.held_out_loss for boosted in self._boosted]
        self.validation_loss_ = losses[0] if problem.n_classes == 2 else losses
        return self

    @reads_one_fit
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
        # NumPy adds up the classes of a single row in another order than those of several: it is taken twice
        total = raw.sum(axis=0) if raw.shape[1] > 1 else np.repeat(raw, 2, axis=1).sum(axis=0)[:1]
        no_class = total < 1e-12  # no class is likely at all: all get the same probability
        probabilities = np.where(no_class, 1.0 / len(raw), raw / np.where(no_class, 1.0, total))
        return np.ascontiguousarray(probabilities.T)

    @reads_one_fit
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
        probabilities = self.predict_proba(X)  # first, because it raises if the model is not fitted
        return self.classes_[probabilities.argmax(axis=1)]
