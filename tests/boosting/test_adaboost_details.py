"""Ties, importances, scikit-learn estimators as weak learners, progress and other details of the boosters."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from surefoot import AdaBoostClassifier, BaggedBoostClassifier, DataError, MajorityBoostClassifier, ParameterError


def test_a_tie_of_stumps_does_not_depend_on_the_order_of_the_votes():
    X, y = [[2, 1], [2, 1], [0, 0], [1, 1], [0, 2]], [0, 1, 1, 1, 0]
    model = AdaBoostClassifier(n_estimators=5).fit(X, y)
    assert (model.decision_function(X)[:2] == np.finfo(float).tiny).all()
    *_, last = model.staged_predict(X)
    assert model.predict(X).tolist() == last.tolist() == [1, 1, 1, 1, 0]


@pytest.mark.parametrize("seed", range(30))
def test_the_last_stage_is_the_prediction(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, size=(12, 2)), rng.integers(0, 2 + seed % 2, size=12)
    y[:3] = [0, 1, 1 + seed % 2]
    try:
        model = AdaBoostClassifier(n_estimators=7).fit(X, y)
    except DataError:  # nothing better than chance
        return
    *_, last = model.staged_predict(X)
    np.testing.assert_array_equal(model.predict(X), last)
    assert (np.abs(model.margins(X, y)) <= 1).all()


def test_adaboost_star_gives_no_importance_to_splits_that_change_no_label():
    X, y = np.tile([[0, 0], [1, 0], [0, 1], [1, 1]], (10, 1)), np.arange(40) < 3
    for depth in (1, 2):
        model = AdaBoostClassifier(variant="adaboost_star", n_estimators=4, max_depth=depth).fit(X, y)
        assert model.feature_importances_.tolist() == [0, 0]


def test_a_rare_flag_in_a_large_table_is_not_lost():
    flag = np.zeros((300_000, 1))
    flag[[7, 123_456, 299_999]] = 1
    model = AdaBoostClassifier(n_estimators=1).fit(flag, flag[:, 0])
    assert model.score(flag, flag[:, 0]) == 1.0


def test_every_value_is_a_threshold_in_a_large_table_without_bins():
    X = np.arange(260_000.0)[:, np.newaxis]
    y = X[:, 0] > 100_003
    model = AdaBoostClassifier(n_estimators=1, max_bins=None).fit(X, y)
    assert model.estimators_[0].threshold[0] == 100_003.5


def test_the_first_of_equally_good_columns_is_chosen():
    import pandas as pd

    number = np.arange(20) % 2
    kind = pd.Categorical(np.where(number, "b", "a"))
    y = np.where(np.arange(20) < 2, 1 - number, number)
    for frame in (pd.DataFrame({"kind": kind, "number": number}), pd.DataFrame({"number": number, "kind": kind})):
        for depth in (1, 2):
            model = AdaBoostClassifier(n_estimators=1, max_depth=depth).fit(frame, y)
            assert model.estimators_[0].feature[0] == 0


def test_categories_of_a_split_can_be_looked_up():
    import pandas as pd

    kind = pd.Categorical(["a", "b", "c"] * 10, categories=["a", "b", "c"])
    model = AdaBoostClassifier(n_estimators=1).fit(pd.DataFrame({"kind": kind}), np.array([1, 0, 1] * 10))
    tree = model.estimators_[0]
    assert np.isnan(tree.threshold[0])
    assert tree.goes_right[0, :3].tolist() == [1, 0, 1]
    assert tree.labels.tolist() == [0, 1]


class TestEstimators:
    X, y = load_breast_cancer(return_X_y=True)

    def test_random_states_inside_the_learner_follow_the_seed(self):
        learner = CalibratedClassifierCV(DecisionTreeClassifier(max_depth=1, splitter="random"), ensemble=False, cv=2)
        votes = [
            AdaBoostClassifier(estimator=learner, n_estimators=3, random_state=seed).fit(self.X, self.y)
            for seed in (0, 0, 1)
        ]
        decisions = [model.decision_function(self.X) for model in votes]
        np.testing.assert_array_equal(decisions[0], decisions[1])
        assert (decisions[0] != decisions[2]).any()

    def test_members_and_rounds_have_different_seeds(self):
        learner = DecisionTreeClassifier(max_depth=1, splitter="random")
        model = BaggedBoostClassifier(estimator=learner, n_members=3, n_estimators=4, random_state=0)
        members = model.fit(self.X, self.y).estimators_
        seeds = [tree.random_state for member in members for tree in member.estimators_]
        assert len(set(seeds)) == len(seeds)

    def test_a_part_with_one_class_gets_a_constant_learner(self):
        X, y = np.arange(20.0)[:, np.newaxis], np.arange(20) == 3
        model = MajorityBoostClassifier(estimator=LogisticRegression(), n_members=5, n_estimators=2, random_state=0)
        assert not model.fit(X, y).predict(X).any()

    def test_whole_numbers_reach_the_learner_as_floats_in_fit_and_predict(self):
        dtypes = []

        class Spy(DecisionTreeClassifier):
            def fit(self, X, y, sample_weight=None):
                dtypes.append(X.dtype)
                return super().fit(X, y, sample_weight)

            def predict(self, X):
                dtypes.append(X.dtype)
                return super().predict(X)

        X = np.arange(20, dtype=np.int8)[:, np.newaxis]
        model = AdaBoostClassifier(estimator=Spy(max_depth=1), n_estimators=2)
        model.fit(X, np.arange(20) % 3 > 0).predict(X)
        assert set(dtypes) == {np.dtype(np.float64)}

    @pytest.mark.parametrize("estimator", [LinearRegression(), DecisionTreeClassifier, "tree"])
    def test_an_estimator_that_is_not_a_classifier_is_refused(self, estimator):
        with pytest.raises(ParameterError, match="estimator must be a scikit-learn classifier"):
            AdaBoostClassifier(estimator=estimator).fit(self.X, self.y)

    def test_importances_need_those_of_the_learner(self):
        model = AdaBoostClassifier(estimator=LogisticRegression(), n_estimators=1).fit(self.X[:, :3] / 100, self.y)
        with pytest.raises(AttributeError, match="no feature_importances_"):
            _ = model.feature_importances_


@pytest.mark.parametrize(
    "parameters",
    [{"margin_precision": 0.2}, {"estimator": LogisticRegression(), "max_bins": 100}],
    ids=["margin_precision", "max_bins"],
)
def test_parameters_that_would_be_ignored_are_refused(parameters):
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(ParameterError, match=list(parameters)[-1]):
        AdaBoostClassifier(**parameters).fit(X, y)


def test_progress_reports_a_finished_member_even_if_it_stops_early(capsys):
    X, y = np.arange(20.0)[:, np.newaxis], np.arange(20) > 7
    AdaBoostClassifier(n_estimators=50, verbose=1).fit(X, y)
    assert "member 1 of 1: done, 1 of 50 rounds" in capsys.readouterr().err
    AdaBoostClassifier(n_estimators=50).fit(X, y)
    assert capsys.readouterr().err == ""


def test_margins_need_one_known_label_per_row():
    X, y = load_breast_cancer(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    with pytest.raises(DataError, match="568 labels for 569 rows"):
        model.margins(X, y[1:])
    with pytest.raises(DataError, match="was not fitted on"):
        model.margins(X, y + 1)
