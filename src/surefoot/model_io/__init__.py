"""Model files: a ``.surefoot`` file contains a fitted model, and is safe to load from any source."""

from surefoot.model_io.model_file import load, save

__all__ = ["load", "save"]
