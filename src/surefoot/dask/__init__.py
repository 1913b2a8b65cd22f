"""The estimators of surefoot on Dask collections: rows stay on the workers of a cluster, models travel.

Needs the extra ``dask``. Each class has the parameters of the local class of the same name, and ``client``.
"""

from surefoot._extras import require

for _package in ("dask.array", "dask.dataframe", "distributed"):
    require(_package, "surefoot.dask", "dask")

__all__: list[str] = []
