"""Files: results identical to the program's, partial reads, and errors with the library's messages and
Python's names."""

import doctest
import importlib
import inspect
import os
import pathlib
import pkgutil
import re
import warnings

import numpy as np
import pytest

import sepconv as sc

TYPES = ["?", "i1", "u1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "c8", "c16"]

pytestmark = pytest.mark.filterwarnings("ignore::sepconv.FileWarning")


@pytest.fixture(autouse=True)
def in_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def pixels(shape=(150, 130), dtype="u1", seed=1):
    return (np.random.default_rng(seed).random(shape) * 100).astype(dtype)


def tiff(sepconv, name, array, *options):
    np.save(f"{name}.npy", array)
    sepconv("run", f"{name}.npy", name, "--quiet", *options)
    return name


def listing():
    return sorted(os.listdir("."))


CASES = [
    (("gaussian:sigma=2.5", "abs"), {}, []),
    (
        ("sobel:axis=x",),
        dict(compress="deflate:9", tile=(64, 32), max_memory="64M"),
        ["--compress", "deflate:9", "--tile", "64x32", "--max-memory", "64M"],
    ),
    (
        ("box:radius=3",),
        dict(tile=0, planar=True, no_predictor=True, compress="zstd"),
        ["--tile", "0", "--planar", "--no-predictor", "--compress", "zstd"],
    ),
    (
        ("resize:size=65x75",),
        dict(cog=True, device="cpu", threads=2),
        ["--cog", "--device", "cpu", "--threads", "2"],
    ),
    ((), dict(pyramid="nearest", tile=16), ["--pyramid", "nearest", "--tile", "16"]),
    (
        ("gaussian:sigma=1",),
        dict(pyramid=True, bigtiff=True, band_rows=40, slots=2),
        ["--pyramid", "--bigtiff=yes", "--band-rows", "40", "--slots", "2"],
    ),
    (
        ("gaussian:sigma=1",),
        dict(region=np.s_[20:90, 8:108], arithmetic="f64"),
        ["--region", "100x70+8+20", "--arithmetic", "f64"],
    ),
    (("box:radius=2",), dict(nodata=7, dst_nodata=9), ["--nodata", "7", "--dst-nodata", "9"]),
    ((), dict(bigtiff=False, fsync=True), ["--bigtiff=no", "--fsync"]),
]


@pytest.mark.parametrize("chain, options, flags", CASES, ids=[str(index) for index in range(len(CASES))])
def test_the_file_equals_the_programs(sepconv, chain, options, flags):
    tiff(sepconv, "in.tif", pixels((150, 130, 3), "u2"), "--tile", "64", "--compress", "lzw")
    sepconv("run", "in.tif", "theirs.tif", *chain, "--quiet", *flags)
    report = sc.run("in.tif", "ours.tif", chain, progress=False, **options)
    assert open("ours.tif", "rb").read() == open("theirs.tif", "rb").read()
    assert [step["name"] for step in report.steps] == ["read", "compute", "write"]


def test_a_set_is_filtered_as_the_program_does(sepconv):
    stack = pixels((2, 3, 40, 50), "u2")
    tiff(sepconv, "in.ome.tif", stack, "--axes", "tzyx")
    for options, flags in (
        ({}, []),
        (dict(page="z=1-2"), ["--page", "z=1-2"]),
        (dict(page=4), ["--page", "4"]),
        (dict(page="0-2"), ["--page", "0-2"]),
    ):
        sepconv("run", "in.ome.tif", "theirs.ome.tif", "box:radius=1", "--quiet", "--force", *flags)
        sc.run("in.ome.tif", "ours.ome.tif", sc.box(1), overwrite=True, progress=False, **options)
        assert open("ours.ome.tif", "rb").read() == open("theirs.ome.tif", "rb").read()


def test_an_image_stands_for_its_file_and_how_it_was_opened(sepconv):
    tiff(sepconv, "in.tif", pixels((3, 40, 50)), "--axes", "zyx")
    sepconv("run", "in.tif", "theirs.npy", "abs", "--quiet", "--page", "1")
    image = sc.open("in.tif", page=1)
    sc.run(image, "ours.npy", sc.abs(), progress=False)
    assert open("ours.npy", "rb").read() == open("theirs.npy", "rb").read()
    with pytest.raises(ValueError, match="page= was given to sepconv.open and is given again"):
        sc.run(image, "other.npy", page=2)


def test_a_plan_is_made_kept_and_run(sepconv):
    tiff(sepconv, "in.tif", pixels(), "--tile", "64")
    planned = sc.plan("in.tif", "out.tif", sc.gaussian(2), max_memory="32M", device="cpu", band_rows=64)
    sepconv(
        "plan",
        "in.tif",
        "out.tif",
        "gaussian:sigma=2",
        "--max-memory",
        "32M",
        "--device",
        "cpu",
        "--band-rows",
        "64",
        "--json",
    )
    assert (
        planned.to_dict()["memory_bytes"]["ceiling"] == 32 << 20
        and "band" in str(planned)
        and "<pre>" in planned._repr_html_()
    )
    assert listing() == ["in.tif", "in.tif.npy"]
    assert sc.Plan(planned.text) == planned and hash(sc.Plan(planned.text)) == hash(planned)
    report = sc.run("in.tif", "out.tif", plan=planned, progress=False)
    assert report.plan == planned
    for error, call in [
        (
            "the plan is for another source",
            lambda: sc.run("in.tif.npy", "other.tif", plan=planned, progress=False),
        ),
        (
            "the plan is for another chain",
            lambda: sc.run("in.tif", "other.tif", "abs", plan=planned, progress=False),
        ),
        (
            "max_memory= is already fixed by the plan",
            lambda: sc.run("in.tif", "other.tif", plan=planned, max_memory="3G"),
        ),
    ]:
        with pytest.raises(ValueError, match=error):
            call()
    for text in ("{}", "1" + 400 * "0"):
        with pytest.raises(ValueError, match="the plan cannot be read"):
            sc.run("in.tif", "other.tif", plan=text)


@pytest.mark.parametrize("perm", [(1, 0), (0, 2, 1), (2, 1, 0), (1, 2, 0)])
def test_transpose_is_the_programs(sepconv, perm):
    np.save("in.npy", pixels((20, 30, 4), "u2"))
    sepconv(
        "transpose", "in.npy", "theirs.npy", "--perm", ",".join(map(str, perm)), "--quiet", "--axes", "yxc"
    )
    sc.transpose("in.npy", "ours.npy", perm, axes="yxc", progress=False)
    assert open("ours.npy", "rb").read() == open("theirs.npy", "rb").read()


def test_transpose_and_gemm_are_stages_without_a_sink():
    assert sc.transpose() == sc.Chain("transpose")
    np.save("b.npy", np.eye(3))
    assert str(sc.gemm("b.npy", side="left")) == "gemm:file=b.npy,side=left"
    array, out = pixels((5, 7)), np.empty((7, 5), "u1")
    sc.transpose(array, out, progress=False)
    assert np.array_equal(out, array.T)
    with pytest.raises(ValueError, match="is only for paths"):
        sc.transpose(array, out, (2, 1, 0), progress=False)


def product_by_gemm(a, b):
    np.save("one.npy", a), np.save("two.npy", b)
    sc.gemm("one.npy", "two.npy", "made.npy", trans_b=True, overwrite=True, progress=False)
    return np.load("made.npy")


def test_gemm_is_the_programs(sepconv):
    a, b, c = (
        np.random.default_rng(seed).random(shape) for seed, shape in enumerate([(30, 20), (40, 20), (30, 40)])
    )
    for name, matrix in zip("abc", (a, b, c)):
        np.save(f"{name}.npy", matrix)
    sepconv(
        "gemm",
        "a.npy",
        "b.npy",
        "theirs.npy",
        "--trans-b",
        "--c",
        "c.npy",
        "--alpha",
        "2",
        "--beta",
        "0.5",
        "--quiet",
    )
    report = sc.gemm("a.npy", "b.npy", "ours.npy", trans_b=True, c="c.npy", alpha=2, beta=0.5, progress=False)
    assert open("ours.npy", "rb").read() == open("theirs.npy", "rb").read()
    assert (
        report.bottleneck
        and report.plan is None
        and "compute" in str(report)
        and "<svg" in report._repr_html_()
    )
    out = np.empty((30, 40))
    sc.gemm(a, "b.npy", out, trans_b=True, c=c, alpha=2, beta=0.5, progress=False)
    assert np.array_equal(out, np.load("ours.npy"))
    sepconv("run", "c.npy", "c.tif", "--quiet")
    np.save("stack.npy", np.stack([b, a[:20].repeat(2, 0)]))
    sc.gemm(a, sc.open("stack.npy", page=0, axes="zyx"), out, trans_b=True, progress=False)
    assert np.array_equal(out, product_by_gemm(a, b))
    sc.gemm(
        a,
        "stack.npy",
        out,
        page_b="z=0",
        axes_b="zyx",
        trans_b=True,
        c="c.tif",
        level_c=0,
        beta=0,
        progress=False,
    )
    assert np.array_equal(out, product_by_gemm(a, b))
    with pytest.raises(ValueError, match="beta multiplies the matrix c"):
        sc.gemm(a, b, out, beta=1)
    with pytest.raises(ValueError, match="share memory"):
        sc.gemm(a, a, a, progress=False)


def test_open_has_the_properties_and_reads_parts(sepconv):
    stack = pixels((4, 60, 70, 3), "u2")
    tiff(sepconv, "in.tif", stack, "--axes", "zyxc", "--tile", "32")
    image = sc.open("in.tif")
    assert (image.shape, image.dtype, image.axes, image.chunks) == (
        stack.shape,
        stack.dtype,
        ("z", "y", "x", "c"),
        (1, 32, 32, 3),
    )
    assert image.ndim == 4 and len(image) == 4 and image.size == stack.size and image.nbytes == stack.nbytes
    assert "4" in repr(image) and "in.tif" in repr(image) and "tiles of 32" in image.layout
    assert np.array_equal(np.asarray(image), stack) and np.asarray(image, "f4").dtype == np.float32
    for key in (
        np.s_[1],
        np.s_[-1, 5],
        np.s_[..., 2],
        np.s_[1:3, 10:20, ::-3, 1],
        np.s_[::-2, 59:4:-7, 3:4],
        np.s_[2, 3, 4, 1],
        np.s_[:, 5:5],
        np.s_[..., ::-1],
        np.s_[0, ::-1, ::-1],
    ):
        assert np.array_equal(image[key], stack[key]) and image[key].shape == stack[key].shape
    for key, error in (
        (np.s_[4], IndexError),
        (np.s_[0, 0, 0, 0, 0], IndexError),
        (np.s_[..., 0, ...], IndexError),
        ([1, 2], IndexError),
        (None, IndexError),
    ):
        with pytest.raises(error):
            image[key]
    with image:
        pass
    with pytest.raises(ValueError, match="has been closed"):
        image[0]


@pytest.mark.parametrize("dtype", TYPES)
def test_every_type_of_element_is_read_and_stored(dtype):
    array = pixels((40, 50), dtype)
    np.save("in.npy", array)
    image = sc.open("in.npy")
    assert image.dtype == array.dtype and np.array_equal(image[...], array)
    sc.run("in.npy", "theirs.npy", sc.box(2), progress=False)
    out = np.empty_like(array)
    sc.run(array, out, sc.box(2), progress=False)
    assert np.array_equal(out, np.load("theirs.npy"))
    sc.run(array.astype(array.dtype.newbyteorder()), "ours.npy", sc.box(2), progress=False)
    assert open("ours.npy", "rb").read() == open("theirs.npy", "rb").read()


def test_metadata_are_pythons(sepconv):
    tifffile = pytest.importorskip("tifffile", reason="tifffile is not installed")
    tifffile.imwrite(
        "in.tif",
        pixels(),
        metadata=None,
        description="a scan",
        software="ours",
        resolution=(300, 200),
        resolutionunit="INCH",
        extratags=[(42113, "s", 0, "7", True)],
    )
    metadata = sc.open("in.tif").metadata
    assert (
        metadata["description"] == "a scan"
        and metadata["resolution"] == (300.0, 200.0, "inch")
        and metadata["nodata"] == "7"
    )


def test_options_have_the_names_of_the_programs(sepconv):
    flags = set(re.findall(r"^ +(?:-\w,)?--([a-z0-9-]+)", sepconv("run", "--help").stdout, re.MULTILINE))
    elsewhere = {
        "force": "overwrite=",
        "classic-tiff": "bigtiff=False",
        "quiet": "progress=",
        "trace": "Report.save_trace",
        "report": "str(Report)",
        "stats": "Report.to_dict",
        "verbose": "Report.warnings, Plan.notes",
        "reference": "for the program's tests",
        "help": "help(sc.run)",
        "create-only": "sc.create_only",
        "format": "arrays and files have their own",
        "json": "Report.to_dict",
        "output-dir": "a loop",
        "dry-run": "sc.plan",
    }
    own = {name.replace("_", "-") for name in inspect.signature(sc.run).parameters} - {
        "source",
        "sink",
        "chain",
        "progress",
        "overwrite",
    }
    assert flags - set(elsewhere) == own


def test_levels_are_read(sepconv):
    array = pixels((1200, 1000))
    tiff(sepconv, "in.tif", array, "--pyramid", "--tile", "256")
    assert sc.open("in.tif", level=1).shape == (600, 500)
    with pytest.raises(OSError, match="level"):
        sc.open("in.tif", level=9)


def test_stats_and_compare_are_the_programs(sepconv):
    a, b = pixels((3, 40, 50), "u2"), pixels((3, 40, 50), "u2")
    b[1, 7, 9] += 2
    np.save("a.npy", a), np.save("b.npy", b)
    result = sc.stats("a.npy", axes="zyx", progress=False)
    assert (
        len(result.images) == 3
        and result.images[2][0].max == a[2].max()
        and np.isclose(result.images[1][0].mean, a[1].mean())
    )
    assert (
        result.images[0][0].histogram[0] == (a[0] < 256).sum()
        and "<table>" in result._repr_html_()
        and "max" in repr(result)
    )
    with pytest.raises(ValueError, match="there are 3 images"):
        result.channels
    assert sc.stats(a[0], progress=False).channels[0].deviation == pytest.approx(a[0].std())
    assert sc.stats(np.array([[1.0, np.nan, -9.0]]), nodata=-9, progress=False).channels[0][:3] == (1, 0, 2)

    compared = sc.compare("a.npy", b, axes="zyx", axes_b="zyx", progress=False)
    assert (
        compared.first == sc.Difference(7, 9, 0, a[1, 7, 9], b[1, 7, 9])
        and compared.first_image == 1
        and compared.max_difference == 2
    )
    assert (
        not compared.equal
        and sc.compare("a.npy", "b.npy", axes="zyx", axes_b="zyx", tolerance=2, progress=False).equal
    )
    with pytest.raises(TypeError, match="ask for its .equal"):
        bool(compared)
    with pytest.raises(ValueError, match="images in the first"):
        sc.compare(a, b[:2], axes="zyx", axes_b="zyx", progress=False)
    with pytest.raises(ValueError):
        sc.compare(a[0], b[0, 1:], progress=False)


def test_errors_are_pythons_with_the_librarys_sentences():
    np.save("in.npy", pixels())
    pathlib.Path("folder").mkdir()
    for error, match, call in [
        (FileNotFoundError, "there is no such file; check the name", lambda: sc.open("none.tif")),
        (FileNotFoundError, "the folder none does not exist", lambda: sc.run("in.npy", "none/a.npy")),
        (FileExistsError, "give overwrite=True to replace it", lambda: sc.run("in.npy", "here.npy")),
        (
            IsADirectoryError,
            "it is a folder, and none of Zarr; give the name of a file",
            lambda: sc.open("."),
        ),
        (IsADirectoryError, "it is a folder; add the name of a file", lambda: sc.run("in.npy", "folder")),
        (OSError, "no format that is read", lambda: sc.open("text.tif")),
        (ValueError, "both input and output", lambda: sc.run("in.npy", "in.npy", overwrite=True)),
        (ValueError, "compress.* means nothing for NPY", lambda: sc.run("in.npy", "b.npy", compress="lzw")),
        (ValueError, "is not a compression", lambda: sc.run("in.npy", "b.tif", compress="rar")),
        (ValueError, "it has no levels", lambda: sc.run("in.npy", "b.tif", compress="lzw:2")),
        (MemoryError, "max_memory", lambda: sc.run("in.npy", "b.npy", max_memory=100)),
        (ValueError, "is not a size", lambda: sc.run("in.npy", "b.npy", max_memory="2 elephants")),
        (ValueError, "device gpu is unknown", lambda: sc.run("in.npy", "b.npy", device="gpu")),
        (ValueError, "is not a region", lambda: sc.run("in.npy", "b.npy", region=np.s_[3:2, 0:1])),
        (ValueError, "unknown stage 'gausian'", lambda: sc.run("in.npy", "b.npy", "gausian:sigma=2")),
        (TypeError, "there is no option 'sigma'", lambda: sc.run("in.npy", "b.npy", sigma=2)),
        (TypeError, "neither True, False nor a function", lambda: sc.run("in.npy", "b.npy", progress="yes")),
        (ValueError, "page= is for files", lambda: sc.run(pixels(), "b.npy", page=3)),
        (ValueError, "compress= is for files", lambda: sc.run("in.npy", pixels(), compress="lzw")),
        (TypeError, "is not a sink", lambda: sc.run("in.npy", [[1]])),
        (TypeError, "cannot be filtered", lambda: sc.run(np.zeros((2, 2), "U1"), "b.npy")),
        (TypeError, "mask would be lost", lambda: sc.run(np.ma.zeros((2, 2)), "b.npy")),
        (ValueError, "say what its axes are", lambda: sc.run(np.zeros((9, 9, 9)), "b.npy")),
        (ValueError, "has no pixels|without pixels|empty|pixels", lambda: sc.run(np.zeros((0, 9)), "b.npy")),
        (ValueError, "is .* of uint8, and the sink is", lambda: sc.run("in.npy", np.zeros((3, 3), "u1"))),
        (
            ValueError,
            "of uint8, and the sink is .* of float32",
            lambda: sc.run("in.npy", np.zeros((150, 130), "f4")),
        ),
    ]:
        np.save("here.npy", pixels()), open("text.tif", "w").write("no image")
        with pytest.raises(error, match=match):
            call()
        assert listing() == ["folder", "here.npy", "in.npy", "text.tif"]


def test_invalid_names_and_huge_numbers():
    name = os.fsencode("in") + b"\xff.npy"
    np.save(os.fsdecode(name), pixels((20, 30)))
    assert sc.open(name).shape == (20, 30) and sc.stats(name, progress=False).channels
    sc.run(name, b"out\xfe.npy", progress=False)
    with pytest.raises(FileExistsError, match=r"out\\xfe.npy"):
        sc.run(name, b"out\xfe.npy", progress=False)
    with pytest.raises(ValueError, match="zero character"):
        sc.open("a\0b.tif")
    huge = 1 << 80
    for options in (
        dict(threads=huge),
        dict(level=huge),
        dict(page=huge),
        dict(tile=huge),
        dict(device=f"cuda:{huge}"),
        dict(max_memory=huge),
        dict(band_rows=-1),
        dict(region=np.s_[0:huge, 0:1]),
        dict(raw=f"{huge}x3:u8"),
        dict(nodata=float("inf")),
        dict(tile="axb"),
        dict(tile=(1, 2, 3)),
    ):
        with pytest.raises((ValueError, OSError)):
            sc.run(name, "x.tif", progress=False, **options)


def test_lost_metadata_is_a_warning(sepconv):
    tifffile = pytest.importorskip("tifffile", reason="tifffile is not installed")
    tifffile.imwrite("in.tif", pixels(), description="a scan", metadata=None)
    with pytest.warns(sc.FileWarning, match="description|metadata|kept") as caught:
        report = sc.run("in.tif", "out.npy", progress=False)
    assert [str(warning.message) for warning in caught] == report.warnings and caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sc.run("in.tif", "out.tif", progress=False)


def test_examples_hold():
    """Those of every module; test_dask.py and test_ndimage.py run theirs again, with their documents."""
    names = [module.name for module in pkgutil.iter_modules(sc.__path__) if module.name != "_sepconv"]
    attempted = {}
    for name in names:
        try:
            module = importlib.import_module(f"sepconv.{name}")
        except ImportError:  # dask is not installed
            continue
        result = doctest.testmod(module)
        assert not result.failed, name
        attempted[name] = result.attempted
    assert sum(attempted.values()) > 150 and attempted["ndimage_or_scipy"] > 3


def replace_file(name):
    np.save("other.npy", pixels(seed=2))
    os.replace("other.npy", name)


def truncate_file(name):
    os.truncate(name, os.path.getsize(name) - 1000)


def write_to_file(name):
    np.load(name, mmap_mode="r+")[0, 0] = 200
    os.utime(name, ns=(1, 1))


@pytest.mark.parametrize("change", [replace_file, truncate_file, write_to_file, os.remove])
def test_a_file_that_changed_since_it_was_opened_is_refused(change):
    np.save("image.npy", pixels())
    image = sc.open("image.npy")
    assert np.array_equal(image[10:20], pixels()[10:20])
    change("image.npy")
    for use in (
        lambda: image[10:20],
        lambda: np.asarray(image),
        lambda: sc.run(image, "out.npy", progress=False),
        lambda: sc.plan(image, "out.npy"),
        lambda: sc.stats(image, progress=False),
    ):
        with pytest.raises(
            OSError, match=r"^image.npy was replaced or changed since it was opened; open it again$"
        ):
            use()
    if change is not os.remove and change is not truncate_file:
        assert sc.open("image.npy")[...].shape == (150, 130)


def test_an_open_file_stays_the_same_elsewhere(tmp_path, monkeypatch):
    np.save("image.npy", pixels())
    image = sc.open("image.npy")
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir("folder")
    assert np.array_equal(image[...], pixels())


def test_former_option_names_are_accepted():
    np.save("in.npy", pixels())
    sc.run("in.npy", "a.tif", "abs", durable=True, big_tiff=True, nodata=3, result_nodata=7, progress=False)
    sc.run("in.npy", "b.tif", "abs", fsync=True, bigtiff=True, nodata=3, dst_nodata=7, progress=False)
    assert open("a.tif", "rb").read() == open("b.tif", "rb").read()
    with pytest.raises(TypeError, match="durable is the former name of fsync"):
        sc.run("in.npy", "c.tif", "abs", durable=True, fsync=True, progress=False)
