"""Every command does what its help says: its output, its files, and its machine-readable formats."""

import json
import re
import shlex
import resource
import subprocess

import numpy as np
import pytest
import tifffile

from conftest import BINARY
from cli_support import fails, image, in_terminal, listing


@pytest.fixture
def source(sepconv):
    np.save(sepconv.folder / "in.npy", image(rows=300, cols=400, channels=3))
    return "in.npy"


def stage_names(sepconv):
    return re.findall(r"^  (\w+)  ", sepconv("stages").stdout, re.MULTILINE)


# ---- run ----


def test_no_stage_copies(sepconv, source):
    sepconv("run", source, "out.npy")
    assert np.array_equal(np.load(sepconv.folder / "out.npy"), np.load(sepconv.folder / source))


def test_whole_image_runner_gives_the_same_bytes(sepconv, source):
    stages = ["gaussian:sigma=2", "sobel:axis=x", "cast:type=f32"]
    sepconv("run", source, "streamed.npy", *stages, "--band-rows", 17)
    sepconv("run", source, "whole.npy", *stages, "--reference")
    assert (sepconv.folder / "streamed.npy").read_bytes() == (sepconv.folder / "whole.npy").read_bytes()


def test_summary_on_stderr_unless_quiet(sepconv, source):
    short = sepconv("run", source, "out.npy", "box:radius=2")
    assert short.stdout == "" and "Mpix/s" in short.stderr and "at the peak" in short.stderr.splitlines()[0]
    process = sepconv("run", source, "out.npy", "box:radius=2", "--verbose", "--force")
    for word in ("Mpix/s", "bottleneck", "ceiling", "read", "compute", "write"):
        assert word in process.stderr
    assert sepconv("run", source, "out.npy", "box:radius=2", "--quiet", "--force").stderr == ""


def test_verbose_says_the_plan(sepconv, source):
    assert "plan:" in sepconv("run", source, "out.npy", "--verbose").stderr


def test_trace_report_and_stats(sepconv, source):
    sepconv(
        "run",
        source,
        "out.npy",
        "gaussian:sigma=1",
        "--band-rows",
        50,
        "--quiet",
        "--trace",
        "trace.json",
        "--report",
        "report.txt",
        "--stats",
        "stats.json",
    )
    events = json.loads((sepconv.folder / "trace.json").read_text())["traceEvents"]
    spans = [event for event in events if event["ph"] == "X"]
    assert {span["cat"] for span in spans} == {"read", "compute", "write"}
    assert {span["args"]["band"] for span in spans if span["cat"] == "compute"} == set(range(6))
    assert all(span["dur"] >= 0 and span["ts"] >= 0 for span in spans)
    stats = json.loads((sepconv.folder / "stats.json").read_text())
    assert stats["plan"]["bands"] == 6
    assert [step["name"] for step in stats["steps"]] == ["read", "compute", "write"]
    assert stats["steps"][2]["bytes"] == 300 * 400 * 3
    assert stats["peak_rss_bytes"] > 2**20
    assert "bottleneck" in (sepconv.folder / "report.txt").read_text()
    assert listing(sepconv.folder) == ["in.npy", "out.npy", "report.txt", "stats.json", "trace.json"]


def test_logs_of_an_earlier_run_are_replaced_with_force_and_of_a_failed_run_not_made(sepconv, source):
    (sepconv.folder / "stats.json").write_text("old")
    sepconv("run", "missing.npy", "out.npy", "--stats", "stats.json", status=1)
    assert "--force" in sepconv("run", source, "out.npy", "--stats", "stats.json", status=1).stderr
    assert (sepconv.folder / "stats.json").read_text() == "old"
    assert listing(sepconv.folder) == ["in.npy", "stats.json"]
    sepconv("run", source, "out.npy", "--stats", "stats.json", "--force")
    json.loads((sepconv.folder / "stats.json").read_text())


