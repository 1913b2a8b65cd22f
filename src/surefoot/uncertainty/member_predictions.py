"""The predictions of each member of an ensemble."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy.special import expit

from surefoot.uncertainty.decomposition import Uncertainty, classification_uncertainty, regression_uncertainty


@dataclass(frozen=True, eq=False, repr=False)
class RegressionMembers:
    """The predictions of the regressors of an ensemble.

    Parameters
    ----------
    means : array of shape (n_members, n_rows)
        The mean that each member predicts.
    variances : array of shape (n_members, n_rows), or None
        The variance that each member predicts; None if the members predict only a number.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.uncertainty.member_predictions import RegressionMembers
    >>> members = RegressionMembers(means=np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]), variances=None)
    >>> members
    <RegressionMembers: means of 2 members on 3 rows>
    >>> members.uncertainty().knowledge
    array([1., 0., 1.])
    """

    means: np.ndarray
    variances: np.ndarray | None

    def __repr__(self) -> str:
        known = "means" if self.variances is None else "means and variances"
        return f"<RegressionMembers: {known} of {len(self.means)} members on {self.means.shape[1]} rows>"

    def uncertainty(self, index: Any = None) -> Uncertainty:
        """Decompose disagreement and variances of the members; ``index`` are the labels of the rows."""
        return regression_uncertainty(self.means, self.variances, index=index)


@dataclass(frozen=True, eq=False, repr=False)
class ClassificationMembers:
    """The predictions of the classifiers of an ensemble.

    Parameters
    ----------
    probabilities : array of shape (n_members, n_rows, n_classes)
        The probabilities that each member predicts.
    classes : array of shape (n_classes,)
        The label of each column of the probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.uncertainty.member_predictions import ClassificationMembers
    >>> members = ClassificationMembers(np.full((10, 3, 2), 0.5), classes=np.array(["no", "yes"]))
    >>> members
    <ClassificationMembers: probabilities of 10 members on 3 rows, 2 classes>
    >>> members.uncertainty().knowledge
    array([0., 0., 0.])
    """

    probabilities: np.ndarray
    classes: np.ndarray

    def __repr__(self) -> str:
        n_members, n_rows, n_classes = self.probabilities.shape
        return f"<ClassificationMembers: probabilities of {n_members} members on {n_rows} rows, {n_classes} classes>"

    def uncertainty(self, index: Any = None) -> Uncertainty:
        """Decompose the entropy of the mean of the members; ``index`` are the labels of the rows."""
        return classification_uncertainty(self.probabilities, index=index)


Members: TypeAlias = RegressionMembers | ClassificationMembers


def two_class_probabilities(log_odds: np.ndarray) -> np.ndarray:
    """Probabilities of both classes as a last axis, each computed directly, so that neither rounds to 0 early."""
    return np.stack([expit(-log_odds), expit(log_odds)], axis=-1)
