"""Stages with a second image: a file, an array, or the result of a chain on the image."""

import pickle

import numpy as np
import pytest
import scipy.ndimage

import sepconv as sc

RANDOM = np.random.default_rng(1)
IMAGE = RANDOM.integers(0, 255, (40, 50, 3), np.uint8)


@pytest.mark.parametrize(
    "second",
    [
        RANDOM.integers(0, 255, (40, 50, 3), np.uint8),
        RANDOM.random((40, 50), "f4"),
        RANDOM.random((1, 50)),
        RANDOM.integers(-9, 9, (40, 1), np.int8),
        np.full((1, 1), 7, ">u2"),
        np.ones((40, 100), bool)[:, ::2],
        RANDOM.random((40, 50, 3)).astype("f2")[::-1],
        [[5]],
    ],
    ids=lambda second: str(np.shape(second)),
)
def test_an_array(second):
    expected = IMAGE - np.asarray(second, "f8").reshape(*np.shape(second)[:2], -1)
    actual = (sc.subtract(second) | sc.cast("f64"))(IMAGE)
    np.testing.assert_allclose(actual, expected, atol=1e-5)


def test_a_file_is_what_its_array_is(tmp_path):
    second = RANDOM.random((40, 50), "f4")
    np.save(tmp_path / "second.npy", second)
    chain = sc.box(2) | sc.divide(tmp_path / "second.npy") | sc.gaussian(1)
    np.testing.assert_array_equal(chain(IMAGE), (sc.box(2) | sc.divide(second) | sc.gaussian(1))(IMAGE))
    assert pickle.loads(pickle.dumps(chain)) == chain and sc.Chain(str(chain)) == chain


def test_files_of_a_stages_own_chain_are_the_same_in_every_folder(tmp_path, monkeypatch):
    """A pickled chain is used by a worker in another folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taps.txt").write_text("1 1 1")
    chain = sc.subtract(chain="box:radius=1 | convolve:file=taps.txt")
    expected, pickled = chain(IMAGE), pickle.dumps(chain)
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    np.testing.assert_array_equal(pickle.loads(pickled)(IMAGE), expected)


def test_arrays_live_as_long_as_their_chain():
    chain = sc.add(np.full((40, 50), 3, "f4")) | sc.abs()
    junk = [np.full((40, 50), 9, "f4") for _ in range(9)]
    assert (chain(np.zeros((40, 50), "f4")) == 3).all() and len(junk) == 9


def test_many_images_and_one_beside_them():
    stack = RANDOM.random((5, 40, 50), "f4")
    np.testing.assert_array_equal(sc.max(stack[2])(stack, axes="tyx"), np.maximum(stack, stack[2]))


@pytest.mark.parametrize(
    "axes, shape",
    [("zyx", (5, 40, 50)), ("yxz", (40, 50, 5)), ("tczyx", (2, 3, 5, 8, 9)), ("zyxc", (4, 8, 9, 3))],
)
def test_a_stack_beside_a_stack(axes, shape, tmp_path):
    stack, second = RANDOM.random(shape, "f4"), RANDOM.integers(0, 9, shape, np.uint8)
    np.testing.assert_array_equal(sc.subtract(second, axes=axes)(stack, axes=axes), stack - second)
    np.save(tmp_path / "second.npy", second)
    if axes in ("zyx", "zyxc"):  # NPY files have channels last, too
        np.testing.assert_array_equal(
            sc.subtract(tmp_path / "second.npy", axes=axes)(stack, axes=axes), stack - second
        )
    with pytest.raises(ValueError, match="second image"):
        sc.subtract(second, axes=axes)(
            stack[..., 0] if axes == "yxz" else stack[0],
            axes=axes.replace("z", "") if axes == "yxz" else axes[1:],
        )


@pytest.mark.parametrize(
    "own",
    [sc.gaussian(2), "gaussian:sigma=2", "[gaussian:sigma=2]", sc.gaussian(2) | sc.scale(factor=1.0)],
    ids=str,
)
def test_a_chain_of_its_own(own):
    image = RANDOM.random((64, 60))
    np.testing.assert_allclose(
        sc.subtract(chain=own)(image),
        image - scipy.ndimage.gaussian_filter(image, 2, mode="mirror"),
        atol=1e-12,
    )


def test_a_text_with_brackets_is_one_stage():
    chain = sc.Chain("subtract:chain=[box:radius=1,border=wrap | abs] | abs")
    assert (
        len(chain) == 2
        and sc.Chain(str(chain)) == chain == sc.subtract(chain=sc.box(1, border="wrap") | sc.abs()) | sc.abs()
    )
    assert sc.blend(chain=chain, alpha=0.25) == sc.Chain([f"blend:chain=[{chain}],alpha=0.25"])


def test_files_and_sinks(tmp_path):
    dark = RANDOM.integers(0, 9, (40, 50), np.uint8)
    result = np.empty_like(IMAGE)
    sc.run(IMAGE, result, sc.subtract(dark), progress=False)
    np.testing.assert_array_equal(result, np.maximum(IMAGE.astype(int) - dark[..., None], 0))


@pytest.mark.parametrize(
    "second, error",
    [
        (np.ones((3, 4, 5, 6)), ValueError),
        (np.ones((0, 5)), ValueError),
        (np.ones((4, 4), complex), TypeError),
        (np.array(["a"]), TypeError),
        (object(), TypeError),
        (7, ValueError),
        ("none.tif", FileNotFoundError),
    ],
    ids=["4-d", "empty", "complex", "text", "object", "number", "no file"],
)
def test_what_is_no_image(second, error):
    with pytest.raises(error):
        sc.subtract(second)


def test_what_does_not_fit():
    with pytest.raises(ValueError, match="does not fit an image of 40 rows x 50 columns"):
        sc.subtract(np.ones((40, 49)))(IMAGE)


def test_an_array_has_no_text():
    chain = sc.subtract(np.ones((40, 50)))
    with pytest.raises(TypeError, match="give the stage a file"):
        pickle.dumps(chain)
    with pytest.raises(ValueError, match="pixels in memory have no text"):
        sc.Chain(str(chain))
    assert chain != sc.subtract(np.ones((40, 50)))


def test_blocks_of_dask_are_the_whole_arrays(tmp_path):
    da = pytest.importorskip("dask.array")
    import sepconv.dask

    image, second = RANDOM.random((90, 70), "f4"), RANDOM.random((90, 70), "f4")
    np.save(tmp_path / "second.npy", second)
    chain = sc.gaussian(1) | sc.subtract(tmp_path / "second.npy") | sc.box(2, border="wrap")
    blocks = da.from_array(image, chunks=(31, 20))
    np.testing.assert_array_equal(
        sepconv.dask.apply(chain, blocks).compute(scheduler="synchronous"), chain(image)
    )
