#!/usr/bin/env python3
"""Lists the broken links within a folder of HTML: check_links.py FOLDER

Checks each href and src without a host: the file must exist, and the fragment after # must be an id or a
name in it."""

import functools
import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = set(), set()
        self.feed(path.read_text(errors="replace"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if value is None:
                continue
            if name in ("href", "src"):
                self.links.add(value)
            if name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value)


# Doxygen 1.9.4 links to the list of nested classes even if all of them are private.
MISSING_ANCHORS = {"nested-classes"}
parsed_page = functools.cache(Page)


def is_valid_link(page, link):
    parts = urllib.parse.urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = (page.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else page
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return False
    fragment = urllib.parse.unquote(parts.fragment)
    return (
        not fragment
        or target.suffix != ".html"
        or fragment in parsed_page(target).anchors
        or fragment in MISSING_ANCHORS
    )


def main(folder):
    pages = sorted(folder.rglob("*.html"))
    # 404.html is served for any address, so its links are relative to the root.
    broken = [
        f"{page.relative_to(folder)}: {link}"
        for page in pages
        if page.name != "404.html"
        for link in sorted(parsed_page(page).links)
        if not is_valid_link(page, link)
    ]
    links = sum(len(parsed_page(page).links) for page in pages)
    print("\n".join([*broken, f"{len(pages)} pages, {links} links, {len(broken)} of them broken"]))
    return bool(broken) or links == 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
