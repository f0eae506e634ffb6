"""A plan is saved as a file and run later; a region is the crop of the whole result."""

import json
import re

import numpy as np
import pytest
import tifffile

from cli_support import fails, image, source  # noqa: F401

STAGES = ["gaussian:sigma=2", "sobel:axis=x", "cast:type=i16"]


def save_plan(sepconv, *arguments):
    text = sepconv("plan", "in.npy", "out.npy", *arguments, "--device", "cpu", "--json").stdout
    (sepconv.folder / "plan.json").write_text(text)
    return json.loads(text)


def change_plan(sepconv, change):
    plan = json.loads((sepconv.folder / "plan.json").read_text())
    change(plan)
    (sepconv.folder / "plan.json").write_text(json.dumps(plan))


def test_a_plan_is_what_is_run(sepconv, source):
    plan = save_plan(sepconv, *STAGES, "--band-rows", 10, "--threads", 2)
    sepconv("run", source, "whole.npy", *STAGES, "--quiet")
    for stages in ([], STAGES):
        sepconv(
            "run",
            source,
            "out.npy",
            *stages,
            "--plan",
            "plan.json",
            "--stats",
            "stats.json",
            "--quiet",
            "--force",
        )
        assert np.array_equal(np.load(sepconv.folder / "out.npy"), np.load(sepconv.folder / "whole.npy"))
        result = json.loads((sepconv.folder / "stats.json").read_text())["plan"]
        assert result["memory_bytes"].pop("ceiling") > 0 and plan["memory_bytes"].pop("ceiling", 1) > 0
        assert result == plan and result["bands"] == 10


def test_a_plan_of_tiles_that_were_chosen_for_its_ceiling(sepconv):
    np.save(sepconv.folder / "in.npy", image(600, 30000))
    arguments = ["in.npy", "out.tif", "gaussian:sigma=2", "--compress", "deflate"]
    options = ["--max-memory", "6M", "--threads", 1, "--device", "cpu"]
    plan = sepconv("plan", *arguments, *options, "--json").stdout
    assert "strips of full width do not fit" in plan
    ignored = sepconv("plan", *arguments, *options, "--background", "black").stdout
    assert "--background changes nothing" in ignored
    (sepconv.folder / "plan.json").write_text(plan)
    sepconv("run", *arguments, *options, "--quiet")
    sepconv("run", "in.npy", "again.tif", "--compress", "deflate", "--plan", "plan.json", "--quiet")
    assert (sepconv.folder / "again.tif").read_bytes() == (sepconv.folder / "out.tif").read_bytes()


@pytest.mark.parametrize(
    "change, said",
    [
        (lambda plan: plan.update(sepconv="0.0.9"), '"0.0.9"'),
        (lambda plan: plan.update(chain=["abs"]), "another"),
        (lambda plan: plan["source"].update(changed_ns=5), "another source"),
        (lambda plan: plan["specs"][0].update(cols=5), "another source"),
        (lambda plan: plan.update(slots=10**9), "number of slots"),
        (lambda plan: plan.update(threads=10**30), "threads"),
        (lambda plan: plan["band"].update(rows=-1), "rows"),
        (lambda plan: plan["memory_bytes"].update(slots=1), "memory_bytes/slots"),
        (lambda plan: plan.update(more=1), "/more"),
        (lambda plan: plan.pop("asked"), "asked"),
    ],
)
def test_another_plan_is_refused(sepconv, source, change, said):
    save_plan(sepconv, *STAGES)
    change_plan(sepconv, change)
    assert said in fails(sepconv, "run", source, "out.npy", "--plan", "plan.json", "--quiet", status=2)


def test_another_file_is_refused(sepconv, source):
    save_plan(sepconv, *STAGES)
    assert "another result" in fails(
        sepconv, "run", source, "out.tif", "--plan", "plan.json", "--quiet", status=2
    )
    np.save(sepconv.folder / "in.npy", image(seed=2))
    assert "another source" in fails(
        sepconv, "run", source, "out.npy", "--plan", "plan.json", "--quiet", status=2
    )
    np.save(sepconv.folder / "other.npy", image(rows=40))
    assert "another source" in fails(
        sepconv, "run", "other.npy", "out.npy", "--plan", "plan.json", "--quiet", status=2
    )


