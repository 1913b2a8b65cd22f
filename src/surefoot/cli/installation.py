"""What ``surefoot doctor`` looks at: packages, the machine, environment variables and the cache of compiled kernels."""

import importlib
import os
import platform
import re
import shutil
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import joblib
from llvmlite import binding
from threadpoolctl import threadpool_info  # type: ignore[import-untyped]

import surefoot
from surefoot._kernel_files import kernel_files, rejected_files

EXTRAS = {"cli", "dask", "onnx", "explain", "peers"}  # not those of developers
NOT_REQUIRED = ("llvmlite", "polars")  # numba requires the first; narwhals reads frames of the second
VARIABLES = re.compile(r"(NUMBA|SUREFOOT|OMP|OPENBLAS|MKL|JOBLIB|LOKY)_\w+|PYTHON\w+|XDG_CACHE_HOME|HOME")
EARLIER_CACHE = ("*.nbi", "*.nbc")  # numba's own cache, which earlier versions used


def package_versions() -> dict[str, str]:
    """Versions of surefoot and of all packages that it requires or can use."""
    names = []
    for requirement in requires("surefoot") or []:
        name = re.match(r"[\w.-]+", requirement)
        extra = re.search(r"extra\s*==\s*['\"](\w+)", requirement)
        if name and name[0] != "surefoot" and (extra is None or extra[1] in EXTRAS):
            names.append(name[0])
    return {"surefoot": surefoot.__version__} | {name: _version(name) for name in (*names, *NOT_REQUIRED)}


def machine() -> dict[str, str]:
    """Python, the system, the cores and what computes on them."""
    features = binding.get_host_cpu_features()
    out = {
        "Python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "system": platform.platform(),
        "cores": f"{os.cpu_count()}, of which --jobs -1 uses {joblib.cpu_count()}",
        "processor": binding.get_host_cpu_name(),
        "instructions": " ".join(sorted(name for name, is_there in features.items() if is_there)) or "unknown",
    }
    for library in threadpool_info():
        name = library["internal_api"]
        out[name] = (
            f"{library['version'] or 'unknown version'}, {library['num_threads']} threads, {library['filepath']}"
        )
    return out


def environment_variables() -> dict[str, str]:
    """Environment variables that change what surefoot, numba, joblib, BLAS or Python does."""
    return {name: value for name, value in sorted(os.environ.items()) if VARIABLES.fullmatch(name)}


def cache_state() -> list[str]:
    """A line for each folder of compiled kernels."""
    lines = []
    for folder in cache_folders():
        files = list(kernel_files(folder))
        size = sum(file.lstat().st_size for file in files) / 1e6
        rejected = len(rejected_files(folder, surefoot.__file__))
        note = f"; {rejected} of them are damaged or belong to others, and are not read" if rejected else ""
        lines.append(f"{folder}: {len(files)} files, {size:.1f} MB{note}")
    return lines or ["none: no folder can be written, so kernels are compiled in every process"]


def cache_folders() -> list[Path]:
    """The folders of the compiled kernels of surefoot."""
    root, folders = Path(surefoot.__file__).parent, set()
    for file in sorted(root.rglob("*.py")):
        if "@kernel" not in file.read_text(encoding="utf-8"):
            continue
        module = importlib.import_module(".".join((root.name, *file.relative_to(root).with_suffix("").parts)))
        for thing in vars(module).values():
            if hasattr(thing, "py_func") and getattr(thing.stats, "cache_path", None):
                folders.add(Path(thing.stats.cache_path))
    return sorted(folder for folder in folders if folder.is_dir())


def clear_cache() -> tuple[int, list[str]]:
    """Remove the compiled kernels; the number of files that were removed, and the errors of those that were not."""
    n_removed, errors = 0, []
    for folder in cache_folders():
        for file in [*kernel_files(folder), *(file for pattern in EARLIER_CACHE for file in folder.glob(pattern))]:
            try:
                if file.is_dir() and not file.is_symlink():
                    shutil.rmtree(file)
                else:
                    file.unlink(missing_ok=True)  # another process may be clearing, too
                n_removed += 1
            except OSError as error:
                errors.append(f"{file}: {error.strerror}")
    return n_removed, errors


def without_home(text: str) -> str:
    """Replace the user's home folder, whose name is often that of the user, by ~."""
    try:
        home = Path.home()
    except RuntimeError:  # there is none
        return text
    for folder in (home, home.resolve()):
        if len(folder.parts) > 1:  # the home folder of some containers is that of the whole system
            text = re.sub(rf"{re.escape(str(folder))}(?![\w.-])", "~", text)
    return text


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
