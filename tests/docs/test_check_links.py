"""docs/tools/check_links.py, with which ./dev docs looks at the site."""

import subprocess
import sys

from conftest import ROOT


def check(folder):
    return subprocess.run(
        [sys.executable, ROOT / "docs/tools/check_links.py", folder], capture_output=True, text=True
    )


def test_what_leads_nowhere_is_named(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b/index.html").write_text('<p id="there"><a name="old">')
    (tmp_path / "a.html").write_text(
        '<a href="b/#there"><a href="b/index.html#old"><img src="no.png"><a href="#up"><a href="b/#not"><a href="https://elsewhere/x">'
    )
    done = check(tmp_path)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "a.html: #up",
        "a.html: b/#not",
        "a.html: no.png",
        "2 pages, 6 links, 3 of them broken",
    ]


def test_a_folder_without_links_is_no_site(tmp_path):
    assert check(tmp_path).returncode == 1
