#!/usr/bin/env python3
"""put_blocks.py FILE.md ... < OUTPUT: replaces blocks, from <!-- name --> to <!-- /name -->, in each file by
the blocks of the same names in a benchmark's output. Files without a block stay unchanged. It is an error if
no file has a block, or if the output has no blocks; no file is changed then."""

import pathlib
import re
import sys

BLOCK = re.compile(r"^<!-- ([\w -]+) -->\n.*?^<!-- /\1 -->\n", re.MULTILINE | re.DOTALL)


def blocks_of(text):
    return {found[1]: found[0] for found in BLOCK.finditer(text)}


def main(names):
    new = blocks_of(sys.stdin.read())
    texts = {pathlib.Path(name): pathlib.Path(name).read_text(encoding="utf-8") for name in names}
    unknown_blocks = set(new) - {name for text in texts.values() for name in blocks_of(text)}
    if unknown_blocks or not new:
        sys.exit(
            f"put_blocks.py: no file has the block {', '.join(sorted(unknown_blocks))}"
            if new
            else "put_blocks.py: there is no block in the input"
        )
    for path, text in texts.items():
        path.write_text(BLOCK.sub(lambda found: new.get(found[1], found[0]), text), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
