"""Model selection that is stable when a row is removed: a selector on many bags of rows, and a rule for its models."""

from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from surefoot._estimator import TableEstimator
from surefoot._exceptions import ParameterError, UndecidedWarning, warn_caller
from surefoot._fitted_state import new_fit, reads_one_fit
from surefoot._parallel import TaskRunner, run_tasks
from surefoot._parameters import check_boolean, check_choice, check_integer
from surefoot._random import seed_from
from surefoot.selection.bagged_selection import BaggedSelection, BagPool
from surefoot.selection.chosen_models import ModelCounts, ModelWeights, expression_of, item_name
from surefoot.selection.guarantee import (
    NO_GUARANTEE,
    Guarantee,
    bag_rows,
    guarantee_in_words,
    refuse_both,
    stability_delta,
)
from surefoot.selection.leave_one_out import LeaveOneOut, LeftOutWeights
from surefoot.selection.rules import (
    INFLATED_ARGMAX,
    InclusionProbability,
    InflatedArgmax,
    check_rule,
    unseen_would_enter,
)
from surefoot.selection.selected_columns import SelectedColumnsMixin
from surefoot.selection.selector import Selector
from surefoot.selection.table import BAG_MEDIAN, fills_missing, read_table

MAX_EXACT_ITEMS = 50  # with more items, the number of models is practically infinite


