"""Maps of the uncertainty of an ensemble and a virtual ensemble over a plane, stored as CSV files."""

from pathlib import Path
from typing import Any

from surefoot import Uncertainty, VirtualEnsemble
from surefoot.plots import UncertaintyDisplay
from surefoot.plots.feature_map import FeatureMap
from surefoot_experiments.skeleton.report import replace_file
from surefoot_experiments.uncertainty.methods import SGLB_ENSEMBLE, VIRTUAL_SGLB

KINDS = ("total", "data", "knowledge")
TITLES = {SGLB_ENSEMBLE: "SGLB", VIRTUAL_SGLB: "vSGLB"}


def make_map(places: Any, ensemble: Any, X: Any, n_members: int) -> Any:
    """Add columns to the frame ``places``: the uncertainties of the rows ``X`` at these places."""
    uncertainties = {
        SGLB_ENSEMBLE: ensemble.predict_uncertainty(X),
        VIRTUAL_SGLB: VirtualEnsemble(ensemble.estimators_[0], n_members, method="truncation").predict_uncertainty(X),
    }
    columns = {f"{method} {kind}": getattr(uncertainties[method], kind) for method in uncertainties for kind in KINDS}
    return places.assign(**columns)


def write_map(path: Path, frame: Any) -> None:
    """Write the map as CSV."""
    with replace_file(path) as stream:
        frame.to_csv(stream, index=False, mode="wb")


def read_map(path: Path) -> Any:
    """Read a map."""
    import pandas as pd

    return pd.read_csv(path)


def draw_map(ax: Any, frame: Any, method: str, kind: str, title: str, unit: str, **style: Any) -> None:
    """Draw the plane of the frame's first two columns, coloured by one uncertainty of a method."""
    parts = {name: frame[f"{method} {name}"].to_numpy() for name in KINDS}
    feature_map = FeatureMap.from_table(frame, list(frame.columns[:2]))
    display = UncertaintyDisplay(Uncertainty(**parts, unit=unit), feature_map=feature_map, name=title)
    display.plot(ax=ax, kind=kind, style="map", **style)
    ax.set_aspect("equal")
