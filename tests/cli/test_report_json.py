"""sepconv report of JSON with missing or wrong keys: it is refused, or the page's script works, as Node.js
tells if it is installed."""

import copy
import json
import pathlib
import re
import shutil
import subprocess

import numpy as np
import pytest
import tifffile

from conftest import BINARY
from cli_support import image, one_sentence

PLAN_KEYS = ("chain", "warnings", "notes", "memory_bytes")  # of the plan, those that a page shows


def shown_by_script(folder, names):
    """What the pages' script does without a browser: its error and the text of each page."""
    if shutil.which("node") is None:
        pytest.skip("no Node.js")
    script = pathlib.Path(__file__).with_name("page_script.js")
    process = subprocess.run(["node", script, *names], cwd=folder, capture_output=True, text=True, check=True)
    return json.loads(process.stdout)


def changed(value, path=()):
    """The value with each of its keys and first elements missing, or of another type; with the place."""
    keys = list(value) if isinstance(value, dict) else list(range(min(1, len(value))))
    for key in keys:
        place = f"{'/'.join(map(str, path))}/{key}".lstrip("/")
        if place.startswith("plan/") and place.split("/")[1] not in PLAN_KEYS:
            continue
        without_key = copy.copy(value)
        del without_key[key]
        yield place, "missing", without_key
        for other in ("text", 7, None, {}, ["text"]):
            replaced = copy.copy(value)
            replaced[key] = other
            yield place, other, replaced
        if isinstance(value[key], (dict, list)):
            for inner, kind, made in changed(value[key], (*path, key)):
                replaced = copy.copy(value)
                replaced[key] = made
                yield inner, kind, replaced


@pytest.fixture
def run_json(sepconv):
    """A run with everything that a page shows except pictures; its plan has a warning."""
    tifffile.imwrite(
        sepconv.folder / "in.tif", np.stack([image(seed=i) for i in range(3)]), photometric="minisblack"
    )
    (sepconv.folder / "in.tfw").write_text("x")
    sepconv("run", "in.tif", "out.tif", "gaussian:sigma=2,sigma_y=1", "--stats", "run.json", "--quiet")
    run = json.loads((sepconv.folder / "run.json").read_text())
    assert run["plan"]["warnings"] and run["memory"] and run["response"]["y"] and run["steps"][0]["spans"]
    return run


def test_a_page_is_made_only_of_what_its_script_can_read(sepconv, run_json):
    """Each key of the JSON is left out, or gets another type: `report` refuses it, or the script works."""
    names, refused = [], {}
    for place, kind, document in changed(run_json):
        (sepconv.folder / "changed.json").write_text(json.dumps(document))
        process = subprocess.run(
            [BINARY, "report", "changed.json", "-o", f"{len(names)}.html"],
            cwd=sepconv.folder,
            capture_output=True,
            text=True,
        )
        if process.returncode == 0:
            names.append((place, kind))
        else:
            message = one_sentence(process.stderr)
            assert process.returncode == 1 and "is missing or wrong); name what run --stats wrote" in message
            refused.setdefault(place, []).append(kind)
    assert {"wall_seconds", "device", "peak_rss_bytes", "plan", "steps", "steps/0/name"} <= {
        place for place, kinds in refused.items() if "missing" in kinds
    }
    for place in ("files/result", "rasters", "texts/source", "memory/0", "response/x/0", "steps/0/spans/0"):
        assert None in refused[place] and {} in refused[place]
    assert "text" in refused["pixels"] and 7 in refused["advice"]
    pages = shown_by_script(sepconv.folder, [f"{index}.html" for index in range(len(names))])
    for name, shown in zip(names, pages, strict=True):
        assert shown["error"] is None, (name, shown)
        assert not re.search(r"undefined|\bNaN\b|\[object", shown["text"]), (name, shown["text"])
        assert shown["text"].count("The files") == 1 or name[0].startswith("files"), name


def test_a_page_says_that_its_script_failed(sepconv, run_json):
    sepconv("report", "run.json", "-o", "page.html")
    page_text = (sepconv.folder / "page.html").read_text()
    (sepconv.folder / "page.html").write_text(page_text.replace('"wall_seconds"', '"wall"'))
    (shown,) = shown_by_script(sepconv.folder, ["page.html"])
    assert (
        shown["error"]
        and f"The page is incomplete, because its script failed: {shown['error']}" in shown["text"]
    )
