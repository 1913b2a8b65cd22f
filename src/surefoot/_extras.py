"""Optional packages: what needs one of them says so before it does any work."""

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
EXTRA = "cli"  # the extra that has all packages that are asked for here


def needs(*packages: str) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Decorate a function that needs optional packages: without them it raises, and names the extra."""

    def decorate(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        @wraps(function)
        def checked(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
            for package in packages:
                require(package, function.__qualname__)
            return function(*args, **kwargs)

        return checked

    return decorate


def require(package: str, what: str) -> None:
    """Raise an ImportError that says how to install ``package``, if it is missing.

    The package is imported, not only looked for: one that is installed but broken fails here too, and not later.
    """
    try:
        import_module(package)
    except ImportError as error:
        raise ImportError(
            f'{what} needs {package}: pip install "surefoot[{EXTRA}]".', name=package, path=error.path
        ) from error
