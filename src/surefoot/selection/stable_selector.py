"""Models that survive dropping a row: a selector on many bags of rows, and a rule that asks how sure the winner is."""

import warnings
from collections.abc import Hashable
from math import ceil
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from surefoot._exceptions import DataError, ParameterError, UndecidedWarning
from surefoot._parameters import check_choice, check_integer
from surefoot._progress import BagWatch
from surefoot._random import seed_from, stream_key
from surefoot.data.columns import is_frame
from surefoot.selection.bag_models import BagModels, choose_on_bags, left_out_shares
from surefoot.selection.bags import BagPool
from surefoot.selection.expression import expression_of
from surefoot.selection.guarantee import bag_rows, guarantee_in_words, stability_delta, stability_epsilon
from surefoot.selection.inflated_argmax import check_epsilon, unseen_would_enter
from surefoot.selection.leave_one_out import LeaveOneOut, compare_with_full
from surefoot.selection.model_weights import ModelWeights
from surefoot.selection.rules import InclusionProbability, InflatedArgmax, SelectionRule
from surefoot.selection.selector import Selector
from surefoot.selection.table import read_table, take_columns

NAME, INFLATED_ARGMAX = "StableSelector", "inflated_argmax"
DEFAULT_DELTA = 0.05
MOST_EXACT_ITEMS = 50  # of more items there are so many models that their number no longer matters
MOST_WEIGHTS = 1 << 24  # weights of leave-one-out that are held at once
LEAST_LACKING = 1e-4  # share of the bags that must lack a given row for the pool to tell of it
REFIT = 5_000_011  # label of a stream: bags without a row


