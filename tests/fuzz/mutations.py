"""Mutations of a file. Each takes `dice` (random.Random) and a bytearray, which it changes without knowledge
of the readers."""

import struct
import zlib

# ---- Any file ----


def flip_bits(dice, data):
    for _ in range(dice.choice((1, 1, 2, 8))):
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)


def flip_header_bits(dice, data):
    for _ in range(dice.choice((1, 1, 3))):
        data[dice.randrange(min(len(data), 128))] ^= 1 << dice.randrange(8)


def set_byte(dice, data):
    data[dice.randrange(len(data))] = dice.choice((0, 1, 127, 128, 255))


def truncate(dice, data):
    del data[dice.choice((dice.randrange(len(data)), len(data) - dice.randint(1, min(16, len(data) - 1)))) :]


def random_range(dice, data, max_length=64):
    begin = dice.randrange(len(data))
    return begin, min(len(data), begin + dice.randint(1, max_length))


def insert(dice, data):
    begin, end = random_range(dice, data)
    data[begin:begin] = dice.choice((bytes(end - begin), data[begin:end], dice.randbytes(end - begin)))


def delete(dice, data):
    begin, end = random_range(dice, data)
    del data[begin:end]


def swap_parts(dice, data):
    size = min(64, len(data) // 2)
    first, second = dice.randrange(len(data) - size), dice.randrange(len(data) - size)
    data[first : first + size], data[second : second + size] = (
        data[second : second + size],
        data[first : first + size],
    )


def overwrite(dice, data):
    begin, end = random_range(dice, data)
    data[begin:end] = dice.choice((bytes(end - begin), b"\xff" * (end - begin), dice.randbytes(end - begin)))


def change_digits(dice, data):
    """Changes numbers in text headers (NPY and PNM)."""
    digits = [offset for offset, byte in enumerate(data[:200]) if 48 <= byte <= 57]
    if not digits:
        return flip_header_bits(dice, data)
    offset = dice.choice(digits)
    data[offset : offset + 1] = dice.choice(
        (b"0", b"9", b"-1", b"65536", b"99999999999", b"4294967296", b" ", b"2")
    )


ANY = (flip_bits, flip_header_bits, set_byte, truncate, insert, delete, swap_parts, overwrite)
TEXT_HEADERS = (change_digits, change_digits, *ANY)

# ---- TIFF, by its structure ----

WIDTH = {
    1: "B",
    2: "B",
    3: "H",
    4: "I",
    5: "Q",
    6: "b",
    7: "B",
    8: "h",
    9: "i",
    10: "q",
    11: "I",
    12: "Q",
    13: "I",
    16: "Q",
    17: "q",
    18: "Q",
}
OFFSETS, COUNTS = (273, 324), (279, 325)
# Tags that affect the whole file, and values to try in addition to generic ones.
CRITICAL_TAGS = {
    256: (36, 38, 74),
    257: (44, 46, 90, 450),
    258: (1, 4, 8, 12, 16, 32, 64),
    259: (1, 5, 7, 8, 32773, 32946, 50000, 34712, 6),
    262: (0, 1, 2, 3, 5, 6, 8),
    266: (1, 2),
    277: (1, 2, 3, 4),
    278: (1, 8, 15, 17, 45, 46),
    284: (1, 2),
    317: (1, 2, 3),
    322: (8, 17, 32, 64),
    323: (8, 17, 32, 64),
    339: (1, 2, 3, 4, 5, 6),
    530: (1, 2, 4),
    32997: (1, 2),
    338: (0, 1, 2),
}


class Directory:
    """The entries of the first directory of a TIFF. Raises struct.error or IndexError if the TIFF has no
    directory."""

    def __init__(self, data):
        self.data, self.order = data, {b"II": "<", b"MM": ">"}.get(bytes(data[:2]), "<")
        self.big = self.get("H", 2) == 43
        self.word = "Q" if self.big else "I"
        start = self.get(self.word, 8 if self.big else 4)
        head, self.step = (8, 20) if self.big else (2, 12)
        count = min(self.get("Q" if self.big else "H", start), 100)
        self.entries = [start + head + index * self.step for index in range(count)]
        self.next = start + head + count * self.step
        self.get(self.word, self.next)

    def get(self, kind, offset):
        return struct.unpack_from(self.order + kind, self.data, offset)[0]

    def put(self, kind, offset, value):
        bits = 8 * struct.calcsize("<" + kind)
        struct.pack_into(self.order + kind.upper(), self.data, offset, value % (1 << bits))

    def find(self, tags):
        return [entry for entry in self.entries if self.get("H", entry) in tags]

    def values(self, entry):
        """Kind, count and offset of an entry's values, which are stored in the entry or elsewhere."""
        kind, count = WIDTH.get(self.get("H", entry + 2), "B"), self.get(self.word, entry + 4)
        field = entry + 4 + struct.calcsize("<" + self.word)
        is_inline = count * struct.calcsize("<" + kind) <= struct.calcsize("<" + self.word)
        return kind, count, field if is_inline else self.get(self.word, field)


def boundary_value(dice, data):
    power = 1 << dice.choice((*range(17), 31, 32, 63))
    return dice.choice(
        (0, 1, -1, power - 1, power, power + 1, len(data), len(data) - 1, dice.getrandbits(32))
    )


def change_field(dice, data):
    """Changes tag, type, count or value of an entry."""
    directory = Directory(data)
    entry = dice.choice(directory.entries)
    after = struct.calcsize("<" + directory.word)
    kind, offset = dice.choice((("H", 0), ("H", 2), (directory.word, 4), (directory.word, 4 + after)))
    value = dice.randrange(20) if offset == 2 else boundary_value(dice, data)
    directory.put(kind, entry + offset, value)


def change_value(dice, data):
    """Changes one value of a critical tag."""
    directory = Directory(data)
    entry = dice.choice(directory.find(CRITICAL_TAGS))
    kind, count, values_offset = directory.values(entry)
    offset = values_offset + dice.randrange(max(1, min(count, 100))) * struct.calcsize("<" + kind)
    is_generic = dice.random() < 0.3
    directory.put(
        kind,
        offset,
        boundary_value(dice, data) if is_generic else dice.choice(CRITICAL_TAGS[directory.get("H", entry)]),
    )


def change_table(dice, data):
    """Changes one offset or byte count of a block."""
    directory = Directory(data)
    kind, count, values_offset = directory.values(dice.choice(directory.find(OFFSETS + COUNTS)))
    offset = values_offset + dice.randrange(max(1, min(count, 1000))) * struct.calcsize("<" + kind)
    nearby_value = directory.get(kind, offset) + dice.choice((-2, -1, 1, 2, 100))
    directory.put(kind, offset, dice.choice((nearby_value, 0, boundary_value(dice, data))))


def shorten_table(dice, data):
    directory = Directory(data)
    entry = dice.choice(directory.find(OFFSETS + COUNTS))
    count = directory.get(directory.word, entry + 4)
    directory.put(directory.word, entry + 4, dice.choice((0, 1, count - 1, count // 2, count + 1)))


def swap_blocks(dice, data):
    """Exchanges the offsets of two blocks, or sets both to one offset."""
    directory = Directory(data)
    kind, count, values_offset = directory.values(dice.choice(directory.find(OFFSETS)))
    size = struct.calcsize("<" + kind)
    first, second = (values_offset + dice.randrange(max(1, min(count, 1000))) * size for _ in range(2))
    values = directory.get(kind, first), directory.get(kind, second)
    directory.put(kind, first, values[1])
    directory.put(kind, second, values[dice.randrange(2)])


def recode_block(dice, data):
    """Replaces a deflated block by one that decodes to more or fewer bytes than its pixels need, at the end
    of the file."""
    directory = Directory(data)
    tables = [directory.values(directory.find(tags)[0]) for tags in (OFFSETS, COUNTS)]
    index = dice.randrange(max(1, min(tables[0][1], tables[1][1], 1000)))
    (offset, count) = (
        (kind, values_offset + index * struct.calcsize("<" + kind)) for kind, _, values_offset in tables
    )
    begin = directory.get(*offset)
    pixels = zlib.decompress(data[begin : begin + directory.get(*count)])
    pixels = dice.choice(
        (pixels[:-1], pixels[: len(pixels) // 2], pixels + b"\7", pixels + bytes(300), 2 * pixels)
    )
    block = zlib.compress(pixels, dice.choice((0, 1, 9)))
    directory.put(*offset, len(data))
    directory.put(*count, len(block))
    data += block


def change_next(dice, data):
    """Changes the offset of the next directory: to a loop, or to a place without a directory."""
    directory = Directory(data)
    loop = directory.entries[0] - (8 if directory.big else 2)
    directory.put(directory.word, directory.next, dice.choice((loop, 0, 8, boundary_value(dice, data))))


def move_entries(dice, data):
    """Exchanges two entries, duplicates one, or clears one."""
    directory = Directory(data)
    first, second = (dice.choice(directory.entries) for _ in range(2))
    size = directory.step
    first_entry, second_entry = bytes(data[first : first + size]), bytes(data[second : second + size])
    data[first : first + size], data[second : second + size] = dice.choice(
        ((second_entry, first_entry), (second_entry, second_entry), (bytes(size), second_entry))
    )


TIFF = (
    change_field,
    change_field,
    change_value,
    change_value,
    change_value,
    change_table,
    shorten_table,
    swap_blocks,
    recode_block,
    change_next,
    move_entries,
)
BY_ENDING = {"tif": TIFF + ANY, "npy": TEXT_HEADERS, "pnm": TEXT_HEADERS}


def mutant(dice, ending, seed):
    """A copy of the seed with one to three mutations, and their names."""
    data, applied = bytearray(seed), []
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        change = dice.choice(BY_ENDING.get(ending, ANY))
        try:
            change(dice, data)
        except (
            struct.error,
            zlib.error,
            IndexError,
            ValueError,
            OverflowError,
        ):  # the file cannot store this mutation
            continue
        applied.append(change.__name__)
    return bytes(data), applied
