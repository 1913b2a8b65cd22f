"""Made-up results."""

from surefoot_experiments.shift.lines import ResultLine


def result(method: str, rmse: float, *, dataset: str = "yacht", split: int = 0, selection: str = "one feature",
           budget: str = "flexible", refusal: str = "") -> ResultLine:  # fmt: skip
    """A line of results."""
    return ResultLine(
        dataset, split, selection, budget, method, rmse, rmse, coverage=0.9, effective_rows=50.0, shift=0.3,
        train_rows=80, target_rows=20, test_rows=20, seconds=1.0, refusal=refusal,
    )  # fmt: skip


def results(ratios: dict[str, float], datasets: tuple[str, ...] = ("boston", "yacht", "wine"), n_splits: int = 4,
            budgets: tuple[str, ...] = ("flexible", "small")) -> list[ResultLine]:  # fmt: skip
    """Every method at its ratio to plain boosting, a little more or less on every other split."""
    lines = []
    for dataset in datasets:
        for budget in budgets:
            for split in range(n_splits):
                place = {"dataset": dataset, "split": split, "budget": budget}
                lines.append(result("plain", 1.0 + split, **place))  # type: ignore[arg-type]
                nearly = 1.001 ** (-1 if split % 2 else 1)
                lines += [result(name, (1.0 + split) * by * nearly, **place) for name, by in ratios.items()]  # type: ignore[arg-type]
    return lines
