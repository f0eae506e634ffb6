"""A pytest plugin for test_scipy_suite.py: replaces SciPy's functions by sepconv's before SciPy's tests are
imported."""

import scipy.ndimage
from scipy._lib._array_api import xp_capabilities_table

from sepconv import ndimage

for name in ndimage.__all__:
    xp_capabilities_table[getattr(ndimage, name)] = xp_capabilities_table[getattr(scipy.ndimage, name)]
    setattr(scipy.ndimage, name, getattr(ndimage, name))
