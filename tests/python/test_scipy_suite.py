"""SciPy's own tests, from the installed package, for the functions of sepconv.ndimage."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

pytest.importorskip("scipy.ndimage.tests.test_filters", reason="SciPy is not installed with its tests")

# Tests of SciPy that fail, and the reason. A test that passes must not be listed.
EXCEPTIONS = {
    r"test_(prewitt|sobel)0[123]\[numpy-uint\d+\]": "unsigned results are saturated once, at the end; SciPy wraps around in each pass",
    r"test_gaussian_laplace0[12]\[numpy-(int32|float32|complex64)\]": "the sum is rounded once; the test adds results that are rounded before",
    r"test_gaussian_gradient_magnitude0[12]\[numpy-int32\]": "as above",
    r"test_uniform_filter1d_roundoff_errors\[numpy\]": "integers are rounded to the nearest; the test counts on fractions being cut off",
    r"test_rank(09|1[0-5])\[numpy(-\w+)?\]": "footprints are full rectangles",
    r"test_(minimum|maximum)_filter0[789]\[numpy\]": "as above",
    r"test_(minmax_nonseparable_axes|filter_weights_subset_axes_origins)\[numpy-(maximum|median|minimum|percentile|rank)_filter-.*": "as above",
    r"test_gaussian_filter_float16\[numpy\]": "f16 is supported",
}


def test_scipys_own_tests_hold():
    folder = pathlib.Path(__file__).parent
    environment = dict(
        os.environ, PYTHONPATH=os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-rf",
        "-p",
        "no:cacheprovider",
        "-p",
        "scipy_suite_plugin",
        "--pyargs",
        "scipy.ndimage.tests.test_filters",
    ]
    process = subprocess.run(command, cwd=folder.parent, env=environment, capture_output=True, text=True)
    failed = re.findall(r"^FAILED \S*?::(?:\w+::)?(test_\S+)", process.stdout, re.MULTILINE)
    assert not [name for name in failed if not any(re.fullmatch(item, name) for item in EXCEPTIONS)], (
        process.stdout[-3000:]
    )
    assert not [item for item in EXCEPTIONS if not any(re.fullmatch(item, name) for name in failed)], (
        "these hold now and are no exceptions"
    )
    counts = re.search(r"^(\d+) failed, (\d+) passed", process.stdout, re.MULTILINE)
    assert counts and int(counts[1]) == len(failed) and int(counts[2]) > 1000, process.stdout[-3000:]
