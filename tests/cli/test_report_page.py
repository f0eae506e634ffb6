"""run --report FILE.html: a self-contained page, tested in a real browser if one exists (Debian's `chromium`,
414 MB, which ./dev test does not install)."""

import base64
import io
import json
import re

import numpy as np
import pytest
import tifffile

import browser
from cli_support import fails, image, source  # noqa: F401

PIL = pytest.importorskip("PIL.Image")


class Page:
    """The JSON that a page shows."""

    def __init__(self, text):
        assert text.startswith("<!DOCTYPE html>")
        self.json = json.loads(
            re.search(r'<script type="application/json" id="run">(.*?)</script>', text, re.S)[1]
        )
        self.shown = self.json.get("pictures", {})
        self.response = self.json.get("response")

    def pictures(self):
        """The embedded pictures: "source overview", "result detail" and so on."""
        return {
            f"{side} {part}": np.asarray(
                PIL.open(io.BytesIO(base64.b64decode(self.shown[side][part]["png"])))
            )
            for side in ("source", "result")
            if side in self.shown
            for part in ("overview", "detail")
        }


def page(sepconv, *arguments, name="report.html"):
    sepconv("run", *arguments, "--report", name, "--quiet", "--force", "--device", "cpu")
    return Page((sepconv.folder / name).read_text())


def test_details_are_the_pixels_of_both_files(sepconv):
    pixels = image(700, 900)
    np.save(sepconv.folder / "in.npy", pixels)
    found = page(sepconv, "in.npy", "out.npy", "box:radius=2", "--band-rows", 37).pictures()
    rows, cols = slice(110, 590), slice(90, 810)
    assert np.array_equal(found["source detail"], pixels[rows, cols])
    assert np.array_equal(found["result detail"], np.load(sepconv.folder / "out.npy")[rows, cols])
    assert found["source overview"].shape == found["result overview"].shape


