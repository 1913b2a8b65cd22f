"""Models that cannot be saved are refused in one sentence, and nothing is written."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from small_models import small_model, table

import surefoot
from surefoot.model_io.models import BY_NAME
from surefoot.selection import LassoSelector
from surefoot.uncertainty import Normal


@dataclass(frozen=True, kw_only=True)
class Foreign(Normal):
    """A family of the user."""


class Grandchild(surefoot.AdaBoostClassifier):
    """A model of the user."""


def refusal(model, folder, error=surefoot.ModelFileError):
    """The message when a model is refused; the folder remains empty."""
    with pytest.raises(error) as caught:
        surefoot.save(model, folder / "model.surefoot")
    assert list(folder.iterdir()) == []
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(".")
    return message


X, y = table()[0][["a", "b"]], table()[1]


@pytest.mark.parametrize(
    "model",
    [
        surefoot.StableSelector(LassoSelector(alpha=0.1)),
        surefoot.StableClassifier(LogisticRegression()),
        surefoot.ConformalClassifier(LogisticRegression()),
        LogisticRegression(),
        Grandchild(),
        surefoot.AdaBoostClassifier,
        "a model",
        None,
    ],
    ids=repr,
)
def test_other_models(model, tmp_path):
    message = refusal(model, tmp_path)
    assert "cannot be saved" in message
    assert all(name in message for name in BY_NAME)


@pytest.mark.parametrize("kind", BY_NAME.values())
def test_models_that_are_not_fitted(kind, tmp_path):
    assert "is not fitted" in refusal(kind(), tmp_path, NotFittedError)


@pytest.mark.parametrize(
    "kind", [surefoot.AdaBoostClassifier, surefoot.MajorityBoostClassifier, surefoot.BestBoostClassifier]
)
def test_weak_learners_of_scikit_learn(kind, tmp_path):
    model = kind(estimator=DecisionTreeClassifier(max_depth=1), n_estimators=2).fit(X.fillna(0.0), y > 1)
    assert "weak learner DecisionTreeClassifier(max_depth=1) is not surefoot's own" in refusal(model, tmp_path)


def test_a_long_repr_does_not_break_the_line(tmp_path):
    tree = DecisionTreeClassifier(
        max_depth=1, min_samples_leaf=3, min_samples_split=7, max_leaf_nodes=5, criterion="entropy"
    )
    assert "\n" in repr(tree)
    refusal(surefoot.AdaBoostClassifier(estimator=tree, n_estimators=2).fit(X.fillna(0.0), y > 1), tmp_path)


@pytest.mark.parametrize("distribution", [Foreign, Foreign()])
def test_distributions_of_the_user(distribution, tmp_path):
    model = surefoot.GradientBoostingRegressor(distribution=distribution, n_estimators=2).fit(X, y)
    assert "distribution Foreign is not one of normal" in refusal(model, tmp_path)


@pytest.mark.parametrize(
    "values",
    [
        pd.cut(np.arange(60.0), 3),
        pd.Categorical(pd.date_range("2020-01-01", periods=3).repeat(20)),
        pd.Categorical([(1, 2), (3, 4), (5, 6)] * 20),
        pd.Categorical([1.0, np.inf, 2.0] * 20),
    ],
    ids=lambda values: str(values.categories.dtype),
)
def test_categories_that_json_does_not_have(values, tmp_path):
    model = surefoot.GradientBoostingRegressor(n_estimators=2).fit(X.assign(c=values), y)
    assert "is neither text nor a number nor a boolean: convert it before fit" in refusal(model, tmp_path)


def test_parameters_that_became_invalid(tmp_path):
    model = surefoot.AdaBoostClassifier(n_estimators=2).fit(X, y > 1)
    assert "learning_rate must be" in refusal(model.set_params(learning_rate=-1.0), tmp_path)
    model.set_params(learning_rate=1.0, class_weight=object())
    assert "its parameter class_weight=<object" in refusal(model, tmp_path)


def test_broken_models(tmp_path):
    model = surefoot.load(surefoot.save(small_model("stumps"), tmp_path / "x") or tmp_path / "x")
    (tmp_path / "x").unlink()
    model._committee.forest.labels[0, 0] = 2
    assert "there are labels of unknown classes" in refusal(model, tmp_path)
    model._committee.forest.labels[0, 0] = 0
    model._committee.vote_weights[0] = np.nan
    assert "vote_weights has values that are not finite" in refusal(model, tmp_path)


def test_more_categories_than_a_file_can_hold(tmp_path, monkeypatch):
    monkeypatch.setattr("surefoot.model_io.archive.MAX_TEXT", 100)
    assert "more categories or members than a model file can hold" in refusal(small_model("stumps"), tmp_path)
