"""The constants of the experiment, fixed before its first run; the protocol is docs/results/shift/protocol.md."""

from dataclasses import dataclass
from math import log, sqrt

BOUNDS, STUDY = "bounds", "study"
PARTS = (BOUNDS, STUDY)
SPLITS, QUICK_SPLITS = 20, 2
QUICK_DATASETS = ("boston", "energy", "yacht")

ONE_FEATURE, TWO_FEATURES, COMPONENT = "one feature", "two features", "principal component"
SELECTIONS = (ONE_FEATURE, TWO_FEATURES, COMPONENT)
# Rows are drawn with odds exp(STRENGTH * score). Scores are ranks with a standard deviation of 1, so that the quartiles
# are sqrt(3) apart: a row at the upper quartile is ten times as likely to be drawn first as one at the lower.
STRENGTH = log(10) / sqrt(3)
MAX_TRAINING_ROWS, TRAINING_FRACTION = 300, 0.5  # the smaller of the two
HELD_OUT_FRACTION = 0.2  # of the training rows: further rows, drawn with them and held out
MAX_TARGET_ROWS = 1000

MAX_HARMLESS_RATIO = 1.02  # the default does no harm if its mean ratio to plain boosting is at most this
LEVEL = 0.05  # of the paired t-tests
RESAMPLES, RESAMPLING_SEED = 10_000, 0  # of datasets, for the interval of a mean ratio
COVERAGE = 0.95  # of that interval

CONFIDENCE = 0.95  # of the theorems' bounds
BOUND_ROWS = 200  # training rows in the part on bounds


@dataclass(frozen=True)
class Budget:
    """The size of a booster; the same for every method."""

    name: str
    n_estimators: int
    max_leaf_nodes: int
    learning_rate: float

    @property
    def options(self) -> dict[str, float]:
        """The parameters of the booster."""
        return {
            "n_estimators": self.n_estimators,
            "max_leaf_nodes": self.max_leaf_nodes,
            "learning_rate": self.learning_rate,
        }


FLEXIBLE, SMALL = Budget("flexible", 200, 16, 0.1), Budget("small", 20, 4, 0.1)


@dataclass(frozen=True)
class ShiftSettings:
    """The size of a run; ``target_sizes`` and ``draws`` belong to the part on bounds."""

    quick: bool = False
    target_sizes: tuple[int, ...] = (10, 30, 100, 300, 1000, 3000, 10_000)
    draws: int = 1000
    budgets: tuple[Budget, ...] = (FLEXIBLE, SMALL)

    @classmethod
    def make(cls, quick: bool) -> "ShiftSettings":
        """Return the settings of the protocol, or of a run that takes about a minute."""
        if not quick:
            return cls()
        return cls(True, (10, 30, 100, 300, 1000), 100, (Budget(FLEXIBLE.name, 40, 16, 0.1), SMALL))
