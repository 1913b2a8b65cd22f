"""Errors for common mistakes say what to do instead."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surefoot import AdaBoostClassifier, DataError, ParameterError
from surefoot.plots import MarginDisplay

X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 3 > 0


def test_a_lazy_frame_must_be_collected():
    with pytest.raises(DataError, match="collect"):
        AdaBoostClassifier().fit(pl.DataFrame(X).lazy(), y)


def test_an_array_cannot_replace_a_frame_with_categories():
    frame = pd.DataFrame({"a": X[:, 0], "kind": pd.Categorical(np.where(y, "yes", "no"))})
    model = AdaBoostClassifier(n_estimators=2).fit(frame, y)
    with pytest.raises(DataError, match="pass a frame"):
        model.predict(frame.to_numpy())


def test_balanced_is_not_a_sample_weight():
    with pytest.raises(DataError, match="class_weight"):
        AdaBoostClassifier().fit(X, y, sample_weight="balanced")


def test_a_pipeline_has_no_margins():
    pipeline = make_pipeline(StandardScaler(), AdaBoostClassifier(n_estimators=2)).fit(X, y)
    with pytest.raises(ParameterError, match="the fitted booster inside"):
        MarginDisplay.from_estimator(pipeline, X, y)


def test_without_its_packages_the_command_line_says_what_to_install(fresh_process):
    code = "import sys; sys.modules['typer'] = None; from surefoot.cli import main; main()"
    run = fresh_process(code)
    assert run.returncode == 2
    assert run.stderr.strip() == "surefoot: the command line needs 'typer': pip install \"surefoot[cli]\"."
