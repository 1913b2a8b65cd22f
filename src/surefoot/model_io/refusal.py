"""How a file is refused."""

from typing import Any

from surefoot._exceptions import ModelFileError


def require(condition: Any, otherwise: str) -> None:
    """Refuse a file unless ``condition`` holds; ``otherwise`` says what is wrong with it, or with one of its parts."""
    if not condition:
        raise ModelFileError(otherwise)
