"""The paper's settings, and the numbers of its tables 2 to 4, of C.3 and of its captions.

From "Stabilizing black-box model selection with the inflated argmax" (Adrian, Soloff & Willett 2024). The curves of
its figures are not available as numbers.
"""

from dataclasses import dataclass

from surefoot_experiments.stability.compared_rules import ARGMAX, BASE, INCLUSION, INFLATED, TOP_K, ComparedRule


@dataclass(frozen=True)
class PrintedResult:
    """A row of tables 2 and 4: leave-one-out instability, and mean set size without a row."""

    instability: float
    set_size: float


# Table 2: graphical lasso, n = 759, d = 11, K = 700, B = 10,000, penalty 77 (figure 11).
TABLE_2 = {
    ComparedRule(BASE): PrintedResult(0.453, 1.00),
    ComparedRule(INCLUSION, 0.5): PrintedResult(0.013, 1.00),
    ComparedRule(ARGMAX): PrintedResult(0.112, 1.00),
    ComparedRule(TOP_K, 2): PrintedResult(0.008, 2.00),
    ComparedRule(INFLATED, 0.02): PrintedResult(0.008, 1.58),
}
GRAPH_PENALTY, GRAPH_BAG_SIZE = 77.0, 700
LARGEST_PENALTY = 500  # figure 11 has 1 to 500
FIGURE_5_WEIGHTS = (0.0931, 0.0854)  # caption: the fractions of the bags of the top two graphs
FIGURE_5_EDGE = ("pakts473", "pmek")  # 5.2.1: the edge by which they differ

# Table 3: five folds of a trajectory of predator and prey. None means that the paper has a dash (a fold without any
# term) or, in the last column of the row before the last, nothing. Chosen: penalty 0.01 and threshold 0.18.
TABLE_3_PENALTIES = (0.0075, 0.01, 0.02, 0.03, 0.15, 1.0)
TABLE_3_THRESHOLDS = (0.16, 0.17, 0.18, 0.19, 0.20, 0.25)
TABLE_3 = (
    (0.0538, 0.0538, 0.0539, 0.0982, 0.0963, 0.1156),
    (0.0538, 0.0538, 0.0538, 0.0981, 0.0963, 0.1942),
    (0.1285, 0.1285, 0.1287, 0.1275, 0.1256, 0.4403),
    (0.1285, 0.1285, 0.3160, 0.3166, 0.3202, 0.3451),
    (0.0788, None, None, None, None, None),
    (None, None, None, 10.65, None, 14.94),
)
CHOSEN_PENALTY, CHOSEN_THRESHOLD = 0.01, 0.18
# Equations 23 and 24: the coefficients fitted to the whole trajectory with this choice.
EQUATIONS = {
    ("u1", "u1"): 0.636,
    ("u1", "u1 u2"): -1.255,
    ("u2", "u2"): -0.839,
    ("u2", "u1 u2"): 0.833,
}
TRUE_EQUATIONS = {("u1", "u1"): 2 / 3, ("u1", "u1 u2"): -4 / 3, ("u2", "u2"): -1.0, ("u2", "u1 u2"): 1.0}  # D.1.1

# Table 4: decision trees on 50 of 547 cells, K = 45, B = 10,000; the row of 0.04 is in the text of F.1.
TABLE_4 = {
    ComparedRule(BASE): PrintedResult(0.40, 1.00),
    ComparedRule(ARGMAX): PrintedResult(0.24, 1.00),
    ComparedRule(TOP_K, 2): PrintedResult(0.12, 2.02),
    ComparedRule(INFLATED, 0.03): PrintedResult(0.12, 1.74),
    ComparedRule(INFLATED, 0.04): PrintedResult(0.04, 2.88),
}
TREE_CELLS, TREE_BAG_SIZE = 50, 45
FIGURE_15_WEIGHTS = (0.0474, 0.0280, 0.0224)  # caption: the fractions of the bags of the top three trees

# C.1 and C.2: the regression trials. The left panel of figure 7, and the accuracy of all three rules in its caption.
REGRESSION_PENALTY, REGRESSION_BAG_SIZE = 0.5, 25
FIGURE_7 = (ComparedRule(INCLUSION, 0.3), ComparedRule(TOP_K, 2), ComparedRule(INFLATED, 0.8))
FIGURE_7_ACCURACY = 0.18
# Section 5.1: the trials of predator and prey. The left panel of figure 3, and the accuracy in its caption.
DYNAMICS_BAG_SIZE = 15
FIGURE_3 = (ComparedRule(INCLUSION, 0.63), ComparedRule(TOP_K, 2), ComparedRule(INFLATED, 0.09))
FIGURE_3_ACCURACY = 0.3

# C.3: one draw of 300 rows and 200 covariates.
LARGER_ROWS, LARGER_COLUMNS, LARGER_NOISE, LARGER_DELTA = 300, 200, 0.5, 0.05
LARGER_EPSILON = 0.078
LARGER_ARGMAX_INSTABILITY, LARGER_INFLATED_INSTABILITY, LARGER_MODELS = 0.14, 0.0, 6
