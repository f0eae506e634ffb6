"""Dask arrays with arbitrary blocks: lazy results are identical to those of sepconv on the whole array."""

import doctest
import inspect
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import sepconv as sc
from sepconv import ndimage

da = pytest.importorskip("dask.array")

import dask  # noqa: E402

from sepconv import _dask_chain  # noqa: E402
from sepconv import dask as ours  # noqa: E402

MODES = ["reflect", "mirror", "nearest", "wrap", "constant"]
BLOCKS = [
    ((23,), (31,)),
    ((9, 1, 13), (5, 1, 1, 16, 8)),
    ((1,) * 5 + (18,), (1, 30)),
    ((4,) * 5 + (3, 0), (2, 29)),
]
CROSS = [[0, 1, 0], [1, 1, 1], [0, 1, 0]]
CALLS = [
    ("gaussian_filter", dict(sigma=1.3)),
    ("gaussian_filter", dict(sigma=(0, 9), order=(1, 0))),
    ("gaussian_filter", dict(sigma=2, radius=(3, 40))),
    ("gaussian_filter1d", dict(sigma=2, order=2, axis=0)),
    ("uniform_filter", dict(size=(4, 9), origin=(1, -2))),
    ("uniform_filter1d", dict(size=5, origin=2, axis=0)),
    ("sobel", {}),
    ("prewitt", dict(axis=0)),
    ("laplace", {}),
    ("gaussian_laplace", dict(sigma=1.1)),
    ("gaussian_gradient_magnitude", dict(sigma=(1, 2), truncate=3)),
    ("correlate1d", dict(weights=[1, 3], axis=0, origin=-1)),
    ("convolve1d", dict(weights=[1, 3, 2, 5], origin=1)),
    ("median_filter", dict(size=(4, 7), origin=(1, -2))),
    ("rank_filter", dict(rank=-2, size=3)),
    ("uniform_filter", dict(size=(5, 7))),
    ("grey_erosion", dict(size=(4, 9), origin=(1, -2))),
    ("grey_opening", dict(size=5)),
    ("white_tophat", dict(size=(3, 4))),
    ("grey_closing", dict(footprint=CROSS)),
    ("minimum_filter1d", dict(size=5, origin=2, axis=0)),
]


def image(shape=(23, 31), dtype="u2"):
    return (np.random.default_rng(5).random(shape) * 1000).astype(dtype)


def assert_same(result, expected, chunks=None):
    """Asserts equal bits, and the type and shape that were declared before computation."""
    assert (
        isinstance(result, da.Array)
        and result.shape == expected.shape
        and result.dtype == result._meta.dtype == expected.dtype
    )
    assert chunks is None or result.chunks == chunks
    actual = result.compute(scheduler="synchronous")
    assert actual.dtype == expected.dtype and np.array_equal(
        actual, expected, equal_nan=actual.dtype.kind == "f"
    )


@pytest.mark.parametrize("blocks", BLOCKS, ids=range(len(BLOCKS)))
@pytest.mark.parametrize("name, given", CALLS, ids=[f"{name}-{i}" for i, (name, _) in enumerate(CALLS)])
def test_a_function_equals_ndimage_on_the_whole_array(name, given, blocks):
    for dtype in ("u2", "f8"):
        array = image(dtype=dtype)
        source = da.from_array(array, chunks=blocks)
        for mode in MODES if given else [*MODES, ["wrap", "reflect"]]:
            keywords = dict(given, mode=mode, cval=7)
            assert_same(
                getattr(ours, name)(source, **keywords), getattr(ndimage, name)(array, **keywords), blocks
            )


@pytest.mark.parametrize(
    "shape, chunks",
    [
        ((), ()),
        ((40,), ((1, 17, 22),)),
        ((5, 14, 9), ((2, 3), (1, 8, 5), (9,))),
        ((3, 4, 5, 6), ((1, 2), (4,), (2, 2, 1), (1, 5))),
        ((4, 0), ((2, 2), (0,))),
    ],
)
def test_any_number_of_axes(shape, chunks):
    array = image(shape, "f4")
    source = da.from_array(array, chunks=chunks)
    for mode in MODES:
        assert_same(
            ours.gaussian_filter(source, 1.5, mode=mode),
            ndimage.gaussian_filter(array, 1.5, mode=mode),
            chunks,
        )
        assert_same(
            ours.uniform_filter(source, 4, mode=mode, axes=range(len(shape))[:1]),
            ndimage.uniform_filter(array, 4, mode=mode, axes=range(len(shape))[:1]),
            chunks,
        )


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", ">i2", "i4", "u8", "f2", "f4", "c8", "c16"])
def test_types(dtype):
    array = image(dtype=dtype) if dtype[0] != "c" else (image(dtype="f8") + 1j * image()[::-1]).astype(dtype)
    source = da.from_array(array, chunks=BLOCKS[1])
    assert_same(ours.gaussian_filter(source, 2), ndimage.gaussian_filter(array, 2))
    assert_same(
        ours.sobel(source, output="c16" if dtype[0] == "c" else "i2"),
        ndimage.sobel(array, output="c16" if dtype[0] == "c" else "i2"),
    )
    assert_same(ours.apply(sc.gaussian(2), source), sc.gaussian(2)(array))


