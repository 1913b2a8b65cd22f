"""What a reader must know before comparing a run with the paper."""

from collections.abc import Iterable

from surefoot_experiments.uncertainty.datasets import BY_NAME, DATASETS, Dataset
from surefoot_experiments.uncertainty.methods import FOREST_SPLITS, FORESTS, HELD_OUT_FOR_SCALE, Settings
from surefoot_experiments.uncertainty.out_of_domain import CT_SLICES, NEEDS_CT, YEAR
from surefoot_experiments.uncertainty.scores import Scores

QUICK_MARK = "QUICK RUN, not the experiment"
ALWAYS = (
    "Depth, rate and (for SGB) the number of trees are chosen on each split by the likelihood of a fifth of its "
    "training rows (tuning.csv); then all training rows are used. The paper keeps 1,000 trees for SGB too.",
    "Single models are the first members of the ensembles. In regression an ensemble trains one model more, which "
    f"holds back a tenth of the training rows for the others to fit their scale ({' and '.join(HELD_OUT_FOR_SCALE)}); "
    "of SGB it may also cut the last trees.",
    "The second out-of-domain set, from Higgs, is ours: the paper has no numbers for it.",
    "The mask and the noise of the heart, and the spirals, are ours: the paper shows its own as pictures only.",
)


def make_remarks(scores: Scores, settings: Settings, sources: dict[str, str]) -> list[str]:
    """One sentence or two for each; ``sources`` are the files that tables were read from."""
    there = [dataset for dataset in DATASETS if dataset.name in scores.datasets]
    absent = [dataset for dataset in DATASETS if dataset not in there]
    remarks = [_quick(settings)] if settings.quick else []
    remarks += [
        f"{dataset.title}† is PARTIAL ({_rows(scores, dataset)}): {dataset.remark}."
        for dataset in there
        if dataset.remark
    ]
    remarks += (
        [f"No results for {', '.join(f'{dataset.title} ({dataset.file})' for dataset in absent)}."] if absent else []
    )
    remarks += _few_splits(scores, there)
    remarks += [*_elsewhere(sources), *ALWAYS]
    if any(scores.get(dataset.name, FORESTS, "error") for dataset in there):
        remarks.append(
            f"Forests are run on the first {FOREST_SPLITS} splits. Those of the ensemble have "
            f"{settings.forest_trees // settings.members} trees each, where the authors have as many as in the single "
            f"forest, {settings.forest_trees:,}. Leave-one-out means are noised as in the authors' code; probabilities "
            "of 0 are raised to 2e-16, as scikit-learn does."
        )
    return remarks


def _quick(settings: Settings) -> str:
    return (
        f"{QUICK_MARK}: {settings.trees} trees, depths {_listed(settings.depths)}, rates {_listed(settings.rates)}, "
        f"forests of {settings.forest_trees} trees, {settings.rows_per_cell} rows in a cell of the heart."
    )


def _listed(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def _rows(scores: Scores, dataset: Dataset) -> str:
    line = scores.lines(dataset.name)[0]
    return f"{line.train_rows + line.test_rows:,} rows of the paper's {dataset.paper_rows:,}"


def _few_splits(scores: Scores, datasets: list[Dataset]) -> list[str]:
    counts = {dataset: len({line.split for line in scores.lines(dataset.name)}) for dataset in datasets}
    few = [f"{dataset.title} {n} of {dataset.n_splits}" for dataset, n in counts.items() if n < dataset.n_splits]
    return [f"Fewer splits than published: {', '.join(few)}."] if few else []


def _elsewhere(sources: dict[str, str]) -> list[str]:
    """Where the first set of out-of-domain rows comes from, as far as that is not what the paper says."""
    remarks = []
    if sources.get(YEAR.title, "").endswith(".parquet"):
        remarks.append(
            f"Out-of-domain rows are drawn, with replacement, from the first 1,176 rows of Year MSD "
            f"({sources[YEAR.title]}): the whole table ({next(iter(YEAR.files))}) is not at hand."
        )
    if sources and CT_SLICES.title not in sources:
        names = ", ".join(BY_NAME[name].title for name in NEEDS_CT)
        remarks.append(
            f"CT slices are not at hand ({next(iter(CT_SLICES.files))}): the out-of-domain rows of {names} come from "
            "Year MSD (those of Year MSD itself from Higgs)."
        )
    return remarks
