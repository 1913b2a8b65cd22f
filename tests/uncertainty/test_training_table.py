"""How rows become codes: plain columns by bins, columns with many categories through statistics of the target."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from reference.gradient_boosters import (
    ENSEMBLES,
    GRADIENT_BOOSTERS,
    assert_finite_answers,
    assert_identical_boosters,
    assert_same_answers,
    small,
    target_of,
    with_classes,
)
from reference.models import FRAMES, make_frame

from surefoot import BoostingEnsembleRegressor, GradientBoostingClassifier, GradientBoostingRegressor
from surefoot._parallel import RowThreads
from surefoot._random import stream_key
from surefoot.data import Columns
from surefoot.data.category_statistics import STRENGTH, CategoryStatistics
from surefoot.trees.gradient_grower import GrowthRules
from surefoot.trees.packed_codes import PackedCodes
from surefoot.uncertainty.boosting_loop import BoostingLoop
from surefoot.uncertainty.families import REGRESSION_FAMILIES
from surefoot.uncertainty.fit_spec import FitSpec, TrainingConfig
from surefoot.uncertainty.model_rows import ModelRows
from surefoot.uncertainty.training_rows import TrainingRows
from surefoot.uncertainty.training_table import ENSEMBLE_MEMBER, SET_CATEGORIES, SINGLE_MODEL, Encoding, SharedTable

each_estimator = pytest.mark.parametrize("estimator", GRADIENT_BOOSTERS)
KEY = stream_key(7)
N_MANY = SET_CATEGORIES + 10


def make_columns(n_rows=600, n_many=N_MANY, seed=0):
    """Two numbers, a column of five categories and one of ``n_many``, all of which occur; some cells are missing."""
    generator = np.random.default_rng(seed)
    few, many = np.arange(n_rows) % 5, generator.permutation(np.arange(n_rows) % n_many)
    first, second = generator.normal(size=(2, n_rows))
    second[::11] = np.nan
    labels = [None if i % 13 == 5 else f"m{code:03d}" for i, code in enumerate(many)]
    frame = make_frame("pandas", {"a": first, "b": second}, {"few": [f"f{code}" for code in few], "many": labels})
    y = first + 2.0 * np.sin(many) + 0.2 * generator.normal(size=n_rows)
    return frame, y


def fit_encoding(columns, max_bins=16, weights=None):
    with RowThreads(1) as threads:
        return Encoding.fit(columns, max_bins, weights, threads)


def make_spec(columns, y, validation=None, n_jobs=1, classes=1, **config):
    """A spec with what SharedTable reads of it."""
    family = SimpleNamespace(n_outputs=classes, natural=False)
    return FitSpec(
        columns=columns,
        validation=validation,
        y=y,
        weights=None,
        family=family,
        strata=None,
        config=TrainingConfig(n_estimators=3, learning_rate=0.1, rules=GrowthRules(depth=2), **config),
        max_bins=16,
        hold_out=0.0,
        seed=0,
        n_jobs=n_jobs,
        progress=None,
    )


def labels_of(codes):
    return [None if code is None else f"c{code}" for code in codes]


# Codes


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("n_many", [3, SET_CATEGORIES])
def test_codes_of_the_shared_table_are_those_of_its_blocks(n_jobs, n_many, monkeypatch):
    monkeypatch.setattr("surefoot._parallel.THREADED_CELLS", 1)  # small tables go to threads as well
    frame, y = make_columns(9000, n_many)
    columns = Columns.from_frame(frame[:7000])
    validation = Columns.from_frame(frame[7000:], columns.schema)
    table = SharedTable.of(make_spec(columns, y, validation, n_jobs))
    assert table.categories is None
    assert table.encoding.many == ()
    assert table.codes.shape == (4, 9000)
    for part, shift in ((columns, 0), (validation, 7000)):
        for start in range(0, part.n_rows, 999):
            stop = min(start + 999, part.n_rows)
            block = table.encoding.codes(part, start, stop)
            np.testing.assert_array_equal(block, table.codes[:, shift + start : shift + stop])


@pytest.mark.parametrize("names", [["a", "b", "few", "many"], ["many", "a", "few", "b"], ["a", "many", "b", "few"]])
def test_codes_of_plain_columns_beside_statistics_are_those_of_the_blocks(names):
    frame, y = make_columns()
    columns = Columns.from_frame(frame[names])
    spec = make_spec(columns, y)
    table = SharedTable.of(spec)
    assert table.packed is None
    _, encoding = table.for_member(spec, 0, np.arange(600))
    codes = encoding.codes(columns, 0, 600)
    np.testing.assert_array_equal(codes[:3], table.codes)
    for start in range(0, 600, 75):
        np.testing.assert_array_equal(encoding.codes(columns, start, start + 75), codes[:, start : start + 75])


@pytest.mark.parametrize("n_many", [SET_CATEGORIES, SET_CATEGORIES + 1, 300])
def test_columns_with_many_categories_go_through_statistics(n_many):
    columns = Columns.from_frame(make_columns(1200, n_many)[0])
    encoding = fit_encoding(columns)
    if n_many <= SET_CATEGORIES:
        assert (encoding.plain, encoding.many) == ((0, 1, 2, 3), ())
    else:
        assert (encoding.plain, encoding.many) == ((0, 1, 2), (3,))
        assert encoding.category_codes(columns).max() == n_many - 1  # rare categories have codes of their own
    assert encoding.sources == tuple((j,) for j in encoding.plain)
    assert encoding.is_categorical.tolist() == [False, False, True, True][: len(encoding.plain)]


def test_codes_of_statistics_are_in_the_order_of_their_values():
    frame, y = make_columns()
    columns, train = Columns.from_frame(frame), np.arange(0, 600, 2)
    plain = fit_encoding(columns)
    categories = plain.category_codes(columns)
    encoding, (more,) = plain.with_statistics(categories, [], y[np.newaxis], np.ones(600), train, [KEY], 255, STRENGTH)
    _, values = CategoryStatistics.fit([(0,)], categories, y[np.newaxis], np.ones(600), train, KEY)
    assert plain.statistics is None  # each member has its own statistics
    assert encoding.sources == ((0,), (1,), (2,), (3,), (3,))
    assert encoding.is_categorical.tolist() == [False, False, True, False, False]
    assert len(encoding.missing) == 5
    for code, value in zip(more, values, strict=True):
        order = np.argsort(value[train], kind="stable")
        assert (np.diff(code[train][order].astype(int)) >= 0).all()
        assert len(np.unique(code[train])) > 5
    held_out = np.arange(1, 600, 2)  # held-out rows are encoded like new rows
    np.testing.assert_array_equal(more[:, held_out], encoding.codes(columns, 0, 600)[3:, held_out])


@pytest.mark.parametrize(("config", "n_orders"), [({}, 1), ({"subsample": 0.5}, 2), ({"langevin": True}, 2)])
def test_models_that_differ_by_seed_read_coarse_statistics_in_two_orders(config, n_orders):
    frame, y = make_columns(1500, 300)
    columns, train = Columns.from_frame(frame), np.arange(1000)
    spec = make_spec(columns, y, **config)
    tables, encoding = SharedTable.of(spec).for_member(spec, 0, train)
    assert len(tables) == n_orders
    n_bins = encoding.statistics_binner.missing.max()
    if n_orders == 2:
        assert n_bins == ENSEMBLE_MEMBER.max_bins
    else:
        assert ENSEMBLE_MEMBER.max_bins < n_bins <= SINGLE_MODEL.max_bins
    first, last = tables[0].words, tables[-1].words
    assert ((first != last).any(axis=0)[train].mean() > 0.5) == (n_orders == 2)
    np.testing.assert_array_equal(first[:, 1000:], last[:, 1000:])  # held-out rows have the same codes
    np.testing.assert_array_equal(tables[0].n_codes, tables[-1].n_codes)
    again, _ = SharedTable.of(spec).for_member(spec, 0, train)
    np.testing.assert_array_equal(again[-1].words, last)


def places_of(encoding):
    """The columns of the statistics of pairs."""
    return [statistic.columns for statistic in encoding.statistics.statistics if len(statistic.columns) == 2]


@pytest.mark.parametrize(("config", "draws"), [({}, False), ({"subsample": 0.5}, True), ({"langevin": True}, True)])
def test_members_share_pairs_of_columns_with_many_categories_and_draw_pairs_of_columns_with_few(config, draws):
    generator = np.random.default_rng(0)
    large = generator.integers(60, size=(2, 4000))
    small_ones = generator.integers(4, size=(6, 4000))
    columns = {f"large {k}": [f"{k}-{code}" for code in codes] for k, codes in enumerate(large)}
    columns |= {f"small {k}": [f"{k}-{code}" for code in codes] for k, codes in enumerate(small_ones)}
    y = (large.sum(axis=0) % 2).astype(float)  # a function of both large columns together
    frame = Columns.from_frame(pd.DataFrame(columns).astype("category"))
    spec, train = make_spec(frame, y, **config), np.arange(4000)
    table = SharedTable.of(spec).with_pairs(spec, train)
    all_pairs = [places_of(table.for_member(spec, member, train)[1]) for member in (0, 1)]
    assert [pairs[0] for pairs in all_pairs] == [(0, 1), (0, 1)]  # the large columns come first
    drawn = [pairs[1:] for pairs in all_pairs]
    assert all(1 < a < b < 8 for pairs in drawn for a, b in pairs)
    assert [len(pairs) > 3 for pairs in drawn] == [draws, draws]
    assert (drawn[0] != drawn[1]) == draws
    again = places_of(SharedTable.of(spec).with_pairs(spec, train).for_member(spec, 1, train)[1])
    assert again == all_pairs[1]


def test_trees_read_the_orders_in_turn():
    generator = np.random.default_rng(0)
    codes = np.stack([np.arange(40) % 4, np.arange(40) // 10]).astype(np.uint8)
    missing, plain = np.array([4, 4]), np.zeros(2, dtype=np.bool_)
    tables = [PackedCodes(codes, missing, plain), PackedCodes(np.ascontiguousarray(codes[::-1]), missing, plain)]
    y = codes[0] + 0.01 * generator.normal(size=40)  # the first column of one table, the second of the other
    config = TrainingConfig(n_estimators=4, learning_rate=0.1, rules=GrowthRules(depth=1))
    train, held_out = np.arange(40, dtype=np.uint32), np.empty(0, dtype=np.uint32)
    rows = TrainingRows(y=y, weights=None, train=train, held_out=held_out)
    family = REGRESSION_FAMILIES["normal"]()
    with RowThreads(1) as threads:
        start = family.start(y, np.ones(40))
        model_rows = ModelRows.of(tables, config.rules, family, rows, start, threads)
        loop = BoostingLoop(model_rows, family, rows, config, (0, 0), start)
        for _ in range(4):
            loop.step()
    assert loop.result().forest.features[:, 0].tolist() == [0, 1, 0, 1]


def test_encodings_that_read_alike():
    frame, y = make_columns()
    columns = Columns.from_frame(frame)
    plain, rows, ones = fit_encoding(columns), np.arange(600), np.ones(600)
    categories = plain.category_codes(columns)
    one, _ = plain.with_statistics(categories, [], y[np.newaxis], ones, rows, [KEY], 255, STRENGTH)
    same, _ = fit_encoding(columns).with_statistics(categories, [], y[np.newaxis], ones, rows, [KEY], 255, STRENGTH)
    other, _ = plain.with_statistics(categories, [], y[np.newaxis], ones, rows, [stream_key(8)], 255, STRENGTH)
    assert plain.reads_like(fit_encoding(columns))
    assert not plain.reads_like(fit_encoding(columns, max_bins=8))
    assert one.reads_like(same)
    assert not one.reads_like(other)
    assert not one.reads_like(plain)


# Importances


def test_importances_are_divided_among_the_source_columns():
    encoding = Encoding((1,), (0, 2), None, ((1,), (0,), (2,), (0, 2), (0,), (2,)))
    importances = encoding.split_importances(np.array([0.1, 0.2, 0.05, 0.5, 0.1, 0.05]), 4)
    np.testing.assert_allclose(importances, [0.2 + 0.25 + 0.1, 0.1, 0.05 + 0.25 + 0.05, 0.0])


@each_estimator
def test_importances_of_a_model_are_by_column_and_sum_to_one(estimator):
    frame, values = make_columns()
    model = small(estimator, n_estimators=20).fit(frame, target_of(estimator, values))
    assert model.feature_importances_.shape == (4,)
    np.testing.assert_allclose(model.feature_importances_.sum(), 1.0)
    assert model.feature_importances_[3] > 0.2
    assert (model.feature_importances_[1:3] < 0.2).all()  # they are not informative


# Models


@pytest.mark.parametrize(("estimator", "n_classes"), with_classes(GRADIENT_BOOSTERS, 2, 3))
def test_the_model_is_the_same_for_any_number_of_jobs(estimator, n_classes, monkeypatch):
    monkeypatch.setattr("surefoot._parallel.THREADED_CELLS", 1)  # small tables go to threads as well
    frame, values = make_columns()
    y = target_of(estimator, values, n_classes)
    models = [small(estimator, n_jobs=n_jobs).fit(frame, y) for n_jobs in (1, 2)]
    assert_identical_boosters(*models)
    assert_same_answers(*models, frame)


@each_estimator
@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.filterwarnings("ignore::surefoot.UnknownCategoryWarning")
def test_unseen_categories_are_treated_as_missing_if_no_training_row_had_missing_ones(estimator, kind):
    generator = np.random.default_rng(0)
    codes, number = np.arange(600) % N_MANY, generator.normal(size=600)
    y = target_of(estimator, number + 2.0 * np.sin(codes))
    model = small(estimator).fit(make_frame(kind, {"a": number}, {"many": labels_of(codes)}), y)
    unseen = make_frame(kind, {"a": number}, {"many": ["violet"] * 600})
    missing = make_frame(kind, {"a": number}, {"many": [None] * 600})
    assert_finite_answers(model, unseen)
    assert_same_answers(model, model, unseen, missing)


@each_estimator
@pytest.mark.filterwarnings("ignore::surefoot.UnknownCategoryWarning")
def test_unseen_categories_are_not_treated_as_missing_if_training_rows_had_missing_ones(estimator):
    """Missing values are informative; a category that no training row has is not."""
    generator = np.random.default_rng(0)
    codes, number = np.arange(600) % N_MANY, generator.normal(size=600)
    missing = generator.random(600) < 0.3
    y = target_of(estimator, 0.3 * generator.normal(size=600) + 3.0 * missing)
    labels = [None if is_missing else label for is_missing, label in zip(missing, labels_of(codes), strict=True)]
    model = small(estimator, n_estimators=40).fit(make_frame("pandas", {"a": number}, {"many": labels}), y)
    raws = {
        label: model._raw(make_frame("pandas", {"a": number[:50]}, {"many": [label] * 50}))[:, 0].mean()
        for label in ("violet", None, "c1")
    }
    assert abs(raws["violet"] - raws["c1"]) < 0.5 * abs(raws[None] - raws["c1"])


@each_estimator
@pytest.mark.filterwarnings("ignore::surefoot.UnknownCategoryWarning")
def test_all_columns_have_many_categories(estimator):
    generator = np.random.default_rng(1)
    codes = np.stack([generator.permutation(np.arange(1200) % N_MANY) for _ in range(3)])
    X = make_frame("pandas", categories={f"c{j}": labels_of(column) for j, column in enumerate(codes)})
    y = target_of(estimator, np.sin(codes[0]) + 0.1 * generator.normal(size=1200))
    model = small(estimator, n_estimators=30).fit(X, y)
    assert model._members[0].encoding.plain == ()
    assert_finite_answers(model, X)
    assert model.score(X, y) > 0.6
    assert model.feature_importances_[0] > 0.6
    assert_finite_answers(model, make_frame("pandas", categories={f"c{j}": ["violet", None] for j in range(3)}))


@each_estimator
def test_many_categories_listed_by_position_in_an_array(estimator):
    frame, values = make_columns()
    y = target_of(estimator, values)
    codes = Columns.from_frame(frame).category_codes(3).astype(float)
    array = np.stack([frame["a"], frame["b"], np.where(codes < 0, np.nan, codes)], axis=1)
    listed = small(estimator, categorical_features=[2]).fit(array, y)
    by_dtype = small(estimator).fit(frame[["a", "b", "many"]], y)
    assert_same_answers(by_dtype, listed, frame[["a", "b", "many"]], array)


@pytest.mark.parametrize("estimator", ENSEMBLES)
def test_members_have_statistics_of_their_own(estimator):
    frame, values = make_columns()
    model = small(estimator).fit(frame, target_of(estimator, values))
    one, other = (member.encoding for member in model._members)
    assert one.binner is other.binner
    assert not one.reads_like(other)  # each has its own order of the rows; the final means are the same
    np.testing.assert_allclose(one.statistics.statistics[0].means, other.statistics.statistics[0].means)


def test_members_share_an_encoding_where_no_column_has_many_categories():
    frame, y = make_columns(n_many=SET_CATEGORIES)
    one, other = (member.encoding for member in small(BoostingEnsembleRegressor).fit(frame, y)._members)
    assert one is other


def test_held_out_rows_are_not_used_for_statistics():
    frame, y = make_columns()
    changed = y.copy()
    changed[400:] += 100.0
    statistics = []
    for target in (y, changed):
        model = small(GradientBoostingRegressor)
        model.fit(frame[:400], y[:400], X_val=frame[400:], y_val=target[400:])
        statistics.append(model._members[0].encoding.statistics)
    np.testing.assert_array_equal(statistics[0].prior, statistics[1].prior)
    np.testing.assert_array_equal(statistics[0].statistics[0].means, statistics[1].statistics[0].means)


def test_rows_without_weight_are_not_used_for_statistics():
    frame, y = make_columns()
    weights = np.where(np.arange(600) % 4 == 0, 0.0, 1.0)
    changed = np.where(weights == 0, 50.0, y)
    models = [small(GradientBoostingRegressor).fit(frame, target, sample_weight=weights) for target in (y, changed)]
    assert_same_answers(*models, frame)


def test_a_class_that_only_a_pair_of_columns_determines():
    """Without the pair, no prediction is right for more than half of the rows."""
    generator = np.random.default_rng(2)
    codes = generator.integers(0, N_MANY, size=(2, 16_000))
    y = codes.sum(axis=0) % 2
    X = make_frame("pandas", categories={"one": labels_of(codes[0]), "two": labels_of(codes[1])})
    model = GradientBoostingClassifier(n_estimators=30, random_state=0).fit(X[:12_000], y[:12_000])
    assert model.score(X[12_000:], y[12_000:]) > 0.9
    assert (0, 1) in model._members[0].encoding.sources
    np.testing.assert_allclose(model.feature_importances_, 0.5, atol=0.1)


def make_deliveries(n_rows=12_000, seed=0):
    """An effect of place, day and hour together, of no column or pair of columns; and an informative number."""
    generator = np.random.default_rng(seed)
    codes = np.stack([generator.integers(0, n, n_rows) for n in (N_MANY, 6, 4)])
    number = generator.normal(size=n_rows)
    effect = generator.normal(size=(N_MANY, 6, 4))[tuple(codes)]
    names = {name: labels_of(column) for name, column in zip(("place", "day", "hour"), codes, strict=True)}
    return make_frame("pandas", {"a": number}, names), 2.0 * number + 2.0 * effect + generator.normal(size=n_rows)


@pytest.mark.parametrize(("estimator", "n_classes"), with_classes(GRADIENT_BOOSTERS, 2, 3))
@pytest.mark.filterwarnings("ignore::surefoot.UnknownCategoryWarning")
def test_a_combination_with_columns_of_few_categories(estimator, n_classes):
    frame, values = make_deliveries()
    model = small(estimator).fit(frame, target_of(estimator, values, n_classes))
    for member in model._members:
        assert (1, 2, 3) in member.encoding.sources
        codes = member.encoding.codes(Columns.from_frame(frame), 0, 12_000)
        assert len(codes) == len(member.encoding.sources) == len(member.encoding.missing)
    assert_finite_answers(model, frame)
    unseen = make_frame("pandas", {"a": [0.0]}, {"place": ["violet"], "day": [None], "hour": ["c1"]})
    assert_finite_answers(model, unseen)


def test_a_combination_makes_new_rows_more_likely(monkeypatch):
    frame, y = make_deliveries(16_000)
    scores = []
    for min_rows in (2000, 100_000):
        monkeypatch.setattr("surefoot.uncertainty.training.MIN_ROWS", min_rows)
        model = GradientBoostingRegressor(n_estimators=150, random_state=0, n_jobs=1).fit(frame[:12_000], y[:12_000])
        scores.append(model.score(frame[12_000:], y[12_000:]))
    assert scores[0] > scores[1] + 0.05


def test_columns_that_are_not_informative_together_have_no_combination():
    frame, y = make_deliveries()
    model = small(GradientBoostingRegressor).fit(frame, frame["a"] + 0.1 * np.random.default_rng(1).normal(size=len(y)))
    assert model._members[0].encoding.combinations is None


def test_pairs_of_important_columns_have_one_with_many_categories_and_one_with_few(monkeypatch):
    monkeypatch.setattr("surefoot.uncertainty.training_table.MAX_TRIED", 3)
    encoding = Encoding((1, 3), (0, 2), None, ((1,), (3,)), few=(1, 3))
    assert encoding.pairs(np.array([0.1, 0.4, 0.3, 0.2])) == [(1, 2), (1, 3)]
    assert encoding.pairs(np.array([0.4, 0.1, 0.3, 0.2])) == [(0, 3), (1, 3)]