@pytest.mark.parametrize("name", ["generic_laplace", "generic_gradient_magnitude"])
def test_generic_functions_accept_lazy_callbacks(name):
    array = image()
    source, arguments = (
        da.from_array(array, chunks=BLOCKS[1]),
        dict(mode=["wrap", "mirror"], extra_keywords={"threads": 1}),
    )
    for output in (None, "f4"):
        assert_same(
            getattr(ours, name)(source, ours.sobel, output=output, **arguments),
            getattr(ndimage, name)(array, ndimage.sobel, output=output, **arguments),
            BLOCKS[1],
        )
    assert_same(getattr(ours, name)(source, ours.sobel, axes=()), array)
    with pytest.raises(TypeError, match="sepconv.dask.sobel"):
        getattr(ours, name)(source, lambda *arguments: array)


@pytest.mark.parametrize("blocks", BLOCKS, ids=range(len(BLOCKS)))
@pytest.mark.parametrize("name", ["gaussian_laplace", "gaussian_gradient_magnitude"])
def test_modes_that_differ_along_axes(name, blocks):
    """SciPy uses an axis's mode for all axes of that axis's term."""
    for dtype, modes, output in [
        ("f8", ["nearest", "wrap"], None),
        ("u2", ["wrap", "constant"], None),
        ("f4", ["mirror", "reflect"], "f8"),
        ("i4", ("grid-wrap", "wrap"), "f4"),
        ("c8", ["wrap", "nearest"], None),
    ]:
        array, arguments = (
            image(dtype=dtype),
            dict(sigma=(1.5, 2), mode=modes, cval=7, output=output, truncate=3),
        )
        assert_same(
            getattr(ours, name)(da.from_array(array, chunks=blocks), **arguments),
            getattr(ndimage, name)(array, **arguments),
            blocks,
        )
    volume = image((5, 14, 9), "f4")
    arguments = dict(sigma=1, mode=["wrap", "nearest"], axes=(2, 0), radius=(2, 9))
    assert_same(
        getattr(ours, name)(da.from_array(volume, chunks=(2, 5, 4)), **arguments),
        getattr(ndimage, name)(volume, **arguments),
    )
    with pytest.raises(RuntimeError, match="not supported"):
        getattr(ours, name)(da.from_array(volume, chunks=4), 1, mode=["wrap", "no", "wrap"])


CHAINS_ALONG_Z = [
    sc.gaussian(2, sigma_z=1),
    sc.box(2, radius_z=2, border="wrap") | sc.gaussian(1, border="constant"),
    sc.median(1, radius_z=1) | sc.reduce(2),
    sc.stddev(2, radius_z=1) | sc.cast("f32"),
    sc.transpose() | sc.erode(1, radius_z=9, border="replicate"),
    sc.gaussian(1, sigma_z=0.7) | sc.mix_channels(values=[1, 2], rows=2),
]


@pytest.mark.parametrize("chain", CHAINS_ALONG_Z, ids=str)
@pytest.mark.parametrize(
    "shape, axes, chunks",
    [
        ((6, 14, 9), "zyx", (6, 14, 9)),
        ((6, 14, 9), "zyx", ((1, 3, 2), (5, 9), 4)),
        ((14, 3, 9, 5), "ytxz", (6, 1, 5, 2)),
    ],
)
def test_a_chain_along_z_has_the_bytes_of_the_whole(chain, shape, axes, chunks):
    for dtype in ("f4", "u2", "i4"):
        array = image(shape, dtype)
        result, expected = (
            ours.apply(chain, da.from_array(array, chunks=chunks), axes),
            chain(array, axes=axes),
        )
        assert_same(
            result, expected, da.from_array(array, chunks=chunks).chunks if expected.shape == shape else None
        )
    grey = sc.gaussian(1, sigma_z=1)
    coloured = image((*shape, 3), "c8")
    assert_same(
        ours.apply(grey, da.from_array(coloured, chunks=(*chunks, 2)), axes + "c"),
        grey(coloured, axes=axes + "c"),
    )
    assert_same(ours.apply(grey, da.zeros((0, 4, 5), chunks=2), "zyx"), np.zeros((0, 4, 5)))


