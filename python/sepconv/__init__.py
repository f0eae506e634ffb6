"""Filters for images: in memory, on a GPU, and larger than memory.

A stage is a function of its keys (`sepconv.gaussian`, ...). `|` joins stages to a `Chain`, and a chain is
called on arrays. `sepconv.ndimage` has the names, parameters and defaults of `scipy.ndimage`. `sepconv.run`
filters files of any size.

Examples
--------
>>> import numpy as np
>>> import sepconv as sc
>>> edges = sc.gaussian(2.5) | sc.sobel('x') | sc.abs()
>>> edges(np.eye(64, dtype=np.float32)).shape
(64, 64)
"""

# Calls: chains on arrays are _chain and _stages -> _arrays -> _devices on a GPU. SciPy's functions are
# ndimage -> _linear and _gradients -> _arguments -> _separable, and _rank and _morphology -> _ordered and
# _rectangles. Files are files, _image, _measure, _preview and _resume -> _inputs -> _array_io ->
# _chunk_cache. Dask is not imported here: _dask_ndimage and _dask_chain -> _dask_blocks use ndimage and
# _arrays, and _dask_run uses _dask_parts. All of them call _sepconv, the extension module in python/src.

from importlib.metadata import version
from typing import TYPE_CHECKING

from sepconv import _stages, files, ndimage
from sepconv._chain import Chain
from sepconv.files import *
from sepconv._stages import *  # a function for each stage that the library declares
from sepconv.files import gemm, transpose  # these replace the stages of the same names
from sepconv.files import open as open

__version__ = version("sepconv")
__all__ = ["Chain", "__version__", "files", "ndimage"]
__all__ += files.__all__
__all__ += _stages.__all__
__all__ = [
    name for name in __all__ if name not in ("abs", "max", "min", "open")
]  # a star import would replace the built-in functions

if not TYPE_CHECKING:  # a module __getattr__ makes type checkers accept any name

    def __getattr__(name):
        """A stage by its name in an older version: ``sepconv.log`` is ``sepconv.gaussian_laplace``."""
        if name in _stages.FORMER_NAMES:
            return getattr(_stages, _stages.FORMER_NAMES[name])
        raise AttributeError(f"module 'sepconv' has no attribute {name!r}")
