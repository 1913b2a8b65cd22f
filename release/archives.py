"""What the wheels and the source archives must hold, and nothing else."""

import subprocess
import tarfile
import zipfile
from pathlib import Path

from environments import ROOT

NOT_IN_SDIST = (".ci/", "experiments/.ci/")  # only the machine that checks every change runs these
METADATA = {"PKG-INFO", ".gitignore"}  # added to a source archive by its builder


def tracked_files(folder: str) -> set[str]:
    """The files of a folder of the repository that git knows, relative to that folder."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT / folder, capture_output=True, text=True, check=True)
    return {name for name in listed.stdout.split("\0") if name and (ROOT / folder / name).is_file()}


def check_wheel(wheel: Path, folder: str) -> None:
    """A wheel holds its package, all files of it included, its metadata and its licence."""
    files = tracked_files(f"{folder}/src")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    metadata = {name for name in names if ".dist-info/" in name}
    _compare(wheel, names - metadata, files)
    written = {name.partition(".dist-info/")[2] for name in metadata}
    for required in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"):
        if required not in written:
            raise SystemExit(f"{wheel.name} lacks its {required}.")


def check_sdist(sdist: Path, folder: str) -> None:
    """A source archive holds every file of the repository: also what the tests need."""
    files = {name for name in tracked_files(folder) if not name.startswith(NOT_IN_SDIST)}
    with tarfile.open(sdist) as archive:
        members = archive.getmembers()
    strange = [member.name for member in members if not (member.isfile() or member.isdir())]
    if strange:
        raise SystemExit(f"{sdist.name} has members that are no files: {strange}.")
    names = {member.name.partition("/")[2] for member in members if member.isfile()}
    _compare(sdist, names - METADATA, files - METADATA)


def _compare(archive: Path, names: set[str], files: set[str]) -> None:
    missing, more = sorted(files - names), sorted(names - files)
    if missing or more:
        raise SystemExit(f"{archive.name} lacks {missing[:10]} ({len(missing)}); too many: {more[:10]} ({len(more)}).")
    print(f"{archive.name}: {len(names)} files, {archive.stat().st_size / 1e6:.1f} MB")
