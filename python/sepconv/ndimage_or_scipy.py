"""All functions of `scipy.ndimage`: those of `sepconv.ndimage`, and SciPy's for functions or arguments that
it does not support. Needs SciPy.

Examples
--------
>>> import numpy as np
>>> from sepconv import ndimage_or_scipy as ndi
>>> ndi.label(ndi.maximum_filter(np.array([0, 0, 9, 0, 0, 0, 0]), size=3))
(array([0, 1, 1, 1, 0, 0, 0], dtype=int32), 1)
>>> cross = [[0, 1, 0], [1, 1, 1], [0, 1, 0]]
>>> ndi.median_filter(np.array([[1, 2, 3], [4, 99, 6], [7, 8, 9]]), footprint=cross).tolist()
[[1, 2, 3], [4, 6, 6], [7, 8, 9]]
"""

import functools

try:
    import scipy.ndimage as _scipys
except ImportError as error:
    raise ImportError(
        "sepconv.ndimage_or_scipy needs SciPy, which is not installed: pip install scipy"
    ) from error

from sepconv import ndimage as _ours
from sepconv._arguments import Unsupported as _Unsupported
from sepconv._devices import is_on_gpu as _is_on_gpu

_OUR_PARAMETERS = ("threads", "stream")


def _either(name):
    function, scipy_function = getattr(_ours, name), getattr(_scipys, name)

    @functools.wraps(function)
    def call(*args, **keywords):
        try:
            return function(*args, **keywords)
        except _Unsupported:
            if _is_on_gpu(args[0] if args else keywords["input"]):
                raise
            return scipy_function(
                *args, **{key: value for key, value in keywords.items() if key not in _OUR_PARAMETERS}
            )

    call.__module__ = __name__
    return call


__all__ = [
    name
    for name in dir(_scipys)
    if callable(getattr(_scipys, name)) and not name.startswith("_") and name != "test"
]
for _name in __all__:
    globals()[_name] = _either(_name) if _name in _ours.__all__ else getattr(_scipys, _name)
