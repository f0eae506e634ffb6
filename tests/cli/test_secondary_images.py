"""A second image in several runs: the result is identical to one run, and a file changed meanwhile is
refused; an unsuitable second image causes one message."""

import re

import numpy as np
import pytest
import scipy.ndimage
import tifffile

from cli_support import fails, image

CHAIN = ["gaussian:sigma=3", "subtract:file=dark.tif", "box:radius=5", "--band-rows", "32"]


@pytest.fixture
def two(sepconv):
    tifffile.imwrite(sepconv.folder / "in.tif", image(300, 200, dtype=np.uint16), rowsperstrip=20)
    write_dark(sepconv, 2)
    return sepconv


def write_dark(sepconv, seed):
    tifffile.imwrite(
        sepconv.folder / "dark.tif",
        image(300, 200, dtype=np.uint16, seed=seed),
        tile=(64, 64),
        compression="zlib",
    )


@pytest.mark.parametrize("name, options", [("out.tif", []), ("out.npy", []), ("out.zarr", ["--chunk", "32"])])
def test_parts_are_one_result(two, name, options):
    two("run", "in.tif", "whole.npy", *CHAIN, "--quiet")
    two("run", "in.tif", name, *CHAIN, *options, "--create-only", "--quiet")
    for part in (2, 1, 3):
        two("run", "in.tif", name, *CHAIN, *options, "--part", f"{part}/3", "--quiet")
    two("finish", name)
    two("compare", name, "whole.npy")


@pytest.mark.parametrize("dark", ["dark.tif", "dark.zarr"])
def test_a_changed_file_is_refused(two, dark):
    chain = [word.replace("dark.tif", dark) for word in CHAIN]
    make = lambda seed: (
        write_dark(two, seed),
        dark == "dark.tif" or two("run", "dark.tif", dark, "--force", "--quiet"),
    )
    make(2)
    two("run", "in.tif", "out.tif", *chain, "--create-only", "--quiet")
    two("run", "in.tif", "out.tif", *chain, "--part", "1/2", "--quiet")
    make(3)
    if (
        dark == "dark.zarr"
    ):  # a thousand parts that each list a folder would take longer than their pixels: finish lists it once
        two("run", "in.tif", "out.tif", *chain, "--part", "2/2", "--quiet")
        assert "with another file of a stage" in two("finish", "out.tif", status=2).stderr
    else:
        assert (
            "with another file of a stage"
            in two("run", "in.tif", "out.tif", *chain, "--part", "2/2", status=2).stderr
        )
    assert not (two.folder / "out.tif").exists()


def test_a_stored_plan_of_a_changed_file_is_refused(two):
    (two.folder / "plan.json").write_text(two("plan", "in.tif", "out.tif", *CHAIN, "--json").stdout)
    two("run", "in.tif", "out.tif", "--plan", "plan.json", "--quiet")
    write_dark(two, 3)
    assert (
        "another file of a stage" in two("run", "in.tif", "other.tif", "--plan", "plan.json", status=2).stderr
    )


def test_the_ceiling_holds_it(two):
    """The minimum limit that is named grows with it, and is sufficient."""

    def min_memory(*stages):
        said = two(
            "run", "in.tif", "out.tif", *stages, "--max-memory", "1K", "--threads", "1", status=1
        ).stderr
        return int(re.search(r"is (\d+)K", said)[1]) << 10

    stages = ["subtract:file=dark.tif", "box:radius=5"]
    assert min_memory(*stages) > min_memory("box:radius=5") + 200 * 2
    two("run", "in.tif", "out.tif", *stages, "--max-memory", min_memory(*stages), "--threads", "1", "--quiet")


