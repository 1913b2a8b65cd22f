"""A classifier that predicts all labels between which the rows cannot decide."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from surefoot._exceptions import DataError, ParameterError
from surefoot._fitted_state import new_fit, reads_one_fit
from surefoot._parallel import Cancellation, TaskRunner, row_blocks, run_tasks
from surefoot._parameters import check_integer
from surefoot._progress import BagProgress
from surefoot._random import seed_from, stream_key
from surefoot.data.columns import is_frame
from surefoot.data.problem import check_labels, check_length, require_target
from surefoot.selection.bagged_selection import BagPool
from surefoot.selection.guarantee import Guarantee, bag_rows, guarantee_in_words, refuse_both
from surefoot.selection.rules import inflated_argmax_many
from surefoot.selection.selector import open_random_states
from surefoot.selection.table import check_columns, encode_classes, take_rows

MEMBER = 7_000_003  # label of a stream of random numbers: for the estimator on a bag
MEMBERS_AT_ONCE = 64  # their probabilities are in memory until they are added up


class StableClassifier(ClassifierMixin, BaseEstimator):
    """Bag a classifier, and predict all labels between which the rows cannot decide, with a guarantee of stability.

    Probabilities are averaged over estimators, each fitted on a bag of rows. The inflated argmax then returns every
    label that could be the clear winner if the probabilities were slightly different. For each row to predict: for at
    most a share delta of the training rows, removing that row would give a set of labels that shares none with this
    one. It does not say that any of them is right.

    Parameters
    ----------
    estimator : classifier
        A copy is fitted on each bag. Without ``predict_proba``, its predictions count as certain. Random states that
        are None are set to a different number for each bag.
    n_bags : int, default=100
        The number of bags. The guarantee holds for very many bags; ``delta_monte_carlo_`` holds for this number.
    bag_size : int or float, default=0.5
        The number of rows in a bag, or their fraction of all rows; they are drawn without replacement.
    delta, epsilon : float, default=None
        The fraction of training rows that may overturn a prediction, or the inflation itself. Give at most one; the
        default is ``delta=0.05``. With few rows not every delta is possible; the error names the smallest one that is.
    random_state : int, RandomState or None, default=None
        Decides which rows are in each bag. None: other bags in each fit.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it.
    verbose : int, default=0
        With 1, progress is written to standard error.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    estimators_ : list of classifiers
        One for each bag. A bag with rows of one class only has a ``DummyClassifier``, which predicts that class.
    epsilon_, delta_, delta_monte_carlo_ : float
        ``delta_`` is at most 1, which is no guarantee. The last one also covers the randomness of drawing the bags;
        its bound is very loose.
    guarantee_ : str
        The guarantee in words.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Soloff, Barber and Willett, "Building a stable classifier with the inflated argmax", 2024.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from surefoot.selection.stable_classifier import StableClassifier
    >>> data = load_iris()
    >>> y = data.target_names[data.target]
    >>> model = StableClassifier(DecisionTreeClassifier(), random_state=0).fit(data.data, y)
    >>> model.predict_set(data.data[[0, 77, 100]])
    [('setosa',), ('virginica', 'versicolor'), ('virginica',)]
    >>> round(model.epsilon_, 2), round(model.delta_, 2)
    (0.3, 0.05)
    """

    def __init__(
        self,
        estimator: Any,
        *,
        n_bags: int = 100,
        bag_size: int | float = 0.5,
        delta: float | None = None,
        epsilon: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_bags = n_bags
        self.bag_size = bag_size
        self.delta = delta
        self.epsilon = epsilon
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if _is_classifier(self.estimator):
            own = get_tags(self.estimator)
            for name in ("allow_nan", "categorical", "string"):
                setattr(tags.input_tags, name, getattr(own.input_tags, name))
            tags.classifier_tags.multi_class = own.classifier_tags.multi_class
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the estimator on every bag.

        Parameters
        ----------
        X : array or frame of shape (n_rows, n_columns)
            The training data. The estimator gets a frame as a frame.
        y : array of shape (n_rows,)
            Labels of two or more classes.

        Returns
        -------
        StableClassifier
            The fitted classifier itself.
        """
        with new_fit(self) as fitted:
            fitted._fit(X, y)
        return self

    def _fit(self, X: Any, y: Any) -> Self:
        self._check_parameters()
        require_target(self, y)
        X, labels = self._check_table(X, reset=True), check_labels(y)
        check_length(labels, X.shape[0])
        self.classes_, _ = encode_classes(labels, "a classifier")
        size = bag_rows(self.bag_size, len(labels), replace=False)
        self._set_guarantee(len(labels), size)
        pool = BagPool(len(labels), size, False, seed_from(self.random_state))
        progress = BagProgress("StableClassifier", self.verbose, self.n_bags)
        fit = MemberFit(estimator=self.estimator, X=X, labels=labels, pool=pool, progress=progress)
        self.estimators_ = self._task_runner()(fit, range(self.n_bags), self.n_jobs)
        return self

    def _task_runner(self) -> TaskRunner:
        """What fits the estimator on bags of rows."""
        return run_tasks

    def _check_parameters(self) -> None:
        if not _is_classifier(self.estimator):
            raise ParameterError(f"estimator must be a scikit-learn classifier, got {self.estimator!r}.")
        check_integer("n_bags", self.n_bags, 1)
        refuse_both(self.delta, self.epsilon)

    def _check_table(self, X: Any, *, reset: bool) -> Any:
        if is_frame(X) and len(X) == 0:
            raise DataError("X has 0 sample(s) (rows) while a minimum of 1 is required.")
        return check_columns(self, X, reset=reset)

    def _set_guarantee(self, n_rows: int, size: int) -> None:
        setting: dict[str, Any] = {"n_samples": n_rows, "bag_size": size, "n_models": len(self.classes_)}
        guarantee = Guarantee.of(self.delta, self.epsilon, self.n_bags, **setting)
        self.epsilon_, self.delta_ = guarantee.epsilon, guarantee.delta
        self.delta_monte_carlo_ = guarantee.delta_monte_carlo
        self.guarantee_ = guarantee_in_words(self.delta_, of_labels=True)

    @reads_one_fit
    def predict_proba(self, X: Any) -> np.ndarray:
        """Average the probabilities of the estimators; a class that a bag lacks has probability 0.

        Parameters
        ----------
        X : array or frame of shape (n_rows, n_columns)
            Rows to predict.

        Returns
        -------
        array of shape (n_rows, n_classes)
            The mean probabilities, with a column for each of ``classes_``.
        """
        check_is_fitted(self)
        X = self._check_table(X, reset=False)
        blocks = (take_rows(X, np.arange(*block)) for block in row_blocks(len(X)))
        return np.concatenate([self._mean_probabilities(block) for block in blocks])

    def _mean_probabilities(self, X: Any) -> np.ndarray:
        """Add up the members in their order, with any number of threads."""
        total = np.zeros((len(X), len(self.classes_)))
        predict = MemberPrediction(X, self.classes_)
        for first in range(0, len(self.estimators_), MEMBERS_AT_ONCE):
            for part in run_tasks(predict, self.estimators_[first : first + MEMBERS_AT_ONCE], self.n_jobs):
                total += part
        mean = total / len(self.estimators_)
        if not ((mean >= 0).all() and np.allclose(mean.sum(axis=1), 1, rtol=0, atol=1e-6)):
            raise DataError(
                f"predict_proba of {type(self.estimator).__name__} returns numbers that are not probabilities (below "
                "0, or their sum is not 1): use another estimator."
            )
        return mean

    @reads_one_fit
    def predict(self, X: Any) -> np.ndarray:
        """Predict the most probable label; of equally probable ones, the first in ``classes_``.

        Parameters
        ----------
        X : array or frame of shape (n_rows, n_columns)
            Rows to predict.

        Returns
        -------
        array of shape (n_rows,)
            The labels.
        """
        winners = self.predict_proba(X).argmax(axis=1)
        return self.classes_[winners]

    @reads_one_fit
    def predict_set(self, X: Any) -> list[tuple[Any, ...]]:
        """Predict the labels that could be the clear winner if the probabilities were slightly different.

        Parameters
        ----------
        X : array or frame of shape (n_rows, n_columns)
            Rows to predict.

        Returns
        -------
        list of tuples
            The labels of each row, one or more, most probable first.
        """
        probabilities = self.predict_proba(X)
        sizes = inflated_argmax_many(probabilities, self.epsilon_).sum(axis=1)
        orders = np.argsort(-probabilities, axis=1, kind="stable")  # all more probable labels are in the set too
        labels = self.classes_.tolist()
        return [tuple(labels[j] for j in order[:size]) for order, size in zip(orders, sizes, strict=True)]

    @reads_one_fit
    def set_sizes(self, X: Any) -> np.ndarray:
        """Count the labels of ``predict_set``.

        Parameters
        ----------
        X : array or frame of shape (n_rows, n_columns)
            Rows to predict.

        Returns
        -------
        array of shape (n_rows,)
            The number of labels of each row.
        """
        return inflated_argmax_many(self.predict_proba(X), self.epsilon_).sum(axis=1)


