"""Whether two arrays share memory: the same addresses, or mappings of one file, whose addresses differ."""

import os

import numpy as np


def mapped_file(array):
    """The file that an array is a mapping of, or a part of one; None of others."""
    while array is not None:
        if isinstance(array, np.memmap) and array.filename:
            return os.fspath(array.filename)
        array = getattr(array, "base", None)
    return None


def of_one_file(first, second):
    """Two paths, of which either may be None."""
    try:
        return first is not None and second is not None and os.path.samefile(first, second)
    except (OSError, ValueError):
        return False


def share_memory(first, second):
    return np.may_share_memory(first, second) or of_one_file(mapped_file(first), mapped_file(second))