CHAINS = [
    sc.gaussian(2) | sc.sobel("x", border="reflect"),
    sc.box(3, border="wrap") | sc.gaussian(3, border="constant") | sc.gaussian(9, border="wrap"),
    sc.transpose() | sc.gaussian(1.5, border="replicate"),
    sc.reduce(3) | sc.gaussian(1),
    sc.resize(size=(80, 17)) | sc.box(1, border="wrap"),
    sc.threshold(500),
    sc.cast("f32"),
    sc.Chain(),
]


@pytest.mark.parametrize("blocks", BLOCKS, ids=range(len(BLOCKS)))
@pytest.mark.parametrize("chain", CHAINS, ids=str)
def test_a_chain_equals_the_chain_on_the_whole_array(chain, blocks):
    for dtype in ("u2", "f4", "i4"):
        array = image(dtype=dtype)
        result = ours.apply(chain, da.from_array(array, chunks=blocks))
        assert_same(result, chain(array), blocks if result.shape == array.shape else None)
        assert all(max(item) <= max(map(max, blocks)) for item in result.chunks)


@pytest.mark.parametrize(
    "shape, axes, chunks",
    [
        ((5, 14, 9), "zyx", (2, 5, 9)),
        ((14, 9, 3), None, (5, 4, 2)),
        ((3, 14, 9), "cyx", (1, 5, 4)),
        ((40,), None, (11,)),
        ((14, 9, 4, 2), "xyzt", (5, 9, 1, 2)),
    ],
)
def test_axes_of_a_chain(shape, axes, chunks):
    array, chain = image(shape, "f4"), sc.gaussian(1.5, border="wrap") | sc.box(2)
    assert_same(ours.apply(chain, da.from_array(array, chunks=chunks), axes), chain(array, axes=axes))


def test_channels_that_a_chain_makes_and_joins():
    array, source = image((14, 9), "f4"), da.from_array(image((14, 9), "f4"), chunks=(5, 4))
    colours = sc.mix_channels(values=[1, 2, 3], rows=3) | sc.gaussian(1)
    assert_same(ours.apply(colours, source), colours(array))
    grey = sc.mix_channels(values=[1, 2, 3])
    assert_same(ours.apply(colours | grey, source), (colours | grey)(array))
    assert_same(ours.apply(grey, ours.apply(colours, source)), grey(colours(array)))


def test_results_are_lazy_and_compute_only_needed_blocks():
    seen = []

    def block(block_info=None):
        seen.append(block_info[None]["chunk-location"])
        return np.ones((8, 8), "u2")

    source = da.map_blocks(block, chunks=((8,) * 5, (8,) * 5), dtype="u2", meta=np.empty((0, 0), "u2"))
    results = [
        ours.gaussian_filter(source, 1),
        ours.apply("gaussian:sigma=1", source),
        ours.gaussian_laplace(source, 1, output="f4"),
    ]
    assert not seen
    for result in results:
        result[16:24, 8:16].compute(scheduler="synchronous")
        assert sorted(seen) == [(row, col) for row in (1, 2, 3) for col in (0, 1, 2)]
        seen.clear()


def test_only_equal_calls_have_equal_names():
    source = da.from_array(image(), chunks=9)
    names = [
        ours.gaussian_filter(source, sigma, mode=mode).name
        for _ in range(2)
        for sigma in (1, 2)
        for mode in ("wrap", "reflect")
    ]
    names += [
        ours.apply(chain, source, **given).name
        for _ in range(2)
        for chain in (sc.gaussian(1), sc.gaussian(2))
        for given in ({}, {"arithmetic": "f64"})
    ]
    assert len(set(names)) == 8


def test_a_stage_that_reads_a_file(tmp_path):
    np.save(tmp_path / "b.npy", image((31, 6), "f4"))
    array, product = image(dtype="f4"), sc.gemm(tmp_path / "b.npy") | sc.gaussian(1)
    results = [ours.apply(product, da.from_array(array, chunks=(9, 10))) for _ in range(2)]
    assert results[0].name != results[1].name  # the file may have changed
    assert_same(results[0], product(array))


