#!/usr/bin/env python3
"""Says which links inside of a folder of HTML lead nowhere: check_links.py FOLDER

A link is an href or a src without a host; its file has to be there, and what stands after # has to be an id
or a name in it."""

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


# Doxygen 1.9.4 refers to the list of nested classes also where all of them are private.
NOT_MADE = {"nested-classes"}
page_of = functools.cache(Page)


def leads_somewhere(page, link):
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
        or fragment in page_of(target).anchors
        or fragment in NOT_MADE
    )


def main(folder):
    pages = sorted(folder.rglob("*.html"))
    # 404.html is shown for any address, so that its links begin at the root.
    broken = [
        f"{page.relative_to(folder)}: {link}"
        for page in pages
        if page.name != "404.html"
        for link in sorted(page_of(page).links)
        if not leads_somewhere(page, link)
    ]
    links = sum(len(page_of(page).links) for page in pages)
    print("\n".join([*broken, f"{len(pages)} pages, {links} links, {len(broken)} of them broken"]))
    return bool(broken) or links == 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
