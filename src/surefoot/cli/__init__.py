"""The command line: one file per sub-command."""

import sys

FOUND, USER_ERROR, INTERRUPTED = 1, 2, 130  # exit codes: a rule of --fail-on is broken; wrong input; Ctrl-C


def main() -> None:
    """Entry point of the ``surefoot`` command; what it needs is imported late, so that its absence can be explained."""
    try:
        from surefoot.cli.app import app

        app()
    except ModuleNotFoundError as error:
        sys.stderr.write(f'surefoot: the command line needs {error.name!r}: pip install "surefoot[cli]".\n')
        sys.exit(USER_ERROR)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # whoever read the output has seen enough
        sys.stderr.close()
        sys.exit(0)