def test_raw_input_and_output(sepconv):
    pixels = image(rows=30, cols=20, channels=3, dtype=np.uint16)
    (sepconv.folder / "in.dat").write_bytes(b"header" + pixels.astype(">u2").tobytes())
    sepconv("run", "in.dat", "out.npy", "--raw", "20x30x3:u16be:6")
    assert np.array_equal(np.load(sepconv.folder / "out.npy"), pixels)


def progress_on_a_terminal(sepconv, *arguments):
    """The output of a run on a terminal."""
    written, status = in_terminal([BINARY, *arguments], sepconv.folder, TERM="xterm")
    assert status == 0, written
    return written.decode()


def test_progress_on_a_terminal_only(sepconv):
    with open(sepconv.folder / "in.raw", "wb") as source:
        source.truncate(8000 * 8000)
    arguments = [
        "run",
        "in.raw",
        "out.npy",
        "gaussian:sigma=10",
        "--raw",
        "8000x8000:u8",
        "--band-rows",
        "64",
        "--force",
    ]
    shown = progress_on_a_terminal(sepconv, *arguments)
    assert re.search(r"\d+ %  \d+ Mpix/s  \d+ MB/s  \d+:\d\d left", shown), shown
    lines = shown.split("\r\x1b[K")
    assert "left" not in lines[-1] and "Mpix/s; " in lines[-1], "the line is not cleared before the summary"
    percents = [int(number) for number in re.findall(r"(\d+) %  \d+ Mpix", shown)]
    assert percents == sorted(percents)
    assert progress_on_a_terminal(sepconv, *arguments, "--quiet") == ""
    assert "\r" not in sepconv(*arguments).stderr


# ---- plan, info, stats, compare, generate ----


def test_plan_makes_nothing(sepconv, source):
    before = listing(sepconv.folder)
    text = sepconv("plan", source, "out.npy", "gaussian:sigma=3", "--max-memory", "8M").stdout
    for word in ("bands", "slots", "memory", "streams", "gaussian"):
        assert word in text
    plan = json.loads(
        sepconv("plan", source, "out.npy", "gaussian:sigma=3", "--max-memory", "8M", "--json").stdout
    )
    assert plan["memory_bytes"]["total"] <= plan["memory_bytes"]["ceiling"] == 8 * 2**20
    assert plan["streams"] is True
    assert listing(sepconv.folder) == before


def test_strips_that_do_not_fit_become_tiles(sepconv):
    """Compressed strips are as wide as the image: with halos, 100,000 columns of f64 exceed 24 MiB; tiles do
    not."""
    pixels = np.zeros((64, 100000), np.float64)
    np.save(sepconv.folder / "wide.npy", pixels)
    limits = ["--compress", "deflate", "--max-memory", "24M", "--quiet"]
    sepconv("run", "wide.npy", "out.tif", "gaussian:sigma=8", *limits)
    with tifffile.TiffFile(sepconv.folder / "out.tif") as result:
        assert result.pages[0].is_tiled
    forced = sepconv("run", "wide.npy", "strips.tif", "gaussian:sigma=8", "--tile", "0", *limits, status=1)
    assert "memory" in forced.stderr


