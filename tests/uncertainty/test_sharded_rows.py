"""Models of tables in several shards: the same, to the byte, as those of tables in one piece."""

import numpy as np
import pytest
from contract.registry import assert_same_answers, assert_same_model
from reference.families import MORE, REGRESSION, example_target
from reference.gradient_boosters import small
from uncertainty.test_blocks_of_rows import SETTINGS, table

from surefoot import (
    BoostingEnsembleClassifier,
    BoostingEnsembleRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from surefoot.data.packed_words import pack_codes
from surefoot.trees import packed_gradients
from surefoot.uncertainty.model_rows import ModelRows
from surefoot.uncertainty.shard_host import ShardHost
from surefoot.uncertainty.sharded_rows import ShardedRows

BLOCK = 64
CUTS = {"blocks": range(0, 512, BLOCK), "uneven": (0, 64, 320), "one": (0,)}


def in_shards(cuts, n_threads):
    """The rows of a model, in shards that start at ``cuts``."""

    def begin(tables, rules, family, rows, start, threads):
        n_rows = len(rows.y)
        starts = [cut for cut in cuts if cut < n_rows]
        ranges = list(zip(starts, [*starts[1:], n_rows], strict=True))
        n_columns = tables[0].n_columns // 2  # the others are sent with the model
        codes = [unpacked(table) for table in tables]
        plain = pack_codes(np.ascontiguousarray(codes[0][:n_columns]))
        words = [np.ascontiguousarray(plain[:, first:stop]) for first, stop in ranges]
        host = ShardHost(words, ranges, n_columns, n_threads)
        described = [table.with_words(table.words[:, :0].copy()) for table in tables]
        further = [part[n_columns:] for part in codes]
        return ShardedRows.begin(host, 7, described, further, rules, family, rows, start, threads)

    return begin


def unpacked(table):
    cells = table.words.view(np.uint8).reshape(table.n_groups, table.n_rows, 8)
    return cells.transpose(0, 2, 1).reshape(-1, table.n_rows)[: table.n_columns]


def same_in_shards(monkeypatch, model, X, y, weights=None, cuts="uneven", n_threads=2):
    model.fit(X, y, weights)
    sharded = small(type(model)).set_params(**model.get_params(deep=False))
    begun = []
    with monkeypatch.context() as patch:
        begin = in_shards(CUTS[cuts], n_threads)
        patch.setattr(ModelRows, "of", staticmethod(lambda *args: begun.append(begin(*args)) or begun[-1]))
        sharded.fit(X, y, weights)
    assert all(isinstance(rows, ShardedRows) for rows in begun)
    assert len(begun) > 0
    assert_same_model(model, sharded)
    assert_same_answers(model, sharded, X)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("weights", [None, "whole", "fractions"])
def test_settings(small_blocks, monkeypatch, name, weights):
    X, y = table()
    generator = np.random.default_rng(1)
    drawn = {"whole": generator.integers(0, 3, len(y)), "fractions": generator.gamma(1.0, size=len(y))}.get(weights)
    same_in_shards(monkeypatch, small(GradientBoostingRegressor, **SETTINGS[name]), X, y, drawn)


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize("n_threads", [1, 3])
def test_numbers_of_shards_and_threads(small_blocks, monkeypatch, cuts, n_threads):
    X, y = table()
    monkeypatch.setattr(packed_gradients, "FINE_STEPS", 1e30)  # random rounding, as in large tables
    model = small(GradientBoostingRegressor, subsample=0.7, langevin=True)
    same_in_shards(monkeypatch, model, X, y, cuts=cuts, n_threads=n_threads)


@pytest.mark.parametrize("name", REGRESSION | MORE)
def test_distributions(small_blocks, monkeypatch, name):
    X, _ = table()
    model = small(GradientBoostingRegressor, distribution=(REGRESSION | MORE)[name], early_stopping=True)
    same_in_shards(monkeypatch, model, X, example_target(name, len(X)))


@pytest.mark.parametrize("n_classes", [2, 3, 12])
@pytest.mark.parametrize("settings", [{"early_stopping": True}, {"subsample": 0.5, "grow_policy": "depthwise"}])
def test_classes(small_blocks, monkeypatch, n_classes, settings):
    X, y = table()
    classes = np.argsort(np.argsort(y)) * n_classes // len(y)
    same_in_shards(monkeypatch, small(GradientBoostingClassifier, **settings), X, classes)


@pytest.mark.parametrize("method", ["sglb", "sgb"])
def test_ensembles(small_blocks, monkeypatch, method):
    X, y = table()
    same_in_shards(monkeypatch, small(BoostingEnsembleRegressor, method=method, early_stopping=True), X, y)
    same_in_shards(monkeypatch, small(BoostingEnsembleClassifier, method=method), X, y > y.mean())
