"""A selector of the structure of decision trees."""

from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from sklearn import config_context
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.multiclass import type_of_target

from surefoot._exceptions import DataError, ParameterError
from surefoot._parameters import check_integer
from surefoot.data.problem import check_numbers, one_column
from surefoot.selection.selector import PreparedPython, Selector
from surefoot.selection.table import ANY_TARGET, ERROR, MissingValues, SelectionTable, encode_classes, filled_bags

REGRESSION_CRITERIA = ("squared_error", "friedman_mse", "absolute_error", "poisson")
LEAF = "leaf"  # a leaf of a regression tree
MAX_SEED = 2**32 - 1


class TreeSelector(Selector):
    """Choose the structure of a decision tree (scikit-learn's ``DecisionTreeClassifier`` or ``DecisionTreeRegressor``).

    Two trees are the same model if they have the same structure, the same split variables and the same classes in their
    leaves; thresholds do not count, nor does which value of a category is split off. A model is a nested tuple
    ``(variable, low, high)``, where ``low`` and ``high`` are the trees for rows at or below the threshold and above it.
    A leaf is a class label, or "leaf" in a regression tree. `tree_text` writes a model as an outline.

    Parameters
    ----------
    missing : "error" or "bag_median", default="error"
        Whether missing values are an error, or are filled in each bag with the medians of its own rows. A column of 0
        and 1 that marks missing values then counts as part of the same variable.
    **tree_params
        Parameters of the tree, such as ``max_depth=3``. A dict ``class_weight`` has classes of y as keys.
        ``random_state`` decides between equally good splits: with None, the default, differently in each bag, by its
        row numbers; with an integer in the same way in every bag, which hides that the rows do not decide.

    See Also
    --------
    surefoot.StableSelector : Runs a selector on many bags of rows.

    Notes
    -----
    The tree is a classifier if y has strings, booleans or whole numbers ("binary" or "multiclass" by scikit-learn's
    ``type_of_target``), and a regressor if it has fractions. With a ``criterion`` for regression, such as
    "squared_error", it is a regressor for whole numbers too.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surefoot import StableSelector
    >>> from surefoot.selection import TreeSelector, tree_text
    >>> data = load_iris()
    >>> y = data.target_names[data.target]
    >>> selector = TreeSelector(max_leaf_nodes=3)
    >>> stable = StableSelector(selector, n_bags=200, bag_size=0.3, random_state=0).fit(data.data, y)
    >>> len(stable.selected_)  # each of the two splits can use the length or the width of the petal
    4
    >>> print(tree_text(stable.selected_[0]))
    x3
      low: setosa
      high: x2
        low: versicolor
        high: virginica
    """

    target = ANY_TARGET
    may_be_constant = True

    def __init__(self, *, missing: str = ERROR, **tree_params: Any) -> None:
        self.missing = missing
        self.tree_params = tree_params

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters.

        Parameters
        ----------
        deep : bool, default=True
            Ignored: no parameter is an estimator.

        Returns
        -------
        dict
            ``missing``, and the parameters of the tree that were given.
        """
        return {"missing": self.missing, **self.tree_params}

    def set_params(self, **params: Any) -> "TreeSelector":
        """Set parameters; the others keep their values.

        Parameters
        ----------
        **params
            ``missing``, and parameters of the tree.

        Returns
        -------
        TreeSelector
            The selector itself.
        """
        params = dict(params)
        missing = params.pop("missing", self.missing)
        _refuse_unknown(params)
        self.missing, self.tree_params = missing, {**self.tree_params, **params}
        return self

    def prepare(self, table: SelectionTable) -> "PreparedTree":
        """Decide between classification and regression, and test the parameters on all rows.

        Parameters
        ----------
        table : SelectionTable
            The rows to select from.

        Returns
        -------
        PreparedTree
            Chooses a model for each bag of rows.
        """
        _refuse_unknown(self.tree_params)
        params = {"random_state": None, **self.tree_params}
        if params["random_state"] is not None:
            check_integer("random_state", params["random_state"], 0, MAX_SEED)
        X, (y, classes) = _single_precision(table.X), _target(table.y, params.get("criterion"))
        names = tuple(table.names[variable] for variable in table.groups)
        if isinstance(params.get("class_weight"), dict):
            params["class_weight"] = _weights_of_codes(params["class_weight"], classes)
        prepared = PreparedTree(X=X, missing=MissingValues.find(X), y=y, names=names, classes=classes, params=params)
        try:
            prepared.fit(np.arange(len(X)), check_input=True)
        except (TypeError, ValueError, OverflowError) as error:
            raise ParameterError(f"scikit-learn's tree rejects the parameters or y of TreeSelector: {error}") from error
        return prepared


@dataclass(frozen=True)
class PreparedTree(PreparedPython):
    """A tree's parameters with its table; ``y`` holds numbers, or codes of ``classes``."""

    X: np.ndarray  # float32, as in scikit-learn's trees
    missing: MissingValues
    y: np.ndarray
    names: tuple[str, ...]  # of the variable of each column
    classes: tuple[Any, ...] | None
    params: dict[str, Any]

    def select(self, bags: np.ndarray) -> list:
        """Choose the tree of each bag."""
        with config_context(skip_parameter_validation=True):  # they have been tested on all rows
            return super().select(bags)

    def fit(self, rows: np.ndarray, *, check_input: bool) -> Any:
        """Fit scikit-learn's tree on some rows."""
        kind = DecisionTreeRegressor if self.classes is None else DecisionTreeClassifier
        tree = kind(**self.params)
        if tree.random_state is None:
            tree.random_state = crc32(rows.tobytes())  # random numbers that depend on the rows only
        X = filled_bags(self.X, self.missing, rows[np.newaxis]) if self.missing else self.X[rows]
        return tree.fit(X, self.y[rows], check_input=check_input)

    def model_of(self, rows: np.ndarray) -> Any:
        """The structure of a bag's tree."""
        fitted = self.fit(rows, check_input=self.params.get("criterion") == "poisson")  # its targets may all be 0
        tree = fitted.tree_
        if self.classes is None:
            models: list[Any] = [LEAF] * tree.node_count
        else:
            codes = fitted.classes_[tree.value[:, 0, :].argmax(axis=1)]
            models = [self.classes[code] for code in codes.tolist()]
        features, lows, highs = tree.feature.tolist(), tree.children_left.tolist(), tree.children_right.tolist()
        for node in range(tree.node_count - 1, -1, -1):  # children come after their parent
            if lows[node] >= 0:
                models[node] = (self.names[features[node]], models[lows[node]], models[highs[node]])
        return models[0]


