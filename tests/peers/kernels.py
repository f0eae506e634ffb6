#!/usr/bin/env python3
"""Kernels, features and indices: sepconv from file to file, OpenCV, SciPy, scikit-image and NumPy in memory.

    kernels.py SEPCONV FOLDER [--runs 3] [--threads 2]

SEPCONV is the program, FOLDER is on a file system in memory (/dev/shm). Times are medians in seconds; those
of sepconv include its start, reading and writing. SciPy filters an eighth of the rows, and its time is
multiplied by 8. Results are compared. Needs NumPy, SciPy, opencv-python-headless and scikit-image. Prints
Markdown."""

import argparse
import os
import statistics
import subprocess
import time

import cv2
import numpy as np
import scipy.ndimage
from skimage import feature, filters


def seconds(function, runs):
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - begin)
    return statistics.median(times), result


def text_of(kernel):
    return "[" + ",".join("[" + ",".join(f"{weight:.17g}" for weight in row) + "]" for row in kernel) + "]"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("sepconv")
    parser.add_argument("folder")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.sepconv)
    os.chdir(arguments.folder)
    cv2.setNumThreads(arguments.threads)
    random = np.random.default_rng(1)

    def run(*stages):
        command = [program, "run", "in.npy", "out.npy", *stages, "--force", "--quiet", "--device", "cpu"]
        subprocess.run([*command, "--threads", str(arguments.threads)], check=True)

    def ours(*stages):
        return seconds(lambda: run(*stages), arguments.runs)[0]

    def row(name, own, peers, reference=None):
        result = np.load("out.npy")
        cells = []
        for peer, function, runs, factor in peers:
            taken, values = seconds(function, runs)
            cells.append(f"{peer} {taken * factor:.2f}")
            if reference is not None and factor == 1:
                np.testing.assert_allclose(result.astype("f8"), values.astype("f8"), **reference)
        print(f"| {name} | {own:.2f} | {', '.join(cells)} |", flush=True)

    print("| case | sepconv | peers |\n|---|---|---|")
    for dtype, side in (("f4", 8192), ("u1", 8192)):
        image = (random.random((side, side)) * 200).astype(dtype)
        np.save("in.npy", image)
        name = {"f4": "f32", "u1": "u8"}[dtype]
        for size in (3, 7, 15, 31):
            kernel = random.random((size, size))
            kernel /= kernel.sum()
            part = image[: side // 8]
            row(
                f"{name}, kernel of {size} x {size}",
                ours(f"correlate:kernel={text_of(kernel)}"),
                [
                    ("OpenCV", lambda: cv2.filter2D(image, -1, kernel), arguments.runs, 1),
                    ("SciPy", lambda: scipy.ndimage.correlate(part, kernel, output=dtype), 1, 8),
                ],
                {"atol": 1 if dtype == "u1" else 1e-2},
            )
        y, x = np.mgrid[-15:16, -15:16] / 6.0
        stage = f"correlate:kernel={text_of(np.exp(-x * x - y * y) * (1 - x * x - y * y))}"
        row(
            f"{name}, 31 x 31 of rank 2, `terms=2`",
            ours(f"{stage},terms=2"),
            [
                ("exact", lambda: run(stage), arguments.runs, 1),
                ("gaussian of radius 15", lambda: run("gaussian:sigma=5,radius=15"), arguments.runs, 1),
            ],
        )
    image = (random.random((4096, 4096)) * 200).astype("f4")
    np.save("in.npy", image)
    eigenvalues = feature.hessian_matrix_eigvals
    features = {
        "sato:sigmas=1,2,3": lambda: filters.sato(image, sigmas=[1, 2, 3], black_ridges=False),
        "hessian:sigma=2,eigenvalue=1": lambda: eigenvalues(
            feature.hessian_matrix(image, sigma=2, use_gaussian_derivatives=True)
        ),
        "structure_tensor:sigma=3,eigenvalue=1": lambda: feature.structure_tensor_eigenvalues(
            feature.structure_tensor(image, sigma=3)
        ),
    }
    for stage, function in features.items():
        row(f"f32 4096 x 4096, `{stage}`", ours(stage), [("scikit-image", function, 1, 1)])
    bands = (random.random((8192, 8192, 4)) * 200 + 1).astype("u2")
    np.save("in.npy", bands)

    def index():
        red, infrared = bands[..., 2].astype("f4"), bands[..., 3].astype("f4")
        return ((infrared - red) / (infrared + red))[..., None]

    own = ours("math:expr=(b4-b3)/(b4+b3)", "cast:type=f32", "--axes", "yxc")
    row("u16 8192 x 8192 x 4, `math:expr=(b4-b3)/(b4+b3)`", own, [("NumPy", index, arguments.runs, 1)])


if __name__ == "__main__":
    main()