@pytest.mark.parametrize(
    "result, asked, other",
    [
        ("out.jpg", "jpeg:95", "jpeg:20"),
        ("out.jpg", "jpeg:95", "jpeg"),
        ("out.tif", "jpeg:95", "jpeg"),
        ("out.tif", "deflate:1", "deflate:9"),
        ("out.tif", "zstd", "zstd:4"),
        ("out.zarr", "zstd:3", "zstd:4"),
        ("out.zarr", "deflate:1", "deflate:9"),
        ("out.zarr", "zstd:fast", "zstd:1"),
    ],
)
def test_another_quality_is_refused(sepconv, source, result, asked, other):
    plan = sepconv(
        "plan", source, result, *STAGES, "cast:type=u8", "--compress", asked, "--device", "cpu", "--json"
    ).stdout
    (sepconv.folder / "plan.json").write_text(plan)
    arguments = ["run", source, result, "--plan", "plan.json", "--quiet"]
    message = fails(sepconv, *arguments, "--compress", other, status=2)
    assert "another result" in message and ("level" in message or "quality" in message)
    assert "ask for the compression, blocks and levels" in message
    sepconv(*arguments, "--compress", asked)


@pytest.mark.parametrize(
    "kept, given", [("--cog", "--pyramid"), ("--pyramid", "--cog"), ("--pyramid", "--pyramid=none")]
)
def test_other_levels_are_refused(sepconv, source, kept, given):
    arguments = [source, "out.tif", "--tile", 32]
    (sepconv.folder / "plan.json").write_text(
        sepconv("plan", *arguments, *STAGES, kept, "--device", "cpu", "--json").stdout
    )
    message = fails(sepconv, "run", *arguments, given, "--plan", "plan.json", "--quiet", status=2)
    then, now = re.search(" is (.*) in it and (.*) now;", message).groups()
    assert "smaller levels" in message and then != now
    sepconv("run", *arguments, kept, "--plan", "plan.json", "--quiet")


def test_other_taps_are_refused(sepconv, source):
    (sepconv.folder / "taps.txt").write_text("1 2 1\n")
    save_plan(sepconv, "convolve:file=taps.txt")
    sepconv("run", source, "out.npy", "--plan", "plan.json", "--quiet")
    (sepconv.folder / "taps.txt").write_text("1 9 1\n")
    message = fails(sepconv, "run", source, "out.npy", "--plan", "plan.json", "--quiet", "--force", status=2)
    assert "another file of a stage" in message


def test_another_chain_is_refused(sepconv, source):
    save_plan(sepconv, *STAGES)
    message = fails(
        sepconv, "run", source, "out.npy", "box:radius=1", "--plan", "plan.json", "--quiet", status=2
    )
    assert "box" in message and "gaussian" in message


@pytest.mark.parametrize(
    "text", ["", "{", "[1, 2]", "not a plan", '{"sepconv": 1}', "[" * 10**6, "\0" * 1000], ids=range(7)
)
def test_a_damaged_plan_is_refused(sepconv, source, text):
    (sepconv.folder / "plan.json").write_text(text)
    fails(sepconv, "run", source, "out.npy", "--plan", "plan.json", "--quiet", status=2 if text else 1)


@pytest.mark.parametrize(
    "option",
    [
        ["--threads", "2"],
        ["--max-memory", "1G"],
        ["--region", "2x2+0+0"],
        ["--device", "cpu"],
        ["--reference"],
    ],
)
def test_what_a_plan_says_is_not_said_beside_it(sepconv, source, option):
    save_plan(sepconv, *STAGES)
    assert "--plan" in fails(sepconv, "run", source, "out.npy", "--plan", "plan.json", *option, status=2)


def test_the_plan_is_not_written_over(sepconv, source):
    save_plan(sepconv, *STAGES)
    message = fails(
        sepconv,
        "run",
        source,
        "out.npy",
        "--plan",
        "plan.json",
        "--stats",
        "plan.json",
        "--force",
        "--quiet",
        status=2,
    )
    assert "the plan" in message


