"""The columns behind uncertainty, compared with one prediction for each changed column."""

import numpy as np
import pandas as pd
import pytest

from surefoot import BoostingEnsembleRegressor
from surefoot.report.inputs.table import AuditTable
from surefoot.report.sections.uncertainty import most_uncertain


@pytest.mark.parametrize("cells_at_once", [1, 500_000])
def test_falls_are_those_of_one_column_at_a_time(monkeypatch, cells_at_once):
    monkeypatch.setattr(most_uncertain, "CELLS_AT_ONCE", cells_at_once)
    generator = np.random.default_rng(0)
    X = pd.DataFrame({
        "size": generator.normal(size=120),
        "rooms": generator.integers(1, 6, size=120),
        "town": generator.choice(["a", "b", "c"], size=120),
    })  # fmt: skip
    X.loc[3, "size"] = np.nan
    table = AuditTable.read(X, X["rooms"] + (X["town"] == "b") + generator.normal(size=120))
    model = BoostingEnsembleRegressor(n_members=3, n_estimators=15, random_state=0)
    model.fit(table.frame, table.target.labels)
    rows = table.frame.iloc[[3, 50, 7, 90]]
    knowledge = model.predict_uncertainty(rows).knowledge
    result = most_uncertain.falls_by_column(model, table, rows, knowledge)
    usual = {"size": table.frame["size"].median(), "rooms": table.frame["rooms"].median()}
    usual["town"] = table.frame["town"].mode()[0]
    for falls, reader in zip(result, table.readers, strict=True):
        changed = rows.assign(**{reader.name: usual[reader.name]}).astype(rows.dtypes)
        expected = knowledge - model.predict_uncertainty(changed).knowledge
        np.testing.assert_allclose(falls, expected, rtol=0, atol=1e-12)
