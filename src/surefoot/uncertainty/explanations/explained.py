"""The methods by which gradient boosters say which columns their predictions come from."""

from collections.abc import Hashable, Sequence
from typing import Any, overload

import numpy as np
from sklearn.utils.validation import check_is_fitted

from surefoot._exceptions import ParameterError
from surefoot._fitted_state import reads_one_fit
from surefoot._numbers import passed_as
from surefoot._parameters import is_one_of
from surefoot.data import Columns, Schema
from surefoot.uncertainty.explanations.knowledge import knowledge_values
from surefoot.uncertainty.explanations.member_shap import MemberShap, mean_values
from surefoot.uncertainty.explanations.shap_values import ShapValues
from surefoot.uncertainty.member import Member
from surefoot.uncertainty.shap_trees import shap_models


class ExplainedBooster:
    """SHAP values of the parameters of the distribution."""

    family_: Any
    n_features_in_: int
    n_jobs: int | None
    _members: list[Member]
    _schema: Schema

    def _columns(self, X: Any) -> Columns:
        raise NotImplementedError

    @property
    def _output_names(self) -> list[Hashable]:
        labels: Sequence[Hashable] = np.asarray(getattr(self, "classes_", ())).tolist()
        return list(labels if len(labels) > 2 else self.family_.parameters)

    @overload
    def shap_values(self, X: Any, parameter: None = None, *, background: Any = None) -> dict[Hashable, ShapValues]: ...

    @overload
    def shap_values(self, X: Any, parameter: Hashable, *, background: Any = None) -> ShapValues: ...

    @reads_one_fit
    def shap_values(
        self, X: Any, parameter: Hashable = None, *, background: Any = None
    ) -> dict[Hashable, ShapValues] | ShapValues:
        """Compute how much each column adds to each parameter of the distribution, for every row.

        The values of a row and ``base_value``, the mean over the training or background rows, add up to the parameter
        as the trees see it: for a normal distribution, ``mu`` is in units of ``family_.spread`` from
        ``family_.location``. The last parameter is the sum of the trees before the bound that keeps the scale of a row
        from being much smaller than that of the others. An ensemble has the mean of its members' values, for the mean
        of their outputs.

        Without ``background``, a split counts for a set of columns if the set has all columns that it reads: of a split
        on statistics of a pair of categorical columns, both have an equal part. Without them, a row goes both ways, by
        the numbers of training rows, as in shap's TreeExplainer with ``feature_perturbation="tree_path_dependent"``.
        With ``background``, columns that are not in the set have the values of a background row, as with
        ``"interventional"``; statistics of categories are computed from this mixture.

        Parameters
        ----------
        X : array, pandas or polars frame of shape (n_rows, n_columns)
            Rows to explain, with the columns of the training data.
        parameter : str or label, default=None
            One of ``family_.parameters``; for three or more classes, one of ``classes_``. None: all of them.
        background : array, pandas or polars frame of shape (n_background, n_columns), default=None
            Rows to compare with; the time may be proportional to their number, and a hundred are enough. None: the
            training rows that each split has counted.

        Returns
        -------
        ShapValues or dict
            Of the parameter; without one, a dict from each to its values.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from surefoot import GradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, y)
        >>> explained = model.shap_values(X, "mu")
        >>> explained.values.shape, round(explained.base_value, 3)
        ((442, 10), -0.004)
        >>> # explained.to_explanation() is for shap.plots: shap.plots.beeswarm(explained.to_explanation())
        """
        columns = self._columns(X)  # first, because it checks that the model is fitted
        names = self._output_names
        if parameter is not None and not is_one_of(parameter, names):
            listed = ", ".join(map(repr, names))
            raise ParameterError(f"parameter must be None or one of {listed}, got {parameter!r}.")
        wanted = names if parameter is None else [parameter]
        shaps = self._member_shaps(background, [names.index(name) for name in wanted])
        values, bases = mean_values(shaps, columns, self.n_jobs)
        explained = {
            name: ShapValues(values[k].T, float(bases[k]), name, self._column_names(), X)
            for k, name in enumerate(wanted)
        }
        return explained if parameter is None else explained[parameter]

    def _column_names(self) -> tuple[str, ...]:
        default = [f"x{j}" for j in range(self.n_features_in_)]
        return tuple(map(str, getattr(self, "feature_names_in_", default)))

    def _member_shaps(self, background: Any, outputs: Sequence[int] | None = None) -> list[MemberShap]:
        with passed_as("background"):
            rows = None if background is None else self._columns(background)
        return [MemberShap.of(member, rows, outputs) for member in self._members]

    def _knowledge_values(self, X: Any, background: Any, cuts: Sequence[int] | None = None) -> ShapValues:
        columns = self._columns(X)  # first, because it checks that the model is fitted
        values, base = knowledge_values(self._member_shaps(background), self.family_, columns, self.n_jobs, cuts)
        return ShapValues(values, base, "knowledge", self._column_names(), X)


class ExplainedModel(ExplainedBooster):
    """The trees of a single model for shap."""

    @reads_one_fit
    def to_shap(self) -> dict[Hashable, dict[str, Any]]:
        """Return the trees in the form that ``shap.TreeExplainer`` takes, for each parameter of the distribution.

        SHAP values and the expected value add up to the parameter as the trees see it: for a normal distribution,
        ``mu`` is in units of ``family_.spread`` from ``family_.location``. The last parameter is the sum of the trees
        before the bound that keeps the scale of a row from being much smaller than that of the others. Pass X as
        numbers, missing values as NaN. Models that split on categories are refused: ``shap_values`` explains them.

        Returns
        -------
        dict
            From each name in ``family_.parameters`` to a model; for three or more classes, from each label.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from surefoot import GradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> models = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, y).to_shap()
        >>> list(models), len(models["mu"]["trees"])
        (['mu', 'log_sigma'], 20)
        >>> # shap.TreeExplainer(models["log_sigma"]).shap_values(X): what makes a prediction uncertain
        """
        check_is_fitted(self)
        return shap_models(self._members[0], self._schema, self._output_names, getattr(self, "feature_names_in_", None))


class ExplainedEnsemble(ExplainedBooster):
    """Which columns make an ensemble unsure."""

    @reads_one_fit
    def shap_knowledge(self, X: Any, *, background: Any = None) -> ShapValues:
        """Compute how much each column adds to the knowledge uncertainty of every row.

        The values of a row and ``base_value`` add up to ``predict_uncertainty(X).knowledge``. Each member's outputs are
        the sums of its SHAP values; the values here are the Aumann-Shapley values of knowledge uncertainty as a
        function of them. Where the mean of a distribution is a multiple of its first parameter (normal, Laplace and
        Student t distributions), these are covariances over the members, and the Shapley values of the variance of the
        sum of the members' SHAP values.

        Parameters
        ----------
        X : array, pandas or polars frame of shape (n_rows, n_columns)
            Rows to explain, with the columns of the training data.
        background : array, pandas or polars frame of shape (n_background, n_columns), default=None
            As in ``shap_values``.

        Returns
        -------
        ShapValues
            In units of knowledge uncertainty: the target squared for regressors, nats for classifiers. A value is
            negative if the column makes the members agree more.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from surefoot import BoostingEnsembleRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = BoostingEnsembleRegressor(n_members=3, n_estimators=20, random_state=0).fit(X, y)
        >>> explained = model.shap_knowledge(X)
        >>> total = explained.values.sum(axis=1) + explained.base_value
        >>> bool(abs(total - model.predict_uncertainty(X).knowledge).max() < 1e-6)
        True
        """
        return self._knowledge_values(X, background)
