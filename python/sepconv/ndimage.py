"""Functions of `scipy.ndimage`, with its names, parameters and defaults."""

__all__ = []
