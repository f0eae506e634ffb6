"""`preview`: the chain on a level or a detail, immediately. Its pixels are those of a run on the same level;
pictures in a terminal show the computed pixels."""

import base64
import io
import os
import re
import resource

import numpy as np
import pytest
import tifffile

from conftest import BINARY
from cli_support import fails, image, in_terminal, listing

FAILED, WRONG_USAGE = 1, 2
BLUR = "gaussian:sigma=2"


def read_pixels(path):
    """Reads with tifffile: the pictures are written as TIFF."""
    return tifffile.imread(path).squeeze()


def preview(sepconv, *arguments, name="view.tif"):
    process = sepconv("preview", *arguments, "-o", name, "--force")
    assert process.stdout == ""
    return read_pixels(sepconv.folder / name) if name.endswith(".tif") else None, process.stderr.splitlines()


@pytest.fixture
def pyramid(sepconv):
    """2048 x 1536 with levels down to a few pixels, smooth, so that blurring and reducing nearly commute."""
    sepconv("generate", "base.tif", "--size", "2048x1536", "--pattern", "natural", "-q")
    sepconv("run", "base.tif", "scan.tif", "--pyramid", "--tile", "256", "-q")
    return "scan.tif"


def test_a_small_image_is_seen_whole_and_exactly(sepconv):
    np.save(sepconv.folder / "in.npy", image(rows=90, cols=70, channels=3))
    seen, messages = preview(sepconv, "in.npy", BLUR, "abs")
    sepconv("run", "in.npy", "out.npy", BLUR, "abs", "-q")
    assert np.array_equal(seen, np.load(sepconv.folder / "out.npy"))
    assert messages == ["all of 70 x 90 pixels, at full resolution"]


def test_a_region_is_that_of_a_run(sepconv, pyramid):
    region = "300x200+700+400"
    seen, messages = preview(sepconv, pyramid, BLUR, "--region", region)
    sepconv("run", pyramid, "part.npy", BLUR, "--region", region, "-q")
    assert np.array_equal(seen, np.load(sepconv.folder / "part.npy"))
    assert messages == [f"a detail, {region} of 2048 x 1536 pixels, at full resolution"]


def test_a_level_has_the_lengths_of_the_level(sepconv, pyramid):
    seen, messages = preview(
        sepconv, pyramid, "gaussian:sigma=8,truncate=3", "scale:factor=0.5", "--level", "2", "--size", "4096"
    )
    sepconv(
        "run", pyramid, "level.npy", "gaussian:sigma=2,truncate=3", "scale:factor=0.5", "--level", "2", "-q"
    )
    assert np.array_equal(seen, np.load(sepconv.folder / "level.npy"))
    assert messages[0] == "all of 512 x 384 pixels, at level 2, 4 times smaller than the image" and messages[
        1
    ].endswith(": gaussian:sigma=2")
    sepconv("run", pyramid, "full.npy", "gaussian:sigma=8,truncate=3", "scale:factor=0.5", "-q")
    reduced = np.load(sepconv.folder / "full.npy").reshape(384, 4, 512, 4).mean((1, 3))
    assert np.abs(seen - reduced).mean() < 1.5  # the run's result, reduced


def test_a_level_is_chosen_where_the_image_is_large(sepconv):
    levels = [(3 * 2048, 4 * 2048), (3 * 512, 4 * 512), (3 * 128, 4 * 128), (3 * 32, 4 * 32)]
    with tifffile.TiffWriter(sepconv.folder / "in.tif") as result:
        for i, shape in enumerate(levels):
            result.write(
                np.full(shape, 10 * i, np.uint8),
                tile=(256, 256),
                compression="deflate",
                subfiletype=1 if i else 0,
                metadata=None,
            )
    for size, level, shape in (
        (100, 3, (75, 100)),
        (512, 2, (384, 512)),
        (500, 2, (375, 500)),
        (1500, 1, (1125, 1500)),
    ):
        seen, messages = preview(sepconv, "in.tif", "--size", size)
        assert (seen == 10 * level).all() and seen.shape == shape and f"level {level}" in messages[0]
    seen, messages = preview(
        sepconv, "in.tif", "--region", "6100x6100+100+20", "--size", "1000"
    )  # large, therefore from a level, too
    assert seen.shape == (1000, 1000) and "level 1" in messages[0] and (seen == 10).all()
    seen, messages = preview(sepconv, "in.tif", "--region", "900x600+100+20")
    assert seen.shape == (600, 900) and "full resolution" in messages[0] and (seen == 0).all()


