"""Selectors that run Python code on each bag, against scikit-learn; errors of the user's code; frames."""

import pickle
import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from surefoot import DataError, ParameterError, StableSelector
from surefoot.selection.bagged_selection import BagPool
from surefoot.selection.cluster_selector import ClusterCountSelector
from surefoot.selection.function_selector import FunctionSelector
from surefoot.selection.rules import Argmax
from surefoot.selection.search_selector import SearchSelector
from surefoot.selection.selector import BagError, PreparedPython, open_random_states
from surefoot.selection.table import SelectionTable


def table_of(X, y=None):
    X = np.ascontiguousarray(X, dtype=np.float64)
    names = tuple(f"x{j}" for j in range(X.shape[1]))
    return SelectionTable(X, names, np.arange(X.shape[1], dtype=np.int32), y, given=(X, y))


def some_bags(n_rows, size, n_bags, replace=False):
    return BagPool(n_rows, size, replace, 0).bags(0, n_bags)


def models_of_bags(stable):
    return [stable.models_[place] for place in stable.bag_models_]


def stable_with(selector, **parameters):
    return StableSelector(
        selector, **{"n_bags": 12, "bag_size": 0.5, "random_state": 0, "rule": Argmax(), **parameters}
    )


def first_and_count(X, y):
    """A model that identifies the rows of an array or a frame."""
    column = np.asarray(X)[:, 0]
    return (len(X), float(column[0]), None if y is None else float(np.asarray(y)[-1]))


# Functions


@pytest.mark.parametrize("with_y", [True, False])
def test_a_function_gets_the_rows_of_the_bag(with_y):
    X, y = np.arange(40.0).reshape(20, 2), 100 + np.arange(20) if with_y else None
    stable = stable_with(FunctionSelector(first_and_count)).fit(X, y)
    bags = BagPool(20, 10, False, stable._bagging.pool.seed).bags(0, 12)
    assert models_of_bags(stable) == [
        (10, 2.0 * bag[0], 100.0 + bag[-1] if with_y else None) for bag in bags
    ]  # rows are in ascending order


FRAMES = {
    "pandas": (lambda X: pd.DataFrame(X, columns=["a", "b"], index=np.arange(20) + 7), pd.Series, pd.DataFrame),
    "polars": (lambda X: pl.DataFrame(X, schema=["a", "b"]), pl.Series, pl.DataFrame),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_stays_a_frame(kind):
    make_frame, make_series, frame_type = FRAMES[kind]
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) * 3.0
    seen = []

    def look(X, y):
        seen.append((type(X), list(X.columns), type(y)))
        return first_and_count(X, y)

    by_frame = stable_with(FunctionSelector(look)).fit(make_frame(X), make_series(y))
    by_array = stable_with(FunctionSelector(first_and_count)).fit(X, y)
    assert set(map(str, seen)) == {str((frame_type, ["a", "b"], make_series))}
    assert models_of_bags(by_frame) == models_of_bags(by_array)


def test_a_categorical_column_reaches_the_function_unchanged():
    X = pd.DataFrame({"size": np.arange(20.0), "colour": pd.Categorical(["red", "blue"] * 10)})
    stable = stable_with(FunctionSelector(lambda X, y: str(X["colour"].mode()[0]))).fit(X)
    assert set(stable.models_) == {"red", "blue"}


def test_labels_of_any_type():
    labels = np.array(["low", "high"] * 10, dtype=object)
    stable = stable_with(FunctionSelector(lambda X, y: max(set(y), key=list(y).count))).fit(np.ones((20, 1)), labels)
    assert set(stable.models_) == {"low", "high"}


def test_a_dict_has_weights_of_models():
    stable = stable_with(FunctionSelector(lambda X, y: {"a": 3, "b": 1, X[0, 0]: 0})).fit(
        np.arange(20.0)[:, np.newaxis]
    )
    assert stable.weights_["a"] == pytest.approx(0.75)
    assert stable.weights_["b"] == pytest.approx(0.25)
    assert stable.selected_ == ("a",)