class StableSelector(SelectedColumnsMixin, TableEstimator):
    """Select all models between which the rows cannot decide, with a guarantee of stability.

    A selector chooses a model on each of many bags of rows; a model's weight is its fraction of the bags. The inflated
    argmax then returns every model that could be the clear winner if the weights were slightly different. For at most a
    share delta of the rows, removing that row would give a set of models that shares none with this one. It does not
    say that any of them is right.

    Parameters
    ----------
    selector : Selector
        Chooses a model from some rows, such as `selection.LassoSelector`.
    rule : "inflated_argmax" or a rule, default="inflated_argmax"
        A rule is `selection.Argmax()`, `TopK(k)`, `InclusionProbability(tau)` or `InflatedArgmax(epsilon)`. Rules other
        than the inflated argmax carry no guarantee.
    delta, epsilon : float, default=None
        For the inflated argmax: the fraction of rows that may overturn the selection, or the inflation itself. Give at
        most one; the default is ``delta=0.05``.
    monte_carlo : bool, default=False
        Whether the guarantee also covers the randomness of drawing a finite number of bags. Its bound is very loose,
        and needs very many bags.
    n_bags : int, default=10_000
        The number of bags.
    bag_size : int or float, default=0.5
        The number of rows in a bag, or their fraction of all rows.
    replace : bool, default=False
        Whether bags are drawn with replacement.
    random_state : int, RandomState or None, default=None
        Decides which rows are in each bag. None: other bags in each fit.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it.
    verbose : int, default=0
        With 1, progress is written to standard error.

    Attributes
    ----------
    weights_ : ModelWeights
        The models that bags chose and their weights, heaviest first. A model of variables is a tuple of their names.
    selected_ : tuple of models
        The selected models, heaviest first; if ``undecided_``, all models that bags chose.
    expression_ : str
        The selected models in a few words; sets of variables as a product of choices, if they are one.
    guarantee_ : str
        The guarantee in words.
    epsilon_, delta_, delta_monte_carlo_ : float
        Of the inflated argmax. ``delta_`` is at most 1, which is no guarantee; it is 1 for selectors with models that
        depend on rows outside their bag. The last one also covers the randomness of drawing the bags.
    undecided_ : bool
        Whether the inflation is so large that models which no bag chose would be selected as well.
    models_ : tuple of models, and bag_models_ : array of shape (n_bags,)
        All models that bags chose, and the index of each bag's model (the heaviest, if a selector weights several).
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot import StableSelector
    >>> from surefoot.selection import LassoSelector
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(100, 5))
    >>> X[:, 4] = X[:, 3] + 0.02 * rng.normal(size=100)
    >>> y = X[:, 1] + X[:, 3] + 0.5 * rng.normal(size=100)
    >>> stable = StableSelector(LassoSelector(alpha=0.3), random_state=0).fit(X, y)
    >>> stable.expression_
    'x1 and (x3 or x4)'
    >>> print(stable.guarantee_)
    For at most a share 0.05 of the rows, removing that row would give a set of models that shares none with this one. \
It does not say that any of them is right.
    >>> stable.leave_one_out().instability
    0.0
    """

    def __init__(
        self,
        selector: Selector,
        *,
        rule: Any = INFLATED_ARGMAX,
        delta: float | None = None,
        epsilon: float | None = None,
        monte_carlo: bool = False,
        n_bags: int = 10_000,
        bag_size: int | float = 0.5,
        replace: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.selector = selector
        self.rule = rule
        self.delta = delta
        self.epsilon = epsilon
        self.monte_carlo = monte_carlo
        self.n_bags = n_bags
        self.bag_size = bag_size
        self.replace = replace
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def _takes_raw_columns(self) -> bool:
        return getattr(self.selector, "missing", None) == BAG_MEDIAN

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> "StableSelector":
        """Choose a model on every bag, and select models.

        Parameters
        ----------
        X : array or frame of shape (n_rows, n_columns)
            The table. Columns of categorical dtype count as one variable each.
        y : array of shape (n_rows,) or None, default=None
            What the selector needs: numbers, classes, or nothing.
        **fit_params
            Further arguments of the selector, such as the times ``t`` of `selection.SINDySelector`.

        Returns
        -------
        StableSelector
            The fitted selector itself.
        """
        with new_fit(self) as fitted:
            fitted._fit(X, y, fit_params)
        return self

    def _fit(self, X: Any, y: Any, fit_params: dict[str, Any]) -> None:
        self._check_parameters(fit_params)
        selector = clone(self.selector)  # its parameters may change before leave-one-out
        kinds = {"may_be_constant": selector.may_be_constant, "may_be_missing": fills_missing(selector)}
        table = read_table(self, X, y, selector.target, fit_params, **kinds)
        size = bag_rows(self.bag_size, table.n_rows, self.replace)
        prepared = selector.prepare(table)
        if prepared.items is None and isinstance(self.rule, InclusionProbability):
            raise ParameterError(
                f"rule=InclusionProbability is for models that are sets of items, but those of "
                f"{type(selector).__name__} are not: use another rule."
            )
        self._set_guarantee(table.n_rows, size, None if prepared.items is None else len(prepared.items))
        pool = BagPool(table.n_rows, size, self.replace, seed_from(self.random_state))
        run, runner = BaggedSelection.run, self._task_runner()
        self._bagging = run(selector, table, prepared, pool, self.n_bags, self.n_jobs, self.verbose, runner)
        self._select()

    def _task_runner(self) -> TaskRunner:
        """What runs the selector on bags of rows."""
        return run_tasks

    def _check_parameters(self, fit_params: dict[str, Any]) -> None:
        if not isinstance(self.selector, Selector):
            raise ParameterError(
                f"selector must be a selector such as surefoot.selection.LassoSelector, got {self.selector!r}: wrap "
                "anything else in surefoot.selection.FunctionSelector."
            )
        unknown = sorted(set(fit_params) - set(self.selector.fit_arguments))
        if unknown:
            raise ParameterError(f"{type(self.selector).__name__} does not use {unknown[0]}: leave it out of fit.")
        check_integer("n_bags", self.n_bags, 1)
        check_boolean("replace", self.replace)
        check_boolean("monte_carlo", self.monte_carlo)
        refuse_both(self.delta, self.epsilon)
        check_rule(self.rule, monte_carlo=self.monte_carlo or None, delta=self.delta, epsilon=self.epsilon)
        if self.delta is not None and not self.selector.pool_is_exact:
            raise ParameterError(
                f"delta cannot be guaranteed with {type(self.selector).__name__}, because its model of a bag depends "
                "on rows outside the bag: give epsilon, and measure the stability with leave_one_out('refit')."
            )

    def _set_guarantee(self, n_rows: int, size: int, n_items: int | None) -> None:
        """Store the rule with its epsilon, and what it guarantees."""
        n_models = 2**n_items if n_items is not None and 1 <= n_items <= MAX_EXACT_ITEMS else None
        setting: dict[str, Any] = {"n_samples": n_rows, "bag_size": size, "n_models": n_models, "replace": self.replace}
        self._setting = {**setting, "n_bags": self.n_bags if self.monte_carlo else None}
        self._rule, guarantee, self.guarantee_ = self.rule, NO_GUARANTEE, "This rule carries no guarantee."
        if self.rule == INFLATED_ARGMAX:
            requested = Guarantee.of(self.delta, self.epsilon, self.n_bags, monte_carlo=self.monte_carlo, **setting)
            self._rule = InflatedArgmax(requested.epsilon)
        if isinstance(self._rule, InflatedArgmax):
            guarantee = Guarantee.of(None, self._rule.epsilon, self.n_bags, **setting)
            guarantee = guarantee if self.selector.pool_is_exact else guarantee.without_theorem()
            delta = guarantee.delta_monte_carlo if self.monte_carlo else guarantee.delta
            self.guarantee_ = guarantee_in_words(delta)
        self.epsilon_, self.delta_ = guarantee.epsilon, guarantee.delta
        self.delta_monte_carlo_ = guarantee.delta_monte_carlo

    @reads_one_fit
    def promised_delta(self, epsilon: float) -> float:
        """Compute the delta that an epsilon would guarantee on these bags.

        Parameters
        ----------
        epsilon : float
            An inflation, above 0 and at most the square root of 2.

        Returns
        -------
        float
            A fraction of the rows; 1 is no guarantee.
        """
        check_is_fitted(self)
        delta = min(1.0, stability_delta(epsilon, **self._setting))
        return delta if self._bagging.selector.pool_is_exact else 1.0

    def _select(self) -> None:
        """Apply the rule to the weights."""
        bagging, items = self._bagging, self._bagging.prepared.items
        self.models_, weights = tuple(bagging.models), bagging.weights
        self.bag_models_ = bagging.counts.heaviest_by_bag()
        self.weights_ = ModelWeights(self.models_, weights)
        some_unseen = items is None or len(self.models_) < 2 ** len(items)
        is_inflated = isinstance(self._rule, InflatedArgmax)
        self.undecided_ = is_inflated and some_unseen and unseen_would_enter(weights, self.epsilon_)
        members = bagging.members
        self._chosen_items = None if members is None else self._rule.chosen_items(weights, members)
        if self._chosen_items is None or items is None:
            self.selected_ = tuple(self.models_[i] for i in self._rule.choose(weights, None))
        else:
            self.selected_ = tuple(tuple(items[j] for j in np.flatnonzero(row)) for row in self._chosen_items)
        self.expression_ = self._expression()
        if self.undecided_:
            warn_caller(
                f"epsilon={self.epsilon_:.3g} is so large that models which no bag chose would be selected as well: "
                "the bags cannot tell. Use more rows, smaller bags, or a larger delta.",
                UndecidedWarning,
            )

    def _expression(self) -> str:
        if self.undecided_:
            return "any model: the bags cannot tell"
        items = self._bagging.prepared.items
        if items is None:
            return " or ".join(map(str, self.selected_))
        models = [tuple(map(item_name, model)) for model in self.selected_]
        return expression_of(models, [item_name(item) for item in items])

    @reads_one_fit
    def select_once(self) -> Hashable:
        """Choose a model on all rows at once, without bags.

        Returns
        -------
        model
            What a single run of the selector on the whole table returns.
        """
        check_is_fitted(self)
        prepared, counts = self._bagging.prepared, ModelCounts()
        every_row = np.arange(self._bagging.table.n_rows, dtype=np.int32)[np.newaxis]
        counts.add(prepared.select(every_row), prepared.items)
        return counts.models[int(counts.heaviest_by_bag()[0])]

    @reads_one_fit
    def leave_one_out(self, method: str = "pool") -> LeaveOneOut:
        """Compute what would be selected without a row, for every row.

        Parameters
        ----------
        method : {"pool", "refit"}, default="pool"
            A bag that does not hold a row is a bag of the other rows: "pool" draws more bags,
            ``n_bags / (1 - fraction)`` in all, and computes the weights without a row from the bags that lack it.
            "refit" draws ``n_bags`` bags without the row, for each row. It is the only way if a model depends on more
            than the rows of its bag.

        Returns
        -------
        LeaveOneOut
            Instability, set sizes, and the rows without which the selection is a different one.
        """
        return LeaveOneOut.of(weights=self.left_out_weights(method), rule=self._rule)

    @reads_one_fit
    def left_out_weights(self, method: str = "pool") -> Iterator[LeftOutWeights]:
        """Compute the weights of models from all rows, and without each row.

        Parameters
        ----------
        method : {"pool", "refit"}, default="pool"
            As for ``leave_one_out``.

        Returns
        -------
        iterator of LeftOutWeights
            The weights, in blocks of rows.
        """
        check_is_fitted(self)
        check_choice("method", method, ("pool", "refit"))
        left_out = self._bagging.left_out_by_pool if method == "pool" else self._bagging.left_out_by_refits
        return left_out(self.n_jobs, self.verbose, self._task_runner())

    @reads_one_fit
    def get_support(self, indices: bool = False, *, how: str = "union") -> np.ndarray:
        """Return which columns the selected models have.

        Parameters
        ----------
        indices : bool, default=False
            Whether to return positions instead of a mask.
        how : {"union", "intersection"}, default="union"
            Whether a column must be in any of the selected models, or in all.

        Returns
        -------
        array
            A mask of shape (n_columns,), or the positions of the columns.
        """
        check_is_fitted(self)
        check_boolean("indices", indices)
        check_choice("how", how, ("union", "intersection"))
        if self._chosen_items is None or not self._bagging.prepared.are_variables:
            raise ParameterError("The selected models are not sets of variables: use selected_.")
        support = np.asarray(self._chosen_items.any(axis=0) if how == "union" else self._chosen_items.all(axis=0))
        return np.flatnonzero(support) if indices else support
