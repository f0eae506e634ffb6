"""Hook of MkDocs: pages generated from declarations, and the pictures that the pages of docs/start create
when they are run.

SEPCONV_BINARY is the program to run. All files are created in the folder SEPCONV_SITE_WORK.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

import numpy as np
import skimage.data
from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/tools"))
from run_page import run_page  # noqa: E402

PROGRAM = os.environ["SEPCONV_BINARY"]
WORK = pathlib.Path(os.environ["SEPCONV_SITE_WORK"])
AT_ROOT = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}


def sepconv(*arguments):
    return subprocess.run(
        [PROGRAM, *map(str, arguments)], check=True, capture_output=True, text=True, cwd=WORK
    ).stdout


def on_config(config):
    """Expands "folder/*" in the navigation to all pages of that folder, in order."""
    pages = lambda pattern: sorted(
        str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").glob(pattern)
    )
    for section in config.nav:
        for entries in [value for value in section.values()] if isinstance(section, dict) else []:
            for entry in entries:
                for name, path in entry.items() if isinstance(entry, dict) else []:
                    if path.endswith("*"):
                        entry[name] = pages(path + ".md")
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    return config


def on_files(files, config):
    generated = {
        "index.md": first_page(),
        "stages.md": stages_page(),
        "commands.md": commands_page(),
        "python-reference.md": python_page(),
        "cpp-reference.md": cpp_page(),
    }
    for name in ("CONTRIBUTING.md", "CHANGELOG.md"):
        generated[AT_ROOT[name]] = with_site_links((ROOT / name).read_text())
    for path, text in generated.items():
        files.append(File.generated(config, path, content=text))
    for page in sorted((ROOT / "docs/start").glob("*.md")):
        for picture in pictures_of(page):
            files.append(File.generated(config, f"start/{picture.name}", abs_src_path=str(picture)))
    for picture in sorted((WORK / "stages").glob("*.png")):
        files.append(File.generated(config, f"stages/{picture.name}", abs_src_path=str(picture)))
    for path in sorted((WORK / "cpp").rglob("*")):
        if path.is_file():
            files.append(
                File.generated(config, f"cpp/{path.relative_to(WORK / 'cpp')}", abs_src_path=str(path))
            )
    return files


def with_site_links(text):
    """Adapts the links of a document of the root. Links to files outside of the site become plain text."""

    def link(match):
        words, target = match.groups()
        path, _, anchor = target.partition("#")
        if path in AT_ROOT:
            return f"[{words}]({AT_ROOT[path]}{'#' + anchor if anchor else ''})"
        if path.startswith("docs/") and (ROOT / path).is_file():
            return f"[{words}]({target.removeprefix('docs/')})"
        return words

    return re.sub(r"\[([^\]]*)\]\((?!\w+:)([^)\s]+)\)", link, text).replace('src="docs/', 'src="')


def first_page():
    """The introduction of README, a list of the start pages, and README's promises."""
    readme = (ROOT / "README.md").read_text()
    first, promises = (
        re.search(pattern, readme, re.MULTILINE | re.DOTALL)[1]
        for pattern in (r"^(# sepconv\n.*?)^## ", r"^(## What is promised\n.*?)^## ")
    )
    tasks = "## Start\n\n" + "".join(
        f"- [{title(page)}](start/{page.name})\n"
        for page in map((ROOT / "docs/start").joinpath, start_pages())
    )
    return with_site_links(first) + tasks + "\n" + with_site_links(promises)