def test_a_detail_of_what_has_no_levels_is_immediate_whatever_the_size(sepconv):
    tifffile.memmap(
        sepconv.folder / "huge.tif",
        shape=(320000, 320000),
        dtype=np.uint8,
        bigtiff=True,
        photometric="minisblack",
    )  # sparse
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    seen, messages = preview(sepconv, "huge.tif", BLUR)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (
        after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 3
    )  # processor time, independent of other load
    assert seen.shape == (1024, 1024) and messages == [
        "a detail, 1024x1024+159488+159488 of 320000 x 320000 pixels, at full resolution"
    ]


def test_what_is_decoded_as_a_whole_is_said(sepconv):
    for name, whole in (("in.png", True), ("in.tif", False)):
        sepconv("generate", name, "--size", "5000x4000")
        result = sepconv(
            "preview", name, "-o", "view.png", "--force", "--size", "256", "--region", "300x300+0+0"
        )
        assert ("decoded as a whole" in result.stderr) == whole


def test_a_chain_of_a_stage_has_the_lengths_of_the_level(sepconv, pyramid):
    _, messages = preview(
        sepconv, pyramid, "subtract:chain=[box:radius=16 | gaussian:sigma=24]", "--level", "3"
    )
    assert (
        "lengths of the chain are those of the level: subtract:chain=[box:radius=2 | gaussian:sigma=3]"
        in messages
    )


def test_beside_a_second_image_the_image_itself_is_seen(sepconv, pyramid):
    sepconv("generate", "one.npy", "--size", "1x1")
    _, messages = preview(sepconv, pyramid, "subtract:file=one.npy", "--region", "64x64+100+100")
    assert "at full resolution" in messages[0]
    with_all, messages = preview(sepconv, pyramid, f"subtract:file={pyramid}")
    assert not with_all.any() and "level" not in messages[0]


def test_a_size_of_its_own_is_made_of_enough_pixels(sepconv):
    """And not from the smallest level, which would be enlarged."""
    with tifffile.TiffWriter(sepconv.folder / "in.tif") as result:
        for i, side in enumerate((4096, 1024, 256)):
            result.write(
                np.full((side, side), 10 * i, np.uint8),
                tile=(256, 256),
                subfiletype=1 if i else 0,
                metadata=None,
            )
    for size, level in ((1000, 1), (200, 2)):
        seen, messages = preview(sepconv, "in.tif", "resize:size=2000x2000", "--size", size)
        assert seen.shape == (size, size) and (seen == 10 * level).all()


def test_what_a_level_cannot_show_is_said(sepconv, pyramid):
    _, messages = preview(
        sepconv, pyramid, "gaussian:sigma=1", "sobel:axis=x", "box:radius=1", "--level", "3"
    )
    text = "\n".join(messages)
    assert (
        "gaussian:sigma=1 is narrower than a pixel" in text
        and "box:radius=1 is narrower" in text
        and "sobel takes the level's neighbours" in text
    )
    _, messages = preview(sepconv, pyramid, "resize:size=640x480", "gaussian:sigma=4", "--level", "1")
    assert len(messages) == 1 and "640 x 480" in messages[0]


@pytest.mark.parametrize("dtype", ["u2", "i2", "f4", "f8"])
def test_values_are_stretched_between_percentiles(sepconv, dtype):
    pixels = (np.random.default_rng(3).normal(500, 40, (120, 130))).astype(dtype)
    np.save(sepconv.folder / "in.npy", pixels)
    seen, messages = preview(sepconv, "in.npy")
    low, high = np.percentile(pixels.astype("f8"), [0.5, 99.5], method="lower")
    assert np.abs(seen - np.clip(255 * (pixels - low) / (high - low), 0, 255)).max() <= 1
    assert "is black" in messages[1] and abs(float(messages[1].split()[0]) - low) < 0.01 * low


def test_missing_pixels_are_transparent_and_not_counted(sepconv):
    pixels = image(rows=60, cols=80, dtype=np.float32) + 10
    pixels[10:20, 30:50] = -9999
    np.save(sepconv.folder / "in.npy", pixels)
    seen, messages = preview(sepconv, "in.npy", BLUR, "--nodata", "-9999")
    assert seen.shape == (60, 80, 4) and (seen[12:18, 33:47, 3] == 0).any() and seen[..., 3].max() == 255
    assert "missing pixels are transparent" in messages and re.search(
        r"10\.\d+ is black", "\n".join(messages)
    )
    pixels[pixels < 0] = np.nan
    np.save(sepconv.folder / "nan.npy", pixels)
    seen, _ = preview(sepconv, "nan.npy")
    assert np.array_equal(seen[..., 3] == 0, np.isnan(pixels))


