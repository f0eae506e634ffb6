#!/usr/bin/env python3
"""Runs the commands of a page in one folder: run_page.py PAGE FOLDER

Runs first the Python code in the page's comments that begin with "made before:", which creates the page's
input files. Then, in order, writes blocks with a title to files of that name and runs blocks of `sh`; ignores
other blocks. `sepconv` is found by PATH; SEPCONV_BINARY overrides it."""

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
    """Returns the commands that were run, each with its output."""
    for code in BEFORE.findall(text):
        run([PYTHON, "-c", code], folder)
    outputs = []
    for language, title, code in BLOCK.findall(text):
        if title:
            (folder / title).write_text(code)
        elif language == "sh":
            outputs.append((code, run(["bash", "-euo", "pipefail", "-c", code], folder)))
    return outputs


if __name__ == "__main__":
    for _, output in run_page(pathlib.Path(sys.argv[1]).read_text(), pathlib.Path(sys.argv[2])):
        sys.stdout.write(output)
