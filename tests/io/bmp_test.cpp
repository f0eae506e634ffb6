#include "io/bmp/bmp.hpp"

#include <catch2/catch.hpp>

#include "core/error.hpp"
#include "icc_profile.hpp"
#include "io/formats.hpp"
#include "small_images.hpp"
#include "temporary_folder.hpp"

namespace sepconv {
namespace {

using Catch::Contains;
using small_images::bmp;
using small_images::bytes;

std::string little_endian(std::uint32_t value, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += static_cast<char>(std::uint64_t{value} >> 8 * i);
  return text;
}

std::string patched(std::string content, std::size_t at, std::uint32_t value, int count = 4) {
  return content.replace(at, static_cast<std::size_t>(count), little_endian(value, count));
}

std::string masks(std::uint32_t red, std::uint32_t green, std::uint32_t blue) {
  return little_endian(red, 4) + little_endian(green, 4) + little_endian(blue, 4);
}

/// The image's pixels: all channels, top row first.
std::string pixels_of(Reader& reader) {
  const TestImage image = read_all(reader);
  std::string values;
  for (std::int64_t row = 0; row < image.spec().extent.rows; ++row)
    values.append(reinterpret_cast<const char*>(image.view().row_data(row)),
                  static_cast<std::size_t>(image.view().row_bytes()));
  return values;
}

class Bmp {
 public:
  std::unique_ptr<Reader> reader(const std::string& content) {
    return open_reader(folder_.write("a.bmp", content));
  }
  std::string pixels(const std::string& content) { return pixels_of(*reader(content)); }
  void refused(const std::string& content, const std::string& fact) {
    CAPTURE(fact);
    CHECK_THROWS_AS(reader(content), IoError);
    CHECK_THROWS_WITH(reader(content), Contains("a.bmp") && Contains(fact));
  }

