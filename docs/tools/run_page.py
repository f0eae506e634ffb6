#!/usr/bin/env python3
"""Does what a page tells its reader to do, in one folder: run_page.py PAGE FOLDER

First comes the Python in the page's comments that begin with "made before:", which makes the files that the
page speaks of. Then, in their order, blocks with a title become files of that name, blocks of `sh` are run;
others are for reading. `sepconv` is what PATH finds; SEPCONV_BINARY names another."""

import os
import pathlib
import re
import subprocess
import sys

BEFORE = re.compile(r"^<!-- made before:\n(.*?)^-->", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
PYTHON = "/usr/bin/python3"  # the one with Debian's packages


def environment():
    program = os.environ.get("SEPCONV_BINARY")
    path = (
        os.environ["PATH"]
        if program is None
        else f"{pathlib.Path(program).resolve().parent}:{os.environ['PATH']}"
    )
    return {**os.environ, "PATH": path}


def run(command, folder):
    done = subprocess.run(
        command, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode != 0:
        raise RuntimeError(f"{command[-1]}\n{done.stdout}")
    return done.stdout


def run_page(text, folder):
    """Returns the commands that were run, each with what it said."""
    for code in BEFORE.findall(text):
        run([PYTHON, "-c", code], folder)
    said = []
    for language, title, code in BLOCK.findall(text):
        if title:
            (folder / title).write_text(code)
        elif language == "sh":
            said.append((code, run(["bash", "-euo", "pipefail", "-c", code], folder)))
    return said


if __name__ == "__main__":
    for _, output in run_page(pathlib.Path(sys.argv[1]).read_text(), pathlib.Path(sys.argv[2])):
        sys.stdout.write(output)
