"""V-matrix boosting of a number."""

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from surefoot.data.problem import check_number_problem
from surefoot.shift.base import VMatrixBooster


class VMatrixBoostingRegressor(RegressorMixin, VMatrixBooster):
    """Boosted trees whose squared loss is taken as a target sample sees it.

    The usual loss asks that every residual of the training rows be small. A V-matrix asks that residuals which a target
    point sees together (see :class:`VMatrix`) cancel out. Alone that is weak; blended with the usual loss it steers
    the trees towards where the model will be used. Trees are grown leaf by leaf, each split the best by the paper's
    score, and the values of all leaves are solved for at once.

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
    n_trees_ : int
        Trees kept.
    coverage_ : float
        Share of the training rows that at least one target row dominates, with ``kind="mean"`` in any feature.
    validation_loss_ : array
        Blended loss of the held-out rows after each round; empty if none were held out.
    feature_importances_ : array
        Each column's share of the fall of the score by all splits.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from surefoot import VMatrixBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> young, old = X[:, 0] < 0, X[:, 0] >= 0
    >>> model = VMatrixBoostingRegressor(n_estimators=50, random_state=0)
    >>> model = model.fit(X[young], y[young], X_target=X[old])
    >>> model.predict(X[old]).shape
    (240,)
    """

    def _fit(self, X: Any, y: Any, sample_weight: Any, X_target: Any, V: Any) -> Self:
        problem = check_number_problem(self, X, y, sample_weight, categorical=self._listed_categories)
        self._train(problem.columns, [problem.y], problem.weights, X, X_target, V)
        self.validation_loss_ = self._boosted[0].held_out_loss
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict the expected target of each row.

        Parameters
        ----------
        X : array, pandas or polars frame of shape (n_rows, n_columns)
            Rows with the columns of the training data.

        Returns
        -------
        ndarray of shape (n_rows,)
            Predicted values.
        """
        return self._raw(X)[0]
