// Complete JPEG streams from a TIFF's blocks and its shared tables.
#include "io/tiff/jpeg_stream.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <initializer_list>
#include <vector>

#include "temporary_folder.hpp"

using namespace sepconv;

namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::initializer_list<int> values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

Bytes complete_jpeg(const Bytes& tables, const Bytes& block) {
  Bytes stream(static_cast<std::size_t>(complete_jpeg_bytes(tables, std::ssize(block))), std::byte{0xA5});
  const std::span<std::byte> block_bytes = block_in_jpeg(tables, stream);
  REQUIRE(block_bytes.size() == block.size());
  std::ranges::copy(block, block_bytes.begin());
  put_jpeg_tables(tables, stream);
  return stream;
}

const Bytes kTables = bytes_of({0xFF, 0xD8, 0xFF, 0xDB, 0, 4, 1, 2, 0xFF, 0xC4, 0, 3, 7, 0xFF, 0xD9});

}  // namespace

TEST_CASE("Shared tables are inserted after a block's SOI marker") {
  const Bytes block = bytes_of({0xFF, 0xD8, 0xFF, 0xC0, 9});
  CHECK(complete_jpeg(kTables, block) ==
        bytes_of({0xFF, 0xD8, 0xFF, 0xDB, 0, 4, 1, 2, 0xFF, 0xC4, 0, 3, 7, 0xFF, 0xC0, 9}));
  CHECK(complete_jpeg({}, block) == block);
  CHECK(complete_jpeg_bytes(kTables, 0) == 0);
  // A block that does not begin with SOI gives zeros.
  for (const Bytes& not_jpeg : {bytes_of({0xFF}), bytes_of({0}), bytes_of({0xFF, 0xD9, 0xFF, 0xC0})}) {
    for (const std::byte byte : complete_jpeg(kTables, not_jpeg)) CHECK(byte == std::byte{});
  }
}

TEST_CASE("Only tables and comments are accepted as shared tables") {
  CHECK(are_plain_jpeg_tables({}));
  CHECK(are_plain_jpeg_tables(kTables));
  CHECK(are_plain_jpeg_tables(bytes_of({0xFF, 0xD8, 0xFF, 0xFE, 0, 2, 0xFF, 0xD9})));
  for (std::size_t size = 1; size < kTables.size(); ++size) {
    CAPTURE(size);
    CHECK(!are_plain_jpeg_tables(std::span(kTables).first(size)));
  }
  CHECK(!are_plain_jpeg_tables(bytes_of({0xFF, 0xD8, 0xFF, 0xDD, 0, 4, 0, 1, 0xFF, 0xD9})));  // restarts
  CHECK(!are_plain_jpeg_tables(bytes_of({0xFF, 0xD8, 0xFF, 0xDB, 0, 1, 0xFF, 0xD9})));
  Bytes trailing_byte = kTables;
  trailing_byte.push_back({});
  CHECK(!are_plain_jpeg_tables(trailing_byte));
}

TEST_CASE("A JPEG's own tables are detected anywhere in the stream") {
  const Bytes without_tables =
      bytes_of({0xFF, 0xD8, 0xFF, 0xC0, 0, 3, 7, 0xFF, 0xDA, 0, 2, 0xDB, 0xC4, 0xFF, 0, 0xFF});
  CHECK(!may_define_jpeg_tables({}));
  CHECK(!may_define_jpeg_tables(without_tables));
  for (const int table : {0xDB, 0xC4}) {
    Bytes with_table = without_tables;
    with_table.push_back(static_cast<std::byte>(table));
    CHECK(may_define_jpeg_tables(with_table));
  }
}

TEST_CASE("A JPEG's frame header gives its process, bits and extent") {
  const Bytes stream =
      bytes_of({0xFF, 0xD8, 0xFF, 0xE0, 0, 3, 7, 0xFF, 0xC2, 0, 11, 8, 1, 2, 3, 4, 1, 1, 0x11, 0});
  const auto frame = jpeg_frame(stream);
  REQUIRE(frame);
  CHECK(frame->marker == 0xC2);
  CHECK(frame->bits == 8);
  CHECK(frame->extent == Extent{0x102, 0x304});
  for (std::size_t size = 0; size < 16; ++size) CHECK(!jpeg_frame(std::span(stream).first(size)));
}

namespace {

/// The frame of a stream that begins at byte 3 of a file.
std::optional<JpegFrame> frame_in_file(const Bytes& stream) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "block";
  std::ofstream(path, std::ios::binary)
      .write("abc", 3)
      .write(reinterpret_cast<const char*>(stream.data()), std::ssize(stream));
  return jpeg_frame(InputFile(path), 3, std::ssize(stream));
}

/// `count` APP2 segments with `bytes` bytes after their lengths, then a frame header.
Bytes after_segments(std::size_t count, std::size_t bytes) {
  Bytes stream = bytes_of({0xFF, 0xD8});
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t length = bytes + 2;
    for (const std::size_t byte : {std::size_t{0xFF}, std::size_t{0xE2}, length >> 8, length & 0xFF})
      stream.push_back(static_cast<std::byte>(byte));
    stream.resize(stream.size() + bytes, std::byte{0xC0});
  }
  const Bytes frame = bytes_of({0xFF, 0xC1, 0, 11, 8, 1, 2, 3, 4, 1, 1, 0x11, 0});
  stream.insert(stream.end(), frame.begin(), frame.end());
  return stream;
}

}  // namespace

TEST_CASE("A JPEG's frame is found after segments of any size, with a bounded number of reads") {
  for (const std::size_t bytes : {0, 1, 4085, 4086, 4087, 4091, 4092, 8184, 60000}) {
    for (const std::size_t count : {0, 1, 2, 300}) {
      CAPTURE(bytes, count);
      const auto frame = frame_in_file(after_segments(count, bytes));
      REQUIRE(frame);
      CHECK(frame->marker == 0xC1);
      CHECK(frame->extent == Extent{0x102, 0x304});
    }
  }
  CHECK(frame_in_file(after_segments(kMaxFrameReads - 1, 5000)));
  CHECK(!frame_in_file(after_segments(kMaxFrameReads, 5000)));
  // The shortest segments, and fill bytes (0xFF) before a marker.
  constexpr std::size_t kScannedBytes = kMaxFrameReads * std::size_t{4096};
  CHECK(frame_in_file(after_segments(kScannedBytes / 4 - 2000, 0)));
  CHECK(!frame_in_file(after_segments(kScannedBytes / 4, 0)));
  Bytes fill_bytes(kScannedBytes + 100, std::byte{0xFF});
  fill_bytes[1] = std::byte{0xD8};
  CHECK(!frame_in_file(fill_bytes));
}

TEST_CASE("A file that ends before a JPEG's frame has no frame") {
  const Bytes stream = after_segments(3, 5000);
  for (const std::size_t bytes : {2, 4, 5000, 5012, 15012, 15016, 15020, 15023}) {
    CAPTURE(bytes);
    CHECK(!frame_in_file(Bytes(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(bytes))));
  }
  REQUIRE(stream.size() == 15027);
}
