"""Each column of the out-of-domain rows has the distribution it should have."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from surefoot_experiments.exceptions import DatasetMissingError
from surefoot_experiments.uncertainty.datasets import BY_NAME
from surefoot_experiments.uncertainty.out_of_domain import (
    CT_SLICES,
    HIGGS,
    YEAR,
    check_sources,
    draw_rows,
    read_standardized,
    sources_for,
)


def training_table(n_rows: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal([5, -3, 0], [2, 0.1, 30], size=(n_rows, 3)), columns=["a", "b", "c"])
    frame["kind"] = pd.Categorical(np.where(rng.random(n_rows) < 0.9, "usual", "rare"), ["rare", "never", "usual"])
    frame["none"] = np.nan
    frame["whole"] = rng.integers(0, 9, n_rows).astype(np.int8)
    return frame


def test_numbers_have_the_training_moments_and_the_sources_skewness() -> None:
    X = training_table()
    source = np.random.default_rng(1).exponential(size=(5000, 7)) - 1
    drawn = draw_rows(X, 20_000, source, (0, "boston", 0))
    assert list(drawn.columns) == list(X.columns)
    for name in ("a", "b", "c", "whole"):
        assert drawn[name].mean() == pytest.approx(X[name].mean(), abs=0.05 * X[name].std())
        assert drawn[name].std() == pytest.approx(X[name].std(), rel=0.1)
        assert drawn[name].skew() > 1, "an exponential is skewed, the training table is not"
    assert drawn["none"].isna().all()


def test_categories_are_drawn_uniformly_from_those_seen() -> None:
    X = training_table()
    fractions = draw_rows(X, 4000, np.zeros((3, 1)), (0, "boston", 0))["kind"].value_counts(normalize=True)
    assert fractions["rare"] == pytest.approx(0.5, abs=0.05)
    assert fractions["usual"] == pytest.approx(0.5, abs=0.05)
    assert fractions["never"] == 0


def test_a_narrow_source_is_used_again_with_other_rows() -> None:
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 6)), columns=list("abcdef"))
    source = np.random.default_rng(1).normal(size=(1000, 2))
    drawn = draw_rows(X, 500, source, (0, "boston", 0))
    scaled = (drawn - X.mean()) / X.std(ddof=0)
    assert set(np.round(scaled["c"], 9)) <= set(np.round(source[:, 0], 9))
    assert abs(np.corrcoef(scaled["a"], scaled["c"])[0, 1]) < 0.2
    pairs = {tuple(pair) for pair in np.round(source, 9)}
    assert all(tuple(pair) in pairs for pair in np.round(scaled[["a", "b"]].to_numpy(), 9)), "rows stay whole"


def test_draws_depend_only_on_split_dataset_and_set() -> None:
    X, source = training_table(), np.random.default_rng(1).normal(size=(100, 4))
    first = draw_rows(X, 50, source, (3, "boston", 0))
    pd.testing.assert_frame_equal(first, draw_rows(X, 50, source, (3, "boston", 0)))
    for other in ((4, "boston", 0), (3, "yacht", 0), (3, "boston", 1)):
        assert not first["a"].equals(draw_rows(X, 50, source, other)["a"])


def test_sources_are_standardized(tables: Path) -> None:
    numbers = read_standardized(YEAR, tables)
    np.testing.assert_allclose(numbers.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(numbers.std(axis=0), 1)


def test_the_sources_of_the_rows(tables: Path) -> None:
    assert check_sources(tables) == {"Year MSD": "year_msd_head1176.parquet", "Higgs": "higgs_56k.parquet"}
    assert sources_for(BY_NAME["boston"], tables) == (YEAR, HIGGS)
    assert sources_for(BY_NAME["churn"], tables) == (YEAR, HIGGS)
    assert sources_for(BY_NAME["year"], tables) == (HIGGS, HIGGS), "never from itself"


def test_ct_slices_are_used_if_they_exist(tables: Path) -> None:
    rows = np.random.default_rng(0).random((4, 386))
    text = "\n".join(",".join(f"{value:.3f}" for value in row) for row in rows)
    (tables / "slice_localization_data.csv").write_text(",".join(f"c{j}" for j in range(386)) + "\n" + text + "\n")
    assert sources_for(BY_NAME["churn"], tables) == (CT_SLICES, HIGGS)
    assert sources_for(BY_NAME["boston"], tables) == (YEAR, HIGGS)
    assert read_standardized(CT_SLICES, tables).shape == (4, 384)


def test_a_missing_source_is_named(tables: Path) -> None:
    (tables / "year_msd_head1176.parquet").unlink()
    with pytest.raises(DatasetMissingError, match=r"YearPredictionMSD\.txt or year_msd_head1176\.parquet"):
        check_sources(tables)
