"""Model files: one ``.surefoot`` file holds a fitted model, and is safe to load from anyone."""

from surefoot.model_io.model_file import load, save

__all__ = ["load", "save"]
