"""Optional packages: functions that need them check for them before they do any work."""

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
CLI = "cli"  # the extra with most of these packages


def needs(*packages: str, extra: str = CLI) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Decorate a function that needs optional packages: without them, it raises an error that names the extra."""

    def decorate(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        @wraps(function)
        def checked(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
            for package in packages:
                require(package, function.__qualname__, extra)
            return function(*args, **kwargs)

        return checked

    return decorate


def require(package: str, user: str, extra: str = CLI) -> None:
    """Raise an ImportError that says how to install ``package``, if it is missing.

    The package is imported, so that a broken installation fails here too, and not later.
    """
    try:
        import_module(package)
    except ImportError as error:
        raise ImportError(
            f'{user} needs {package}: pip install "surefoot[{extra}]".', name=package, path=error.path
        ) from error