@pytest.mark.parametrize("region", ["128x96+0+0", "20x10+5+7", "1x96+127+0", "128x1+0+95", "33x40+95+56"])
@pytest.mark.parametrize(
    "stages",
    [
        [],
        ["gaussian:sigma=9,border=reflect"],
        ["gaussian:sigma=9,border=wrap", "box:radius=60,border=wrap"],
        ["transpose", "box:radius=60", "transpose"],
        ["gradient:border=constant,value=3"],
    ],
)
def test_a_region_is_the_crop_of_the_whole_result(sepconv, source, region, stages):
    sepconv("run", source, "whole.npy", *stages, "--quiet")
    cols, rows, col, row = map(int, region.replace("x", "+").split("+"))
    expected = np.load(sepconv.folder / "whole.npy")[row : row + rows, col : col + cols]
    for options in ([], ["--reference"]):
        sepconv("run", source, "part.npy", *stages, "--region", region, "--force", "--quiet", *options)
        assert np.array_equal(np.load(sepconv.folder / "part.npy"), expected)


@pytest.mark.parametrize("region", ["129x96+0+0", "1x1+128+0", "1x1+0+96", "128x96+1+0"])
def test_a_region_outside_is_refused(sepconv, source, region):
    message = fails(sepconv, "run", source, "out.npy", "--region", region, "--quiet", status=2)
    assert "96 rows and 128 columns" in message and "--region" in message


@pytest.mark.parametrize(
    "typed", ["0x0+0+0", "4x0+0+0", "4x4", "4x4+1", "4x4+1+1+1", "4x4-1+1", "", "+1+1", "4x4+x+1"]
)
def test_what_is_no_region_is_refused(sepconv, source, typed):
    assert "--region" in fails(sepconv, "run", source, "out.npy", f"--region={typed}", "--quiet", status=2)


def geo_tags(path):
    with tifffile.TiffFile(path) as tif:
        return {tag.code: tag.value for tag in tif.pages[0].tags.values()}


def test_a_region_lies_where_it_lay(sepconv):
    transformation = (0.5, 0.1, 0.0, 1000.0, 0.2, -0.5, 0.0, 2000.0, *[0.0] * 7, 1.0)
    rpc = tuple(float(i) for i in range(92))
    tags = [
        (
            33922,
            "d",
            12,
            (0.0, 0.0, 0.0, 440720.0, 3751320.0, 0.0, 50.0, 40.0, 0.0, 440745.0, 3751300.0, 0.0),
            True,
        ),
        (34264, "d", 16, transformation, True),
        (50844, "d", 92, rpc, True),
        (34735, "H", 8, (1, 1, 0, 1, 1024, 0, 1, 1), True),
        (274, "H", 1, 6, True),
    ]
    tifffile.imwrite(
        sepconv.folder / "in.tif", image(40, 50), extratags=tags, metadata=None, resolution=(300, 300)
    )
    sepconv("run", "in.tif", "out.tif", "gaussian:sigma=1", "--region", "20x10+7+5", "--quiet")
    before, after = geo_tags(sepconv.folder / "in.tif"), geo_tags(sepconv.folder / "out.tif")
    assert after[33922][:2] == (-7.0, -5.0) and after[33922][6:8] == (43.0, 35.0)
    assert after[33922][2:6] == before[33922][2:6]
    assert after[34264][3] == pytest.approx(1000 + 0.5 * 7 + 0.1 * 5) and after[34264][7] == pytest.approx(
        2000 + 0.2 * 7 - 0.5 * 5
    )
    assert after[50844][2:4] == (2.0 - 5, 3.0 - 7) and after[50844][4:] == before[50844][4:]
    assert all(after[code] == before[code] for code in (274, 282, 283, 34735))


def test_a_place_that_cannot_be_moved_is_left_out_with_a_warning(sepconv):
    tags = [(33922, "d", 5, (0.0,) * 5, True), (34735, "H", 8, (1, 1, 0, 1, 1024, 0, 1, 1), True)]
    tifffile.imwrite(sepconv.folder / "in.tif", image(40, 50), extratags=tags, metadata=None)
    said = sepconv("run", "in.tif", "out.tif", "--region", "20x10+7+5").stderr
    assert "GeoTIFF tags are left out" in said
    assert 33922 not in geo_tags(sepconv.folder / "out.tif")
