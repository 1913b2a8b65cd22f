"""Results that nobody measured."""

from surefoot_experiments.uncertainty.lines import ResultLine

NAN = float("nan")


def result(dataset: str, split: int, method: str, **measures: float) -> ResultLine:
    """A line of results; what is not given is not known."""
    names = ("nll", "error", "prr_total", "prr_knowledge", "auc_total", "auc_knowledge", "auc2_total", "auc2_knowledge")
    known = {name: measures.get(name, NAN) for name in names}
    return ResultLine(
        dataset, split, method, **known, depth=3, rate=0.1, trees=9, train_rows=90, test_rows=10, seconds=1.0
    )
