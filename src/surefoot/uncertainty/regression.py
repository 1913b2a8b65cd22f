"""What a single regressor and an ensemble of them share: a number's distribution for every row."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from surefoot.data.problem import check_number_problem, check_numbers
from surefoot.uncertainty.base import GradientBooster
from surefoot.uncertainty.distribution import Distribution, MixtureDistribution
from surefoot.uncertainty.families import DISPERSED, regression_family


class RegressionBooster(RegressorMixin, GradientBooster):
    """Fits a family of distributions; predicts means, standard deviations and whole distributions."""

    distribution: Any

    def _fit(self, X: Any, y: Any, sample_weight: Any, X_val: Any, y_val: Any, sample_weight_val: Any) -> Self:
        problem = check_number_problem(self, X, y, sample_weight, categorical=self._listed_categories)
        family = regression_family(self.distribution, problem.y, problem.weights)
        validation = None
        if y_val is not None:
            validation = (X_val, family.internal(check_numbers(y_val, "y_val"), "y_val"), sample_weight_val)
        members = self._train(problem, family.internal(problem.y), family, None, validation)
        if isinstance(family, DISPERSED):
            family = replace(family, dispersion=float(np.mean([member.dispersion for member in members])))
        self._adopt(family, members)
        return self

    def predict_distribution(self, X: Any) -> Distribution | MixtureDistribution:
        """Predict the distribution of the target of every row.

        Parameters
        ----------
        X : array, pandas or polars frame of shape (n_rows, n_columns)
            Rows to predict, with the columns of the training data.

        Returns
        -------
        Distribution
            With ``mean``, ``std``, ``var``, ``quantile(q)``, ``interval(level)``, ``pdf(y)``, ``logpdf(y)``, ``cdf(y)``
            and ``sample(n, random_state)``. An ensemble gives the mixture of its members' distributions.
        """
        distributions = [self.family_.distribution(raw) for raw in self._raw(X)]
        return distributions[0] if len(distributions) == 1 else MixtureDistribution(distributions)

    def predict(self, X: Any, return_std: bool = False) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Predict the mean of every row's distribution, and on request its standard deviation.

        Parameters
        ----------
        X : array, pandas or polars frame of shape (n_rows, n_columns)
            Rows to predict, with the columns of the training data.
        return_std : bool, default=False
            Return the standard deviations too.

        Returns
        -------
        array of shape (n_rows,), or a tuple of two
            Means; with ``return_std``, means and standard deviations.
        """
        distribution = self.predict_distribution(X)
        return (distribution.mean, distribution.std) if return_std else distribution.mean
