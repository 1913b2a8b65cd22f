"""Tuning, boosters and forests agree with models that a user would train."""

import numpy as np
import pytest

from surefoot import BoostingEnsembleRegressor, GradientBoostingClassifier, GradientBoostingRegressor, VirtualEnsemble
from surefoot_experiments.uncertainty import methods
from surefoot_experiments.uncertainty.boosters import train_boosters
from surefoot_experiments.uncertainty.datasets import BY_NAME
from surefoot_experiments.uncertainty.forests import train_forests
from surefoot_experiments.uncertainty.lines import TuningLine
from surefoot_experiments.uncertainty.methods import FOREST_SPLITS, UncertaintySettings
from surefoot_experiments.uncertainty.problem import Problem
from surefoot_experiments.uncertainty.trainings import plan_trainings
from surefoot_experiments.uncertainty.tuning import best_line, count_best_trees, tune


def line(depth: int, nll: float, trees: int = 10) -> TuningLine:
    return TuningLine("boston", 0, "SGB", depth, 0.1, trees, nll, 1.0)


def test_the_papers_settings() -> None:
    settings = UncertaintySettings.make(False)
    assert (settings.trees, settings.members, settings.depths) == (1000, 10, (3, 4, 5, 6))
    assert settings.rates == (0.001, 0.01, 0.1)
    assert (settings.forest_trees, settings.forest_depth, settings.rows_per_cell) == (1000, 10, 1000)
    assert UncertaintySettings.make(True).trees < 1000


def test_every_pair_of_the_grid_is_tried(regression: Problem, tiny: UncertaintySettings) -> None:
    lines = tune(regression, "SGB", tiny, 1)
    assert [(tried.depth, tried.rate) for tried in lines] == [(2, 0.1), (2, 0.3), (3, 0.1), (3, 0.3)]
    train, validation = regression.split_for_validation()
    model = GradientBoostingRegressor(
        n_estimators=12,
        max_depth=3,
        learning_rate=0.1,
        subsample=0.5,
        early_stopping=True,
        n_iter_no_change=12,
        l2_regularization=3.0,
        random_state=0,
    )
    X, y = regression.X, regression.y
    model.fit(X.iloc[train], y[train], X_val=X.iloc[validation], y_val=y[validation])
    assert lines[2].trees == model.n_iter_
    assert lines[2].validation_nll == model.validation_loss_.min()


def test_jobs_do_not_change_the_tuning(classification: Problem, tiny: UncertaintySettings) -> None:
    one, two = (tune(classification, "SGLB", tiny, n_jobs) for n_jobs in (1, 2))
    assert [(a.unit, a.trees, a.validation_nll) for a in one] == [(b.unit, b.trees, b.validation_nll) for b in two]
    assert {tried.trees for tried in one} == {12}, "the chain of SGLB runs its length"


def test_the_number_of_trees_and_the_best_line() -> None:
    curve = np.array([3.0, 1.0, 2.0])
    assert count_best_trees(curve, "SGB") == 2
    assert count_best_trees(curve, "SGLB") == 3
    assert best_line([line(3, 0.5), line(4, 0.2), line(5, float("nan"))]).depth == 4


def test_validation_rows_are_a_fifth_of_the_training_rows(classification: Problem) -> None:
    train, validation = classification.split_for_validation()
    assert len(validation) == round(0.2 * len(classification.y))
    assert sorted([*train, *validation]) == list(range(len(classification.y)))
    fractions = [np.mean(classification.y[rows] == "yes") for rows in (train, validation)]
    assert fractions[0] == pytest.approx(fractions[1], abs=0.03)