def test_info(sepconv):
    tifffile.imwrite(
        sepconv.folder / "in.tif",
        image(channels=3, dtype=np.uint16),
        tile=(32, 48),
        compression="zlib",
        photometric="rgb",
    )
    text = sepconv("info", "in.tif").stdout
    assert "128 x 96" in text and "3 channels" in text and "u16" in text
    sepconv("generate", "one.tif", "--size", "50x40", "-q")
    assert "1 strip of 50 x 40" in sepconv("info", "one.tif").stdout
    info = json.loads(sepconv("info", "in.tif", "--json").stdout)
    page = info["pages"][0]
    assert (page["rows"], page["cols"], page["channels"], page["type"]) == (96, 128, 3, "u16")
    assert page["block"] == {"rows": 32, "cols": 48}
    assert info["file_bytes"] == (sepconv.folder / "in.tif").stat().st_size
    tifffile.imwrite(sepconv.folder / "plain.tif", image(), tile=(32, 48))
    plain = json.loads(sepconv("info", "plain.tif", "--json").stdout)["pages"][0]
    # as stored in the file, although its rows are read individually
    assert plain["block"] == {"rows": 32, "cols": 48}


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int16, np.float32, np.float64])
def test_stats_agree_with_numpy(sepconv, dtype):
    pixels = image(rows=201, cols=103, channels=2, dtype=dtype)
    np.save(sepconv.folder / "in.npy", pixels)
    stats = json.loads(sepconv("stats", "in.npy", "--json").stdout)
    for channel, found in enumerate(stats["channels"]):
        values = pixels[..., channel].astype(np.float64)
        assert (found["min"], found["max"], found["count"]) == (values.min(), values.max(), values.size)
        assert found["mean"] == pytest.approx(values.mean(), rel=1e-12)
        assert found["deviation"] == pytest.approx(values.std(), rel=1e-12)
        histogram = found["histogram"]
        if np.issubdtype(dtype, np.integer):
            bins = (values - histogram["low"]).astype(int) * 256 // 2 ** (8 * dtype().itemsize)
            expected = np.bincount(bins.ravel(), minlength=256)
        else:
            expected = np.histogram(values, 256, (values.min(), values.max()))[0]
        assert np.abs(np.array(histogram["counts"]) - expected).sum() <= 4  # values on the edge of two bins
        assert sum(histogram["counts"]) == values.size
    assert "deviation" in sepconv("stats", "in.npy", "--histogram").stdout


def test_compare(sepconv, source):
    pixels = np.load(sepconv.folder / source)
    changed = pixels.copy()
    changed[123, 45, 2] ^= 8
    np.save(sepconv.folder / "changed.npy", changed)
    np.save(sepconv.folder / "smaller.npy", pixels[1:])
    assert "equal" in sepconv("compare", source, source).stdout
    text = sepconv("compare", source, "changed.npy", status=1).stdout
    assert "row 123, column 45, channel 2" in text
    report = json.loads(sepconv("compare", source, "changed.npy", "--json", status=1).stdout)
    assert (report["different"], report["max_difference"], report["first"]["row"]) == (1, 8, 123)
    assert report["first"]["b"] == changed[123, 45, 2]
    error = pixels.astype(float) - changed
    assert report["psnr_db"] == pytest.approx(10 * np.log10(255**2 / np.mean(error**2)))
    sepconv("compare", source, "changed.npy", "--tolerance", 8)
    sepconv("compare", source, "changed.npy", "--tolerance", 7.5, status=1)
    assert "same size" in sepconv("compare", source, "smaller.npy", status=1).stderr


@pytest.mark.parametrize("pattern", ["natural", "gradient", "checkerboard", "impulse", "noise"])
def test_generate(sepconv, pattern):
    arguments = [
        "--size",
        "301x203",
        "--type",
        "u16",
        "--channels",
        2,
        "--pattern",
        pattern,
        "--seed",
        7,
        "--quiet",
    ]
    sepconv("generate", "a.npy", *arguments)
    sepconv("generate", "b.npy", *arguments, "--band-rows", 3, "--threads", 1)
    pixels = np.load(sepconv.folder / "a.npy")
    assert pixels.shape == (203, 301, 2) and pixels.dtype == np.uint16
    assert (pixels != 0).any() and len(np.unique(pixels)) >= 2
    assert (sepconv.folder / "a.npy").read_bytes() == (sepconv.folder / "b.npy").read_bytes()
    assert sepconv("generate", "c.tif", *arguments, "--tile", 64, "--compress", "deflate").stderr == ""
    assert np.array_equal(tifffile.imread(sepconv.folder / "c.tif").reshape(pixels.shape), pixels)


# ---- devices, stages, completion, help ----


