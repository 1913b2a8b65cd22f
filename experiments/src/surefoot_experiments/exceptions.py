"""The error that only experiments raise."""

# A base class of the library, so that the old name, surefoot.DatasetMissingError, still catches it for one release.
from surefoot._exceptions import MissingDataFileError


class DatasetMissingError(MissingDataFileError):
    """An experiment needs a data file that is not in the given folder."""
