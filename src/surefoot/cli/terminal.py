"""What commands print: in any encoding, without characters that steer a terminal, and also if nobody reads it."""

import os
import re
import sys
from contextlib import suppress
from typing import Any

from surefoot._formatting import shortened

# Control characters except tab and line feed, marks that turn the direction of text, and halves of characters.
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
MAX_LETTERS = 2000  # of a line: names of columns may be long


def printable(text: object) -> str:
    """Text as it can be printed: an escape character is printed as \\x1b, and so on."""
    return STEERING.sub(lambda match: ascii(match[0])[1:-1], str(text))


def in_one_line(text: object) -> str:
    """The same in one line, without its middle if it is very long."""
    return shortened(" ".join(printable(text).split("\n")), MAX_LETTERS)


def echo(text: object, *, err: bool = False) -> None:
    """Print text on standard output, or on standard error.

    If its reader has closed it, as ``head`` does, the command goes on: its files are still of use.
    """
    stream = sys.stderr if err else sys.stdout
    try:
        stream.write(f"{printable(text)}\n")
        stream.flush()
    except OSError as error:
        if not (err or isinstance(error, BrokenPipeError)):
            raise OSError(error.errno, error.strerror, "standard output") from error


def echo_line(text: object) -> None:
    """Print a line for the user on standard error."""
    echo(f"surefoot: {in_one_line(text)}", err=True)


def discard(stream: Any) -> None:
    """What is written to a stream from now on, and what it has not passed on yet, gets lost."""
    with suppress(OSError, ValueError):  # not every stream is a file
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