def fails_sometimes(X, y):
    if X[0, 0] > 0:
        raise ValueError("no first row")
    return "model"


def test_an_error_of_the_function_names_the_bag_and_is_its_cause():
    X = np.arange(20.0)[:, np.newaxis]
    stable = stable_with(FunctionSelector(fails_sometimes))
    bags = BagPool(20, 10, False, np.random.RandomState(0).randint(np.iinfo(np.int32).max)).bags(0, 12)
    failing = int(np.flatnonzero(bags[:, 0] > 0)[0])
    with pytest.raises(DataError, match=f"failed on bag {failing}: ValueError: no first row") as caught:
        stable.fit(X)
    bag_error = caught.value.__cause__
    assert isinstance(bag_error, BagError)
    assert isinstance(bag_error.__cause__, ValueError)
    assert str(bag_error.__cause__) == "no first row"


class FailsThird(PreparedPython):
    def model_of(self, rows):
        if rows[0] == 2:
            raise KeyError("third")
        return int(rows[0])


def test_the_index_of_a_failing_bag_counts_within_the_call():
    bags = np.array([[0, 5], [1, 5], [2, 5], [3, 5]], dtype=np.int32)
    assert FailsThird().select(bags[:2]) == [0, 1]
    assert FailsThird().items is None
    with pytest.raises(BagError) as caught:
        FailsThird().select(bags)
    assert (caught.value.index, caught.value.reason) == (2, "KeyError: 'third'")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_is_not_caught(n_jobs):
    def interrupt(X, y):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stable_with(FunctionSelector(interrupt), n_jobs=n_jobs).fit(np.arange(20.0)[:, np.newaxis])


@pytest.mark.parametrize("f", [None, 3, "mean"])
def test_objects_that_are_not_callable_are_refused(f):
    with pytest.raises(ParameterError, match="f must be a function of X and y"):
        stable_with(FunctionSelector(f)).fit(np.arange(20.0)[:, np.newaxis])


def test_a_model_that_is_not_hashable_is_refused():
    with pytest.raises(DataError, match="return something hashable"):
        stable_with(FunctionSelector(lambda X, y: [1])).fit(np.arange(20.0)[:, np.newaxis])


def test_the_number_of_threads_changes_nothing():
    X, threads = np.arange(200.0).reshape(100, 2), set()

    def look(X, y):
        threads.add(threading.get_ident())
        return first_and_count(X, y)

    one, two = (stable_with(FunctionSelector(look), n_bags=300, n_jobs=n_jobs).fit(X) for n_jobs in (1, 2))
    assert len(threads) > 1
    assert models_of_bags(one) == models_of_bags(two)


def test_pool_and_refit_agree_on_a_clear_winner():
    X = np.random.default_rng(0).normal(size=(20, 3)) + np.array([0, 0, 5])
    stable = stable_with(FunctionSelector(lambda X, y: int(X.mean(axis=0).argmax()))).fit(X)
    assert stable.selected_ == (2,)
    for method in ("pool", "refit"):
        assert stable.leave_one_out(method).instability == 0


# Numbers of clusters


def silhouette_by_definition(X, labels):
    """The mean over rows of (b - a) / max(a, b), in plain loops; a row alone in its cluster counts 0."""
    distances, values = cdist(X, X), []
    for i in range(len(X)):
        own = (labels == labels[i]) & (np.arange(len(X)) != i)
        if not own.any():
            values.append(0.0)
            continue
        a = distances[i, own].mean()
        b = min(distances[i, labels == other].mean() for other in set(labels) - {labels[i]})
        values.append((b - a) / max(a, b))
    return np.mean(values)


