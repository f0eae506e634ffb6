"""The library that an array belongs to, and conversion of arrays in host memory to NumPy and back."""

import sys

import numpy as np

_MADE_BY = {
    "jaxlib": "jax.numpy",
    "jax": "jax.numpy",
}  # modules of what has no from_dlpack where its arrays' type is from


def package_of(array):
    return type(array).__module__.partition(".")[0]


def on_host(array):
    """An array in the host's memory as NumPy's, and what makes one of its library of NumPy's: None where that
    is NumPy, or does not take DLPack."""
    if not hasattr(array, "__dlpack__"):
        return np.asarray(array), None
    package = package_of(array)
    library = getattr(sys.modules.get(_MADE_BY.get(package, package)), "from_dlpack", None)
    try:
        return np.asarray(array) if hasattr(array, "__array__") else np.from_dlpack(
            array
        ), None if package == "numpy" else library
    except (RuntimeError, BufferError) as error:  # of a tensor with a gradient, or of another device
        raise TypeError(
            f"a {type(array).__name__} of {package} is not an array in the host's memory, or on a GPU of CUDA's: {error}"
        ) from error
