"""The interface of the parts of the experiment."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from surefoot_experiments.skeleton.report import Section
from surefoot_experiments.skeleton.run import ProgressCallback
from surefoot_experiments.stability.settings import StabilitySettings


class Part(Protocol):
    """A part of the experiment."""

    @property
    def name(self) -> str:
        """Its name on the command line, and the beginning of its file names."""

    @property
    def files(self) -> tuple[str, ...]:
        """The data files that it reads."""

    @property
    def lines(self) -> Mapping[str, type[Any]]:
        """Its growing files and the kind of their lines."""

    def run(
        self, folder: Path, data: Path, settings: StabilitySettings, n_jobs: int | None, callback: ProgressCallback
    ) -> None:
        """Run the units that are not in its files yet."""

    def report(self, folder: Path, data: Path, settings: StabilitySettings) -> Section | None:
        """Draw the figures and write the section; None if its files have no results."""
