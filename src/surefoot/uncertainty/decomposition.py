"""The uncertainty of an ensemble, decomposed into data uncertainty and knowledge uncertainty."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from scipy.special import entr, xlog1py

from surefoot._exceptions import DataError
from surefoot._extras import needs
from surefoot.uncertainty.distribution import LARGEST

if TYPE_CHECKING:
    import pandas as pd

NATS = "nats"
TARGET_SQUARED = "target squared"
SUM_TOLERANCE = 1e-3  # probabilities of thousands of classes, in single precision, add up to 1 within this


@dataclass(frozen=True, eq=False, repr=False)
class Uncertainty:
    """How uncertain a prediction is, row by row, and why.

    ``data`` is the noise of the target, which more training rows would not remove. ``knowledge`` is the disagreement of
    the members of an ensemble, which more training rows would remove. ``total`` is exactly their sum.

    Parameters
    ----------
    total, data : arrays of shape (n_rows,), or None
        Total and data uncertainty. None if the members predict a number without a variance: then only ``knowledge`` is
        known.
    knowledge : array of shape (n_rows,)
        Knowledge uncertainty: the disagreement of the members.
    unit : {"nats", "target squared"}
        ``"nats"`` for entropies of a classifier, ``"target squared"`` for variances of a regressor.
    index : pandas Index, default=None
        Labels of the rows, if the table has them.

    Examples
    --------
    >>> from surefoot.uncertainty.decomposition import regression_uncertainty
    >>> uncertainty = regression_uncertainty(means=[[1.0, 5.0], [3.0, 5.0]], variances=[[0.5, 0.5], [0.5, 1.5]])
    >>> uncertainty.knowledge
    array([1., 0.])
    >>> uncertainty.data
    array([0.5, 1. ])
    >>> uncertainty
    <Uncertainty of 2 rows in target squared; on average total 1.25, data 0.75, knowledge 0.5>
    """

    total: np.ndarray | None
    data: np.ndarray | None
    knowledge: np.ndarray
    unit: str
    index: Any = None

    def __len__(self) -> int:
        return len(self.knowledge)

    def _known(self) -> dict[str, np.ndarray]:
        columns = {"total": self.total, "data": self.data, "knowledge": self.knowledge}
        return {name: values for name, values in columns.items() if values is not None}

    def __repr__(self) -> str:
        if not isinstance(self.knowledge, np.ndarray):  # Dask Arrays, which are not computed yet
            return f"<Uncertainty in {self.unit}, not computed yet>"
        averages = ", ".join(f"{name} {values.mean():.3g}" for name, values in self._known().items() if len(values))
        shown = f"; on average {averages}" if averages else ""
        return f"<Uncertainty of {len(self)} rows in {self.unit}{shown}>"

    @needs("pandas")
    def to_frame(self) -> "pd.DataFrame":
        """Return the uncertainties that are not None as columns of a frame.

        Returns
        -------
        pandas.DataFrame
            Rows are labelled as in the table predicted on.
        """
        import pandas as pd

        return pd.DataFrame(self._known(), index=self.index)


def regression_uncertainty(means: Any, variances: Any = None, *, index: Any = None) -> Uncertainty:
    """Decompose the variance of an ensemble of regressors by the law of total variance.

    Parameters
    ----------
    means : array of shape (n_members, n_rows)
        The mean that each member predicts.
    variances : array of shape (n_members, n_rows), default=None
        The variance that each member predicts. None: members predict only a number, and only ``knowledge`` is known.
    index : pandas Index, default=None
        Labels of the rows.

    Returns
    -------
    Uncertainty
        ``knowledge`` is the variance of the means of the members (divisor ``n_members``), ``data`` the mean of their
        variances, ``total`` the sum of both: the variance of the mixture of the members.

    Examples
    --------
    >>> from surefoot.uncertainty.decomposition import regression_uncertainty
    >>> regression_uncertainty([[1.0], [3.0]], [[0.5], [1.5]]).total
    array([2.])
    """
    means = _members_by_rows("means", means)
    if not np.isfinite(means).all():
        raise DataError("means must be finite: at least one member predicts infinity or NaN.")
    with np.errstate(over="ignore", invalid="ignore"):  # the square of a huge target is infinite
        knowledge = np.var(means - means[:1], axis=0)  # relative to the first member: equal members give exactly 0
        _refuse_overflow(knowledge)
        if variances is None:
            return Uncertainty(total=None, data=None, knowledge=knowledge, unit=TARGET_SQUARED, index=index)
        variances = _members_by_rows("variances", variances)
        if variances.shape != means.shape:
            raise DataError(f"variances have shape {variances.shape}, means {means.shape}: they must be the same.")
        if not (variances >= 0).all():
            raise DataError("variances must be 0 or more: at least one member has a negative one or NaN.")
        data = variances.mean(axis=0)
        _refuse_overflow(variances.max(axis=0), data + knowledge)
        return Uncertainty(total=data + knowledge, data=data, knowledge=knowledge, unit=TARGET_SQUARED, index=index)


def classification_uncertainty(probabilities: Any, *, index: Any = None) -> Uncertainty:
    """Decompose the entropy of an ensemble of classifiers.

    Parameters
    ----------
    probabilities : array of shape (n_members, n_rows, n_classes)
        The probabilities that each member predicts.
    index : pandas Index, default=None
        Labels of the rows.

    Returns
    -------
    Uncertainty
        ``total`` is the entropy of the mean probabilities of the members, ``data`` the mean of their entropies,
        ``knowledge`` the difference: the mutual information of the label and the member.

    Examples
    --------
    >>> from surefoot.uncertainty.decomposition import classification_uncertainty
    >>> certain_but_different = [[[1.0, 0.0]], [[0.0, 1.0]]]
    >>> uncertainty = classification_uncertainty(certain_but_different)
    >>> uncertainty.knowledge.round(4), uncertainty.data
    (array([0.6931]), array([0.]))
    """
    probabilities = _checked_probabilities(probabilities)
    data = entr(probabilities).sum(axis=-1).mean(axis=0)
    knowledge = _mean_divergence(probabilities)
    return Uncertainty(total=data + knowledge, data=data, knowledge=knowledge, unit=NATS, index=index)


def _mean_divergence(probabilities: np.ndarray) -> np.ndarray:
    """Mean divergence of the members from their mean: the difference of entropies, without subtracting close numbers.

    With p = mean * (1 + d), the divergence p log(p / mean) - p + mean is mean * ((1 + d) log(1 + d) - d).
    """
    mean = probabilities.mean(axis=0)
    d = np.divide(probabilities - mean, mean, out=np.zeros_like(probabilities), where=mean > 0)
    divergence = mean * (xlog1py(1 + d, d) - d)
    return np.maximum(divergence.sum(axis=-1).mean(axis=0), 0.0)


def row_index(table: Any) -> Any:
    """The row labels of a pandas frame; None for any other table."""
    return table.index if nw.dependencies.is_pandas_dataframe(table) else None


def _refuse_overflow(*variances: np.ndarray) -> None:
    """Raise an error if a variance is beyond the range of floats; a distribution then has the largest float."""
    if not all((values < LARGEST).all() for values in variances):
        raise DataError(
            "The uncertainty is in units of the target squared, and too large for a float: divide y by a constant, "
            "for example 1e150, and fit again. The standard deviations of predict_distribution(X) are in units of y."
        )


def _members_by_rows(name: str, values: Any) -> np.ndarray:
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2 or len(values) == 0:
        raise DataError(f"{name} must have shape (n_members, n_rows) with at least one member, got {values.shape}.")
    return values


def _checked_probabilities(probabilities: Any) -> np.ndarray:
    probabilities = np.asarray(probabilities, dtype=np.float64)
    if probabilities.ndim != 3 or len(probabilities) == 0 or probabilities.shape[2] < 2:
        raise DataError(
            "probabilities must have shape (n_members, n_rows, n_classes) with at least one member and two classes, "
            f"got {probabilities.shape}."
        )
    if not ((probabilities >= 0) & (probabilities <= 1)).all():
        raise DataError("probabilities must be between 0 and 1: at least one is not, or is NaN.")
    if (np.abs(probabilities.sum(axis=-1) - 1) > SUM_TOLERANCE).any():
        raise DataError("probabilities must add up to 1 over the classes: in at least one row of a member they do not.")
    # The mean over the members may round to 0 for numbers below the smallest normal one.
    return np.where(probabilities < np.finfo(np.float64).tiny, 0.0, probabilities)