 private:
  TemporaryFolder folder_;
};

const std::string kColours = bytes("BGR\0bgr\0");

TEST_CASE("BMP: OS/2 headers") {
  Bmp file;
  const auto core = [](int bits, const std::string& palette, const std::string& pixels) {
    const auto offset = static_cast<std::uint32_t>(26 + palette.size());
    return "BM" + little_endian(0, 8) + little_endian(offset, 4) + little_endian(12, 4) +
           little_endian(2, 2) + little_endian(1, 2) + little_endian(1, 2) +
           little_endian(static_cast<std::uint32_t>(bits), 2) + palette + pixels;
  };
  CHECK(file.pixels(core(24, "", bytes("BGRbgr\0\0"))) == "RGBrgb");
  CHECK(file.pixels(core(1, "BGRbgr", bytes("\x40\0\0\0"))) == "RGBrgb");
  CHECK(file.pixels(core(1, "aaabbb", bytes("\x40\0\0\0"))) == "ab");
  file.refused(core(1, "BGRbg", bytes("\x40\0\0\0")), "within its header and palette of 32 bytes");
  const std::string second = bmp(24, 0, 0, 1, std::string(24, '\xEE'), bytes("BGRbgr\0\0"), 64);
  CHECK(file.pixels(second) == "RGBrgb");
  file.refused(patched(second, 30, 4), "compression 4 of OS/2");
  file.refused(patched(patched(second, 28, 32, 2), 30, 3), "compression 3 of OS/2");
}

TEST_CASE("BMP: values of any number of bits are spread over 0 to 255, wherever the masks are") {
  Bmp file;
  const std::string white = bytes("\xFF\xFF\0\0");
  CHECK(file.pixels(bmp(16, 0, 0, 1, "", white)) == bytes("\xFF\xFF\xFF\0\0\0"));
  const std::string levels =
      little_endian(1 << 10 | 2 << 5 | 3, 2) + little_endian(29 << 10 | 16 << 5 | 15, 2);
  CHECK(file.pixels(bmp(16, 0, 0, 1, "", levels)) == bytes("\x08\x10\x19\xEF\x84\x7B"));
  const std::string six_bit_green = little_endian(1 << 11 | 3 << 5 | 3, 2) + white.substr(0, 2);
  for (const int header_bytes : {40, 52}) {
    CAPTURE(header_bytes);
    CHECK(file.pixels(bmp(16, 3, 0, 1, masks(0xF800, 0x07E0, 0x1F), six_bit_green, header_bytes)) ==
          bytes("\x08\x0C\x19\xFF\xFF\xFF"));
  }
  for (const int header_bytes : {56, 108, 124}) {
    CAPTURE(header_bytes);
    const std::string rest = masks(0xF00, 0xF0, 0xF) + little_endian(0xF000, 4) +
                             std::string(static_cast<std::size_t>(header_bytes - 56), '\0');
    const auto reader = file.reader(
        bmp(16, 3, 0, 1, rest, little_endian(0x1234, 2) + little_endian(0xF0F8, 2), header_bytes));
    CHECK(reader->spec().channels == 4);
    CHECK(pixels_of(*reader) == bytes("\x22\x33\x44\x11\0\xFF\x88\xFF"));
  }
  CHECK(file.pixels(bmp(32, 3, 0, 1, masks(0xFF, 0xFF00, 0xFF0000), "RGBxrgbx")) == "RGBrgb");
  const std::string ten_bit_masks = masks(0x3FF, 0x3FF << 10, 0x3FFu << 20);
  CHECK(file.pixels(bmp(32, 3, 0, 1, ten_bit_masks,
                        little_endian(1023 | 512 << 10 | 2u << 20, 4) + little_endian(1, 4))) ==
        bytes("\xFF\x80\0\0\0\0"));
}

TEST_CASE("BMP: rows from the top or from the bottom, of every number of bits") {
  Bmp file;
  CHECK(file.pixels(bmp(24, 0, 0, 2, "", bytes("BGRbgr\0\0CHScsh\0\0"))) == "SHChscRGBrgb");
  CHECK(file.pixels(bmp(24, 0, 0, -2, "", bytes("BGRbgr\0\0CHScsh\0\0"))) == "RGBrgbSHChsc");
  const std::string four_colours = bytes("aaa\0bbb\0ccc\0ddd\0");
  CHECK(file.pixels(bmp(4, 0, 4, 2, four_colours, bytes("\x32\0\0\0\x01\0\0\0"))) == "abdc");
  CHECK(file.pixels(bmp(8, 0, 4, -2, four_colours, bytes("\3\2\0\0\0\1\0\0"))) == "dcab");
  CHECK(file.pixels(bmp(8, 1, 4, -2, four_colours, bytes("\2\3\0\0\2\1\0\1"))) == "ddbb");
  // A palette for pixels that need no palette, and one with more colours than the pixels can index.
  CHECK(file.pixels(bmp(24, 0, 2, 1, kColours, bytes("BGRbgr\0\0"))) == "RGBrgb");
  CHECK(file.pixels(bmp(1, 0, 4, 1, four_colours, bytes("\x40\0\0\0"))) == "ab");
}

TEST_CASE("BMP: run-length encoding; skipped pixels have the first colour") {
  Bmp file;
  const std::string four_colours = bytes("aaa\0bbb\0ccc\0ddd\0");
  const auto decode_runs = [&](int compression, const std::string& runs) {  // two rows of five
    return file.pixels(patched(bmp(compression == 1 ? 8 : 4, compression, 4, 2, four_colours, runs), 18, 5));
  };
  CHECK(decode_runs(1, bytes("\5\1\0\0\0\3\1\2\3\0\2\2\0\1")) == "bcdccbbbbb");
  CHECK(decode_runs(1, bytes("\0\0\1\1\0\2\1\0\3\2\0\1")) ==
        "baccc"
        "aaaaa");
  CHECK(decode_runs(1, bytes("\2\1\0\2\1\1\2\3\0\0")) ==
        "aaadd"
        "bbaaa");
  CHECK(decode_runs(2, bytes("\5\x12\0\0\0\5\x12\x30\x10\0\0\1")) ==
        "bcdab"
        "bcbcb");
  CHECK(decode_runs(2, bytes("\1\x1F\0\0\0\3\x12\x3F\2\x32\0\1")) ==
        "bcddc"
        "baaaa");
  CHECK_THROWS_WITH(decode_runs(1, bytes("\0\4\1")), Contains("end too early"));
  CHECK_THROWS_WITH(decode_runs(2, bytes("\2\x1F\0\0\5\x12\0\1")),
                    Contains("has colour 15 of a palette of 4"));
}

TEST_CASE("BMP: runs of pixels that are not an image are refused when the file is opened") {
  const TemporaryFolder folder;
  const auto runs = [&](const std::string& pixels) {
    const std::string grey("abc\0ddd\0", 8);
    return folder.write("a.bmp", small_images::bmp(8, 1, 2, 2, grey, pixels));  // two rows of two
  };
  const auto refused = [&](const std::string& pixels, const std::string& fact) {
    CHECK_THROWS_WITH(open_reader(runs(pixels)), Contains("a.bmp") && Contains(fact));
  };
  using small_images::bytes;
  CHECK_NOTHROW(read_all(*open_reader(runs(bytes("\2\1\0\0\2\1\0\1")))));
  CHECK_NOTHROW(read_all(*open_reader(runs(bytes("\2\1\0\0\2\1\0\0\0\1")))));
  CHECK_NOTHROW(open_reader(runs(bytes("\2\1\0\2\0\1\0\1"))));  // skips the second row
  refused(bytes("\2\1\0\0\2\1"), "end too early");
  refused(bytes("\2\1\0\0\2"), "end too early");
  refused(bytes("\2\1\0\0\0\1"), "end in row 1 of 2");
  refused(bytes("\2\1\0\0\1\1\0\1"), "end in row 1 of 2");
  refused(bytes("\3\1\0\1"), "leave row 0 of 2");
  refused(bytes("\2\1\0\0\0\3\1\1\1\0\0\1"), "leave row 1 of 2");
  refused(bytes("\1\1\0\2\2\0\0\1"), "leave row 0 of 2");
  refused(bytes("\2\1\0\2\0\2\0\1"), "leave the image from row 0 of 2");
  refused(bytes("\2\2\0\0\2\1\0\1"), "has colour 2 of a palette of 2");
}

TEST_CASE("BMP keeps the resolution, and its fourth byte is alpha where a mask says so") {
  const TemporaryFolder folder;
  using enum Resolution::Unit;
  const ImageSpec spec{{3, 5}, 3, PixelType::u8};
  const auto written = [&](const Resolution& resolution) {
    CreateOptions options{.overwrite = true};
    options.metadata.resolution = resolution;
    const TestImage image = TestImage::random(spec);
    const auto writer = create_writer(folder.path() / "a.bmp", spec, options);
    write_all(*writer, image);
    CHECK(reads_everywhere(*open_reader(folder.path() / "a.bmp"), image));
    const auto read = open_reader(folder.path() / "a.bmp")->metadata().resolution;
    CHECK(read.has_value() == writer->layout().warnings.empty());
    return read;
  };
  CHECK(written({300, 72, inch}) == Resolution{300, 72, inch});
  CHECK(folder.read("a.bmp").substr(38, 8) ==
        small_images::bytes("\x23\x2E\0\0\x13\x0B\0\0"));  // 11811 and 2835 per metre
  CHECK(written({118.11, 118.11, centimetre}) == Resolution{300, 300, inch});
  CHECK_FALSE(written({1, 1, none}));
  CHECK_FALSE(written({1e9, 1e9, inch}));
  for (const small_images::Sample& sample : small_images::bmp_samples()) {
    const auto reader = open_reader(folder.write(sample.name, sample.content));
    CHECK_FALSE(reader->metadata().resolution);
    CHECK((reader->metadata().extra_samples == std::vector<std::uint16_t>{2}) == (sample.spec.channels == 4));
  }
}

TEST_CASE("BMP: headers that cannot be and pixels that are missing are errors") {
  Bmp file;
  const std::string good = bmp(24, 0, 0, 1, "", bytes("BGRbgr\0\0"));
  REQUIRE_NOTHROW(file.reader(good));
  file.refused(patched(good, 14, 41), "a BMP header of 41 bytes is not known");
  for (const std::uint32_t planes : {0u, 2u, 65535u})
    file.refused(patched(good, 26, planes, 2), std::to_string(planes) + " planes");
  file.refused(patched(good, 18, 0), "rows of 0 pixels");
  file.refused(patched(good, 18, 0xFFFFFFFF), "rows of -1 pixels");
  file.refused(patched(good, 22, 0), "0 rows");
  file.refused(patched(good, 22, 0x80000000), "2147483648 rows");
  file.refused(patched(good, 22, 0x7FFFFFFF), "do not fit into its 62 bytes");
  file.refused(patched(patched(good, 22, 0x7FFFFFFF), 18, 0x7FFFFFFF), "do not fit into its 62 bytes");
  for (const std::uint32_t offset : {0u, 10u, 53u})
    file.refused(patched(good, 10, offset), "within its header and palette of 54 bytes");
  for (const std::uint32_t offset : {55u, 62u, 63u, 0xFFFFFFFFu})
    file.refused(patched(good, 10, offset), "do not fit");
  for (const std::uint32_t bits : {0u, 2u, 15u, 64u})
    file.refused(patched(good, 28, bits, 2), "BMP of " + std::to_string(bits) + " bits");
  for (const std::uint32_t compression : {1u, 2u, 3u, 6u, 11u})
    file.refused(patched(good, 30, compression), "compression " + std::to_string(compression));
  file.refused(patched(good, 30, 4), "a JPEG within a BMP is not read");
  file.refused(patched(good, 30, 5), "a PNG within a BMP is not read");

  const std::string indexed = bmp(8, 0, 2, 1, kColours, bytes("\0\1\0\0"));
  for (const std::uint32_t colours : {0u, 3u, 300u, 0xFFFFFFFFu})
    file.refused(patched(indexed, 46, colours), "within its header and palette");
  const std::string runs = bmp(8, 1, 2, 1, kColours, bytes("\2\1\0\1"));
  file.refused(patched(patched(runs, 18, 0x7FFFFFFF), 22, 0x7FFFFFFF),
               "more than the limit for run-length encoding");
  file.refused(patched(runs, 10, static_cast<std::uint32_t>(runs.size())), "do not fit");
}

TEST_CASE("BMP: colours that the palette does not have are damage") {
  Bmp file;
  for (const auto& [bits, stored] : {std::pair{8, "\1\2\0"}, {4, "\x12\0\0"}}) {
    const auto reader =
        file.reader(bmp(bits, 0, 2, 2, kColours, bytes("\1\0\0\0") + std::string(stored, 3) + '\0'));
    CHECK_THROWS_WITH(read_all(*reader), Contains("row 0 has colour 2 of a palette of 2"));
  }
}

TEST_CASE("BMP: masks that overlap, have gaps or are missing are refused") {
  Bmp file;
  const auto refused = [&](int bits, const std::string& colour_masks) {
    file.refused(bmp(bits, 3, 0, 1, colour_masks, std::string(8, 'x')), "separate bits in one piece");
  };
  refused(32, masks(0xFF, 0xFF, 0xFF00));
  refused(32, masks(0x1FF, 0xFF00, 0xFF0000));
  refused(32, masks(0xF0F, 0xF0, 0xFF0000));
  refused(32, masks(0, 0xFF00, 0xFF0000));
  refused(16, masks(0x1F0000, 0x3E0, 0x1F));
  const std::string alpha = masks(0xFF0000, 0xFF00, 0xFF) + little_endian(0xFF, 4);
  file.refused(bmp(32, 3, 0, 1, alpha, std::string(8, 'x'), 56), "masks 00ff0000 0000ff00 000000ff 000000ff");
}

TEST_CASE("BMP: the profile of a header of version 5 goes along, or it is said why not") {
  Bmp file;
  constexpr std::size_t head_bytes = 14 + 124;
  const auto with_profile = [](const std::vector<std::byte>& profile, std::uint32_t space = 0x4D424544) {
    const std::string pixels = bytes("BGRbgr\0\0");
    std::string content = bmp(24, 0, 0, 1, std::string(84, '\0'), pixels, 124);
    content = patched(patched(content, 70, space), 126,
                      static_cast<std::uint32_t>(head_bytes - 14 + pixels.size()));
    content = patched(content, 130, static_cast<std::uint32_t>(profile.size()));
    return content.append(reinterpret_cast<const char*>(profile.data()), profile.size());
  };
  const auto profile = icc_profile("RGB ");
  const auto reader = file.reader(with_profile(profile));
  CHECK(reader->metadata().icc_profile == profile);
  CHECK(reader->layout().warnings.empty());
  CHECK(pixels_of(*reader) == "RGBrgb");
  const auto omits_profile = [&](const std::string& content, const std::string& why) {
    const auto reader_without = file.reader(content);
    CHECK(reader_without->metadata().icc_profile.empty());
    REQUIRE(reader_without->layout().warnings.size() == 1);
    CHECK_THAT(reader_without->layout().warnings[0], Contains("the ICC profile") && Contains(why));
  };
  omits_profile(with_profile(icc_profile("GRAY")), "not for these channels");
  omits_profile(with_profile(std::vector<std::byte>(20)), "not for these channels");
  omits_profile(with_profile(profile, 0x4C494E4B), "in a separate file");
  omits_profile(patched(with_profile(profile), 126, 1 << 20), "the file ends before it does");
  omits_profile(patched(with_profile(profile), 130, 9 << 20), "of 9437184 bytes is left out");
  CHECK(file.reader(with_profile(profile, 0x73524742))
            ->layout()
            .warnings.empty());  // "sRGB": the file has no embedded profile
}

TEST_CASE("BMP: the written bytes") {
  const TemporaryFolder folder;
  const auto written = [&](std::int64_t channels) {
    TestImage image({{2, 1}, channels, PixelType::u8});
    for (int i = 0; i < 2 * channels; ++i)
      image.view().row<std::uint8_t>(i / channels)[i % channels] = static_cast<std::uint8_t>('A' + i);
    write_all(*create_bmp(folder.path() / "a.bmp", image.spec(), {.overwrite = true}), image);
    return folder.read("a.bmp");
  };
  const auto head = [](std::uint32_t offset, std::uint32_t bits) {
    return "BM" + little_endian(offset + 8, 4) + little_endian(0, 4) + little_endian(offset, 4) +
           little_endian(40, 4) + little_endian(1, 4) + little_endian(2, 4) + little_endian(1, 2) +
           little_endian(bits, 2) + std::string(24, '\0');
  };
  CHECK(written(3) == head(54, 24) + bytes("FED\0CBA\0"));
  std::string greys;
  for (std::uint32_t grey = 0; grey < 256; ++grey) greys += little_endian(grey * 0x10101, 4);
  CHECK(written(1) == head(1078, 8) + greys + bytes("B\0\0\0A\0\0\0"));
  CHECK_THROWS_WITH(create_bmp(folder.path() / "b.bmp", {{40'000, 40'000}, 3, PixelType::u8}, {}),
                    Contains("more than the 4 GiB"));
}

}  // namespace
}  // namespace sepconv
