"""Whether two arrays share memory: the same addresses, or mappings of one file, whose addresses differ."""

import os

import numpy as np


def mapped_file(array):
    """The path of the file that an array maps, wholly or in part; None if it maps no file."""
    while array is not None:
        if isinstance(array, np.memmap) and array.filename:
            return os.fspath(array.filename)
        array = getattr(array, "base", None)
    return None


def is_same_file(first, second):
    """Whether two paths name the same file. Either may be None."""
    try:
        return first is not None and second is not None and os.path.samefile(first, second)
    except (OSError, ValueError):
        return False


def share_memory(first, second):
    return np.may_share_memory(first, second) or is_same_file(mapped_file(first), mapped_file(second))
