"""Stages made of other stages: the example of docs/adding-a-stage.md against NumPy and SciPy."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy import ndimage

EXAMPLE = Path(os.environ["SEPCONV_BINARY"]).resolve().with_name("example_curvature_stage")


def hessian(image, sigma, mode):
    def derivative(order):
        return ndimage.gaussian_filter(image.astype("f8"), sigma, order=order, mode=mode)

    xx, yy, xy = derivative((0, 2)), derivative((2, 0)), derivative((1, 1))
    matrix = np.stack([np.stack([xx, xy], -1), np.stack([xy, yy], -1)], -1)
    return np.linalg.eigvalsh(matrix)[..., -1]


@pytest.mark.parametrize("shape", [(1, 1), (3, 200), (97, 131), (1000, 700)])
def test_the_largest_eigenvalue_of_the_hessian(tmp_path, shape):
    image = np.random.default_rng(1).normal(100, 20, shape).astype("f4")
    np.save(tmp_path / "in.npy", image)
    for stages in ["curvature:sigma=2"], ["transpose", "curvature:sigma=2", "transpose"]:
        subprocess.run([EXAMPLE, "in.npy", "out.npy", *stages], cwd=tmp_path, check=True)
        result = np.load(tmp_path / "out.npy")
        (tmp_path / "out.npy").unlink()
        np.testing.assert_allclose(result, hessian(image, 2, "mirror"), rtol=0, atol=2e-4)


def test_missing_pixels_stay_missing(tmp_path):
    image = np.random.default_rng(2).normal(100, 20, (80, 90)).astype("f4")
    image[40, 50] = np.nan
    np.save(tmp_path / "in.npy", image)
    subprocess.run([EXAMPLE, "in.npy", "out.npy", "curvature:sigma=1"], cwd=tmp_path, check=True)
    missing = np.isnan(np.load(tmp_path / "out.npy"))
    expected = np.zeros_like(missing)
    expected[36:45, 46:55] = True  # the windows of sigma=1 that contain it
    np.testing.assert_array_equal(missing, expected)
