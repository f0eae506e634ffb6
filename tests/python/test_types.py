"""mypy's results for a user's program; the wheel has the stubs of all functions."""

import ast
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("mypy", reason="mypy is not installed")
pytest.importorskip("dask", reason="dask is not installed")

import sepconv  # noqa: E402

RIGHT = """
import dask.array as da
import numpy as np
import sepconv as sc
from sepconv import dask as lazy
from sepconv import ndimage

chain: sc.Chain = sc.gaussian(2.5, border="reflect") | sc.sobel("x") | sc.abs()
array = np.zeros((40, 50), np.float32)
made = chain(array, out=array, axes="yx", threads=2)
print(made.shape, str(chain), len(chain), sc.__version__)
blurred = ndimage.gaussian_filter(array, (1, 2.5), mode=["wrap", "reflect"], output=np.float64, axes=(0, 1))
print(blurred.sum(), ndimage.correlate1d([1, 2, 3], [1, 2]).dtype, ndimage.sobel(array, 0, cval=1).max())
report: sc.Report = sc.run("a.npy", array, chain, max_memory="2G", progress=lambda done, pixels: None, tile=(64, 64), region=(slice(0, 3), slice(0, 4)))
image: sc.Image = sc.open(b"a.tif", page="c=1")
print(report.timeline[0].begin, image[0, ..., ::2].shape, np.asarray(image), sc.stats(image).channels[0].mean, sc.compare(image, array).psnr_db)
print(sc.transpose("a.npy", "b.npy", (1, 0)).steps, sc.transpose() | sc.gemm("b.npy"), sc.gemm(array, array, array, beta=1, c="c.npy").device)
print(sc.run(array, "b.npy", plan=sc.plan(array, "b.npy", "abs")).plan)
print(lazy.sobel(da.zeros((30, 40)), 0, np.int16, "wrap").dtype, lazy.apply(chain, da.zeros((3, 30, 40)), "zyx").chunks)
print(lazy.run("a.tif", "b.zarr", chain, client=None, max_memory="2G", tile=512).workers["one"] + 1)
first: sc.Difference | None = sc.compare(array, array).first
bins: list[int] = sc.stats(array).channels[0].histogram
workers: dict[str, int] = lazy.run("a.tif", "b.zarr", chain, client=None).workers
print(first and first.row + first.a, bins, workers, sc.stats(array).channels[0].count + 1)
print(sc.create_only("a.npy", "b.npy", chain, band_rows=64) + 1, sc.run("a.npy", "b.npy", chain, part=(1, 2)).steps, sc.run("a.npy", "b.npy", part="2/2", resume=False, discard=True))
sc.finish("b.npy")
print(sc.resize(size=(30, 40)), sc.Chain(["abs", "box:radius=2"]))
"""
WRONG = [
    'sc.gaussian("wide")',
    "sc.sobel(axes='x')",
    "sc.Chain(3)",
    'sc.abs()(3, out="no")',
    "ndimage.sobel([1, 2], mode=3)",
    "sc.no_such_stage()",
    "sc.abs() | 3",
    "sc.run('a.npy')",
    "sc.run('a.npy', 'b.npy', sigma=2)",
    "sc.open(3)",
    "sc.stats('a.npy').mean",
    "sc.gemm(1, 2)",
    "lazy.sobel(axis='x')",
    "lazy.apply(3)",
    "lazy.run(array, 'b.npy')",
    "sc.finish()",
    "sc.create_only('a.npy', 3)",
    "sc.run('a.npy', 'b.npy', part=3)",
    "sc.compare('a.npy', 'b.npy').first.row",
    "sc.stats('a.npy').channels[0].histogram + 1",
]


def mypy(folder, text):
    (folder / "program.py").write_text(text)
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder / "cache"), "program.py"],
        cwd=folder,
        capture_output=True,
        text=True,
    )


def test_a_program_that_is_right(tmp_path):
    result = mypy(tmp_path, RIGHT)
    assert result.returncode == 0, result.stdout + result.stderr


def test_each_mistake_is_found(tmp_path):
    result = mypy(
        tmp_path,
        "import sepconv as sc\nfrom sepconv import ndimage\nfrom sepconv import dask as lazy\n"
        + "\n".join(WRONG)
        + "\n",
    )
    found = {int(line.split(":")[1]) for line in result.stdout.splitlines() if ": error:" in line}
    assert found == set(range(4, 4 + len(WRONG))), result.stdout


def test_stubs_have_or_import_the_functions_with_their_docstrings():
    folder = pathlib.Path(sepconv.__file__).parent
    for module in ("_stages", "ndimage", "files", "dask"):
        text = (folder / f"{module}.pyi").read_text()
        assert " = ..." not in text
        documented, imported = set(), set()
        for item in ast.parse(text).body:
            if isinstance(item, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(item):
                documented.add(item.name)
            if isinstance(item, ast.ImportFrom):
                imported |= {name.name for name in item.names}
        public = set(ast.literal_eval(text.partition("__all__ = ")[2].partition("\n")[0]))
        assert "NamedTuple" not in text and not documented & imported
        assert documented | (imported & public) == public | ({"open"} if module == "files" else set())
    assert (folder / "py.typed").exists()