def start_pages():
    return re.findall(r": start/(\S+)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)


def title(page):
    return page.read_text().partition("\n")[0].removeprefix("# ")


def pictures_of(page):
    """Runs a page and returns the pictures that it shows."""
    text = page.read_text()
    names = set(re.findall(r"!\[[^\]]*\]\(([\w.-]+)\)", text))
    if not names:
        return []
    folder = WORK / page.stem
    folder.mkdir()
    run_page(text, folder)
    pictures = []
    for name in sorted(names):
        # All pages are in one folder, and so are their pictures.
        pictures.append((folder / name).rename(folder / f"{page.stem}-{name}"))
    return pictures


def on_page_markdown(markdown, page, **_):
    """Adds the page's name to the pictures of docs/start, and an empty line before a list that directly
    follows a line."""
    if page.file.src_uri.startswith("start/"):
        stem = pathlib.Path(page.file.src_uri).stem
        markdown = re.sub(r"(!\[[^\]]*\]\()([\w.-]+\))", rf"\g<1>{stem}-\2", markdown)
    return re.sub(r"^(?!- |\s|```)(.+)\n(?=- )", r"\1\n\n", markdown, flags=re.MULTILINE)


def commands_page(command=(), depth=1):
    """The --help texts of the program and of all commands, recursively."""
    text = sepconv(*command, "--help")
    page = f"{'#' * depth} {' '.join(('sepconv', *command)) if command else 'Commands'}\n\n```text\n{text.rstrip()}\n```\n\n"
    listed = re.search(r"^Subcommands:\n((?:  .*\n)+)", text, re.MULTILINE)
    return page + "".join(
        commands_page((*command, name), depth + 1)
        for name in re.findall(r"^  (\w+)", listed[1] if listed else "", re.MULTILINE)
    )


def stages_page():
    (WORK / "stages").mkdir()
    picture = WORK / "stages"
    np.save(picture / "grey.npy", skimage.data.camera()[60:252, 110:302])
    np.save(picture / "colour.npy", skimage.data.coffee()[40:232, 130:322])
    np.save(
        WORK / "B.npy", np.eye(192, dtype=np.float32)[::-1].copy()
    )  # the matrix of gemm's example: reverses the columns
    for name in ("grey", "colour"):
        sepconv("run", picture / f"{name}.npy", picture / f"{name}.png", "--quiet", *axes(name))
    stages = json.loads(sepconv("stages", "--json"))["stages"]
    text = "# Stages\n\nEvery stage with its keys, as `sepconv stages NAME` prints them. The pictures are results of the examples; of a result with negative values grey is 0.\n\n"
    return text + "".join(stage_text(stage) for stage in stages)


def axes(name):
    return ("--axes", "yxc") if name == "colour" else ()


def stage_text(stage):
    name, example = stage["name"], stage["example"]
    keys = sepconv("stages", name).splitlines()[1:-1]
    rows = "".join(
        "| `{}` | {} |\n".format(
            *(part.replace("|", "\\|") for part in re.match(r" *(\w+=) +(.*)", line).groups())
        )
        for line in keys
    )
    table = f"| key | |\n|---|---|\n{rows}\n" if rows else ""
    source = "colour" if name == "mix_channels" else "grey"
    pictures = f"| before | `{example}` |\n|---|---|\n| ![A photograph](stages/{source}.png) | ![The photograph after {example}](stages/{name}.png) |\n\n"
    draw_stage(name, example, source)
    return f"## {name}\n\n{stage['words'][:1].upper() + stage['words'][1:]}.\n\n{table}    sepconv run in.tif out.tif {example}\n\n{pictures}{response(example, source)}"


def draw_stage(name, example, source):
    """Draws a stage's result. Computed in floats to avoid clipping, then scaled to 8 bits."""
    result = WORK / "stages" / f"{name}.npy"
    sepconv(
        "run",
        WORK / "stages" / f"{source}.npy",
        result,
        example,
        *(() if name == "cast" else ("cast:type=f32",)),
        "--quiet",
        *axes(source),
    )
    values = np.load(result)
    low, high = values.min(), values.max()
    most = max(-low, high)
    scaling = (
        f"scale:factor={127 / most},offset=128"
        if low < 0
        else "scale:factor=1"
        if high > 1
        else "scale:factor=255"
    )
    sepconv(
        "run",
        result,
        result.with_suffix(".png"),
        scaling,
        "cast:type=u8",
        "--quiet",
        *(("--axes", "yxc") if values.ndim == 3 else ()),
    )


def response(example, source):
    """Drawings of the taps of a linear filter and of its frequency response; empty if it has none."""
    stages = WORK / "stages"
    run = sepconv(
        "run",
        stages / f"{source}.npy",
        stages / "report.npy",
        example,
        "--quiet",
        "--force",
        "--json",
        *axes(source),
    )
    found = json.loads(run).get("response", {})
    sides = {side: np.array(found[side]) for side in ("x", "y") if side in found}
    if not any(taps.any() for taps in sides.values()):
        return ""
    magnitudes = {
        side: abs(np.fft.rfft(taps, max(256, 2 * len(taps)))) if taps.any() else np.zeros(2)
        for side, taps in sides.items()
    }
    figures = (
        figure(sides, "Impulse response; solid: along x, dashed: along y", "-", "+"),
        figure(magnitudes, "Frequency response", "0", "0.5 cycles/pixel"),
    )
    return f'<div class="response"><div class="pair">{"".join(figures)}</div></div>\n\n'


def figure(curves, caption, first, last):
    """An SVG of these curves, one per axis, over the whole width; a line marks zero."""
    low = min(0, *(curve.min() for curve in curves.values()))
    high = max(0, *(curve.max() for curve in curves.values()))
    height = 120

    def down(value):
        return height * (0.95 - 0.9 * (value - low) / (high - low))

    lines = "".join(
        f'<polyline class="line {side}" points="'
        + " ".join(
            f"{400 * i / max(len(curve) - 1, 1):.1f},{down(value):.1f}" for i, value in enumerate(curve)
        )
        + '"/>'
        for side, curve in curves.items()
    )
    zero = f'<line class="zero" x1="0" x2="400" y1="{down(0):.1f}" y2="{down(0):.1f}"/>'
    return (
        f'<figure><svg viewBox="0 0 400 {height}" preserveAspectRatio="none" role="img" aria-label="{caption}">{zero}{lines}</svg>'
        f'<div class="axis"><span>{first}</span><span>{last}</span></div><figcaption>{caption}</figcaption></figure>'
    )


def python_page():
    without_heading = "\n    options: {show_root_heading: false, show_root_toc_entry: false}\n\n"
    return (
        "# Python\n\n[The Python package](python.md) shows how it is used; here are all functions with their parameters.\n\n::: sepconv\n\n"
        f"## Stages, as functions of `sepconv`\n\n::: sepconv._stages{without_heading}::: sepconv.ndimage\n\n::: sepconv.dask\n\n"
    )


def public_headers():
    """Installs the public headers and returns their relative paths."""
    subprocess.run(
        [
            "cmake",
            f"-DSEPCONV_SOURCE_DIR={ROOT}",
            "-DSEPCONV_INCLUDE_DIR=include",
            f"-DCMAKE_INSTALL_PREFIX={WORK}/prefix",
            "-P",
            ROOT / "cmake/install_headers.cmake",
        ],
        check=True,
        capture_output=True,
    )
    return sorted(path.relative_to(WORK / "prefix/include") for path in (WORK / "prefix").rglob("*.hpp"))


def cpp_page():
    """A table of the public headers with their first comment and a link to Doxygen's page. Warnings of
    Doxygen are errors."""
    headers = public_headers()
    settings = (
        (ROOT / "docs/Doxyfile").read_text()
        + f"OUTPUT_DIRECTORY = {WORK}\nINPUT = {WORK}/prefix/include\nSTRIP_FROM_PATH = {WORK}/prefix/include\nGENERATE_TAGFILE = {WORK}/cpp.tag\n"
    )
    process = subprocess.run(["doxygen", "-"], input=settings, text=True, capture_output=True)
    if process.returncode != 0:
        raise RuntimeError(process.stderr)
    pages = {
        compound.findtext("path") + compound.findtext("name"): compound.findtext("filename")
        for compound in xml.etree.ElementTree.parse(WORK / "cpp.tag").findall("compound[@kind='file']")
    }
    rows = "".join(
        f"| [{path}](cpp/{pages[f'{WORK}/prefix/include/{path}']}) | {purpose(WORK / 'prefix/include' / path)} |\n"
        for path in headers
    )
    return (
        '# C++\n\n`#include "sepconv/sepconv.hpp"` takes all that most programs need. [All classes](cpp/annotated.html), [all functions](cpp/namespacesepconv.html).\n\n'
        f"| header | |\n|---|---|\n{rows}"
    )


def purpose(header):
    """The first sentences of a header's first comment, up to code or an empty line."""
    lines = re.match(r"(?:// ?\S.*\n)+", header.read_text())[0]
    return (
        " ".join(re.sub(r"^// ?", "", lines, flags=re.MULTILINE).split())
        .replace("|", "\\|")
        .replace("<", "&lt;")
    )