def test_devices(sepconv):
    text = sepconv("devices").stdout
    for word in ("processors", "instruction set", "L2", "free memory", "copy", "fused multiply-adds"):
        assert word in text
    gpus = re.findall(r"^cuda:\d+: ", text, re.MULTILINE)
    absent = re.findall(
        r"^gpu: none; (?:no GPU or no NVIDIA driver was found|this build of sepconv has no CUDA engine)$",
        text,
        re.MULTILINE,
    )
    assert len(absent) == (0 if gpus else 1)
    for word in (
        "compute capability",
        "multiprocessors",
        "copy engines",
        "upload",
        "download",
        "both at once",
        "device copy",
    ):
        assert text.count(word) == len(gpus)


def test_devices_as_json(sepconv):
    report = json.loads(sepconv("devices", "--json").stdout)
    assert report["cpu"]["processors"] >= 1 and report["cpu"]["copy_bytes_per_second"] > 0
    text = sepconv("devices").stdout
    for machine in [report["cpu"]["machine"], *(gpu["machine"] for gpu in report["gpus"])]:
        assert len(machine) >= 4
        for name, figure in machine.items():
            assert (
                figure["measured"] > 0
                and figure["default"] > 0
                and re.search(rf"^  {name} .*, assumed ", text, re.MULTILINE)
            )
    copies = report["cpu"]["machine"]["host.max_copy_rate"]
    assert copies["measured"] == report["cpu"]["copy_bytes_per_second"] != copies["default"]
    for gpu in report["gpus"]:
        rates = [value for name, value in gpu.items() if name.endswith("_per_second")]
        assert len(rates) == 6 and all(rate > 0 for rate in rates)


def test_every_stage_explains_itself_and_its_example_runs(sepconv):
    np.save(sepconv.folder / "in.npy", image(rows=64, cols=64, channels=3))
    names = stage_names(sepconv)
    assert len(names) >= 17
    for name in names:
        text = sepconv("stages", name).stdout
        [example] = shlex.split(re.search(r"run in.tif out.tif (.+)", text).group(1))
        assert example.startswith(name)
        if "file" in example or ".npy" in example or ".txt" in example:
            continue  # needs a user's file
        sepconv("run", "in.npy", "out.npy", example, "--force", "--quiet")


def test_a_stage_of_an_older_version_or_with_keys(sepconv):
    assert sepconv("stages", "log").stdout == sepconv("stages", "gaussian_laplace").stdout
    message = fails(sepconv, "stages", "gaussian:sigma=2", status=2)
    assert "unknown stage 'gaussian:sigma=2'" in message


def test_stages_as_json_say_what_the_parser_holds_to(sepconv):
    """A value just outside of each range is refused, and so is a word that is not one of the choices."""
    stages = json.loads(sepconv("stages", "--json").stdout)["stages"]
    assert [stage["name"] for stage in stages] == stage_names(sepconv)
    np.save(sepconv.folder / "in.npy", image(rows=8, cols=8))
    ranges = 0
    for stage in stages:
        assert json.loads(sepconv("stages", stage["name"], "--json").stdout)["stages"] == [stage]
        said = sepconv("stages", stage["name"]).stdout
        for key in stage["keys"]:
            assert key["words"] and key["type"] in (
                "number",
                "integer",
                "flag",
                "choice",
                "numbers",
                "path",
                "size",
                "image",
                "chain",
                "text",
            )
            assert f"  {key['name']}=" in said
            values = {"number": "1", "integer": "1", "numbers": "1", "text": "[[1]]"}
            needs = [
                f"{other['name']}={values[other['type']]}"
                for other in stage["keys"]
                if other["needed"] and other is not key and other["type"] in values
            ]
            needs += [f"{other['name']}=abs" for other in stage["keys"] if other["type"] == "chain"]
            if key.get("only_with"):
                needs.append(key["only_with"] if "=" in key["only_with"] else key["only_with"] + "=1")
            outside = {"greater_than": 0, "least": -1, "most": 1}
            for bound in [name for name in outside if name in key]:
                ranges += 1
                value = f"{key[bound] + outside[bound]:.17g}" + ("x1" if key["type"] == "size" else "")
                text = f"{stage['name']}:" + ",".join([*needs, f"{key['name']}={value}"])
                assert "it must be" in sepconv("run", "in.npy", "out.npy", text, status=2).stderr, text
            for choice in [*key["choices"], "none of them"] if "choices" in key else []:
                plan = [BINARY, "plan", "in.npy", "out.npy", f"{stage['name']}:{key['name']}={choice}"]
                process = subprocess.run(plan, cwd=sepconv.folder, capture_output=True, text=True)
                assert ("it is one of" in process.stderr) == (choice == "none of them")
    assert ranges > 30


