"""Files of every version of the format are read, with the same predictions."""

import json

import numpy as np
import pytest
from small_models import ANSWERS, STORED, answers, read_rows, recipes, rows_for

import surefoot
from surefoot.model_io.models import BY_NAME

FILES = sorted(STORED.glob("*/*.surefoot"))


@pytest.mark.fault(number=14)
@pytest.mark.fault(number=25)
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_predictions_are_the_same(path):
    model = surefoot.load(path)
    results = answers(model, rows_for(model, read_rows(path.parent)))
    expected = json.loads((path.parent / ANSWERS).read_text(encoding="utf-8"))[path.stem]
    assert results.keys() == expected.keys()
    for name, values in results.items():
        if values.dtype.kind == "f":
            np.testing.assert_allclose(values, expected[name], rtol=1e-10, err_msg=name)  # up to rounding
        else:
            assert values.tolist() == expected[name], name


@pytest.mark.fault(number=25)
def test_every_kind_of_model_is_stored():
    assert {path.stem for path in FILES if path.parent.name == "1"} == recipes().keys()
    kinds = {type(surefoot.load(path)).__name__ for path in FILES}
    assert kinds == BY_NAME.keys()