@dataclass(frozen=True)
class MemberFit:
    """Fits an estimator on a bag, given the bag's number."""

    estimator: Any
    X: Any
    labels: np.ndarray
    pool: BagPool
    progress: BagProgress

    def __call__(self, bag: int, cancellation: Cancellation) -> Any:
        cancellation.check()
        rows = self.pool.bags(bag, bag + 1)[0]
        X, labels = take_rows(self.X, rows), self.labels[rows]
        if (labels == labels[0]).all():  # many classifiers reject a single class
            return DummyClassifier().fit(X, labels)
        member = clone(self.estimator)
        states = open_random_states(member)
        keys = [stream_key(self.pool.seed, MEMBER, bag, place) for place in range(len(states))]
        member.set_params(**{name: int(key >> np.uint64(33)) for name, key in zip(states, keys, strict=True)})
        try:
            member.fit(X, labels)
        except Exception as error:
            error.add_note(f"The estimator failed on bag {bag}.")
            raise
        self.progress(bag)
        return member


@dataclass(frozen=True)
class MemberPrediction:
    """Predicts the probabilities of all classes with a fitted member, for the rows of a table."""

    X: Any
    classes: np.ndarray

    def __call__(self, member: Any, cancellation: Cancellation) -> np.ndarray:
        cancellation.check()
        if hasattr(member, "predict_proba"):
            predicted = member.predict_proba(self.X)
            probabilities = np.zeros((len(predicted), len(self.classes)))
            probabilities[:, np.searchsorted(self.classes, member.classes_)] = predicted
            return probabilities
        return np.eye(len(self.classes))[np.searchsorted(self.classes, member.predict(self.X))]


def _is_classifier(estimator: Any) -> bool:
    return not isinstance(estimator, type) and hasattr(estimator, "__sklearn_tags__") and is_classifier(estimator)
