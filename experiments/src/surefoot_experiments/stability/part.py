"""What a part of the experiment is, and what it has to say."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from surefoot_experiments.run_folder import Watcher
from surefoot_experiments.stability.settings import Settings


@dataclass(frozen=True)
class Finding:
    """A sentence of the paper, or a promise, and what was found; ``holds`` is None where that cannot be told."""

    text: str
    holds: bool | None
    detail: str

    @property
    def words(self) -> str:
        """One line of Markdown."""
        verdict = {True: "Holds", False: "Does not hold", None: "Cannot be told"}[self.holds]
        return f"**{self.text}** {verdict}: {self.detail}"


@dataclass(frozen=True)
class Section:
    """What a part has to say: Markdown under a heading, findings, and what a careful reader must know.

    ``seconds`` are those of one thread, summed over the lines of its files.
    """

    title: str
    text: str
    findings: tuple[Finding, ...]
    remarks: tuple[str, ...]
    seconds: float


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

    def run(self, folder: Path, data: Path, settings: Settings, n_jobs: int | None, watch: Watcher) -> None:
        """Do what is not in its files yet, unit by unit."""

    def report(self, folder: Path, data: Path, settings: Settings) -> Section | None:
        """Draw and tell what is in its files; None where there is nothing."""
