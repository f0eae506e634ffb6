"""Functions of `scipy.ndimage`, with its names, parameters and defaults.

They accept arrays with any number of axes and any strides. Results have SciPy's type, but are rounded once at
the end: for integers half to even and saturated, whereas SciPy truncates and wraps around after each pass.
For example `sobel` of u8 is 0 where the image falls; ``output=np.int16`` keeps negative values. Integers
differ by at most 1 from SciPy's result of f64 after rounding, f32 by at most 4 units in the last place.
`threads` and `stream` are additional parameters: the maximum number of threads, 0 for all processors that
this process may use; and, for arrays on a GPU (u8, u16, i16, f32, f64), the stream on which the work is
enqueued. Results for GPU arrays are arrays of their library.

Examples
--------
>>> import numpy as np
>>> from sepconv import ndimage
>>> ndimage.gaussian_filter(np.arange(25.0).reshape(5, 5), sigma=1)[0].round(3).tolist()
[2.562, 3.203, 4.135, 5.067, 5.708]
"""

from sepconv._arguments import accepts_any_array_library
from sepconv._help import with_parameters
from sepconv._gradients import (
    gaussian_gradient_magnitude,
    gaussian_laplace,
    generic_gradient_magnitude,
    generic_laplace,
    laplace,
)
from sepconv._kernel2d import convolve, correlate
from sepconv._linear import (
    convolve1d,
    correlate1d,
    gaussian_filter,
    gaussian_filter1d,
    prewitt,
    sobel,
    uniform_filter,
    uniform_filter1d,
)
from sepconv._rank import median_filter, percentile_filter, rank_filter
from sepconv._morphology import (
    black_tophat,
    grey_closing,
    grey_dilation,
    grey_erosion,
    grey_opening,
    maximum_filter,
    maximum_filter1d,
    minimum_filter,
    minimum_filter1d,
    white_tophat,
)

__all__ = [
    "black_tophat",
    "convolve",
    "convolve1d",
    "correlate",
    "correlate1d",
    "gaussian_filter",
    "gaussian_filter1d",
    "gaussian_gradient_magnitude",
    "gaussian_laplace",
    "generic_gradient_magnitude",
    "generic_laplace",
    "grey_closing",
    "grey_dilation",
    "grey_erosion",
    "grey_opening",
    "laplace",
    "maximum_filter",
    "maximum_filter1d",
    "median_filter",
    "minimum_filter",
    "minimum_filter1d",
    "percentile_filter",
    "prewitt",
    "rank_filter",
    "sobel",
    "uniform_filter",
    "uniform_filter1d",
    "white_tophat",
]

for _name in __all__:
    globals()[_name].__module__ = "sepconv.ndimage"
    globals()[_name].__doc__ = with_parameters(globals()[_name])
    globals()[_name] = accepts_any_array_library(globals()[_name])

_SCIPY_ONLY = """affine_transform binary_closing binary_dilation binary_erosion binary_fill_holes binary_hit_or_miss binary_opening binary_propagation center_of_mass
distance_transform_bf distance_transform_cdt distance_transform_edt extrema find_objects fourier_ellipsoid fourier_gaussian fourier_shift fourier_uniform
generate_binary_structure generic_filter generic_filter1d geometric_transform histogram iterate_structure label labeled_comprehension map_coordinates maximum
maximum_position mean median minimum minimum_position morphological_gradient morphological_laplace rotate shift spline_filter spline_filter1d standard_deviation sum
sum_labels value_indices variance vectorized_filter watershed_ift zoom""".split()


def __getattr__(name):
    if name in _SCIPY_ONLY:
        raise AttributeError(
            f"sepconv.ndimage has no {name}: it is scipy.ndimage's; take it from there, or all functions from sepconv.ndimage_or_scipy"
        )
    raise AttributeError(f"module 'sepconv.ndimage' has no attribute {name!r}")