def test_overview_has_every_part_in_its_place(sepconv):
    """For bands and columns of bands: blocks of 100 x 100 pixels of one value each."""
    blocks = np.arange(1, 13, dtype=np.uint8).reshape(3, 4) * 20
    np.save(sepconv.folder / "in.npy", np.kron(blocks, np.ones((100, 100), np.uint8)))
    found = page(
        sepconv, "in.npy", "out.tif", "abs", "--band-rows", 64, "--band-cols", 128, "--tile", 64
    ).pictures()
    for name in ("source overview", "result overview"):
        rows, cols = found[name].shape
        assert np.array_equal(found[name][rows // 6 :: rows // 3, cols // 8 :: cols // 4], blocks)


@pytest.mark.parametrize("dtype", [np.uint16, np.int16, np.float32, np.float64])
def test_other_types_are_stretched_between_percentiles(sepconv, dtype):
    values = np.linspace(100, 1100, 400 * 500).reshape(400, 500)
    values[0, 0], values[0, 1] = 30000, -20000 if dtype != np.uint16 else 0
    np.save(sepconv.folder / "in.npy", values.astype(dtype))
    result = page(sepconv, "in.npy", "out.npy")
    low, high = result.shown["source"]["low"], result.shown["source"]["high"]
    assert low == pytest.approx(105, abs=2) and high == pytest.approx(1095, abs=2)
    shown = result.pictures()["source overview"]
    assert (
        shown.min() == 0
        and shown.max() == 255
        and abs(int(shown[shown.shape[0] // 2, shown.shape[1] // 2]) - 127) < 3
    )


def test_colours_and_many_channels(sepconv):
    pixels = image(50, 60, 4)
    np.save(sepconv.folder / "in.npy", pixels)
    result = page(sepconv, "in.npy", "out.npy")
    assert np.array_equal(result.pictures()["source detail"], pixels[:, :, :3]) and (
        result.shown["channels"],
        result.shown["shown_channels"],
    ) == (4, 3)
    np.save(sepconv.folder / "seven.npy", image(50, 60, 7))
    result = page(sepconv, "seven.npy", "out.npy", "--axes", "yxc")
    assert np.array_equal(result.pictures()["source detail"], image(50, 60, 7)[:, :, 0]) and (
        result.shown["channels"],
        result.shown["shown_channels"],
    ) == (7, 1)


def test_region_transpose_and_another_size(sepconv):
    pixels = image(300, 400)
    np.save(sepconv.folder / "in.npy", pixels)
    found = page(sepconv, "in.npy", "out.npy", "box:radius=1", "--region", "100x80+200+150").pictures()
    assert np.array_equal(found["source detail"], pixels[150:230, 200:300])
    assert np.array_equal(found["result detail"], np.load(sepconv.folder / "out.npy"))
    transposed = page(sepconv, "in.npy", "out.npy", "transpose")
    assert np.array_equal(
        transposed.pictures()["result overview"], transposed.pictures()["source overview"].T
    )
    assert not transposed.shown["same_positions"]
    smaller = page(sepconv, "in.npy", "out.npy", "reduce:factor=2")
    assert smaller.pictures()["source detail"].shape == (300, 400) and smaller.pictures()[
        "result detail"
    ].shape == (150, 200)
    assert smaller.shown["same_positions"]


def test_a_part_of_a_result_has_no_pictures_of_all_of_it(sepconv):
    sepconv("generate", "in.tif", "--size", "900x900", "--tile", "128", "-q")
    sepconv(
        "run", "in.tif", "out.tif", "gaussian:sigma=2", "--create-only", "--band-rows", "128", "--force", "-q"
    )
    shown = page(sepconv, "in.tif", "out.tif", "gaussian:sigma=2", "--part", "1/3")
    assert not shown.pictures() and "made a part of the result" in shown.shown["reason"]


def test_missing_pixels_are_in_no_percentile_and_no_mean(sepconv):
    """For a nodata value far from all others, which would make these one shade of grey."""
    values = np.linspace(100, 1100, 200 * 300).reshape(200, 300).astype(np.float32)
    values[:100] = -9999
    np.save(sepconv.folder / "in.npy", values)
    result = page(sepconv, "in.npy", "out.npy", "box:radius=0", "--nodata", "-9999", "--dst-nodata", "-5000")
    for side in ("source", "result"):
        histogram = result.shown[side]["histogram"]
        assert (
            result.shown[side]["low"] == pytest.approx(602, abs=3)
            and result.shown[side]["high"] == pytest.approx(1098, abs=3)
            and histogram["mean"] == pytest.approx(850, abs=2)
            and histogram["least"] >= 600
            and histogram["nan_fraction"] == 0.5
            and result.shown["may_have_missing"]
        )
    shown = result.pictures()["result overview"]
    assert shown[:100].max() == 0 and shown[100:].std() > 50


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_what_alpha_hides_is_in_no_percentile_and_no_mean(sepconv, dtype):
    pixels = np.full((100, 150, 4), 50, dtype)
    pixels[..., :3] += np.arange(150, dtype=dtype)[:, None] % 50
    pixels[:25] = (255, 0, 255, 0)
    tifffile.imwrite(sepconv.folder / "in.tif", pixels, photometric="rgb", extrasamples=["unassalpha"])
    result = page(sepconv, "in.tif", "out.tif", "box:radius=0")
    for side in ("source", "result"):
        histogram = result.shown[side]["histogram"]
        assert (histogram["least"], histogram["most"], histogram["nan_fraction"]) == (50, 99, 0.25)
        assert histogram["mean"] == pytest.approx(74.5) and histogram["samples"] == 45000
    shown = result.pictures()["result overview"]
    assert shown[:25].max() == 0 and shown[25:].max() > 0
    assert not page(sepconv, "in.tif", "out.tif", "--nodata", "none").shown["may_have_missing"]


@pytest.mark.parametrize(
    "dtype, most", [(np.uint8, 255), (np.uint16, 400), (np.int16, 70), (np.uint16, 50000)]
)
def test_histograms_of_integers_are_no_combs(sepconv, dtype, most):
    """With uniformly distributed values each bar is as high as its neighbours."""
    np.save(
        sepconv.folder / "in.npy",
        np.resize(np.arange(most + 1), (120000 // (most + 1), most + 1)).astype(dtype),
    )
    histogram = page(sepconv, "in.npy", "out.npy").shown["source"]["histogram"]
    low, high, counts = histogram["low"], histogram["high"], np.array(histogram["counts"][0])
    middle = counts[len(counts) // 4 : 3 * len(counts) // 4]
    assert (
        middle.max() - middle.min() < 0.1 * middle.max()
        and low >= (0 if dtype != np.int16 else -10)
        and float(low).is_integer()
        and float(high).is_integer()
    )


def test_a_fact_of_a_file_is_said_once(sepconv):
    np.save(sepconv.folder / "in.npy", image(30, 40))
    for file in page(sepconv, "in.npy", "out.png").json["files"].values():
        assert [name for name, _ in file["facts"]].count("layout") == 1


def test_not_a_number_is_said(sepconv):
    values = np.ones((64, 64), np.float32)
    values[:32] = np.nan
    np.save(sepconv.folder / "in.npy", values)
    shown = page(sepconv, "in.npy", "out.npy", "--nodata", "none").shown
    assert shown["source"]["histogram"]["nan_fraction"] == 0.5 and not shown["may_have_missing"]
    np.save(sepconv.folder / "in.npy", np.full((64, 64), np.nan, np.float32))
    shown = page(sepconv, "in.npy", "out.npy", "--nodata", "none").shown
    assert shown["source"]["histogram"]["nan_fraction"] == 1


def test_page_is_the_json_of_the_run_with_pictures(sepconv, tmp_path):
    np.save(sepconv.folder / "in.npy", image(400, 500))
    sepconv(
        "run",
        "in.npy",
        "out.npy",
        "gaussian:sigma=3",
        "--report",
        "report.html",
        "--stats",
        "stats.json",
        "--quiet",
        "--device",
        "cpu",
        "--threads",
        1,
    )
    stats = json.loads((sepconv.folder / "stats.json").read_text())
    shown = Page((sepconv.folder / "report.html").read_text()).json
    assert "reason" not in shown.pop("pictures") and shown == stats
    assert stats["memory"] and all(
        0 < seconds < stats["wall_seconds"] and held > 2**20 for seconds, held in stats["memory"]
    )


def test_taps(sepconv):
    """The taps are SciPy's weights."""
    ndi = pytest.importorskip("scipy.ndimage")
    np.save(sepconv.folder / "in.npy", image())
    response = page(sepconv, "in.npy", "out.npy", "gaussian:sigma=1.5", "cast:type=f32").response
    line = np.zeros(13)
    line[6] = 1
    assert np.allclose(response["x"], ndi.gaussian_filter1d(line, 1.5, truncate=4), atol=1e-6)
    assert "y" not in response and "reason" not in response  # the same along y


def test_taps_that_reach_as_far_as_is_drawn_meet_no_edge(sepconv):
    np.save(sepconv.folder / "in.npy", image())
    result = page(sepconv, "in.npy", "out.npy", "box:radius=256", "box:radius=256", "cast:type=f32")
    assert np.allclose(result.response["x"], np.convolve(np.ones(513), np.ones(513)) / 513**2, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int16, np.uint32, np.float32, np.float64])
@pytest.mark.parametrize("pixels", [[0], [7], [0, 1], [0, 0, 65535]])
def test_images_of_few_values_have_a_page(sepconv, dtype, pixels):
    values = np.zeros((64, 64), dtype)
    values.flat[: len(pixels)] = np.minimum(
        pixels, np.iinfo(dtype).max if np.issubdtype(dtype, np.integer) else np.inf
    ).astype(dtype)
    np.save(sepconv.folder / "in.npy", values)
    assert page(sepconv, "in.npy", "out.npy", "box").shown["source"]["histogram"]["counts"]


@pytest.mark.parametrize("sigma", [8.5, 30, 35, 44])
def test_taps_by_cells_are_found_wherever_these_lie(sepconv, sigma):
    np.save(sepconv.folder / "in.npy", image())
    result = page(sepconv, "in.npy", "out.npy", f"gaussian:sigma={sigma},method=multirate", "cast:type=f32")
    taps = result.response["x"]
    assert abs(sum(taps) - 1) < 1e-4 and max(taps) == pytest.approx(
        1 / (sigma * np.sqrt(2 * np.pi)), rel=1e-3
    )


@pytest.mark.parametrize(
    "stages,said",
    [
        (["abs"], "not linear"),
        (["clamp:low=0,high=50"], "not linear"),
        (["gradient"], "not linear"),
        (["unsharp:sigma=1,amount=1,threshold=30"], "not linear"),
        (["transpose"], "moves pixels"),
        (["reduce:factor=2"], "changes the size"),
        (["gaussian:sigma=200"], "further than 512"),
        ([], "filters nothing"),
    ],
)
def test_chains_without_a_response_say_why(sepconv, source, stages, said):
    result = page(sepconv, source, "out.npy", *stages)
    assert said in result.response["reason"]


def test_whatever_names_and_files_hold_is_no_html(sepconv):
    name = "<script>alert(1)</script>&\"'.npy".replace("/", "-")
    np.save(sepconv.folder / name, image())
    evil = "<img src=x onerror=alert(2)>"
    tifffile = pytest.importorskip("tifffile")
    tifffile.imwrite(sepconv.folder / "in.tif", image(), description=evil)
    for arguments in ((name, "out.npy"), ("in.tif", "<b>.tif")):
        result = page(sepconv, *arguments)
        text = (sepconv.folder / "report.html").read_text()
        assert text.count("<script") == 2 and "<img" not in text and "<b>" not in text
        assert result.json["files"]["source"]["name"] == arguments[0]
    assert evil in json.dumps(result.json["files"])


def test_page_asks_nobody_for_anything(sepconv, source):
    text = (
        page(sepconv, source, "out.npy", "gaussian:sigma=1"),
        (sepconv.folder / "report.html").read_text(),
    )[1]
    without = re.sub(r'"png":"[\w+/=]+"', "", text).replace("http://www.w3.org/2000/svg", "")
    assert not re.search(
        r"https?:|//|url\(|@import|<link|<iframe", re.sub(r"\n\s*//.*|;\s*//.*", "", without)
    )


def test_command_does_it_again(sepconv):
    import shlex

    np.save(sepconv.folder / "a b'c.npy", image())
    result = page(sepconv, "a b'c.npy", "out.npy", "box:radius=1")
    words = shlex.split(result.json["command"])
    assert words[:2] == ["cd", str(sepconv.folder)] and words[2] == "sepconv"
    sepconv(*words[3:])


def sharpened_noise(dtype):
    """Values whose means are far less spread than they are."""
    values = np.random.default_rng(3).integers(0, 256, (1100, 1300)).astype(dtype)
    if np.issubdtype(dtype, np.floating):
        values[:200:2, :300] = np.nan
    return values


def cell_means(values, shape):
    """NumPy's means of the cells that AreaMeans has."""
    edges = [np.arange(count + 1) * length // count for count, length in zip(shape, values.shape)]
    add = lambda pixels: np.add.reduceat(np.add.reduceat(pixels, edges[0][:-1], 0), edges[1][:-1], 1)
    with np.errstate(invalid="ignore"):  # a cell without values
        return add(np.nan_to_num(values.astype(float))) / add(np.isfinite(values).astype(float))


CUTS = [(), ("--band-rows", 7), ("--band-rows", 128, "--band-cols", 129), ("--threads", 1, "--slots", 1)]


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int16, np.uint32, np.float32, np.float64])
def test_overview_is_made_of_means_however_the_image_is_cut(sepconv, dtype):
    values = sharpened_noise(dtype)
    np.save(sepconv.folder / "in.npy", values)
    made = [page(sepconv, "in.npy", "out.npy", "box:radius=3", "--nodata", "none", *cut) for cut in CUTS]
    shown = made[0].pictures()["source overview"]
    low, high = made[0].shown["source"]["low"], made[0].shown["source"]["high"]
    expected = 255 * (cell_means(values, shown.shape) - low) / (high - low)
    assert np.abs(shown - np.clip(expected, 0, 255)).max() < 0.51
    assert shown.size <= 1 << 18 and shown.std() < 0.6 * values[300:].std()
    for other in made[1:]:
        for name, picture in made[0].pictures().items():
            assert np.array_equal(picture, other.pictures()[name]), name


def test_overview_leaves_missing_pixels_out_of_its_means(sepconv):
    values = sharpened_noise(np.uint8) // 2 + 100
    hidden = np.random.default_rng(4).random(values.shape) < 0.4
    values[hidden] = 0
    np.save(sepconv.folder / "in.npy", values)
    shown = page(sepconv, "in.npy", "out.npy", "--nodata", "0").pictures()["source overview"]
    expected = cell_means(np.where(hidden, np.nan, values.astype(float)), shown.shape)
    assert np.abs(shown - np.nan_to_num(expected)).max() < 0.51


def test_overview_of_a_palette_has_no_mean_of_classes(sepconv):
    classes = np.random.default_rng(5).choice([3, 200], (1100, 1300)).astype(np.uint8)
    colours = np.random.default_rng(6).integers(0, 65536, (3, 256)).astype(np.uint16)
    tifffile.imwrite(sepconv.folder / "in.tif", classes, photometric="palette", colormap=colours)
    found = page(sepconv, "in.tif", "out.tif").pictures()
    assert set(np.unique(found["source overview"])) == {3, 200} == set(np.unique(found["result overview"]))
    found = page(sepconv, "in.tif", "out.tif", "cast:type=f32", "box:radius=1").pictures()
    assert set(np.unique(found["source overview"])) == {3, 200}
    assert len(np.unique(found["result overview"])) > 50


def test_page_of_a_json_is_the_page_without_pictures(sepconv, source):
    sepconv("run", source, "out.npy", "gaussian:sigma=1", "--stats", "run.json", "--quiet")
    sepconv("report", "run.json")
    text = (sepconv.folder / "run.html").read_text()
    assert Page(text).json == json.loads((sepconv.folder / "run.json").read_text())
    assert sepconv("report", "run.json", "-o", "-").stdout == text
    assert "--force" in fails(sepconv, "report", "run.json", status=1)
    sepconv("report", "run.json", "--force")
    assert "the JSON" in fails(sepconv, "report", "run.json", "-o", "run.json", "--force", status=2)


@pytest.mark.parametrize(
    "text", ["{", "[]", "3", '{"steps": []}', '{"wall_seconds": 1, "steps": [7]}', "[" * 9999]
)
def test_other_files_have_no_page(sepconv, text):
    (sepconv.folder / "other.json").write_text(text)
    assert "other.json is not the JSON of a run (" in fails(sepconv, "report", "other.json", status=1)
    assert not (sepconv.folder / "other.html").exists()


def test_set_of_images_shows_the_first(sepconv):
    tifffile = pytest.importorskip("tifffile")
    pages = np.stack([image(seed=i) for i in range(3)])
    tifffile.imwrite(sepconv.folder / "in.tif", pages, photometric="minisblack")
    result = page(sepconv, "in.tif", "out.tif", "box:radius=1")
    assert (
        np.array_equal(result.pictures()["source detail"], pages[0])
        and "of the first image" in result.shown["part"]
    )


@pytest.mark.parametrize(
    "axes, stages",
    [
        ("zyx", ["gaussian:sigma=1,sigma_z=1,border=wrap"]),
        ("zcyx", ["box:radius=1,radius_z=1", "cast:type=f32"]),
        ("tzyx", ["gaussian:sigma=1,sigma_z=1", "reduce:factor=2"]),
    ],
)
def test_volume_shows_the_plane_in_the_middle(sepconv, axes, stages):
    """A chain along z uses planes as rows of one image, which must not be visible."""
    shape = [5 if axis == "z" else 2 for axis in axes[:-2]]
    pixels = np.stack([image(60, 90, seed=i) for i in range(int(np.prod(shape)))]).reshape(*shape, 60, 90)
    np.save(sepconv.folder / "in.npy", pixels)
    made = page(sepconv, "in.npy", "out.npy", *stages, "--axes", axes, "--band-rows", 2)
    position = tuple(2 if axis == "z" else 0 for axis in axes[:-2])
    result = np.load(sepconv.folder / "out.npy")[position]
    found = made.pictures()
    assert np.array_equal(found["source detail"], pixels[position]) and np.array_equal(
        found["source overview"], pixels[position]
    )
    assert found["result detail"].shape == result.shape
    if result.dtype == np.uint8:
        assert np.array_equal(found["result detail"], result)
    part = made.shown["part"]
    assert "of plane 3 of 5 along z" in part and ("the first there" in part) == ("c" in axes)
    assert "5 planes along z of" in made.json["texts"]["source"] and "5 pixels" not in json.dumps(made.json)
    assert "without its filter along z" in made.response["notes"][0]


def test_summary_and_plan_of_a_volume_speak_of_planes(sepconv):
    np.save(sepconv.folder / "in.npy", np.stack([image(60, 90, seed=i) for i in range(5)]))
    job = ("in.npy", "out.npy", "gaussian:sigma=1,sigma_z=1", "--axes", "zyx", "--band-rows", 2)
    assert "5 planes along z of 90 x 60 pixels" in sepconv("plan", *job).stdout
    assert "3 bands of 2 planes along z of 90 x 60 pixels" in sepconv("run", *job).stderr


def test_other_endings_are_text_and_products_have_no_page(sepconv, source):
    sepconv("run", source, "out.npy", "--report", "report.htm", "--quiet")
    assert (sepconv.folder / "report.htm").read_text().startswith("<!DOCTYPE html>")
    sepconv("transpose", source, "turned.npy", "--report", "turned.HTML", "--quiet")
    assert (sepconv.folder / "turned.HTML").read_text().startswith("<!DOCTYPE html>")
    np.save(sepconv.folder / "a.npy", np.eye(3))
    assert "another ending" in fails(
        sepconv, "gemm", "a.npy", "a.npy", "c.npy", "--report", "c.html", status=2
    )


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    if browser.PROGRAM is None:
        pytest.skip("no Chromium")
    item = browser.Browser(tmp_path_factory.mktemp("profile"))
    yield item
    item.close()


@pytest.fixture
def shown(sepconv, chromium):
    np.save(sepconv.folder / "in.npy", image(600, 800))
    page(sepconv, "in.npy", "out.npy", "gaussian:sigma=2", "--band-rows", 50)
    chromium.complaints.clear()
    chromium.asked.clear()
    chromium.open(sepconv.folder / "report.html")
    return chromium


def shown_text(chromium):
    return chromium.value("document.body.innerText")


def test_browser_opens_it_without_a_complaint(shown, sepconv):
    assert shown.complaints == []
    assert [url for url in shown.asked if not url.startswith(("data:", "file:"))] == []
    assert shown.value(
        "[...document.images].every(image => image.complete && image.naturalWidth > 0 && image.alt)"
    )
    assert shown.value(
        "[...document.querySelectorAll('svg')].every(drawing => drawing.getAttribute('aria-label'))"
    )
    assert shown.value(
        "[...document.querySelectorAll('button, input')].every(one => one.ariaLabel || one.textContent)"
    )


def test_browser_shows_the_facts_of_the_json(shown, sepconv):
    run, text = Page((sepconv.folder / "report.html").read_text()).json, shown_text(shown)
    assert run["advice"] in text and run["command"].splitlines()[-1] in text
    for step in run["steps"]:
        assert re.search(rf"{step['name']}\s+{step['busy_seconds']:.3f} s", text)
    for name, value in run["plan_facts"] + run["files"]["source"]["facts"] + run["files"]["result"]["facts"]:
        assert name in text and value.splitlines()[0] in text
    titles = shown.value("[...document.querySelectorAll('rect.x title')].map(title => title.textContent)")
    assert [float(title.split()[1]) for title in titles] == pytest.approx(run["response"]["x"], rel=1e-5)
    blocks = shown.value("document.querySelectorAll('#timeline rect:not(.lane)').length")
    assert blocks == sum(len(step["spans"]) for step in run["steps"])
    histogram = run["pictures"]["source"]["histogram"]
    assert f"mean {histogram['mean']:.4g}" in text


def test_browser_shows_what_an_earlier_version_wrote(sepconv, chromium):
    """Its JSON has no texts, files, spans, rates of pixels and no response."""
    np.save(sepconv.folder / "in.npy", image())
    sepconv("run", "in.npy", "out.npy", "box", "--max-memory", "4G", "--stats", "run.json", "--quiet")
    run = json.loads((sepconv.folder / "run.json").read_text())
    for key in ("texts", "files", "plan_facts", "response", "command"):
        del run[key]
    for step in run["steps"]:
        del step["spans"], step["pixels_per_second"]
    (sepconv.folder / "old.json").write_text(json.dumps(run))
    sepconv("report", "old.json")
    chromium.complaints.clear()
    chromium.open(sepconv.folder / "old.html")
    text = shown_text(chromium)
    assert chromium.complaints == [] and run["advice"] in text and run["plan"]["chain"][0] in text
    assert "ceiling, 4.00 GiB, far above this picture" in text and "With one band no two steps" in text
    assert all(word not in text for word in ("undefined", "NaN", "Mpix/s\t", "Timeline", "null"))


def test_slider_moves_by_mouse_and_by_keyboard(shown):
    at = lambda: shown.value("getComputedStyle(document.querySelector('.slider')).getPropertyValue('--at')")
    assert at() == "50%"
    shown.value("document.querySelector('.slider').scrollIntoView({block: 'center'})")
    left, top, width, height = shown.value(
        "(box => [box.x, box.y, box.width, box.height])(document.querySelector('.slider input').getBoundingClientRect())"
    )
    shown.drag((left + width / 2, top + height / 2), (left + width / 4, top + height / 2))
    moved = float(at().rstrip("%"))
    assert 20 < moved < 30
    shown.value("document.querySelector('.slider input').focus()")
    shown.press("ArrowRight", 39)
    assert float(at().rstrip("%")) == moved + 1
    assert shown.value("getComputedStyle(document.querySelector('.after')).clipPath").endswith(
        f"{moved + 1:g}%)"
    )


def test_timeline_zooms_by_buttons_and_by_keyboard(shown):
    seen = lambda: [
        float(part)
        for part in shown.value("document.getElementById('timeline').getAttribute('viewBox')").split()
    ][:3:2]
    assert seen() == [0, 1000]
    shown.value("document.querySelector('[data-act=in]').click()")
    assert seen() == [250, 500]
    shown.value("document.getElementById('timeline').focus()")
    shown.press("ArrowRight", 39)
    assert seen() == [375, 500]
    shown.press("0", 48)
    assert seen() == [0, 1000]


@pytest.mark.parametrize("width,dark", [(1200, False), (1200, True), (400, False)])
def test_nothing_is_wider_than_the_window(shown, sepconv, width, dark):
    shown.open(sepconv.folder / "report.html", width, dark=dark)
    assert shown.value("document.documentElement.scrollWidth") <= width
    assert shown.value(
        "(table => table.scrollWidth <= table.clientWidth)(document.querySelector('.scroll'))"
    )  # and it need not be scrolled
    ground = shown.value("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(21, 24, 28)" if dark else "rgb(255, 255, 255)")


def test_printed_it_has_both_pictures_and_no_slider(shown):
    shown.call("Emulation.setEmulatedMedia", media="print")
    assert shown.value("document.querySelector('.slider').offsetHeight") == 0
    assert shown.value("document.querySelector('.both img').offsetHeight") > 0
    assert shown.printed().startswith(b"%PDF")
