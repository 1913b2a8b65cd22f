"""The inverse of the leaves' equations against LAPACK's, and models on other processors."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fault_sizes import usual_or_long
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.shift.gram import DenseGram
from surefoot.shift.leaf_equations import invert, pseudo_invert

TESTS = Path(__file__).parents[1]
SCRIPT = """
import sys
from hashlib import sha256
sys.path.insert(0, sys.argv[1])
from contract.registry import learned, those
for subject in those(name="VMatrixRegressor") + those(name="VMatrixClassifier"):
    for kind in ("mean", "product"):
        X, y = subject.problem(n_rows=300)
        model = subject.make(kind=kind, max_leaf_nodes=12, min_samples_leaf=1, orientation="both").fit(X, y)
        print(sha256(learned(model)).hexdigest())
"""


def symmetric(n, rank, seed):
    """A positive semi-definite matrix."""
    factors = np.random.default_rng(seed).normal(size=(n, rank))
    return factors @ factors.T


@settings(deadline=None, max_examples=40)  # the first of them compiles
@given(n=st.integers(1, 40), seed=st.integers(0, 100))
def test_the_inverse_is_that_of_lapack(n, seed):
    D = symmetric(n, n, seed) + np.eye(n)
    np.testing.assert_allclose(invert(D), np.linalg.inv(D), rtol=1e-9, atol=1e-12)


@settings(deadline=None, max_examples=40)  # the first of them compiles
@given(n=st.integers(1, 20), rank=st.integers(1, 20), seed=st.integers(0, 100))
def test_the_pseudo_inverse_is_that_of_lapack(n, rank, seed):
    D = symmetric(n, min(n, rank), seed)
    expected = np.linalg.pinv(D, rcond=1e-10, hermitian=True)
    np.testing.assert_allclose(pseudo_invert(D), expected, rtol=1e-6, atol=1e-9 * np.abs(expected).max())


def test_a_matrix_of_zeros_has_a_pseudo_inverse_of_zeros():
    np.testing.assert_array_equal(pseudo_invert(np.zeros((3, 3))), np.zeros((3, 3)))


@settings(deadline=None, max_examples=40)  # the first of them compiles
@given(n=st.integers(1, 60), seed=st.integers(0, 100))
def test_products_with_a_dense_matrix_are_those_of_numpy(n, seed):
    generator = np.random.default_rng(seed)
    matrix, values = symmetric(n, n, seed), generator.normal(size=n) * generator.integers(0, 2, n)
    np.testing.assert_allclose(DenseGram(matrix).times(values), matrix @ values, rtol=1e-9, atol=1e-9)


@pytest.mark.fault(number=12)
def test_the_model_does_not_depend_on_the_processor_that_blas_is_for():
    """OpenBLAS has other sums for each processor, and can be told to use those of another one."""
    found = set()
    for processor in usual_or_long(["Nehalem", None], ["Nehalem", "Haswell", "SkylakeX", "Zen", None]):
        environment = os.environ | ({} if processor is None else {"OPENBLAS_CORETYPE": processor})
        command = [sys.executable, "-W", "ignore", "-c", SCRIPT, str(TESTS)]
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        found.add(run.stdout)
    assert len(found) == 1
    assert len(found.pop().split()) == 4
