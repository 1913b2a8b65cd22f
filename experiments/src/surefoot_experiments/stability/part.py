"""What a part of the experiment is."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from surefoot_experiments.skeleton.report import Section
from surefoot_experiments.skeleton.run import Watcher
from surefoot_experiments.stability.settings import StabilitySettings


class Part(Protocol):
    """A part of the experiment, in a module or an object."""

    @property
    def name(self) -> str:
        """Its name on the command line; those of its files begin with it."""

    @property
    def files(self) -> tuple[str, ...]:
        """The data files that it reads."""

    @property
    def lines(self) -> Mapping[str, type[Any]]:
        """Its growing files and the kind of their lines."""

    def run(self, folder: Path, data: Path, settings: StabilitySettings, n_jobs: int | None, watch: Watcher) -> None:
        """Do what is not in its files yet, unit by unit."""

    def report(self, folder: Path, data: Path, settings: StabilitySettings) -> Section | None:
        """Draw and tell what is in its files; None where there is nothing."""
