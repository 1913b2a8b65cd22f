"""Partitions that differ by more than chance are found, and random ones are not."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import f_oneway

from surefoot.dask.collections import Partition
from surefoot.dask.partition_comparison import differs, unlike_columns
from surefoot.dask.summaries import summarise

GENERATOR = np.random.default_rng(5)
N = 4000
TABLE = pd.DataFrame(
    {
        "number": GENERATOR.normal(size=N),
        "holes": np.where(GENERATOR.random(N) < 0.3, np.nan, 1.0),
        "kind": pd.Categorical(GENERATOR.choice(list("abc"), N)),
    }
)
LABELS = np.where(GENERATOR.random(N) < 0.02, "rare", "usual")


def different(order, n_partitions=8):
    """What differs between partitions of the table in an order."""
    cuts = np.array_split(np.argsort(order, kind="stable"), n_partitions)
    return unlike_columns([summarise(Partition(TABLE.iloc[rows], LABELS[rows]), with_labels=True) for rows in cuts])


SORTED = {
    "column 'number'": TABLE["number"],
    "column 'holes'": TABLE["holes"].isna(),
    "column 'kind'": TABLE["kind"].cat.codes,
    "the labels": LABELS == "rare",
}


@pytest.mark.parametrize("name", SORTED)
def test_what_a_table_is_sorted_by_is_named(name):
    assert different(SORTED[name]) == [name]


def test_a_class_that_one_partition_lacks_is_named():
    generator, labels = np.random.default_rng(0), np.where(np.arange(20_000) % 100 == 0, "rare", "usual")
    frames = [pd.DataFrame({"a": generator.normal(size=5000)}) for _ in range(4)]
    parts = [summarise(Partition(frame, labels[:5000]), with_labels=True) for frame in frames[:3]]
    assert unlike_columns([*parts, summarise(Partition(frames[3], labels[1:2].repeat(5000)), with_labels=True)]) == [
        "the labels"
    ]


def test_random_partitions_are_alike():
    false_alarms = [different(np.random.default_rng(seed).random(N)) for seed in range(100)]
    assert false_alarms == [[]] * 100


@pytest.mark.parametrize("shift", [0.2, 0.4, 0.8])
def test_the_p_value_is_that_of_scipy(shift):
    groups = [np.random.default_rng(k).normal(loc=shift * k, size=30 + k) for k in range(4)]
    moments = np.array([[len(g), g.mean(), ((g - g.mean()) ** 2).sum()] for g in groups])
    p_value = f_oneway(*groups).pvalue
    assert not differs(moments, p_value * 0.999)
    assert differs(moments, p_value * 1.001)