def test_single_ensemble_and_virtual_come_from_one_training(regression: Problem, tiny: UncertaintySettings) -> None:
    chosen = line(3, 0.0, trees=12)
    predictors = train_boosters(regression, "SGLB", chosen, tiny, 1)
    ensemble = BoostingEnsembleRegressor(
        method="sglb",
        n_members=3,
        n_estimators=12,
        max_depth=3,
        learning_rate=0.1,
        l2_regularization=3.0,
        early_stopping="scale",
        random_state=0,
    ).fit(regression.X, regression.y)
    alone = ensemble.estimators_[0]
    single = predictors["SGLB"](regression.X_test)
    np.testing.assert_array_equal(single.means[0], alone.predict(regression.X_test))
    uncertainty = predictors["SGLB ensemble"](regression.X_test).uncertainty()
    np.testing.assert_allclose(uncertainty.knowledge, ensemble.predict_uncertainty(regression.X_test).knowledge)
    virtual = VirtualEnsemble(alone, 3, method="truncation").predict_members(regression.X_test)
    np.testing.assert_array_equal(predictors["vSGLB"](regression.X_test).means, virtual.means)


def test_sgb_is_trained_on_all_rows_with_the_trees_found(classification: Problem, tiny: UncertaintySettings) -> None:
    predictors = train_boosters(classification, "SGB", line(2, 0.0, trees=7), tiny, 1)
    assert set(predictors) == {"SGB", "SGB ensemble"}
    alone = GradientBoostingClassifier(
        n_estimators=7,
        max_depth=2,
        learning_rate=0.1,
        subsample=0.5,
        early_stopping=False,
        random_state=0,
        l2_regularization=0.1,
    ).fit(classification.X, classification.y)
    single = predictors["SGB"](classification.X_test)
    np.testing.assert_array_equal(single.probabilities[0], alone.predict_proba(classification.X_test))


def test_sgb_may_hold_out_rows_for_the_scale(
    regression: Problem, tiny: UncertaintySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(methods, "HELD_OUT_FOR_SCALE", ("SGB", "SGLB"))
    members = train_boosters(regression, "SGB", line(2, 0.0, trees=7), tiny, 1)["SGB"](regression.X_test)
    ensemble = BoostingEnsembleRegressor(
        method="sgb",
        n_members=2,
        n_estimators=7,
        max_depth=2,
        learning_rate=0.1,
        n_iter_no_change=7,
        l2_regularization=3.0,
        random_state=0,
    ).fit(regression.X, regression.y)
    np.testing.assert_array_equal(members.means[0], ensemble.estimators_[0].predict(regression.X_test))
    whole = ensemble.set_params(early_stopping=False).fit(regression.X, regression.y).estimators_[0]
    assert (members.variances[0] != whole.predict_distribution(regression.X_test).var).any()


@pytest.mark.parametrize("kind", ["regression", "classification"])
def test_forests_in_parts_and_several(kind: str, tiny: UncertaintySettings, request: pytest.FixtureRequest) -> None:
    problem = request.getfixturevalue(kind)
    one = train_forests(problem, "RF", tiny, 1)
    several = train_forests(problem, "RF ensemble", tiny, 1)

    def members(predictors: dict, method: str) -> np.ndarray:  # type: ignore[type-arg]
        predicted = predictors[method](problem.X_test)
        return predicted.means if kind == "regression" else predicted.probabilities

    assert members(one, "vRF").shape == members(several, "RF ensemble").shape
    assert len(members(one, "vRF")) == 3
    np.testing.assert_allclose(members(one, "vRF").mean(axis=0), members(one, "RF")[0])
    assert not np.allclose(members(one, "vRF"), members(several, "RF ensemble"))


def test_forests_are_planned_only_on_the_first_splits() -> None:
    trainings = plan_trainings([BY_NAME["boston"], BY_NAME["internet"]], 20, boosters=True, forests=True)
    splits = {(training.dataset.name, training.name): 0 for training in trainings}
    for training in trainings:
        splits[training.dataset.name, training.name] += 1
    assert splits["boston", "SGB"] == splits["boston", "SGLB"] == 20
    assert splits["boston", "RF"] == splits["boston", "RF ensemble"] == FOREST_SPLITS
    assert {count for (name, _), count in splits.items() if name == "internet"} == {1}
    assert {training.name for training in plan_trainings([BY_NAME["boston"]], 2, boosters=False, forests=True)} == {
        "RF",
        "RF ensemble",
    }
