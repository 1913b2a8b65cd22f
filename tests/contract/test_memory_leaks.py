"""Memory does not grow with the number of fits and predictions."""

import gc
import tracemalloc

import pytest
from fault_sizes import usual_or_long

from contract.registry import answers, each_subject

N_CALLS = usual_or_long(3, 1_000)
MAX_GROWTH = 100_000  # bytes; a model of these tables is larger than a tenth of it


@pytest.mark.fault(number=15)
@pytest.mark.filterwarnings("ignore::surefoot.SurefootWarning")
@each_subject
def test_fits_and_predictions_leave_nothing_behind(subject):
    X, y = subject.problem(n_rows=500)
    model = subject.make()

    def repeat(n_calls):
        for _ in range(n_calls):
            answers(model.fit(X, y), X[:50])
        gc.collect()

    tracemalloc.start()
    try:
        repeat(1)
        before = tracemalloc.get_traced_memory()[0]
        repeat(N_CALLS)
        growth = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert growth < MAX_GROWTH