def test_the_number_of_clusters_has_the_largest_silhouette():
    X, _ = make_blobs(120, centers=3, cluster_std=1.5, random_state=0)
    candidates = range(2, 5)
    prepared = ClusterCountSelector(candidates, n_init=2, standardize=False).prepare(table_of(X))
    bags = some_bags(120, 36, 8)
    expected = []
    for bag in bags:
        fits = [KMeans(k, n_init=2, random_state=0).fit(X[bag]) for k in candidates]
        scores = [silhouette_by_definition(X[bag], fit.labels_) for fit in fits]
        expected.append(candidates[int(np.argmax(scores))])
    assert prepared.select(bags) == expected
    assert len(set(expected)) > 1  # if not, a constant would pass


def test_clear_clusters_are_counted():
    X, _ = make_blobs(90, centers=[[0, 0], [20, 0], [0, 20]], random_state=0)
    stable = stable_with(ClusterCountSelector(), n_bags=5).fit(X)
    assert stable.selected_ == (3,)
    assert stable.expression_ == "3"


def test_more_clusters_than_distinct_rows_are_not_chosen():
    X = np.repeat([[0.0], [1.0], [10.0], [11.0]], 5, axis=0)
    every = np.arange(20, dtype=np.int32)[np.newaxis]
    assert ClusterCountSelector().prepare(table_of(X)).select(every) == [3]  # 4 would have the score 1
    with pytest.raises(BagError) as caught:
        ClusterCountSelector([4, 5]).prepare(table_of(X)).select(every)
    assert "too few distinct rows, 4, for 4 clusters" in caught.value.reason


def test_clusters_do_not_depend_on_other_bags_or_on_order():
    X, _ = make_blobs(60, centers=3, cluster_std=3, random_state=0)
    prepared, bags = ClusterCountSelector(range(2, 5), n_init=1).prepare(table_of(X)), some_bags(60, 30, 4)
    assert prepared.select(bags) == [prepared.select(bag[np.newaxis])[0] for bag in bags]
    ordered, shuffled = (ClusterCountSelector(c, n_init=1).prepare(table_of(X)) for c in ([2, 3, 4], [4, 2, 3, 2]))
    assert ordered.select(bags) == shuffled.select(bags)


@pytest.mark.parametrize("candidates", [(), (1, 2), (2.5,), 3, "23", (True,)])
def test_candidates_are_checked(candidates):
    with pytest.raises(ParameterError, match="candidates"):
        stable_with(ClusterCountSelector(candidates)).fit(np.arange(20.0)[:, np.newaxis])


def test_n_init_is_checked_and_y_is_refused():
    X = np.arange(20.0)[:, np.newaxis]
    with pytest.raises(ParameterError, match="n_init"):
        stable_with(ClusterCountSelector(n_init=0)).fit(X)
    with pytest.raises(DataError, match="y must be None"):
        stable_with(ClusterCountSelector()).fit(X, np.arange(20))


# Searches


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def test_the_winner_equals_a_search_by_hand(iris):
    X, y = iris
    grid = [{"max_depth": d, "min_samples_leaf": m} for d in (1, 2, 4) for m in (1, 6)]
    search = GridSearchCV(
        DecisionTreeClassifier(), {"max_depth": [1, 2, 4], "min_samples_leaf": [1, 6]}, cv=KFold(3, shuffle=False)
    )
    order = np.random.default_rng(0).permutation(150)
    X, y = X[order], y[order]
    bags = some_bags(150, 40, 10)
    expected = []
    for bag in bags:
        folds = np.array_split(np.arange(40), 3)
        scores = []
        for params in grid:
            hits = []
            for fold in folds:
                rest = np.setdiff1d(np.arange(40), fold)
                tree = DecisionTreeClassifier(random_state=0, **params).fit(X[bag[rest]], y[bag[rest]])
                hits.append(np.mean(tree.predict(X[bag[fold]]) == y[bag[fold]]))
            scores.append(np.mean(hits))
        expected.append(tuple(sorted(grid[int(np.argmax(np.round(scores, 12)))].items())))
    assert SearchSelector(search).prepare(table_of(X, y)).select(bags) == expected
    assert len(set(expected)) > 1


def test_the_search_itself_is_not_changed(iris):
    search = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 3]}, cv=3)
    before = repr(search.get_params())
    stable_with(SearchSelector(search), n_bags=2).fit(*iris)
    assert repr(search.get_params()) == before
    assert not hasattr(search, "best_params_")