def tree_text(model: Any) -> str:
    """Write a model of `TreeSelector` as an outline: a variable, and below it the trees for low and high values.

    Parameters
    ----------
    model : nested tuple, or the label of a leaf
        One of ``StableSelector.selected_``.

    Returns
    -------
    str

    Examples
    --------
    >>> from surefoot.selection.tree_selector import tree_text
    >>> print(tree_text(("age", "no", ("income", "no", "yes"))))
    age
      low: no
      high: income
        low: no
        high: yes
    """
    lines, to_write = [], [(0, "", model)]
    while to_write:
        depth, branch, node = to_write.pop()
        is_split = isinstance(node, tuple)
        if is_split and len(node) != 3:
            message = f"model must be a tree of nested tuples (variable, low branch, high branch), got {node!r}."
            raise ParameterError(message, argument="model")
        lines.append(f"{'  ' * depth}{branch}{node[0] if is_split else node}")
        if is_split:
            to_write += [(depth + 1, "high: ", node[2]), (depth + 1, "low: ", node[1])]
    return "\n".join(lines)


def _refuse_unknown(params: dict[str, Any]) -> None:
    known = DecisionTreeClassifier().get_params().keys() | DecisionTreeRegressor().get_params().keys()
    unknown = sorted(set(params) - known)
    if unknown:
        raise ParameterError(
            f"{', '.join(unknown)} is not a parameter of scikit-learn's trees: valid parameters are {sorted(known)}."
        )


def _single_precision(X: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        single = X.astype(np.float32)
    if np.isinf(single).any():
        raise DataError(
            "X has values too large for dtype('float32'), in which trees are grown: divide columns by a constant."
        )
    return single


def _target(y: np.ndarray | None, criterion: Any) -> tuple[np.ndarray, tuple[Any, ...] | None]:
    """Numbers and None, or codes of classes and the classes."""
    if y is None:
        raise DataError("y is missing: TreeSelector grows trees that predict y.")
    labels = one_column(y, "y")
    if labels.dtype.kind == "f" or criterion in REGRESSION_CRITERIA:
        labels = check_numbers(labels)  # first, because type_of_target fails for missing values
    if criterion in REGRESSION_CRITERIA or type_of_target(labels) == "continuous":
        return labels, None
    classes, codes = encode_classes(labels, "a tree")
    return codes, tuple(classes.tolist())


def _weights_of_codes(class_weight: dict[Any, float], classes: tuple[Any, ...] | None) -> dict[int, float]:
    """The weight of every class by its code; a bag may lack some classes."""
    unknown = set(class_weight) - set(classes or ())
    if unknown:
        raise ParameterError(f"class_weight names classes that y does not have: {sorted(map(str, unknown))}.")
    return {code: class_weight.get(label, 1.0) for code, label in enumerate(classes or ())}
