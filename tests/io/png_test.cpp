#include "io/png/png.hpp"

#include <catch2/catch.hpp>

#include "icc_profile.hpp"
#include "io/formats.hpp"
#include "png_bytes.hpp"
#include "small_images.hpp"
#include "temporary_folder.hpp"

namespace sepconv {
namespace {

using Catch::Contains;
using png_bytes::big32;
using png_bytes::chunk;
using small_images::bytes;

/// A file of 2 x 2 grey pixels with chunks before and after them.
std::string grey(const std::string& before, const std::string& after = "") {
  const std::string file = png_bytes::file(2, 2, 8, 0, bytes("\0ab\0cd"), before);
  const std::size_t end = file.size() - 12;
  return file.substr(0, end) + after + file.substr(end);
}

/// The warnings of a file that can be decoded.
std::vector<std::string> warnings_of(const std::filesystem::path& path) {
  const auto reader = open_reader(path);
  read_all(*reader);
  return reader->layout().warnings;
}

std::unique_ptr<Reader> rewritten(const TemporaryFolder& folder, const Metadata& metadata,
                                  std::int64_t channels = 3) {
  CreateOptions options{.overwrite = true};
  options.metadata = metadata;
  const TestImage image = TestImage::random({{3, 5}, channels, PixelType::u8});
  const auto writer = create_png(folder.path() / "a.png", image.spec(), options);
  CHECK(writer->layout().warnings.empty());
  write_all(*writer, image);
  auto reader = open_reader(folder.path() / "a.png");
  CHECK(reader->layout().warnings.empty());
  CHECK(same_pixels(read_all(*reader).view(), image.view()));
  return reader;
}

TEST_CASE("PNG keeps resolution, orientation, profile and texts") {
  const TemporaryFolder folder;
  Metadata metadata;
  metadata.orientation = 6;
  metadata.icc_profile = icc_profile("RGB ", 70'000);
  metadata.description = "a field in spring";
  metadata.software = "Scan\xC3\xA9r";  // UTF-8
  metadata.date_time = "2024:05:06 07:08:09";
  metadata.artist = "A. Painter";
  metadata.copyright = "\xC2\xA9 the painter";
  using enum Resolution::Unit;
  for (const Resolution resolution :
       {Resolution{300, 72, inch}, Resolution{118, 40.5, centimetre}, Resolution{4, 3, none}}) {
    metadata.resolution = resolution;
    const auto reader = rewritten(folder, metadata);
    const Metadata& read = reader->metadata();
    CHECK(read.orientation == 6);
    CHECK(read.icc_profile == metadata.icc_profile);
    CHECK(read.description == metadata.description);
    CHECK(read.software == metadata.software);
    CHECK(read.date_time == metadata.date_time);
    CHECK(read.artist == metadata.artist);
    CHECK(read.copyright == metadata.copyright);
    REQUIRE(read.resolution.has_value());
    CHECK((read.resolution->unit == none) == (resolution.unit == none));
    const double unit = resolution.unit == centimetre ? 2.54 : 1;
    CHECK(read.resolution->x == Approx(unit * resolution.x));
    CHECK(read.resolution->y == Approx(unit * resolution.y));
  }
  metadata.resolution = Resolution{300, 300, inch};
  CHECK(rewritten(folder, metadata)->metadata().resolution == metadata.resolution);
}

TEST_CASE("PNG with alpha says which channel it is") {
  const TemporaryFolder folder;
  Metadata with_alpha;
  with_alpha.extra_samples = {2};
  CHECK(rewritten(folder, with_alpha, 4)->metadata().extra_samples == with_alpha.extra_samples);
  CHECK(rewritten(folder, {}, 3)->metadata().extra_samples.empty());
}

TEST_CASE("PNG: a warning names metadata that cannot be kept when the file is created") {
  const TemporaryFolder folder;
  const auto check_warning = [&](const Metadata& metadata, const std::string& fact) {
    CreateOptions options;
    options.metadata = metadata;
    const TestImage image({{1, 1}, 1, PixelType::u8});
    const auto writer = create_png(folder.path() / "a.png", image.spec(), options);
    REQUIRE(writer->layout().warnings.size() == 1);
    CHECK_THAT(writer->layout().warnings[0], Contains(fact));
    write_all(*writer, image);
    const auto reader = open_reader(folder.path() / "a.png");
    CHECK(reader->metadata().icc_profile.empty());
    CHECK_FALSE(reader->metadata().resolution.has_value());
    std::filesystem::remove(folder.path() / "a.png");
  };
  Metadata metadata;
  metadata.icc_profile = icc_profile("RGB ");  // for grey pixels
  check_warning(metadata, "ICC profile is not kept: libpng");
  metadata.icc_profile.assign(512, std::byte{7});
  check_warning(metadata, "ICC profile is not kept: libpng");
  metadata.icc_profile.clear();
  metadata.resolution = Resolution{1e-9, 300, Resolution::Unit::inch};
  check_warning(metadata, "resolution is not kept");
}

TEST_CASE("PNG: metadata of other writers, before and after the pixels") {
  const TemporaryFolder folder;
  const std::string exif = bytes("MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x08\0\0\0\0\0\0");
  const std::string texts =
      chunk("tEXt", bytes("Author\0A. P\xE4inter")) + chunk("iTXt", bytes("Copyright\0\0\0\0\0\xC2\xA9"));
  for (const bool after : {false, true}) {
    const std::string chunks = chunk("eXIf", exif) + texts;
    const auto path = folder.write("a.png", after ? grey("", chunks) : grey(chunks));
    CHECK(warnings_of(path).empty());
    const auto reader = open_reader(path);
    CHECK(reader->metadata().orientation == 8);
    CHECK(reader->metadata().artist == "A. P\xC3\xA4inter");
    CHECK(reader->metadata().copyright == "\xC2\xA9");
  }
}

TEST_CASE("PNG: a warning names metadata of the source that are left out") {
  const TemporaryFolder folder;
  const auto check_warning = [&](const std::string& content, const std::string& fact) {
    const auto warnings = warnings_of(folder.write("a.png", content));
    REQUIRE(warnings.size() == 1);
    CHECK_THAT(warnings[0], Contains(fact));
  };
  check_warning(grey(chunk("gAMA", big32(45455))), "a chunk of PNG is left out: gAMA");
  check_warning(grey(chunk("gAMA", big32(45455)) + chunk("tEXt", bytes("Comment\0x"))),
                "chunks of PNG are left out: gAMA, tEXt");
  check_warning(grey("", chunk("iTXt", bytes("XML:com.adobe.xmp\0\1\0\0\0<x/>"))), "left out: iTXt");
  check_warning(grey(chunk("tRNS", bytes("\0a"))), "which grey is transparent");
  check_warning(grey(chunk("eXIf", "nothing") + chunk("eXIf", "again")), "EXIF data are damaged");
  check_warning(grey(chunk("tEXt", bytes("Description\0") + std::string(2 << 20, 'x'))), "left out: tEXt");
  check_warning(grey("", chunk("tEXt", bytes("Comment\0") + std::string(9 << 20, 'x'))), "left out: tEXt");
  check_warning(grey(chunk("PLTE", "RGB")), "libpng reports: PLTE");
  CHECK(warnings_of(folder.write("a.png", grey(chunk("sRGB", bytes("\0")) + chunk("gAMA", big32(45455)) +
                                               chunk("tIME", std::string(7, '\1')))))
            .empty());
}

TEST_CASE("PNG: sRGB is kept if it is valid, precedes the pixels and no profile exists") {
  const TemporaryFolder folder;
  const auto srgb_intent_of = [&](const std::string& png) {
    return open_reader(folder.write("a.png", png))->metadata().srgb_intent;
  };
  const std::string perceptual = chunk("sRGB", bytes("\0"));
  CHECK(srgb_intent_of(grey("")) == std::nullopt);
  CHECK(srgb_intent_of(grey(perceptual)) == 0);
  CHECK(srgb_intent_of(grey(chunk("sRGB", bytes("\3")))) == 3);
  CHECK(srgb_intent_of(grey(perceptual + chunk("iCCP", bytes("a\0\0x")))) == std::nullopt);
  for (const std::string& wrong :
       {grey(chunk("sRGB", bytes("\4"))), grey(chunk("sRGB", "")), grey("", perceptual)}) {
    CHECK(srgb_intent_of(wrong) == std::nullopt);
    CHECK(warnings_of(folder.write("a.png", wrong)) ==
          std::vector<std::string>{"a chunk of PNG is left out: sRGB"});
  }
}

TEST_CASE("PNG: an animation's default image is read if requested") {
  const TemporaryFolder folder;
  const auto animation = [](std::uint32_t frames) { return chunk("acTL", big32(frames) + big32(0)); };
  const std::string frame_control = chunk("fcTL", std::string(26, '\0'));
  const auto check_animation = [&](const std::string& content, const std::string& images) {
    const auto path = folder.write("a.png", content);
    CHECK_THROWS_WITH(open_reader(path), Contains(path.native() + ": holds " + images + " images") &&
                                             Contains("OpenOptions::page 0"));
    const auto reader = open_reader(path, {.page = 0});
    CHECK(read_all(*reader).view().row<std::uint8_t>(1)[1] == 'd');
    REQUIRE(reader->layout().warnings.size() == 1);
    CHECK_THAT(reader->layout().warnings[0], Contains("of " + images + " images"));
    CHECK(file_info(path).images == std::stoi(images));
  };
  check_animation(grey(animation(3) + frame_control, frame_control + chunk("fdAT", "data")), "3");
  check_animation(grey(animation(3), frame_control), "4");  // the default image is not a frame
  check_animation(grey(animation(1), frame_control), "2");
  CHECK_NOTHROW(warnings_of(folder.write("a.png", grey(animation(1) + frame_control))));
  CHECK_NOTHROW(
      warnings_of(folder.write("a.png", grey("", animation(3)))));  // acTL after the pixels is ignored
  CHECK_NOTHROW(warnings_of(folder.write("a.png", grey(chunk("acTL", "abc")))));
}

TEST_CASE("PNG: texts that are not UTF-8 are stored as Latin-1, byte for byte") {
  const TemporaryFolder folder;
  Metadata metadata;
  metadata.description = "caf\xE9";
  metadata.artist = "caf\xC3\xA9";
  metadata.copyright = "\xC0\x80 \xED\xA0\x80";  // overlong and surrogate sequences, invalid in UTF-8
  CreateOptions options;
  options.metadata = metadata;
  write_all(*create_png(folder.path() / "a.png", {{1, 1}, 1, PixelType::u8}, options),
            TestImage({{1, 1}, 1, PixelType::u8}));
  const std::string file = folder.read("a.png");
  CHECK_THAT(file, Contains(chunk("tEXt", bytes("Description\0caf\xE9"))));
  CHECK_THAT(file, Contains(chunk("iTXt", bytes("Author\0\0\0\0\0caf\xC3\xA9"))));
  CHECK_THAT(file, Contains(chunk("tEXt", bytes("Copyright\0\xC0\x80 \xED\xA0\x80"))));
  CHECK(open_reader(folder.path() / "a.png")->metadata().description == "caf\xC3\xA9");
}

TEST_CASE("PNG: profiles that are damaged, too large or for other pixels are left out") {
  const TemporaryFolder folder;
  const auto profile_chunk = [](const std::vector<std::byte>& profile) {
    const std::string text(reinterpret_cast<const char*>(profile.data()), profile.size());
    return chunk("iCCP", bytes("name\0\0") + png_bytes::stored(text));
  };
  const auto check_omitted = [&](const std::string& content) {
    const auto path = folder.write("a.png", content);
    const auto warnings = warnings_of(path);
    REQUIRE(warnings.size() == 1);
    CHECK_THAT(warnings[0], Contains("ICC profile is left out"));
    CHECK(open_reader(path)->metadata().icc_profile.empty());
  };
  CHECK(
      open_reader(folder.write("a.png", grey(profile_chunk(icc_profile("GRAY")))))->metadata().icc_profile ==
      icc_profile("GRAY"));
  check_omitted(grey(profile_chunk(icc_profile("RGB "))));
  std::vector<std::byte> bomb = icc_profile("GRAY");
  bomb[0] = std::byte{0x40};  // announces a GiB
  check_omitted(grey(profile_chunk(bomb)));
  check_omitted(png_bytes::file(1, 1, 8, 4, bytes("\0aA"), profile_chunk(icc_profile("GRAY"))));
}

TEST_CASE("PNG: damage anywhere is an error that names the file, and libpng's reason once") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& content, const std::string& fact) {
    const auto path = folder.write("a.png", content);
    CHECK_THROWS_WITH(warnings_of(path),
                      Contains("cannot read " + path.native()) && Contains(fact) && !Contains("\n"));
  };
  const std::string valid = grey(chunk("tEXt", bytes("Comment\0x")), chunk("tEXt", bytes("Comment\0y")));
  CHECK_NOTHROW(warnings_of(folder.write("a.png", valid)));
  CHECK_NOTHROW(warnings_of(folder.write("a.png", valid + "garbage")));
  // Flips a bit in the data or checksum of every chunk. Damaged lengths and names give various errors.
  for (std::size_t at = 8; at + 12 <= valid.size();) {
    const auto length = static_cast<std::size_t>(static_cast<unsigned char>(valid[at + 3]));
    for (const std::size_t flipped : {at + 8 + length / 2, at + 11 + length}) {
      CAPTURE(at, flipped);
      std::string damaged = valid;
      damaged[flipped] ^= 1;
      // For pixels, zlib's checksum may be checked first.
      refused(damaged, valid.compare(at + 4, 4, "IDAT") == 0 ? "IDAT: " : "CRC error");
    }
    at += 12 + length;
  }
  for (std::size_t length = 9; length < valid.size(); ++length) refused(valid.substr(0, length), "truncated");
  refused(png_bytes::file(2, 2, 8, 0, bytes("\0ab")), "Not enough image data");
  refused(png_bytes::file(2, 2, 8, 0, bytes("\0ab\0cd\0ef")), "Too much image data");
  refused(png_bytes::file(2, 2, 8, 3, bytes("\0ab\0cd")), "Missing PLTE");
  refused(png_bytes::file(2, 2, 3, 0, bytes("\0ab\0cd")), "Invalid IHDR");
  refused(grey(chunk("ABCD", "")), "unhandled critical chunk");
  refused(grey("", chunk("a\0cd", "")), "no valid chunk begins");
  refused(valid.substr(0, 33) + chunk("IEND", ""), "no pixels");
  std::string stream = png_bytes::stored(bytes("\0ab\0cd"));
  stream.back() ^= 1;  // a wrong zlib checksum in a chunk with a valid CRC
  refused(valid.substr(0, 33) + chunk("IDAT", stream) + chunk("IEND", ""), "incorrect data check");
}

TEST_CASE("PNG: sides beyond libpng's usual million, and sizes that no file of these bytes has") {
  const TemporaryFolder folder;
  for (const Extent extent : {Extent{1, 1'500'000}, Extent{1'500'000, 1}}) {
    const TestImage image = TestImage::random({extent, 1, PixelType::u8});
    write_all(*create_png(folder.path() / "a.png", image.spec(), {.overwrite = true}), image);
    CHECK(same_pixels(read_all(*open_reader(folder.path() / "a.png")).view(), image.view()));
  }
  CHECK_THROWS_WITH(open_reader(folder.write("b.png", png_bytes::file(0x7FFFFFFF, 0x7FFFFFFF, 16, 6, "few"))),
                    Contains("cannot be compressed"));
  CHECK_THROWS_WITH(open_reader(folder.write("b.png", png_bytes::file(0x80000000, 1, 8, 0, "few"))),
                    Contains("damaged"));
}

}  // namespace
}  // namespace sepconv
