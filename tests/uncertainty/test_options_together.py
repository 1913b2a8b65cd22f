"""Arguments of ``fit`` and parameters of growth that meet in one model."""

import numpy as np
import pytest
import scipy.sparse as sp

from surefoot import DataError, GradientBoostingClassifier, GradientBoostingRegressor, ParameterError, to_onnx

GROWTH = {"grow_policy": "leafwise", "max_leaf_nodes": 9, "max_features": 0.6, "interaction_cst": [[0, 1], [2, 3]]}
COUNTS = {"distribution": "poisson", "n_estimators": 30, "random_state": 0}


class StoppedError(Exception):
    pass


def stop_after(n_rounds):
    def callback(report):
        if not report.is_trial and report.round == n_rounds:
            raise StoppedError

    return callback


def counts(n_rows=300):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    exposure = rng.uniform(0.2, 2.0, n_rows)
    return X, rng.poisson(exposure * np.exp(0.5 * X[:, 0])).astype(float), exposure


@pytest.mark.parametrize("growth", [{}, GROWTH], ids=["default", "leafwise"])
def test_a_stopped_fit_with_exposures_continues_to_the_same_model(growth, tmp_path):
    X, y, exposure = counts()
    whole = GradientBoostingRegressor(**COUNTS, **growth).fit(X, y, exposure=exposure)
    model, folder = GradientBoostingRegressor(**COUNTS, **growth), tmp_path / "snapshot"
    with pytest.raises(StoppedError):
        model.fit(X, y, exposure=exposure, snapshot=folder, callbacks=stop_after(5))
    with pytest.raises(ParameterError, match="exposure has changed"):
        model.fit(X, y, exposure=2 * exposure, snapshot=folder)
    with pytest.raises(ParameterError, match="exposure has changed"):
        model.fit(X, y, snapshot=folder)
    model.fit(X, y, exposure=exposure, snapshot=folder)
    assert model.predict(X).tobytes() == whole.predict(X).tobytes()
    assert not folder.exists()


@pytest.mark.parametrize("given", [{"offset": np.ones(300)}, {"exposure": np.ones(300)}], ids=["offset", "exposure"])
def test_further_sets_have_no_offsets(given):
    X, y, _ = counts()
    with pytest.raises(DataError, match="eval_sets take no offset or exposure"):
        GradientBoostingRegressor(**COUNTS).fit(X, y, eval_sets={"same": (X, y)}, **given)


def test_a_sparse_table_with_offsets_and_drawn_columns_is_the_dense_one():
    X, y, _ = counts()
    X = np.where(np.abs(X) < 0.8, 0.0, X)
    offset = np.linspace(-1, 1, len(X))
    models = [
        GradientBoostingClassifier(n_estimators=20, random_state=0, early_stopping=False, **GROWTH).fit(
            table, y > 1, offset=offset, callbacks=[lambda report: None]
        )
        for table in (X, sp.csr_array(X))
    ]
    probabilities = [model.predict_proba(X, offset=offset) for model in models]
    np.testing.assert_array_equal(probabilities[0], probabilities[1])
    values = models[0].shap_values(X, "log_odds")
    raw = models[0]._raw(X)[0, 0]
    np.testing.assert_allclose(values.values.sum(axis=1) + values.base_value, raw, atol=1e-9)


def test_distributions_that_onnx_has_no_formulas_for_are_refused():
    X, y, exposure = counts()
    for name in ("zero_inflated_poisson", "negative_binomial"):
        model = GradientBoostingRegressor(**{**COUNTS, "distribution": name}).fit(X, y, exposure=exposure)
        with pytest.raises(ParameterError, match=name):
            to_onnx(model)