@pytest.mark.parametrize(
    "stage, said",
    [
        ("subtract", "needs 'file'"),
        ("subtract:file=none.tif", "there is no such file"),
        ("subtract:file=small.npy", "does not fit an image of 300 rows x 200 columns"),
        ("subtract:file=rgb.npy", "of 3 channels"),
        ("subtract:file=complex.npy", "complex"),
        ("subtract:file=in.tif,chain=abs", "not both"),
        ("blend:file=in.tif,alpha=2", "between 0 and 1"),
        ("subtract:chain=[reduce:factor=2]", "is not aligned with its input"),
        ("subtract:chain=[abs", "bracket"),
        ("substract:file=in.tif", "did you mean 'subtract'"),
        ("minus:file=in.tif", "use scale:offset=-10 or subtract:file="),
    ],
)
def test_what_cannot_be(two, stage, said):
    np.save(two.folder / "small.npy", image(300, 199))
    np.save(two.folder / "rgb.npy", image(300, 200, 3))
    np.save(two.folder / "complex.npy", np.ones((300, 200), np.complex64))
    status = 1 if "none.tif" in stage else 2
    assert said in fails(two, "run", "in.tif", "out.tif", stage, status=status)


@pytest.mark.parametrize("name", ["dark.tif", "./dark.tif"])
def test_the_result_is_not_its_second_image(two, name):
    before = (two.folder / "dark.tif").read_bytes()
    assert (
        "is both input and output"
        in two("run", "in.tif", name, "subtract:file=dark.tif", "--force", status=2).stderr
    )
    np.savetxt(two.folder / "taps.txt", np.ones((1, 3)))
    assert (
        "is both input and output"
        in two(
            "run", "in.tif", "taps.txt", "subtract:chain=[convolve:file=taps.txt]", "--force", status=2
        ).stderr
    )
    assert (two.folder / "dark.tif").read_bytes() == before


def test_a_stack_that_does_not_lie_beside_a_volume_is_refused(two):
    for name, axes, count in (("stack", "ZYX", 4), ("others", "TYX", 4)):
        tifffile.imwrite(
            two.folder / f"{name}.ome.tif",
            np.stack([image(20, 30, seed=seed) for seed in range(count)]),
            metadata={"axes": axes},
            ome=True,
        )
    assert "give one with the same axis z" in fails(
        two, "run", "stack.ome.tif", "out.tif", "subtract:file=others.ome.tif", "box:radius_z=1", status=2
    )


@pytest.mark.parametrize("name", ["dark.npy", "dark.zarr"])
def test_an_arrays_axes(two, name):
    """A shape that may be one image of seven channels or five images."""
    stack, dark = image(5, 6, 7, dtype=np.int16), image(5, 6, 7, seed=2, dtype=np.int16) // 2
    np.save(two.folder / "stack.npy", stack)
    np.save(two.folder / "dark.npy", dark)
    if name == "dark.zarr":
        two("run", "dark.npy", name, "--axes", "zyx", "--quiet")
    if name == "dark.npy":
        message = fails(
            two, "run", "stack.npy", "out.npy", f"subtract:file={name}", "--axes", "zyx", status=1
        )
        assert "say which with axes=yxc or zyx" in message and "--axes" not in message
        assert "its letters" in fails(
            two, "run", "stack.npy", "out.npy", f"subtract:file={name},axes=ZYX", "--axes", "zyx", status=2
        )
    given = f"subtract:file={name}" + (",axes=zyx" if name == "dark.npy" else "")
    for more in ([], ["box:radius_z=1"]) if name == "dark.npy" else ([],):
        two(
            "run",
            "stack.npy",
            "out.npy",
            given,
            "cast:type=f64",
            *more,
            "--axes",
            "zyx",
            "--quiet",
            "--force",
        )
        expected = stack.astype(float) - dark
        np.testing.assert_allclose(
            np.load(two.folder / "out.npy"),
            scipy.ndimage.uniform_filter(expected, 3, mode="mirror") if more else expected,
            atol=1e-9,
        )
    assert "it goes only with file" in fails(
        two, "run", "stack.npy", "o.npy", "add:chain=abs,axes=zyx", "--axes", "zyx", status=2
    )