class StableSelector(TransformerMixin, BaseEstimator):
    """Select the models between which the rows cannot decide, with a guarantee of stability.

    A selector chooses a model on each of many bags of rows; a model's weight is its share of the bags. The inflated
    argmax then returns every model that could be the clear winner if the weights were a little different. For at most a
    share delta of the rows, removing that row would give a set of models that shares none with this one. It does not
    say that any of them is right.

    Parameters
    ----------
    selector : Selector
        What chooses a model from some rows, such as `selection.LassoSelector`.
    rule : "inflated_argmax" or a rule, default="inflated_argmax"
        A rule is `selection.Argmax()`, `TopK(k)`, `InclusionProbability(tau)` or `InflatedArgmax(epsilon)`; those other
        than the inflated argmax carry no guarantee.
    delta, epsilon : float, default=None
        Of the inflated argmax: the share of rows that may turn the conclusion over, or the inflation itself. Give one;
        neither is ``delta=0.05``.
    monte_carlo : bool, default=False
        Whether the guarantee shall cover the chance in drawing a finite number of bags too. Its bound is far too
        careful, and asks for very many bags.
    n_bags : int, default=10_000
    bag_size : int or float, default=0.5
        The number of rows in a bag, or their share of all rows.
    replace : bool, default=False
        Whether bags are drawn with replacement.
    random_state : int, RandomState or None, default=None
    n_jobs : int, default=None
        Bags are shared out to so many threads; the result does not depend on it.
    verbose : int, default=0
        With 1, how far the bags are is told on standard error.

    Attributes
    ----------
    weights_ : ModelWeights
        The models that bags chose and their weights, heaviest first. A model of variables is a tuple of their names.
    selected_ : tuple of models
        Heaviest first.
    expression_ : str
        The selected models in a few words; sets of variables as a product of choices where they are one.
    guarantee_ : str
        What is promised, in words.
    epsilon_, delta_, delta_monte_carlo_ : float
        Of the inflated argmax; ``delta_`` is at most 1, which is no guarantee. The last one covers the chance in
        drawing the bags too.
    undecided_ : bool
        Whether the inflation is so large that models which no bag chose would be selected as well.
    models_ : tuple of models, and bag_models_ : array of shape (n_bags,)
        All models that bags chose, and which one each bag chose (of a selector that weighs several, the heaviest).
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
    'x1 x {x3 | x4}'
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

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> "StableSelector":
        """Let the selector choose on every bag, and select.

        Parameters
        ----------
        X : array or frame of shape (n_rows, n_columns)
            Columns of categorical dtype count as one variable each.
        y : array of shape (n_rows,), default=None
            What the selector asks for: numbers, classes, or nothing.
        **fit_params
            What else the selector asks for, such as the times ``t`` of `selection.SINDySelector`.
        """
        before = dict(self.__dict__)
        try:
            return self._fit(X, y, fit_params)
        except BaseException:  # Ctrl-C included: the selector stays as it was
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _fit(self, X: Any, y: Any, fit_params: dict[str, Any]) -> "StableSelector":
        selector = self._check_parameters(fit_params)
        table = read_table(self, X, y, selector.target, fit_params, may_be_constant=selector.may_be_constant)
        size = bag_rows(self.bag_size, table.n_rows, self.replace)
        prepared = selector.prepare(table)
        if prepared.items is None and isinstance(self.rule, InclusionProbability):
            raise ParameterError(
                f"rule=InclusionProbability is for models that are sets of items; those of {type(selector).__name__} "
                "are not: take another rule."
            )
        n_models = None if prepared.items is None else len(prepared.items)
        rule = self._make_rule(table.n_rows, size, n_models)
        pool = BagPool(table.n_rows, size, self.replace, seed_from(self.random_state))
        found = BagModels()
        choose_on_bags(prepared, pool, 0, self.n_bags, found, self.n_jobs, BagWatch(NAME, self.verbose, self.n_bags))
        self._table, self._prepared, self._pool, self._found, self._rule = table, prepared, pool, found, rule
        self._fitted_selector, self._fitted_bags = clone(selector), self.n_bags  # parameters may be set anew later
        self._select(n_models)
        return self

    def _check_parameters(self, fit_params: dict[str, Any]) -> Selector:
        if not isinstance(self.selector, Selector):
            raise ParameterError(
                f"selector must be a selector such as surefoot.selection.LassoSelector, got {self.selector!r}: wrap "
                "anything else in surefoot.selection.FunctionSelector."
            )
        unknown = sorted(set(fit_params) - set(self.selector.fit_arguments))
        if unknown:
            raise ParameterError(f"{type(self.selector).__name__} makes nothing of {unknown[0]}: leave it out of fit.")
        check_integer("n_bags", self.n_bags, 1)
        for name in ("replace", "monte_carlo"):
            if not isinstance(getattr(self, name), bool):
                raise ParameterError(f"{name} must be True or False, got {getattr(self, name)!r}.")
        if not (isinstance(self.rule, SelectionRule) or self.rule == INFLATED_ARGMAX):
            raise ParameterError(
                f"rule must be 'inflated_argmax' or a rule such as surefoot.selection.TopK(2), got {self.rule!r}."
            )
        if self.delta is not None and self.epsilon is not None:
            raise ParameterError("delta and epsilon are both given, but each follows from the other: give one of them.")
        if isinstance(self.rule, SelectionRule) and self.monte_carlo:
            raise ParameterError("monte_carlo=True is for rule='inflated_argmax': leave it out with another rule.")
        if isinstance(self.rule, SelectionRule) and (self.delta, self.epsilon) != (None, None):
            raise ParameterError("delta and epsilon are for rule='inflated_argmax': leave them out with another rule.")
        return self.selector

    def _make_rule(self, n_rows: int, size: int, n_items: int | None) -> SelectionRule:
        """The rule with its epsilon, from delta if that is what was given."""
        if isinstance(self.rule, SelectionRule):
            return self.rule
        if self.epsilon is not None:
            return InflatedArgmax(check_epsilon(self.epsilon))
        delta = DEFAULT_DELTA if self.delta is None else self.delta
        bags = self.n_bags if self.monte_carlo else None
        return InflatedArgmax(stability_epsilon(delta, n_bags=bags, **self._setting(n_rows, size, n_items)))

    def _setting(self, n_rows: int, size: int, n_items: int | None) -> dict[str, Any]:
        """What epsilon and delta depend on besides each other."""
        n_models = 2**n_items if n_items is not None and 1 <= n_items <= MOST_EXACT_ITEMS else None
        return {"n_samples": n_rows, "bag_size": size, "n_models": n_models, "replace": self.replace}

    def _select(self, n_items: int | None) -> None:
        """Weights, and what the rule makes of them."""
        shares, members = self._found.shares(), self._found.member_array()
        self.models_ = tuple(self._found.models)
        self.bag_models_ = self._found.heaviest_by_bag()
        self.weights_ = ModelWeights(self.models_, shares)
        self.undecided_ = False
        if isinstance(self._rule, InflatedArgmax):
            setting = self._setting(self._table.n_rows, self._pool.size, n_items)
            self.epsilon_ = self._rule.epsilon
            self.delta_ = min(1.0, stability_delta(self.epsilon_, **setting))
            self.delta_monte_carlo_ = min(1.0, stability_delta(self.epsilon_, n_bags=self.n_bags, **setting))
            self.guarantee_ = guarantee_in_words(self.delta_monte_carlo_ if self.monte_carlo else self.delta_)
            some_unseen = n_items is None or len(self.models_) < 2**n_items
            self.undecided_ = some_unseen and unseen_would_enter(shares, self.epsilon_)
        else:
            self.epsilon_ = self.delta_ = self.delta_monte_carlo_ = float("nan")
            self.guarantee_ = "This rule carries no guarantee."
        self._chosen_items = None if members is None else self._rule.chosen_items(shares, members)
        self.selected_ = self._selected(shares)
        self.expression_ = self._expression()
        if self.undecided_:
            warnings.warn(
                f"epsilon={self.epsilon_:.3g} is so large that models which no bag chose would be selected as well: "
                "the bags cannot tell. Take more rows, smaller bags, or a larger delta.",
                UndecidedWarning,
                stacklevel=4,  # that of the call of fit
            )

    def _selected(self, shares: np.ndarray) -> tuple[Hashable, ...]:
        items = self._prepared.items
        if self._chosen_items is None or items is None:
            return tuple(self.models_[i] for i in self._rule.choose(shares, None))
        return tuple(tuple(items[j] for j in np.flatnonzero(row)) for row in self._chosen_items)

    def _expression(self) -> str:
        if self.undecided_:
            return "any model: the bags cannot tell"
        items = self._prepared.items
        if items is None:
            return " or ".join(map(str, self.selected_))
        names = {item: item if isinstance(item, str) else _item_name(item) for item in items}
        models = [tuple(names[item] for item in model) for model in self.selected_]  # type: ignore[attr-defined]
        return expression_of(models, list(names.values()))

    def leave_one_out(self, method: str = "pool") -> LeaveOneOut:
        """What would have been selected without a row, for every row.

        Parameters
        ----------
        method : "pool" or "refit", default="pool"
            A bag that does not hold a row is a bag of the other rows: "pool" draws more bags, ``n_bags / (1 - share)``
            in all, and reads the weights without a row off those that do not hold it. "refit" draws ``n_bags`` bags
            without the row, for each row, and is the only way where a model depends on more than its bag's rows.
        """
        check_is_fitted(self)
        check_choice("method", method, ("pool", "refit"))
        return self._by_pool() if method == "pool" else self._by_refits()

    def _by_pool(self) -> LeaveOneOut:
        if not self._fitted_selector.pool_is_exact:
            raise ParameterError(
                f"method='pool' would not be exact for {type(self._fitted_selector).__name__}, whose models depend on "
                "rows that a bag leaves out: take method='refit'."
            )
        pool, found = self._pool, self._found
        if 1.0 - pool.share < LEAST_LACKING:
            raise ParameterError(
                f"Hardly a bag lacks a given row (bag_size is {pool.size} of {self._table.n_rows} rows): take smaller "
                "bags, or method='refit'."
            )
        n_all = ceil(self._fitted_bags / (1.0 - pool.share))
        if found.n_bags < n_all:
            found = found.copy()
            watch = BagWatch(NAME, self.verbose, n_all)
            choose_on_bags(self._prepared, pool, found.n_bags, n_all, found, self.n_jobs, watch)
            self._found = found
        full = np.zeros(len(found.models))
        full[: len(self.models_)] = [self.weights_[model] for model in self.models_]
        members, n_rows = found.member_array(), self._table.n_rows
        at_once = max(1, MOST_WEIGHTS // len(found.models))
        parts = [range(start, min(start + at_once, n_rows)) for start in range(0, n_rows, at_once)]
        results = [compare_with_full(self._rule, full, left_out_shares(found, pool, part), members) for part in parts]
        disjoint, sizes = (np.concatenate(part) for part in zip(*results, strict=True))
        return LeaveOneOut.of(disjoint, sizes)

    def _by_refits(self) -> LeaveOneOut:
        table, pool = self._table, self._pool
        if pool.size >= table.n_rows - 1 and not pool.replace:
            raise ParameterError(
                f"bag_size is {pool.size} of {table.n_rows} rows: without a row there would be no bags that leave one "
                "out. Take smaller bags."
            )
        watch = BagWatch(NAME, self.verbose, self._fitted_bags * table.n_rows)
        disjoint, sizes = np.empty(table.n_rows, dtype=np.bool_), np.empty(table.n_rows, dtype=np.int64)
        for row in range(table.n_rows):
            seed = int(stream_key(pool.seed, REFIT, row) >> np.uint64(1))
            found = BagModels()
            others = BagPool(table.n_rows - 1, pool.size, pool.replace, seed)
            prepared = self._fitted_selector.prepare(table.without(row))
            choose_on_bags(prepared, others, 0, self._fitted_bags, found, self.n_jobs, watch)
            shares, members = found.shares(), found.member_array()
            selected = self._models_of(shares, members, found.models, prepared.items)
            disjoint[row], sizes[row] = not selected & set(self.selected_), len(selected)
        return LeaveOneOut.of(disjoint, sizes)

    def _models_of(
        self, shares: np.ndarray, members: np.ndarray | None, models: list[Hashable], items: tuple[Hashable, ...] | None
    ) -> set[Hashable]:
        if members is None or items is None:
            return {models[i] for i in self._rule.choose(shares, None)}
        chosen = self._rule.chosen_items(shares, members)
        return {tuple(items[j] for j in np.flatnonzero(row)) for row in chosen}

    def get_support(self, indices: bool = False, *, how: str = "union") -> np.ndarray:
        """Which columns the selected models have: in any of them ("union"), or in all ("intersection")."""
        check_is_fitted(self)
        check_choice("how", how, ("union", "intersection"))
        if self._chosen_items is None or not self._prepared.are_variables:
            raise ParameterError("The selected models are not sets of variables: selected_ has them as they are.")
        support = np.asarray(self._chosen_items.any(axis=0) if how == "union" else self._chosen_items.all(axis=0))
        return np.flatnonzero(support) if indices else support

    def transform(self, X: Any) -> Any:
        """The columns that any of the selected models has."""
        support = self.get_support(indices=True)
        checked = validate_data(self, X, reset=False, skip_check_array=is_frame(X), dtype=None)
        return take_columns(checked, support)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns that ``transform`` keeps."""
        check_is_fitted(self)
        names = np.array(self._table.names, dtype=object)
        if input_features is not None:
            given = np.array(list(input_features), dtype=object)
            if len(given) != len(names):
                raise DataError(f"input_features should have length equal to the number of columns, {len(names)}.")
            if hasattr(self, "feature_names_in_") and given.tolist() != names.tolist():
                raise DataError("input_features is not equal to feature_names_in_: pass the names of the columns of X.")
            names = given
        return names[self.get_support()]


def _item_name(item: Any) -> str:
    """An edge or a term of an equation in a few letters."""
    return " - ".join(map(str, item)) if isinstance(item, tuple) else str(item)
