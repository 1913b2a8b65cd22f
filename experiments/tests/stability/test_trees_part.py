"""Trees of cells against manual counts of scikit-learn's text of its trees."""

import re
from collections import Counter
from dataclasses import replace
from math import ceil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from run_checks import heaviest, interrupting_callback, without_seconds
from sklearn.tree import DecisionTreeClassifier, export_text

from surefoot_experiments.skeleton.report import new_figure
from surefoot_experiments.skeleton.unit import GrowingCsv
from surefoot_experiments.stability import paper, trees
from surefoot_experiments.stability.compared_rules import ARGMAX, BASE, INFLATED, TOP_K, ComparedRule
from surefoot_experiments.stability.lines import RuleLine
from surefoot_experiments.stability.settings import StabilitySettings
from surefoot_experiments.stability.trees import Trees, compared_rules, fit_draw
from surefoot_experiments.stability.trees_figure_15 import RED, draw_tree, node_labels
from surefoot_experiments.stability.trees_findings import judge_trees, make_remarks
from surefoot_experiments.stability.trees_models import (
    CHANCE,
    FATE,
    FILE,
    FIXED,
    Cells,
    TreeLine,
    grow_again,
    one_line_text,
)
from surefoot_experiments.stability.trees_results import TreeResults

TINY = replace(StabilitySettings(), tree_draws=2, tree_bags=60, tree_left_out_bags=20)
N_POOL = ceil(20 / (1 - 45 / 50))  # bags of which about 20 lack a given cell
FILES = (*trees.RESULTS.values(), trees.MODELS)


def write_cells(folder: Path) -> Path:
    """80 cells with three fates and five genes, of which two are nearly identical and one is constant."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 5)).astype(np.float32)
    fates = np.where(X[:, 0] > 0.6, "ESC", np.where(X[:, 1] > 0, "EPI", "NPC"))
    X[:, :2] += 0.15 * rng.normal(size=(80, 2))  # so that no gene determines the fate
    X[:, 2], X[:, 4] = X[:, 0] + 0.1 * X[:, 2], 0
    frame = pd.DataFrame(X, columns=["Nanog", "Klf4", "Sox2", "Myc", "Actb"])
    folder.mkdir(exist_ok=True)
    frame.assign(**{FATE: pd.Categorical(fates)}).to_parquet(folder / FILE)
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_cells(tmp_path_factory.mktemp("mesc"))


def run(data: Path, folder: Path, stop_before: int | None = None, settings: StabilitySettings = TINY) -> Path:
    folder.mkdir(exist_ok=True)
    Trees().run(folder, data, settings, None, interrupting_callback(stop_before))
    return folder


@pytest.fixture(scope="module")
def whole(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(data, tmp_path_factory.mktemp("whole"))


def outline(cells: Cells, rows: np.ndarray) -> str:
    """scikit-learn's text of its tree for some cells, without the thresholds."""
    tree = DecisionTreeClassifier(random_state=0).fit(cells.genes.to_numpy()[rows], cells.fates[rows].astype(str))
    return re.sub(r"(<=|>) +-?\d+\.\d+", r"\1", export_text(tree, feature_names=list(cells.genes.columns)))


def test_the_rules_agree_with_counts_of_scikit_learns_trees(data: Path, whole: Path) -> None:
    lines = GrowingCsv(whole / trees.RESULTS[FIXED], RuleLine).lines.values()
    by_rule = {line.compared_rule: line for line in lines if line.trial == 1}
    cells = Cells.read(data).draw(1)
    pool = fit_draw(cells, 1, FIXED, 1, None)._bagging.pool
    bags = pool.bags(0, N_POOL)
    models = [outline(cells, bag) for bag in bags]
    full = Counter(models[: TINY.tree_bags])
    assert len(full) > 2
    left_out = [
        Counter(model for model, bag in zip(models, bags, strict=True) if cell not in bag)
        for cell in range(paper.TREE_CELLS)
    ]
    for one, k in ((ComparedRule(ARGMAX), 1), (ComparedRule(TOP_K, 2), 2)):
        selected, others = heaviest(full, k), [heaviest(counts, k) for counts in left_out]
        assert by_rule[one].instability == pytest.approx(np.mean([selected.isdisjoint(other) for other in others]))
        assert by_rule[one].left_out_size == pytest.approx(np.mean([len(other) for other in others]))
        assert by_rule[one].set_size == len(selected)
    every = np.arange(paper.TREE_CELLS)
    changed = [outline(cells, np.delete(every, cell)) != outline(cells, every) for cell in every]
    assert by_rule[ComparedRule(BASE)].instability == pytest.approx(np.mean(changed))


