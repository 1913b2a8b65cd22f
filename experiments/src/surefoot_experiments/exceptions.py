"""The error that only experiments raise."""

from surefoot._exceptions import MissingDataFileError


class DatasetMissingError(MissingDataFileError):
    """An experiment needs a data file that is not in the given folder."""
