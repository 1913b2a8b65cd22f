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
    before = n_transitions(client)
    with joblib.parallel_config(backend="dask"):
        assert file_of(model.fit(X, Y), tmp_path) == expected
    assert n_transitions(client) > before


def n_transitions(client):
    """How often a task of the cluster has changed its state."""
    return client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)
