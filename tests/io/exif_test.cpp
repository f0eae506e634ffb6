#include "io/exif.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "small_images.hpp"

namespace sepconv {
namespace {

using small_images::bytes;

ExifRead read_text(const std::string& text) { return read_exif(std::as_bytes(std::span(text))); }

const std::string kLittle = bytes(
    "II*\0\x08\0\0\0\x02\0"                         // two entries
    "\x0F\x01\x02\0\x04\0\0\0abc\0"                 // Make
    "\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0");  // Orientation 6

TEST_CASE("EXIF: the orientation in both byte orders, and the other tags") {
  for (std::uint16_t orientation = 1; orientation <= 8; ++orientation) {
    const ExifRead exif = read_exif(encode_exif({}, orientation, {3, 4}));
    CHECK(exif.orientation == orientation);
    CHECK(exif.exif.empty());
    CHECK_FALSE(exif.damaged);
  }
  const ExifRead exif = read_text(kLittle);
  CHECK(exif.orientation == 6);
  REQUIRE(exif.exif.image.size() == 1);
  CHECK(exif.exif.image[0].tag == 271);
  CHECK_FALSE(exif.damaged);
  const ExifRead reread = read_exif(encode_exif(exif.exif, 3, {3, 4}));
  CHECK(reread.orientation == 3);
  CHECK(reread.exif.image == exif.exif.image);
  CHECK(read_text(bytes("MM\0*\0\0\0\x08\0\0")).orientation == 1);
}

TEST_CASE("Damaged EXIF is detected and none of it is used") {
  const std::size_t entries_end = 10 + 2 * 12;
  for (std::size_t length = 0; length < entries_end; ++length) {
    CAPTURE(length);
    const std::vector<std::byte> truncated(reinterpret_cast<const std::byte*>(kLittle.data()),
                                           reinterpret_cast<const std::byte*>(kLittle.data()) + length);
    const ExifRead exif = read_exif(truncated);
    CHECK(exif.damaged);
    CHECK(exif.orientation == 1);
  }
  const auto with_bytes = [](std::size_t at, const std::string& replacement) {
    return std::string(kLittle).replace(at, replacement.size(), replacement);
  };
  CHECK(read_text(with_bytes(0, "XX")).damaged);
  CHECK(read_text(with_bytes(2, "+")).damaged);
  CHECK(read_text(with_bytes(4, "\xFF\xFF\xFF\xFF")).damaged);  // directory beyond the end
  CHECK(read_text(with_bytes(8, "\xFF\xFF")).damaged);          // more entries than bytes
  CHECK(read_text(with_bytes(30, bytes("\0"))).damaged);        // orientation 0
  CHECK(read_text(with_bytes(30, bytes("\x09"))).damaged);
  CHECK(read_text(with_bytes(30, bytes("\x06\x01"))).damaged);  // 262
  CHECK(read_text(with_bytes(24, "\x02")).damaged);             // type ASCII
  CHECK(read_text(with_bytes(26, "\x02")).damaged);             // two numbers
}

TEST_CASE("EXIF: a maker note stays where it was, sides become the image's, and values cannot fill memory") {
  Exif exif;
  exif.photo = {{kMakerNote, 7, 9, std::vector<std::byte>(9, std::byte{5})},
                {0xA002, 3, 1, {std::byte{1}, std::byte{0}}},
                {0x9003, 2, 6, std::vector<std::byte>(6, std::byte{'a'})}};
  exif.place = {{1, 2, 2, {std::byte{'N'}, std::byte{}}}};
  exif.maker_note_offset = 300;
  const std::vector<std::byte> encoded = encode_exif(exif, 1, {30, 40});
  CHECK(encoded[300] == std::byte{5});
  const ExifRead read_back = read_exif(encoded);
  CHECK(read_back.exif.maker_note_offset == 300);
  CHECK(read_back.exif.place == exif.place);
  REQUIRE(read_back.exif.photo.size() == 3);
  CHECK(read_back.exif.photo[1].data == exif.photo[0].data);
  CHECK(read_back.exif.photo[2].data[0] == std::byte{40});
  std::string many_entries = bytes("II*\0\x08\0\0\0\x40\0");
  for (int i = 0; i < 64; ++i) many_entries += bytes("\x0F\x01\x02\0\x00\x02\0\0\x08\0\0\0");
  CHECK(read_text(many_entries + bytes("\0\0\0\0")).damaged);
}

TEST_CASE("EXIF with flipped bits has an orientation from 1 to 8") {
  std::mt19937 random(9);
  for (int round = 0; round < 20'000; ++round) {
    std::string damaged = kLittle.substr(0, random() % kLittle.size() + 1);
    for (int flips = 0; flips < 3; ++flips)
      damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
    const ExifRead exif = read_text(damaged);
    REQUIRE(exif.orientation >= 1);
    REQUIRE(exif.orientation <= 8);
  }
}

}  // namespace
}  // namespace sepconv
