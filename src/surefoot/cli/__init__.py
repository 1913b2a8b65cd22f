"""The command line: one file per sub-command."""

import sys

FAILED, USER_ERROR, INTERRUPTED = (
    1,
    2,
    130,
)  # exit codes: a rule of --fail-on is broken, or training fails; wrong input; Ctrl-C


def main() -> None:
    """Entry point of the ``surefoot`` command; optional packages are imported late, so that an error can name them."""
    try:
        from surefoot.cli.app import app

        app()
    except ModuleNotFoundError as error:
        sys.stderr.write(f'surefoot: the command line needs {error.name!r}: pip install "surefoot[cli]".\n')
        sys.exit(USER_ERROR)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # the reader of the output has closed it
        sys.stderr.close()
        sys.exit(0)
