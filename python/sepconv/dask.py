"""Filters for dask arrays, and for files on the workers of a cluster. Needs dask; `run` needs distributed.

Functions have the names and parameters of `sepconv.ndimage` and identical results for any block sizes.

Examples
--------
>>> import dask.array as da
>>> from sepconv import dask as sd
>>> array = da.ones((2000, 3000), chunks=(512, 700), dtype="u2")
>>> sd.gaussian_filter(array, sigma=4, mode="wrap")
dask.array<sepconv-gaussian_filter, shape=(2000, 3000), dtype=uint16, chunksize=(512, 700), chunktype=numpy.ndarray>
"""

try:
    import dask.array
except ImportError as error:
    raise ImportError(
        "sepconv.dask needs dask, which is not installed: pip install 'sepconv[dask]', or 'dask[array]' and distributed"
    ) from error

from sepconv import ndimage
from sepconv._dask_chain import apply
from sepconv._dask_ndimage import lazy
from sepconv._dask_run import Made, run

__all__ = ["Made", "apply", "run", *ndimage.__all__]
for _name in ndimage.__all__:
    globals()[_name] = lazy(_name)
for _one in (Made, apply, run):
    _one.__module__ = "sepconv.dask"
