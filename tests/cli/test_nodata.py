"""Missing pixels at the command line: their declaration, the declaration of the result, and errors."""

import json

import numpy as np
import pytest
import tifffile


def write(path, values, nodata=None):
    tifffile.imwrite(path, values, metadata=None, extratags=[(42113, "s", 0, nodata)] if nodata else [])


def read_nodata(path):
    with tifffile.TiffFile(path) as file:
        tag = file.pages[0].tags.get(42113)
        return tag and tag.value


@pytest.fixture
def scene(sepconv):
    values = np.full((20, 30), 50, np.uint8)
    values[5:9, 5:12] = 255
    write(sepconv.folder / "in.tif", values, "255")
    return values


def test_the_file_declares_them(sepconv, scene):
    sepconv("run", "in.tif", "out.tif", "box:radius=2")
    assert (tifffile.imread(sepconv.folder / "out.tif") == scene).all() and read_nodata(
        sepconv.folder / "out.tif"
    ) == "255"


def test_the_user_declares_others(sepconv, scene):
    sepconv("run", "in.tif", "out.tif", "box:radius=2", "--nodata", "50")
    assert (tifffile.imread(sepconv.folder / "out.tif") == np.where(scene == 255, 255, 50)).all()
    assert read_nodata(sepconv.folder / "out.tif") == "50"


def test_the_result_has_another(sepconv, scene):
    sepconv("run", "in.tif", "out.tif", "cast:type=f32", "--dst-nodata", "nan")
    result = tifffile.imread(sepconv.folder / "out.tif")
    assert (np.isnan(result) == (scene == 255)).all() and read_nodata(sepconv.folder / "out.tif") == "nan"
    sepconv("run", "out.tif", "back.tif", "cast:type=u8", "--dst-nodata", "0")
    assert (tifffile.imread(sepconv.folder / "back.tif") == np.where(scene == 255, 0, scene)).all()


def test_a_copy_may_have_another(sepconv, scene):
    sepconv("run", "in.tif", "out.tif", "--dst-nodata", "0")
    assert (tifffile.imread(sepconv.folder / "out.tif") == np.where(scene == 255, 0, scene)).all()
    assert read_nodata(sepconv.folder / "out.tif") == "0"


def test_a_value_that_the_type_does_not_have_makes_none_missing(sepconv, scene):
    write(sepconv.folder / "in.tif", scene, "-9999")
    said = sepconv("run", "in.tif", "out.tif", "box").stderr
    assert "-9999 is left out" in said and "u8" in said and read_nodata(sepconv.folder / "out.tif") is None
    write(sepconv.folder / "in.tif", scene, "none at all")
    assert "it is not a number" in sepconv("run", "in.tif", "out.tif", "box", "--force").stderr


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["cast:type=u8", "--nodata", "-9999"], ["--nodata", "no value -9999"]),
        (["--nodata", "x"], ["--nodata x", "not a value"]),
        (["--nodata", "none", "--dst-nodata", "3"], ["--nodata", "--dst-nodata", "leave them out"]),
        (["--dst-nodata", "1e3"], ["--dst-nodata", "u8"]),
        (["gaussian_laplace:sigma=2,nodata=fill"], ["nodata=fill", "propagate"]),
    ],
)
def test_what_cannot_be_is_one_sentence(sepconv, scene, arguments, words):
    failed = sepconv("run", "in.tif", "out.tif", *arguments, status=2)
    assert all(word in failed.stderr for word in words), failed.stderr
    assert len(failed.stderr.splitlines()) == 1 and not (sepconv.folder / "out.tif").exists()


def test_nan_beside_a_declared_value_is_missing_and_said(sepconv):
    values = np.full((20, 30), 4, np.float32)
    values[3, 3], values[9, 9] = -9999, np.nan
    write(sepconv.folder / "in.tif", values, "-9999")
    for whole in ([], ["--reference"]):
        said = sepconv("run", "in.tif", "out.tif", "box:radius=1", "--force", *whole).stderr
        assert "which counts as nodata" in said
        np.testing.assert_allclose(
            tifffile.imread(sepconv.folder / "out.tif"), np.where(values == 4, 4, -9999), rtol=1e-6
        )


def test_a_key_settles_what_nan_is(sepconv):
    values = np.full((20, 30), 4, np.float32)
    values[9, 9] = np.nan
    np.save(sepconv.folder / "in.npy", values)
    assert "NaN" not in sepconv("run", "in.npy", "out.npy", "box:nodata=ignore").stderr
    assert np.isnan(np.load(sepconv.folder / "out.npy")).sum() == 1
    assert "NaN" in sepconv("run", "in.npy", "out.npy", "box:nodata=ignore", "box", "--force").stderr


def test_a_plan_says_what_is_missing_and_keeps_it(sepconv, scene):
    assert (
        "pixels of value 50 are missing"
        in sepconv("plan", "in.tif", "out.tif", "box", "--nodata", "50").stdout
    )
    text = sepconv("plan", "in.tif", "out.tif", "box", "--nodata", "50", "--dst-nodata", "7", "--json").stdout
    assert json.loads(text)["asked"]["missing"] == {
        "none": False,
        "value": "50",
        "result": "7",
        "alpha": None,
        "all_channels": False,
    }
    (sepconv.folder / "plan.json").write_text(text)
    sepconv("run", "in.tif", "out.tif", "--plan", "plan.json")
    assert (tifffile.imread(sepconv.folder / "out.tif") == np.where(scene == 50, 7, scene)).all()
    assert read_nodata(sepconv.folder / "out.tif") == "7"


@pytest.mark.parametrize(
    "missing",
    [
        '{"none": 1, "value": null, "result": null, "alpha": null}',
        '{"none": false, "value": 5, "result": null, "alpha": null}',
        '{"none": false, "value": null, "result": null, "alpha": -1}',
        '{"none": false, "value": null, "result": null}',
        '{"none": false, "value": "5x", "result": null, "alpha": null}',
        "null",
    ],
)
def test_a_damaged_plan_is_refused(sepconv, scene, missing):
    plan = json.loads(sepconv("plan", "in.tif", "out.tif", "box", "--json").stdout)
    plan["asked"]["missing"] = json.loads(missing)
    (sepconv.folder / "plan.json").write_text(json.dumps(plan))
    failed = sepconv("run", "in.tif", "out.tif", "--plan", "plan.json", status=2)
    assert "the plan cannot be read" in failed.stderr


def test_stats_and_compare_leave_them_out(sepconv, scene):
    stats = json.loads(sepconv("stats", "in.tif", "--json").stdout)["channels"][0]
    assert (stats["count"], stats["missing_count"], stats["max"]) == (572, 28, 50)
    plain = sepconv("stats", "in.tif", "--json", "--nodata", "none")
    assert json.loads(plain.stdout)["channels"][0]["max"] == 255 and "as if they were values" in plain.stderr
    write(sepconv.folder / "other.tif", np.where(scene == 255, 0, scene).astype(np.uint8), "0")
    sepconv("compare", "in.tif", "other.tif")
    sepconv("compare", "in.tif", "other.tif", "--nodata", "none", status=1)