def test_help_and_version_are_no_errors(sepconv):
    for arguments in (["--help"], ["run", "--help"], ["--version"]):
        process = sepconv(*arguments)
        assert process.stdout and not process.stderr
    for name in stage_names(sepconv):
        assert name in sepconv("run", "--help").stdout


def test_info_of_a_stack_is_short(sepconv):
    tifffile.imwrite(sepconv.folder / "stack.tif", np.zeros((80, 30, 40), np.uint8))
    lines = sepconv("info", "stack.tif").stdout.splitlines()
    assert len(lines) <= 20 and "pages 1 to 63: as page 0" in lines


LONG = "A" * 300


@pytest.mark.parametrize(
    "first, second",
    [
        (
            {"extratags": [(33922, 12, 6, (0, 0, 0, 5e5, 0, 0))]},
            {"extratags": [(33922, 12, 6, (0, 0, 0, 9e5, 0, 0))]},
        ),
        ({"extratags": [(42112, 2, 0, "SCALE 0.1")]}, {"extratags": [(42112, 2, 0, "SCALE 0.5")]}),
        ({"extratags": [(34675, 7, 300, b"a" * 300)]}, {"extratags": [(34675, 7, 300, b"b" * 300)]}),
        ({"extrasamples": ["unassalpha"]}, {"extrasamples": ["assocalpha"]}),
        ({"description": LONG + "10 ms"}, {"description": LONG + "99 ms"}),
        ({"compression": "zlib"}, {"compression": None}),
        ({"resolution": (1, 1)}, {"resolution": (2, 2)}),
    ],
    ids=["place", "gdal", "profile", "alpha", "description", "codec", "resolution"],
)
def test_info_shows_pages_that_differ(sepconv, first, second):
    with tifffile.TiffWriter(sepconv.folder / "pages.tif") as file:
        for page in (first, first, second):
            file.write(np.zeros((30, 40, 4), np.uint8), photometric="rgb", metadata=None, **page)
    lines = sepconv("info", "pages.tif").stdout.splitlines()
    assert "page 1: as page 0" in lines and any(line.startswith("page 2: 40 x 30") for line in lines)


def test_info_of_100_gigabytes_is_immediate(sepconv):
    # Sparse: it needs no disk space.
    tifffile.memmap(
        sepconv.folder / "huge.tif",
        shape=(320000, 320000),
        dtype=np.uint8,
        bigtiff=True,
        photometric="minisblack",
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = sepconv("info", "huge.tif").stdout
    plan = sepconv("plan", "huge.tif", "out.tif", "gaussian:sigma=2", "--max-memory", "1G").stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (
        after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 2
    )  # processor time, independent of other load
    assert "320000 x 320000" in said and "BigTIFF" in said
    assert "320000 x 320000" in plan


def test_a_run_has_the_notes_of_its_plan(sepconv, source):
    planned = [
        line.split(maxsplit=1)[1]
        for line in sepconv("plan", source, "out.tif", "gaussian:sigma=2").stdout.splitlines()
        if line.startswith("note")
    ]
    sepconv("run", source, "out.tif", "gaussian:sigma=2", "--stats", "stats.json", "--report", "report.txt")
    assert json.loads((sepconv.folder / "stats.json").read_text())["plan"]["notes"] == planned != []
