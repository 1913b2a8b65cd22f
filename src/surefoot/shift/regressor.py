"""V-matrix boosting of a number."""

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from surefoot._fitted_state import reads_one_fit
from surefoot.data.problem import check_number_problem
from surefoot.shift.base import VMatrixBooster


class VMatrixBoostingRegressor(RegressorMixin, VMatrixBooster):
    """Boosted trees with a squared loss that is weighted by the deployment data.

    Squared loss asks that every residual of the training rows be small. A V-matrix (see :class:`VMatrix`) asks that the
    residuals that a target point dominates cancel out. On its own this is weak; blended with squared loss it steers the
    trees towards the deployment data. Trees are grown leaf by leaf, each split the best by the paper's score, and the
    values of all leaves are solved for together.

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
    n_iter_ : int
        Number of rounds, and so of trees, that are kept.
    validation_loss_ : array of shape (n_rounds,)
        Mean blended loss of the held-out rows after each round; empty without early stopping.
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
    >>> from sklearn.datasets import load_diabetes
    >>> from surefoot import VMatrixBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> young, old = X[:, 0] < 0, X[:, 0] >= 0
    >>> model = VMatrixBoostingRegressor(n_estimators=10, random_state=0)
    >>> model = model.fit(X[young], y[young], X_target=X[old])
    >>> model.predict(X[old]).shape
    (240,)
    """

    def _fit(self, X: Any, y: Any, sample_weight: Any, X_target: Any, V: Any) -> Self:
        problem = check_number_problem(self, X, y, sample_weight, categorical=self._listed_categories)
        self._train(problem, [problem.y], None, X, X_target, V)
        self.validation_loss_ = self._boosted[0].held_out_loss
        return self

    @reads_one_fit
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