def test_random_ties_make_trees_less_stable_than_fixed_ties(whole: Path) -> None:
    """Two genes are nearly identical; with random ties, leaving out any cell may change which one is chosen."""
    n_models = pd.read_csv(whole / trees.MODELS).groupby("ties")["models"].mean()
    assert n_models[CHANCE] > n_models[FIXED]


def test_a_draw_has_50_cells_and_depends_only_on_its_number(data: Path) -> None:
    cells = Cells.read(data)
    first, again, other = cells.draw(0), cells.draw(0), cells.draw(1)
    assert len(first.fates) == len(first.genes) == 50
    assert len(first.genes.drop_duplicates()) == 50
    pd.testing.assert_frame_equal(first.genes, again.genes)
    assert not first.genes.equals(other.genes)
    where = cells.genes.reset_index().merge(first.genes)  # the fates are those of the same cells
    assert cells.fates[where["index"].to_numpy()].tolist() == first.fates.tolist()


def test_a_constant_gene_has_no_correlations(data: Path) -> None:
    cells = Cells.read(data)
    matrix = cells.correlations()
    assert np.isnan(matrix[4]).all()
    assert np.isnan(matrix[:, 4]).all()
    np.testing.assert_allclose(matrix[:4, :4], cells.genes.iloc[:, :4].corr().to_numpy(), atol=1e-12)


