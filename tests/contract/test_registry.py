"""Every public estimator is in the registry."""

import inspect

import surefoot
from contract.registry import SUBJECTS


def test_every_public_estimator_is_in_the_registry():
    classes = {getattr(surefoot, name) for name in surefoot.__all__}
    estimators = {public for public in classes if inspect.isclass(public) and hasattr(public, "fit")}
    assert estimators - {subject.estimator for subject in SUBJECTS} == set()


def test_every_subject_is_what_it_says():
    """Weights are taken unless they are refused, and names are given once."""
    for subject in SUBJECTS:
        taken = "sample_weight" in inspect.signature(subject.estimator.fit).parameters
        assert taken == (subject.weights != "refused"), subject.name
        validated = "X_val" in inspect.signature(subject.estimator.fit).parameters
        assert validated == subject.takes_validation, subject.name
    assert len({subject.name for subject in SUBJECTS}) == len(SUBJECTS)
