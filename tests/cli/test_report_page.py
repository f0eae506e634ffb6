"""run --report FILE.html: a self-contained page, tested in a real browser if one exists (Debian's `chromium`,
414 MB, which ./dev test does not install)."""

import base64
import html.parser
import io
import json
import re

import numpy as np
import pytest
import tifffile

import browser
from cli_support import fails, image, source  # noqa: F401

PIL = pytest.importorskip("PIL.Image")


class Page(html.parser.HTMLParser):
    """The elements and the text of a page."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.words = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    handle_startendtag = handle_starttag

    def handle_data(self, data):
        self.words.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def pictures(self):
        """The embedded pictures by their alternative texts."""
        decoded = lambda source: np.asarray(
            PIL.open(io.BytesIO(base64.b64decode(source.removeprefix("data:image/png;base64,"))))
        )
        return {item["alt"]: decoded(item["src"]) for item in self.all("img")}


def page(sepconv, *arguments, name="report.html"):
    sepconv("run", *arguments, "--report", name, "--quiet", "--force", "--device", "cpu")
    return Page((sepconv.folder / name).read_text())


def test_details_are_the_pixels_of_both_files(sepconv):
    pixels = image(700, 900)
    np.save(sepconv.folder / "in.npy", pixels)
    found = page(sepconv, "in.npy", "out.npy", "box:radius=2", "--band-rows", 37).pictures()
    rows, cols = slice(110, 590), slice(90, 810)
    assert np.array_equal(found["Detail of the source"], pixels[rows, cols])
    assert np.array_equal(found["Detail of the result"], np.load(sepconv.folder / "out.npy")[rows, cols])
    assert found["Overview of the source"].shape == found["Overview of the result"].shape


def test_overview_has_every_part_in_its_place(sepconv):
    """For bands and columns of bands: blocks of 100 x 100 pixels of one value each."""
    blocks = np.arange(1, 13, dtype=np.uint8).reshape(3, 4) * 20
    np.save(sepconv.folder / "in.npy", np.kron(blocks, np.ones((100, 100), np.uint8)))
    found = page(
        sepconv, "in.npy", "out.tif", "abs", "--band-rows", 64, "--band-cols", 128, "--tile", 64
    ).pictures()
    for name in ("Overview of the source", "Overview of the result"):
        rows, cols = found[name].shape
        assert np.array_equal(found[name][rows // 6 :: rows // 3, cols // 8 :: cols // 4], blocks)


@pytest.mark.parametrize("dtype", [np.uint16, np.int16, np.float32, np.float64])
def test_other_types_are_stretched_between_percentiles(sepconv, dtype):
    values = np.linspace(100, 1100, 400 * 500).reshape(400, 500)
    values[0, 0], values[0, 1] = 30000, -20000 if dtype != np.uint16 else 0
    np.save(sepconv.folder / "in.npy", values.astype(dtype))
    result = page(sepconv, "in.npy", "out.npy")
    low, high = map(
        float, re.search(r"source, 500 x 400 pixels: black is (\S+), white is (\S+)", result.text).groups()
    )
    assert low == pytest.approx(105, abs=2) and high == pytest.approx(1095, abs=2)
    shown = result.pictures()["Overview of the source"]
    assert (
        shown.min() == 0
        and shown.max() == 255
        and abs(int(shown[shown.shape[0] // 2, shown.shape[1] // 2]) - 127) < 3
    )


def test_colours_and_many_channels(sepconv):
    pixels = image(50, 60, 4)
    np.save(sepconv.folder / "in.npy", pixels)
    result = page(sepconv, "in.npy", "out.npy")
    assert (
        np.array_equal(result.pictures()["Detail of the source"], pixels[:, :, :3])
        and "Of 4 channels the first three." in result.text
    )
    np.save(sepconv.folder / "seven.npy", image(50, 60, 7))
    result = page(sepconv, "seven.npy", "out.npy", "--axes", "yxc")
    assert (
        np.array_equal(result.pictures()["Detail of the source"], image(50, 60, 7)[:, :, 0])
        and "Of 7 channels the first." in result.text
    )


def test_region_transpose_and_another_size(sepconv):
    pixels = image(300, 400)
    np.save(sepconv.folder / "in.npy", pixels)
    found = page(sepconv, "in.npy", "out.npy", "box:radius=1", "--region", "100x80+200+150").pictures()
    assert np.array_equal(found["Detail of the source"], pixels[150:230, 200:300])
    assert np.array_equal(found["Detail of the result"], np.load(sepconv.folder / "out.npy"))
    transposed = page(sepconv, "in.npy", "out.npy", "transpose")
    assert np.array_equal(
        transposed.pictures()["Overview of the result"], transposed.pictures()["Overview of the source"].T
    )
    assert not transposed.all("input")  # positions are changed
    smaller = page(sepconv, "in.npy", "out.npy", "reduce:factor=2")
    assert smaller.pictures()["Detail of the source"].shape == (300, 400) and smaller.pictures()[
        "Detail of the result"
    ].shape == (150, 200)
    assert len(smaller.all("input")) == 1


def test_a_part_of_a_result_has_no_pictures_of_all_of_it(sepconv):
    sepconv("generate", "in.tif", "--size", "900x900", "--tile", "128", "-q")
    sepconv(
        "run", "in.tif", "out.tif", "gaussian:sigma=2", "--create-only", "--band-rows", "128", "--force", "-q"
    )
    shown = page(sepconv, "in.tif", "out.tif", "gaussian:sigma=2", "--part", "1/3")
    assert not shown.pictures() and "made a part of the result" in shown.text


def test_missing_pixels_are_in_no_percentile_and_no_mean(sepconv):
    """For a nodata value far from all others, which would make these one shade of grey."""
    values = np.linspace(100, 1100, 200 * 300).reshape(200, 300).astype(np.float32)
    values[:100] = -9999
    np.save(sepconv.folder / "in.npy", values)
    result = page(sepconv, "in.npy", "out.npy", "box:radius=0", "--nodata", "-9999", "--dst-nodata", "-5000")
    for side in ("source", "result"):
        low, high, mean, minimum, fraction = map(
            float,
            re.search(
                side
                + r", 300 x 200 pixels: black is (\S+), white is (\S+).*?"
                + side
                + r": mean (\S+), deviation \S+, from (\S+) to .*? samples; (\S+) % are missing",
                result.text,
            ).groups(),
        )
        assert (
            low == pytest.approx(602, abs=3)
            and high == pytest.approx(1098, abs=3)
            and mean == pytest.approx(850, abs=2)
            and minimum >= 600
            and fraction == 50
        )
    shown = result.pictures()["Overview of the result"]
    assert shown[:100].max() == 0 and shown[100:].std() > 50


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_what_alpha_hides_is_in_no_percentile_and_no_mean(sepconv, dtype):
    pixels = np.full((100, 150, 4), 50, dtype)
    pixels[..., :3] += np.arange(150, dtype=dtype)[:, None] % 50
    pixels[:25] = (255, 0, 255, 0)
    tifffile.imwrite(sepconv.folder / "in.tif", pixels, photometric="rgb", extrasamples=["unassalpha"])
    result = page(sepconv, "in.tif", "out.tif", "box:radius=0")
    for side in ("source", "result"):
        minimum, maximum, fraction = re.search(
            side + r": mean 74.5, deviation \S+, from (\S+) to (\S+), of 45000 samples; (\S+) % are missing",
            result.text,
        ).groups()
        assert (minimum, maximum, fraction) == ("50", "99", "25")
    shown = result.pictures()["Overview of the result"]
    assert shown[:25].max() == 0 and shown[25:].max() > 0
    assert "are missing" not in page(sepconv, "in.tif", "out.tif", "--nodata", "none").text


def test_one_band_is_said_to_overlap_with_nothing(sepconv):
    np.save(sepconv.folder / "in.npy", image(30, 40))
    text = page(sepconv, "in.npy", "out.npy").text
    assert "With one band no two steps were busy at once." in text and "times as long" not in text


@pytest.mark.parametrize(
    "dtype, most", [(np.uint8, 255), (np.uint16, 400), (np.int16, 70), (np.uint16, 50000)]
)
def test_histograms_of_integers_are_no_combs(sepconv, dtype, most):
    """With uniformly distributed values each bar is as high as its neighbours."""
    np.save(
        sepconv.folder / "in.npy",
        np.resize(np.arange(most + 1), (120000 // (most + 1), most + 1)).astype(dtype),
    )
    text = (sepconv.folder / "report.html", page(sepconv, "in.npy", "out.npy"))[0].read_text()
    low, high, points = re.search(
        r'aria-label="Histogram of the source from (\S+) to (\S+)".*?points="(.*?)"', text
    ).groups()
    heights = np.array([float(point.split(",")[1]) for point in points.split()])
    middle = heights[len(heights) // 4 : 3 * len(heights) // 4]
    assert (
        middle.max() - middle.min() < 10
        and float(low) >= (0 if dtype != np.int16 else -10)
        and float(low).is_integer()
        and float(high).is_integer()
    )


def test_a_ceiling_far_above_leaves_the_memory_its_picture(sepconv):
    np.save(sepconv.folder / "in.npy", image(300, 400))
    far, near = (
        page(sepconv, "in.npy", "out.npy", "--max-memory", maximum).text for maximum in ("4G", "32M")
    )
    assert "ceiling, 4.00 GiB, far above this picture" in far and "far above" not in near
    points = re.search(r'class="area" points="(.*?)"', (sepconv.folder / "report.html").read_text())[
        1
    ].split()
    assert (
        points[-1] == "1000,100" and points[-2] == "1000," + points[-3].split(",")[1]
    )  # the same as for the last band, to the end


def test_a_fact_of_a_file_is_said_once(sepconv):
    np.save(sepconv.folder / "in.npy", image(30, 40))
    words = page(sepconv, "in.npy", "out.png").words
    assert words.count("layout") == 2  # of the source and of the result


def test_not_a_number_is_said(sepconv):
    values = np.ones((64, 64), np.float32)
    values[:32] = np.nan
    np.save(sepconv.folder / "in.npy", values)
    assert "50 % are not-a-number" in page(sepconv, "in.npy", "out.npy", "--nodata", "none").text
    np.save(sepconv.folder / "in.npy", np.full((64, 64), np.nan, np.float32))
    assert (
        "All samples of the source are not-a-number."
        in page(sepconv, "in.npy", "out.npy", "--nodata", "none").text
    )


def test_words_are_those_of_the_json(sepconv, tmp_path):
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
    text = Page((sepconv.folder / "report.html").read_text()).text
    stats = json.loads((sepconv.folder / "stats.json").read_text())
    assert stats["advice"] in text
    for step in stats["steps"]:
        assert f"{step['name']} {step['busy_seconds']:.3f} s" in text
    for note in stats["plan"]["notes"]:
        assert note in text
    assert stats["memory"] and all(
        0 < seconds < stats["wall_seconds"] and held > 2**20 for seconds, held in stats["memory"]
    )


def test_taps_and_frequencies(sepconv):
    """The titles of the bars are SciPy's weights, and the response at half a cycle per pixel is their
    alternating sum."""
    ndi = pytest.importorskip("scipy.ndimage")
    np.save(sepconv.folder / "in.npy", image())
    page(sepconv, "in.npy", "out.npy", "gaussian:sigma=1.5", "cast:type=f32")
    text = (sepconv.folder / "report.html").read_text()
    matches = [float(item) for item in re.findall(r'<rect class="x"[^>]*><title>-?\d+: (\S+?)</title>', text)]
    line = np.zeros(13)
    line[6] = 1
    assert np.allclose(matches, ndi.gaussian_filter1d(line, 1.5, truncate=4), atol=1e-6)
    assert "no frequency response" not in text


def test_taps_that_reach_as_far_as_is_drawn_meet_no_edge(sepconv):
    np.save(sepconv.folder / "in.npy", image())
    page(sepconv, "in.npy", "out.npy", "box:radius=256", "box:radius=256", "cast:type=f32")
    matches = [
        float(item)
        for item in re.findall(
            r'<rect class="x"[^>]*><title>-?\d+: (\S+?)</title>', (sepconv.folder / "report.html").read_text()
        )
    ]
    assert np.allclose(matches, np.convolve(np.ones(513), np.ones(513)) / 513**2, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int16, np.uint32, np.float32, np.float64])
@pytest.mark.parametrize("pixels", [[0], [7], [0, 1], [0, 0, 65535]])
def test_images_of_few_values_have_a_page(sepconv, dtype, pixels):
    values = np.zeros((64, 64), dtype)
    values.flat[: len(pixels)] = np.minimum(
        pixels, np.iinfo(dtype).max if np.issubdtype(dtype, np.integer) else np.inf
    ).astype(dtype)
    np.save(sepconv.folder / "in.npy", values)
    page(sepconv, "in.npy", "out.npy", "box")
    assert "Histogram of the source" in (sepconv.folder / "report.html").read_text()


@pytest.mark.parametrize("sigma", [8.5, 30, 35, 44])
def test_taps_by_cells_are_found_wherever_these_lie(sepconv, sigma):
    np.save(sepconv.folder / "in.npy", image())
    result = page(sepconv, "in.npy", "out.npy", f"gaussian:sigma={sigma},method=multirate", "cast:type=f32")
    assert "could not be computed" not in result.text
    matches = [
        float(item)
        for item in re.findall(
            r'<rect class="x"[^>]*><title>-?\d+: (\S+?)</title>', (sepconv.folder / "report.html").read_text()
        )
    ]
    assert abs(sum(matches) - 1) < 1e-4 and max(matches) == pytest.approx(
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
    assert said in result.text


def test_whatever_names_and_files_hold_is_no_html(sepconv):
    name = "<script>alert(1)</script>&\"'.npy".replace("/", "-")
    np.save(sepconv.folder / name, image())
    evil = "<img src=x onerror=alert(2)>"
    tifffile = pytest.importorskip("tifffile")
    tifffile.imwrite(sepconv.folder / "in.tif", image(), description=evil)
    for arguments in ((name, "out.npy"), ("in.tif", "<b>.tif")):
        result = page(sepconv, *arguments)
        assert (
            len(result.all("script")) == 1
            and not result.all("b")
            and all(item["src"].startswith("data:") for item in result.all("img"))
        )
        assert arguments[0] in result.text
    assert evil in result.text


def test_page_asks_nobody_for_anything(sepconv, source):
    text = (
        page(sepconv, source, "out.npy", "gaussian:sigma=1"),
        (sepconv.folder / "report.html").read_text(),
    )[1]
    without = re.sub(r"base64,[\w+/=]+", "", text)
    assert not re.search(
        r"https?:|//|url\(|@import|<link|<iframe", re.sub(r"\n\s*//.*|;\s*//.*", "", without)
    )


def test_command_does_it_again(sepconv):
    import shlex

    np.save(sepconv.folder / "a b'c.npy", image())
    result = page(sepconv, "a b'c.npy", "out.npy", "box:radius=1")
    line = result.text[result.text.index("cd ") :]
    words = shlex.split(line[: line.index("--device cpu") + len("--device cpu")])
    assert words[:2] == ["cd", str(sepconv.folder)] and words[2] == "sepconv"
    sepconv(*words[3:])


def test_set_of_images_shows_the_first(sepconv):
    tifffile = pytest.importorskip("tifffile")
    pages = np.stack([image(seed=i) for i in range(3)])
    tifffile.imwrite(sepconv.folder / "in.tif", pages, photometric="minisblack")
    result = page(sepconv, "in.tif", "out.tif", "box:radius=1")
    assert (
        np.array_equal(result.pictures()["Detail of the source"], pages[0])
        and "of the first image" in result.text
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
    assert np.array_equal(found["Detail of the source"], pixels[position]) and np.array_equal(
        found["Overview of the source"], pixels[position]
    )
    assert found["Detail of the result"].shape == result.shape
    if result.dtype == np.uint8:
        assert np.array_equal(found["Detail of the result"], result)
    assert "of plane 3 of 5 along z" in made.text and ("the first there" in made.text) == ("c" in axes)
    assert "5 planes along z of" in made.text and "5 pixels" not in made.text
    assert "without its filter along z" in made.text


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
