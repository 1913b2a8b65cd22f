"""Local estimators give the same models on the workers of a cluster, through joblib."""

import joblib
import pytest
from problems import X, Y, file_of

import surefoot

MODELS = {
    "MajorityBoostClassifier": {"n_estimators": 5},
    "BaggedBoostClassifier": {"n_estimators": 5, "n_members": 3},
    "BoostingEnsembleClassifier": {"n_estimators": 5, "n_members": 2, "max_depth": 2},
}


@pytest.mark.parametrize("name", MODELS)
def test_members_are_trained_on_the_cluster(name, client, tmp_path):
    model = getattr(surefoot, name)(random_state=0, **MODELS[name])
    expected = file_of(model.fit(X, Y), tmp_path)
    before = n_events(client)
    with joblib.parallel_config(backend="dask"):
        assert file_of(model.fit(X, Y), tmp_path) == expected
    assert n_events(client) > before


def n_events(client):
    """The number of events of tasks on the workers."""
    return sum(client.run(lambda dask_worker: len(dask_worker.state.log)).values())
