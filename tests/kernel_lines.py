"""A plugin of pytest that reports which lines of kernels no test runs: ``pytest -p kernel_lines``.

Compiled lines cannot be watched, so kernels run uncompiled, with ``NUMBA_DISABLE_JIT=1``.
"""

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import surefoot

SOURCE = Path(surefoot.__file__).parent
DECORATORS = ("@kernel", "@inner_kernel")


def kernel_codes(file: Path) -> Iterator[CodeType]:
    """The code of each kernel in a file; it begins at the decorator."""
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines()
    for code in compile(text, str(file), "exec").co_consts:
        if isinstance(code, CodeType) and lines[code.co_firstlineno - 1].strip() in DECORATORS:
            yield code


def all_lines() -> dict[tuple[str, int], set[int]]:
    """The lines of each kernel, by its file and its first line."""
    lines = {}
    for file in sorted(SOURCE.rglob("*.py")):
        for code in kernel_codes(file):
            numbers = {number for _, _, number in code.co_lines() if number is not None}
            lines[str(file), code.co_firstlineno] = numbers - {code.co_firstlineno, code.co_firstlineno + 1}
    return lines


class LineWatch:
    """Takes the lines of kernels that run from those that have not run yet."""

    def __init__(self) -> None:
        self.missing, self._all = all_lines(), all_lines()
        self._files = {file for file, _ in self.missing}
        self.n_lines = sum(map(len, self._all.values()))

    def start(self) -> None:
        threading.settrace(self._enter)
        sys.settrace(self._enter)

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if code.co_filename not in self._files:
            return None
        missing = self.missing.get((code.co_filename, code.co_firstlineno))
        if not missing:
            return None

        def watch(frame: FrameType, event: str, argument: Any) -> Any:
            if event == "line":
                missing.discard(frame.f_lineno)
            return watch

        return watch

    def summary(self) -> Iterator[str]:
        """Each kernel with lines that never ran, the files of which no kernel ran, and the number of lines that ran."""
        idle = self._files - {
            file for file, first in self.missing if self.missing[file, first] != self._all[file, first]
        }
        for (file, first), lines in sorted(self.missing.items()):
            if lines and file not in idle:
                name = Path(file).relative_to(SOURCE)
                yield f"{name}:{first} never ran in lines {', '.join(map(str, sorted(lines)))}"
        for file in sorted(idle):
            yield f"{Path(file).relative_to(SOURCE)} has no kernel that ran"
        n_missing = sum(map(len, self.missing.values()))
        yield f"{self.n_lines - n_missing} of {self.n_lines} lines of {len(self.missing)} kernels ran"


def pytest_configure(config: Any) -> None:
    config.line_watch = LineWatch()
    config.line_watch.start()


def pytest_terminal_summary(terminalreporter: Any, config: Any) -> None:
    terminalreporter.section("lines of kernels")
    for line in config.line_watch.summary():
        terminalreporter.write_line(line)