@pytest.mark.parametrize("value", [np.nan, np.inf, -9999])
def test_where_nothing_is_there_no_value_is_said_to_be_black(sepconv, value):
    np.save(sepconv.folder / "in.npy", np.full((20, 30), value, np.float32))
    _, messages = preview(sepconv, "in.npy", "--nodata", "-9999")
    assert (
        "all values are missing or not finite: the preview is empty" in messages
        and "is black" not in "\n".join(messages)
    )


def test_alpha_stays(sepconv):
    pixels = image(rows=20, cols=30, channels=4)
    tifffile.imwrite(sepconv.folder / "in.tif", pixels, photometric="rgb", extrasamples=["unassalpha"])
    seen, _ = preview(sepconv, "in.tif")
    assert np.array_equal(seen[..., 3], pixels[..., 3]) and np.array_equal(
        seen[pixels[..., 3] > 0], pixels[pixels[..., 3] > 0]
    )


def test_pages(sepconv):
    with tifffile.TiffWriter(sepconv.folder / "in.tif") as result:
        for value in (10, 20, 30):
            result.write(np.full((8, 9), value, np.uint8), metadata=None, contiguous=False)
    seen, messages = preview(sepconv, "in.tif")
    assert (seen == 10).all() and "first of 3 images" in messages[-1] and "--page" in messages[-1]
    seen, messages = preview(sepconv, "in.tif", "--page", "2")
    assert (seen == 30).all() and len(messages) == 1


def test_of_a_stack_one_plane_is_seen(sepconv):
    pixels = image(rows=5 * 40, cols=50).reshape(5, 40, 50)
    np.save(sepconv.folder / "in.npy", pixels)
    np.save(sepconv.folder / "plane.npy", pixels[3])
    seen, messages = preview(sepconv, "in.npy", "gaussian:sigma=2,sigma_z=1", "--axes", "zyx", "--page", "3")
    assert (
        np.array_equal(seen, preview(sepconv, "plane.npy", BLUR)[0])
        and messages[1] == "gaussian is seen without its filter along z"
    )
    for stage in ("tophat:radius=2", "closing:radius=2", "subtract:chain=[gaussian:sigma=2]"):
        deep = stage.replace("radius=2", "radius=2,radius_z=1").replace("sigma=2", "sigma=2,sigma_z=1")
        seen, messages = preview(sepconv, "in.npy", deep, "--axes", "zyx", "--page", "3")
        assert np.array_equal(
            seen, preview(sepconv, "plane.npy", stage)[0]
        ) and "without its filter along z" in " ".join(messages)


def test_other_formats_and_quiet(sepconv):
    np.save(sepconv.folder / "in.npy", image())
    for name in ("view.png", "view.jpg", "view.pgm"):
        assert sepconv("preview", "in.npy", "-o", name, "-q").stderr == ""
    assert listing(sepconv.folder) == ["in.npy", "view.jpg", "view.pgm", "view.png"]


