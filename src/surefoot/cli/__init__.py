"""The command line: one file per sub-command."""

import sys

from surefoot import _early_interrupt

# The exit codes, as docs/command-line.md explains them.
DONE, FAILED, USER_ERROR, INTERNAL_ERROR, INTERRUPTED = 0, 1, 2, 3, _early_interrupt.INTERRUPTED


def main() -> None:
    """Entry point of the ``surefoot`` command; optional packages are imported late, so that an error can name them."""
    try:
        with _early_interrupt.exit_at_once():
            from surefoot.cli.app import app
            from surefoot.cli.process import run_command
    except ModuleNotFoundError as error:
        sys.stderr.write(f'surefoot: the command line needs {error.name!r}: pip install "surefoot[cli]".\n')
        sys.exit(USER_ERROR)
    code = run_command(app)
    _early_interrupt.ignore()
    sys.exit(code)
