"""Made-up results."""

from surefoot_experiments.uncertainty.lines import MethodLine

NAN = float("nan")


def result(dataset: str, split: int, method: str, **measures: float) -> MethodLine:
    """A line of results; measures that are not given are NaN."""
    names = ("nll", "error", "prr_total", "prr_knowledge", "auc_total", "auc_knowledge", "auc2_total", "auc2_knowledge")
    known = {name: measures.get(name, NAN) for name in names}
    return MethodLine(
        dataset, split, method, **known, depth=3, rate=0.1, trees=9, train_rows=90, test_rows=10, seconds=1.0
    )
