"""The methods with the booster itself, on a table where their effect is known."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import root_mean_squared_error

from surefoot.shift import VMatrix
from surefoot_experiments.shift import experiment
from surefoot_experiments.shift.biased_sample import BiasedSample, Rows
from surefoot_experiments.shift.lines import SampleUnit
from surefoot_experiments.shift.methods import (
    OPTIONS,
    default_method,
    effective_size,
    fit_method,
    importance_weights,
    make_model,
    methods,
)
from surefoot_experiments.shift.protocol import FLEXIBLE, SMALL
from surefoot_experiments.shift.study import fit_sample


def made_up_sample(n_features=2, apart=0.0):
    rng = np.random.default_rng(0)

    def rows(n, centre):
        X = rng.normal(centre, 1, size=(n, n_features))
        return Rows(X, 3 * X[:, 0] + X[:, -1] ** 2 + 0.1 * rng.normal(size=n))

    test = rows(50, 0.7 - apart)
    return BiasedSample("yacht", 0, "one feature", rows(80, 0.0), rows(20, 0.0), rows(80, 0.7), test, test.X, 0.4)


@pytest.mark.parametrize("method", [name for name in OPTIONS if name != "default"])
def test_a_line_has_the_scores_of_the_booster(method):
    sample = made_up_sample()
    line = fit_method(sample, SMALL, method)
    model = clone(make_model(method, SMALL, 0))
    rows = sample.unbiased if method == "unbiased rows" else sample.train
    weights = importance_weights(rows.X, sample.X_target) if method == "weighted" else None
    model.fit(rows.X, rows.y, weights, **({"X_target": sample.X_target} if model.blend > 0 else {}))
    for error, scored in ((line.rmse, sample.test), (line.source_rmse, sample.source)):
        assert error == pytest.approx(root_mean_squared_error(scored.y, model.predict(scored.X)))
    assert line.rmse < sample.test.y.std()
    assert line.effective_rows == pytest.approx(80 if weights is None else effective_size(weights))
    if method in ("mean", "joint", "pure joint"):
        v = VMatrix.from_target(sample.train.X, sample.X_target, kind=model.kind, orientation=model.orientation)
        assert line.coverage == v.coverage


def test_only_methods_with_a_matrix_depend_on_the_target():
    sample = made_up_sample()
    other = BiasedSample(**{**sample.__dict__, "X_target": sample.X_target + 0.3})
    names = [name for name in methods() if name not in ("plain", "unbiased rows")]
    assert all(fit_method(sample, SMALL, name).rmse != fit_method(other, SMALL, name).rmse for name in names)
    assert all(
        fit_method(sample, SMALL, n).rmse == fit_method(other, SMALL, n).rmse for n in ("plain", "unbiased rows")
    )


def test_a_target_that_dominates_no_row_is_recorded():
    line = fit_method(made_up_sample(6, apart=9.0), SMALL, "pure joint")
    assert np.isnan(line.rmse)
    assert "do not overlap" in line.refusal


def test_low_coverage_gives_no_warning():
    sample = made_up_sample(6, apart=1.2)
    unit = SampleUnit("yacht", 0, "one feature", SMALL.name, "joint")
    (line,) = fit_sample(sample, [unit], [SMALL], None)  # warnings are errors here
    assert 0 < line.coverage < 0.5


def test_budgets_reach_the_booster():
    model = make_model("plain", FLEXIBLE)
    assert (model.n_estimators, model.max_leaf_nodes, model.learning_rate) == (200, 16, 0.1)
    assert model.early_stopping is False
    assert default_method() in methods()


@pytest.mark.usefixtures("tiny_shift")
def test_a_run_with_the_booster_itself(shift_tables, tmp_path):
    options = {"parts": ["study"], "datasets": ["yacht"], "n_splits": 2}
    out = experiment.run(data=shift_tables, out=tmp_path / "out", **options).folder
    results = pd.read_csv(out / "results.csv")
    assert len(results) == 2 * 3 * 2 * len(methods())
    assert results.query("method != 'pure joint' and method != 'joint'").rmse.notna().all()
    assert "does no harm" in (out / "summary.md").read_text(encoding="utf-8")