@pytest.mark.parametrize(
    "arguments, status, said",
    [
        (["in.npy"], WRONG_USAGE, "-o view.png"),
        (["in.npy", "-o", "in.npy"], WRONG_USAGE, "input"),
        (["in.npy", "-o", "view.doc"], WRONG_USAGE, "choose one of"),
        (["in.npy", "-o", "v.png", "--region", "999x4+0+0"], WRONG_USAGE, "not inside"),
        (["in.npy", "-o", "v.png", "--region", "4"], WRONG_USAGE, "--region 4 is not a region"),
        (["in.npy", "-o", "v.png", "--level", "1"], FAILED, "its levels are 0 to 0"),
        (["in.npy", "-o", "v.png", "gauss"], WRONG_USAGE, "gauss"),
        (["in.npy", "-o", "v.png", "--size", "0"], WRONG_USAGE, "--size"),
        (["-", "-o", "v.png"], WRONG_USAGE, "pipe"),
        (["in.npy", "-o", "nowhere/v.png"], FAILED, "nowhere"),
        (["in.npy", "-o", "there.png"], FAILED, "--force"),
        (["missing.npy", "-o", "v.png"], FAILED, "missing.npy"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be(sepconv, arguments, status, said):
    np.save(sepconv.folder / "in.npy", image())
    (sepconv.folder / "there.png").write_bytes(b"")
    assert said in fails(sepconv, "preview", *arguments, status=status)


# ---- in a terminal ----


def shown(sepconv, answers=None, **variables):
    pixels = np.repeat(np.repeat(image(rows=5, cols=8, channels=3), 6, 0), 6, 1)
    np.save(sepconv.folder / "in.npy", pixels)
    written, status = in_terminal([BINARY, "preview", "in.npy", "-q"], sepconv.folder, answers, **variables)
    return pixels, written, status


def decoded(sepconv, png):
    """A PNG as decoded by the program."""
    (sepconv.folder / "seen.png").write_bytes(png)
    sepconv("run", "seen.png", "seen.npy", "-q")
    return np.load(sepconv.folder / "seen.npy")


@pytest.mark.parametrize(
    "variables",
    [
        {"TERM": "xterm-kitty"},
        {"KITTY_WINDOW_ID": "1", "TERM": "xterm"},
        {"TERM_PROGRAM": "ghostty", "TERM": "xterm"},
    ],
    ids=str,
)
def test_kitty(sepconv, variables):
    pixels, written, status = shown(sepconv, **variables)
    chunks = re.findall(rb"\x1b_G([^;]*);([^\x1b]*)\x1b\\", written)
    assert (
        status == 0
        and chunks[0][0].startswith(b"a=T,f=100,")
        and chunks[-1][0].endswith(b"m=0")
        and all(len(data) <= 4096 for _, data in chunks)
    )
    assert np.array_equal(decoded(sepconv, base64.b64decode(b"".join(data for _, data in chunks))), pixels)


@pytest.mark.parametrize(
    "variables",
    [{"TERM_PROGRAM": "iTerm.app"}, {"LC_TERMINAL": "iTerm2"}, {"TERM_PROGRAM": "WezTerm"}],
    ids=str,
)
def test_iterm(sepconv, variables):
    pixels, written, status = shown(sepconv, TERM="xterm", **variables)
    size, data = re.search(rb"\x1b\]1337;File=inline=1;size=(\d+):([^\x07]*)\x07", written).groups()
    png = base64.b64decode(data)
    assert status == 0 and len(png) == int(size) and np.array_equal(decoded(sepconv, png), pixels)


def sixels(written):
    """The picture encoded as DEC sixels and its position, decoded by the test."""
    body = re.search(rb"\x1bP0;1q(.*?)\x1b\\", written, re.DOTALL)[1].decode()
    cols, rows = map(int, re.match(r'"1;1;(\d+);(\d+)', body).groups())
    seen, drawn, colours, colour, row, col = (
        np.zeros((rows + 6, cols, 3)),
        np.zeros((rows + 6, cols), bool),
        {},
        0,
        0,
        0,
    )
    for token in re.findall(r"#\d+(?:;\d+)*|!\d+[?-~]|[?-~]|[$-]", re.sub(r'^"[\d;]+', "", body)):
        if token[0] == "#":
            colour, *definition = map(int, token[1:].split(";"))
            if definition:
                colours[colour] = np.array(definition[1:]) * 2.55
        elif token in "$-":
            col, row = 0, row + (6 if token == "-" else 0)
        else:
            run = int(token[1:-1]) if token[0] == "!" else 1
            for k in range(6):
                if ord(token[-1]) - 63 >> k & 1:
                    seen[row + k, col : col + run], drawn[row + k, col : col + run] = colours[colour], True
            col += run
    return seen[:rows], drawn[:rows]


def answering(attributes, kitty=b""):
    """A terminal that is queried once for its capabilities."""
    messages = []

    def answer(written):
        if b"\x1b[c" in written and not messages:
            messages.append(True)
            return kitty + attributes
        return None

    return answer


def test_a_terminal_that_answers_that_it_has_sixels(sepconv):
    pixels, written, status = shown(sepconv, answering(b"\x1b[?62;4;22c"), TERM="xterm")
    seen, drawn = sixels(written)
    assert status == 0 and drawn.all() and seen.shape == pixels.shape
    blocks = lambda array: array[:24, :48].reshape(2, 12, 4, 12, 3).mean((1, 3))
    assert (
        np.abs(blocks(seen) - blocks(pixels)).max() < 30
    )  # dithered: means are correct, pixels have 216 colours


def test_a_terminal_that_answers_as_kitty(sepconv):
    _, written, status = shown(sepconv, answering(b"\x1b[?62c", kitty=b"\x1b_Gi=1;OK\x1b\\"), TERM="xterm")
    assert status == 0 and b"\x1b_Ga=T,f=100" in written


@pytest.mark.parametrize(
    "answers, variables",
    [
        (answering(b"\x1b[?62;22c"), {"TERM": "xterm"}),
        (None, {"TERM": "dumb"}),
        (None, {"TERM": "xterm"}),
        (answering(b"\x1b[?1;2c"), {"TERM": "tmux", "TMUX": "x", "KITTY_WINDOW_ID": "1"}),
    ],
    ids=range(4),
)
def test_a_terminal_that_cannot(sepconv, answers, variables):
    _, written, status = shown(sepconv, answers, **variables)
    assert status == WRONG_USAGE and b"-o view.png" in written and b"1337" not in written
