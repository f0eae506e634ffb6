"""The library that an array belongs to, and conversion of arrays in host memory to NumPy and back."""

import sys

import numpy as np

_NAMESPACE_OF_MODULE = {
    "jaxlib": "jax.numpy",
    "jax": "jax.numpy",
}  # packages whose array type is defined in a module without from_dlpack


def package_name(array):
    return type(array).__module__.partition(".")[0]


def on_host(array):
    """An array in host memory as NumPy array, and the function that converts a NumPy array to its library:
    None for NumPy and for libraries without DLPack."""
    if not hasattr(array, "__dlpack__"):
        return np.asarray(array), None
    package = package_name(array)
    library = getattr(sys.modules.get(_NAMESPACE_OF_MODULE.get(package, package)), "from_dlpack", None)
    try:
        return np.asarray(array) if hasattr(array, "__array__") else np.from_dlpack(
            array
        ), None if package == "numpy" else library
    except (RuntimeError, BufferError) as error:  # a tensor with a gradient, or on another device
        raise TypeError(
            f"a {type(array).__name__} of {package} is not an array in the host's memory, or on a GPU of CUDA's: {error}"
        ) from error