def test_random_searches_are_the_same_every_time(iris):
    search = RandomizedSearchCV(DecisionTreeClassifier(splitter="random"), {"max_depth": range(1, 9)}, n_iter=3, cv=2)
    prepared = SearchSelector(search).prepare(table_of(*iris))
    assert open_random_states(search) == ["estimator__random_state", "random_state"]
    assert open_random_states(prepared.search) == []
    bags = some_bags(150, 50, 4)
    again = SearchSelector(search).prepare(table_of(*iris))
    assert prepared.select(bags) == again.select(bags)


def test_a_given_random_state_is_kept(iris):
    search = GridSearchCV(DecisionTreeClassifier(random_state=5), {"max_depth": [1, 3]})
    assert SearchSelector(search).prepare(table_of(*iris)).search.estimator.random_state == 5


def test_values_that_are_objects_are_replaced_by_their_repr(iris):
    X, _ = iris
    pipe = Pipeline([("scale", StandardScaler()), ("ridge", Ridge())])
    grid = {"scale": [StandardScaler(), MinMaxScaler()], "ridge__alpha": [0.1, 10.0]}
    stable = stable_with(SearchSelector(GridSearchCV(pipe, grid, cv=2)), n_bags=6).fit(X[:, :3], X[:, 3])
    assert len(stable.models_) < 6  # equal winners are one model although each bag has its own copy
    for model in stable.models_:
        assert [name for name, _ in model] == ["ridge__alpha", "scale"]
        assert dict(model)["scale"] in ("StandardScaler()", "MinMaxScaler()")
        assert dict(model)["ridge__alpha"] in (0.1, 10.0)


class ListSearch(DecisionTreeClassifier):
    """Not a search of scikit-learn, but it has best_params_, with values of all kinds."""

    def fit(self, X, y):
        self.best_params_ = {"b": [1, 2], "a": np.arange(2), "c": float("nan"), "d": (1, 2)}
        return self


def test_values_that_are_not_hashable_are_replaced_by_their_repr(iris):
    model = SearchSelector(ListSearch()).prepare(table_of(*iris)).select(some_bags(150, 20, 1))[0]
    assert model == (("a", "array([0, 1])"), ("b", "[1, 2]"), ("c", "nan"), ("d", (1, 2)))


def test_a_search_gets_frames(iris):
    X, y = iris
    frame = pd.DataFrame(X, columns=list("abcd"))
    search = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 3]}, cv=3)
    by_frame, by_array = (stable_with(SearchSelector(search), n_bags=4).fit(table, y) for table in (frame, X))
    assert models_of_bags(by_frame) == models_of_bags(by_array)


@pytest.mark.parametrize("search", [None, GridSearchCV, "grid"])
def test_objects_that_are_not_searches_are_refused(search, iris):
    with pytest.raises(ParameterError, match="search must be a search"):
        stable_with(SearchSelector(search)).fit(*iris)


def test_a_search_without_a_winner_is_refused(iris):
    with pytest.raises(DataError, match=r"bag 0: AttributeError: .*best_params_"):
        stable_with(SearchSelector(DecisionTreeClassifier())).fit(*iris)


# All of them


@pytest.mark.parametrize(
    "selector",
    [
        FunctionSelector(first_and_count),
        ClusterCountSelector([2, 3], n_init=1),
        SearchSelector(GridSearchCV(Ridge(), {"alpha": [1.0, 2.0]}, cv=2)),
    ],
    ids=lambda selector: type(selector).__name__,
)
def test_copies_and_pickles(selector):
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20.0)
    given = (X,) if isinstance(selector, ClusterCountSelector) else (X, y)
    fitted = stable_with(clone(selector)).fit(*given)
    loaded = pickle.loads(pickle.dumps(fitted))
    assert models_of_bags(loaded) == models_of_bags(fitted)
    assert loaded.leave_one_out().instability == fitted.leave_one_out().instability