def test_blocks_of_the_result_are_in_proportion():
    assert _dask_chain._scaled((100, 100, 50), 125) == (50, 50, 25)
    assert _dask_chain._scaled((100, 50), 300) == (100, 100, 100)
    assert _dask_chain._scaled((1, 1, 1, 1), 2) == (1, 1)
    for chunks in [(7, 1, 30), (5,)]:
        for side in range(1, 90):
            result = _dask_chain._scaled(chunks, side)
            assert sum(result) == side and 0 < min(result) and max(result) <= max(chunks)


def test_parameters_are_those_of_ndimage():
    for name in ndimage.__all__:
        our_parameters, ndimage_parameters = (
            inspect.signature(getattr(module, name)).parameters for module in (ours, ndimage)
        )
        assert list(our_parameters) == [name_ for name_ in ndimage_parameters if name_ != "stream"]
        assert "dask.array.Array" in getattr(ours, name).__doc__


@pytest.mark.parametrize(
    "call, kind, words",
    [
        (lambda x: ours.gaussian_filter(image(), 1), TypeError, "is not a dask array"),
        (lambda x: ours.apply("abs", image()), TypeError, "is not a dask array"),
        (lambda x: ours.gaussian_filter(x, 1, output=image()), TypeError, "give a type"),
        (lambda x: ours.gaussian_filter(x, 1, mode="no"), RuntimeError, "mode"),
        (lambda x: ours.gaussian_filter(x, (1, 2, 3)), RuntimeError, "length"),
        (lambda x: ours.gaussian_laplace(x, 1, wrong=2), TypeError, "wrong"),
        (lambda x: ours.sobel(x, 2), ValueError, "axis"),
        (lambda x: ours.correlate1d(x, [1, 2], origin=5), ValueError, "origin"),
        (lambda x: ours.laplace(x, stream=3), TypeError, "stream"),
        (lambda x: ours.gaussian_laplace(x, 1, stream=3), TypeError, "stream is not for dask"),
        (lambda x: ours.gaussian_filter(x[x > 3], 1), ValueError, "compute_chunk_sizes"),
        (lambda x: ours.apply("abs", da.ma.masked_array(x, x > 3)), TypeError, "mask"),
        (lambda x: ours.apply("gausian:sigma=2", x), ValueError, "did you mean"),
        (lambda x: ours.apply("abs", x, "yxz"), ValueError, "axes"),
        (lambda x: ours.apply("abs", x, arithmetic="f16"), ValueError, "arithmetic"),
        (lambda x: ours.apply("abs", da.stack([x] * 5)), ValueError, "say what its axes are"),
        (lambda x: ours.apply("gaussian:sigma=1,sigma_z=1", x), ValueError, "axes='yx' has no z"),
        (
            lambda x: ours.apply(sc.subtract(image((2, 23, 31)), axes="zyx"), da.stack([x] * 2), "zyx"),
            ValueError,
            "has a stack beside the array",
        ),
        (lambda x: ours.sobel(type("DataArray", (), {"data": x})()), TypeError, "its .data is one"),
    ],
)
def test_invalid_calls_are_refused_before_computation(call, kind, words):
    with pytest.raises(kind, match=words):
        call(da.from_array(image(), chunks=9))


def test_in_threads_and_with_other_functions_of_dask():
    array = image((200, 300))
    source = da.from_array(array, chunks=(64, 50))
    result = ours.gaussian_filter(
        ours.gaussian_filter(source, 2).rechunk((100, 77)).astype("f4") / 2, 3, mode="wrap"
    )
    expected = ndimage.gaussian_filter(ndimage.gaussian_filter(array, 2).astype("f4") / 2, 3, mode="wrap")
    assert np.array_equal(result.compute(scheduler="threads", num_workers=4), expected)


def test_docstrings_and_the_document_hold():
    document = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python-dask.md"
    for results in (doctest.testmod(ours), doctest.testfile(str(document), module_relative=False)):
        assert results.attempted > 6 and results.failed == 0


def test_without_dask_the_import_says_what_is_missing():
    program = "import sys; sys.modules['dask'] = None\nimport sepconv\ntry:\n    import sepconv.dask\nexcept ImportError as error:\n    print(error)"
    results = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install 'sepconv[dask]'" in results.stdout
    assert dask.__version__
