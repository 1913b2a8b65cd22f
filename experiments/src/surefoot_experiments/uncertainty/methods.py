"""The compared methods: the paper's names, their settings, and which of them share a training."""

from dataclasses import dataclass

SGB, SGLB = "SGB", "SGLB"
SGB_ENSEMBLE, SGLB_ENSEMBLE, VIRTUAL_SGLB = "SGB ensemble", "SGLB ensemble", "vSGLB"
FOREST, VIRTUAL_FOREST, FORESTS = "RF", "vRF", "RF ensemble"
BOOSTERS = (SGB, SGLB, SGB_ENSEMBLE, SGLB_ENSEMBLE, VIRTUAL_SGLB)
ENSEMBLES = (SGB_ENSEMBLE, SGLB_ENSEMBLE, VIRTUAL_SGLB)

# One training gives the results of several methods: a single model is the first member of its ensemble.
BOOSTER_TRAININGS = {SGB: (SGB, SGB_ENSEMBLE), SGLB: (SGLB, SGLB_ENSEMBLE, VIRTUAL_SGLB)}
FOREST_TRAININGS = {FOREST: (FOREST, VIRTUAL_FOREST), FORESTS: (FORESTS,)}
FOREST_SPLITS = 5  # forests are run only on the first splits, to save hours
# Regressors of these methods fit their scale with a model that holds out a tenth of the rows, as by default.
HELD_OUT_FOR_SCALE: tuple[str, ...] = (SGB, SGLB)


@dataclass(frozen=True)
class UncertaintySettings:
    """All settings that the results depend on, apart from the splits, which are independent of each other."""

    quick: bool = False
    trees: int = 1000
    depths: tuple[int, ...] = (3, 4, 5, 6)
    rates: tuple[float, ...] = (0.001, 0.01, 0.1)
    members: int = 10
    forest_trees: int = 1000
    forest_depth: int = 10
    rows_per_cell: int = 1000

    @classmethod
    def make(cls, quick: bool) -> "UncertaintySettings":
        """The paper's settings, or those of a quick run."""
        if not quick:
            return cls()
        return cls(quick=True, trees=400, depths=(3, 6), rates=(0.1,), forest_trees=100, rows_per_cell=500)