def test_a_stopped_run_continues_to_the_same_files(data: Path, whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "stopped"
    for stop_before in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            run(data, folder, stop_before)
    path = folder / trees.RESULTS[CHANCE]
    path.write_bytes(path.read_bytes()[:-4])
    assert len(TreeResults.of(GrowingCsv(path, RuleLine).lines.values(), [], 60, len(compared_rules())).numbers) == 1
    run(data, folder)
    for name in FILES:
        first, second = (
            without_seconds(each / name).sort_values(list(without_seconds(each / name))).reset_index(drop=True)
            for each in (whole, folder)
        )
        pd.testing.assert_frame_equal(first, second)


def test_a_finished_run_does_nothing_again(data: Path, whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = [(whole / name).read_bytes() for name in FILES]
    monkeypatch.setattr(trees, "fit_draw", lambda *_: pytest.fail("done again"))
    run(data, whole)
    assert [(whole / name).read_bytes() for name in FILES] == before


def test_trees_that_are_grown_again_have_the_stored_structure(data: Path, whole: Path) -> None:
    cells = Cells.read(data)
    lines = GrowingCsv(whole / trees.MODELS, TreeLine).lines.values()
    assert {(line.draw, line.ties) for line in lines} == {(d, t) for d in (0, 1) for t in (CHANCE, FIXED)}
    for line in lines:
        drawn = cells.draw(line.draw)
        labels = node_labels(grow_again(drawn, line), list(drawn.genes.columns), sorted(set(drawn.fates)))

        def text(path: str, labels: dict[str, str] = labels) -> str:
            if path + "l" not in labels:
                return labels[path]
            return f"{labels[path]}({text(path + 'l', labels)}, {text(path + 'h', labels)})"

        assert text("") == line.model
        assert len(line.left_out.split()) == paper.TREE_CELLS - paper.TREE_BAG_SIZE


def test_a_tree_in_one_line() -> None:
    assert one_line_text(("age", "no", ("income", "no", "yes"))) == "age(no, income(no, yes))"
    assert one_line_text("no") == "no"


def test_a_drawn_tree_has_genes_and_fates_and_marks_differences() -> None:
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    tree = DecisionTreeClassifier(random_state=0).fit(X, [0, 1, 2, 2])
    labels = node_labels(tree, ["Nanog", "Klf4"], ["EPI", "ESC", "NPC"])
    assert labels == {"": "Nanog", "l": "Klf4", "ll": "EPI", "lh": "ESC", "h": "NPC"}
    ax = new_figure(4.0, 4.0).subplots()
    draw_tree(ax, tree, labels, {"": "Nanog", "l": "ESC", "h": "NPC"})
    shown = {note.get_text(): note.get_color() for note in ax.texts if note.get_visible()}
    assert shown.keys() == {"Nanog", "Klf4", "EPI", "ESC", "NPC"}
    assert {text for text, colour in shown.items() if colour == RED} == {"Klf4", "EPI", "ESC"}


def test_the_report_has_our_numbers_and_the_papers(data: Path, whole: Path) -> None:
    section = Trees().report(whole, data, TINY)
    assert section is not None
    for words in ("0.40", "2.88", "4.74%", "figure-15.png", "ties at random", "ties in a fixed way"):
        assert words in section.text
    for name in ("figure-14", "figure-15", "trees-rules-chance", "trees-rules-fixed"):
        assert (whole / f"{name}.png").stat().st_size > 5000
    remarks = " ".join(section.remarks)
    assert "that is no guarantee" in remarks
    assert "about 20 bags" in remarks
    assert len(section.findings) == 8


def test_a_report_after_a_stop_has_the_finished_draws(data: Path, tmp_path: Path) -> None:
    assert Trees().report(tmp_path, data, TINY) is None
    with pytest.raises(KeyboardInterrupt):
        run(data, tmp_path, stop_before=1)
    section = Trees().report(tmp_path, data, TINY)
    assert section is not None
    assert len(section.findings) == 4
    assert "1 draws" in section.text


def made_up(changes: dict[ComparedRule, tuple[float, float]]) -> TreeResults:
    """Six draws around the numbers of the paper's table, apart from ``changes``."""
    printed = {one: (row.instability, row.set_size) for one, row in paper.TABLE_4.items()}
    lines = []
    for draw, factor in enumerate((0.9, 1.1, 0.95, 1.05, 0.97, 1.03)):
        for rule in compared_rules():
            instability, size = {**printed, **changes}.get(rule, (0.5, 1.0))
            lines.append(
                RuleLine(
                    draw,
                    10,
                    rule.kind,
                    rule.parameter,
                    instability * factor,
                    1,
                    size * factor,
                    np.nan,
                    int(draw == 1),
                    1.0,
                )
            )
    models = [TreeLine(draw, CHANCE, 1, 0.1, "EPI", "", 7 + draw) for draw in range(6)]
    return TreeResults.of(lines, models, 10, len(compared_rules()))


def test_findings_are_computed() -> None:
    assert [finding.holds for finding in judge_trees(made_up({}), CHANCE)] == [True] * 4
    worse = {
        ComparedRule(BASE): (0.2, 1.0),
        ComparedRule(TOP_K, 2): (0.12, 1.5),
        ComparedRule(INFLATED, 0.04): (0.13, 9.0),
    }
    assert [finding.holds for finding in judge_trees(made_up(worse), CHANCE)] == [False] * 4


def test_a_fixed_seed_is_suspected_only_if_the_ranges_suggest_it() -> None:
    far = made_up({ComparedRule(BASE): (0.9, 1.0)})
    settings = replace(TINY, tree_bags=10, tree_left_out_bags=10)
    suspects = [
        "fixed `random_state`." in " ".join(make_remarks(by_ties, settings))
        for by_ties in (
            {CHANCE: far, FIXED: made_up({})},
            {CHANCE: made_up({}), FIXED: made_up({})},
            {CHANCE: far, FIXED: far},
        )
    ]
    assert suspects == [True, False, False]
    remarks = make_remarks({CHANCE: far}, settings)
    assert not any("Trees are slow" in remark for remark in remarks)
    assert any("1 of 6 draws" in remark for remark in remarks)
    assert any("10 on average (7 to 12)" in remark for remark in remarks)
