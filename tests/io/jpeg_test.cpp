#include "io/jpeg/jpeg.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "icc_profile.hpp"
#include "io/formats.hpp"
#include "io/test_pattern.hpp"
#include "small_images.hpp"
#include "temporary_folder.hpp"

namespace sepconv {
namespace {

using Catch::Contains;
using small_images::bytes;

constexpr std::size_t kStartBytes = 2;  // SOI
const std::string kEnd = "\xFF\xD9";

TestImage photograph(const ImageSpec& spec) {
  return read_all(*make_pattern_reader(spec, Pattern::natural, 6));
}

std::string sample(const std::string& name) {
  for (const auto& one : small_images::jpeg_samples()) {
    if (one.name == name) return one.content;
  }
  FAIL("no sample " + name);
  return "";
}

std::string segment(unsigned char marker, const std::string& data) {
  const std::size_t length = data.size() + 2;
  return std::string{'\xFF', static_cast<char>(marker), static_cast<char>(length >> 8),
                     static_cast<char>(length)} +
         data;
}

/// A file with segments behind the first marker.
std::string with_segments(const std::string& segments) {
  return sample("grey.jpg").insert(kStartBytes, segments);
}

std::vector<std::string> warnings_of(const std::filesystem::path& path) {
  const auto reader = open_reader(path);
  read_all(*reader);
  return reader->layout().warnings;
}

double mean_difference(const ConstPixelView& a, const ConstPixelView& b) {
  double sum = 0;
  for (std::int64_t row = 0; row < a.extent.rows; ++row) {
    for (std::int64_t i = 0; i < a.row_elements(); ++i)
      sum += std::abs(int{a.row<std::uint8_t>(row)[i]} - int{b.row<std::uint8_t>(row)[i]});
  }
  return sum / static_cast<double>(a.extent.rows * a.row_elements());
}

TEST_CASE("JPEG comes back close to what was written, and closer with higher quality") {
  const TemporaryFolder folder;
  for (const std::int64_t channels : {1, 3}) {
    const TestImage image = photograph({{200, 300}, channels, PixelType::u8});
    double errors[2];
    for (const int high : {0, 1}) {
      CreateOptions options{.overwrite = true};
      options.layout.level = high != 0 ? 100 : 30;
      write_all(*create_jpeg(folder.path() / "a.jpg", image.spec(), options), image);
      const auto reader = open_reader(folder.path() / "a.jpg");
      REQUIRE(reader->spec() == image.spec());
      errors[high] = mean_difference(read_all(*reader).view(), image.view());
    }
    // Colour loses more: its channels are independent here, and JPEG halves their resolution.
    CHECK(errors[1] < (channels == 1 ? 1.5 : 40));
    CHECK(errors[0] > errors[1]);
  }
}

TEST_CASE("JPEG keeps resolution, orientation and profile") {
  const TemporaryFolder folder;
  const TestImage image({{3, 5}, 3, PixelType::u8});
  using enum Resolution::Unit;
  for (const Resolution resolution :
       {Resolution{300, 72, inch}, Resolution{118, 40, centimetre}, Resolution{4, 3, none}}) {
    CreateOptions options{.overwrite = true};
    options.metadata.resolution = resolution;
    options.metadata.orientation = 3;
    options.metadata.icc_profile = icc_profile("RGB ", 200'000);  // in four segments
    const auto writer = create_jpeg(folder.path() / "a.jpg", image.spec(), options);
    CHECK(writer->layout().warnings.empty());
    write_all(*writer, image);
    const auto reader = open_reader(folder.path() / "a.jpg");
    CHECK(warnings_of(folder.path() / "a.jpg").empty());
    CHECK(reader->metadata().resolution == resolution);
    CHECK(reader->metadata().orientation == 3);
    CHECK(reader->metadata().icc_profile == options.metadata.icc_profile);
  }
  // What was 300 per inch before it was written per centimetre.
  CreateOptions options{.overwrite = true};
  options.metadata.resolution = Resolution{118.1102, 118.1102, centimetre};
  write_all(*create_jpeg(folder.path() / "a.jpg", image.spec(), options), image);
  CHECK(open_reader(folder.path() / "a.jpg")->metadata().resolution == Resolution{300, 300, inch});
}

TEST_CASE("JPEG: what cannot be kept is said when the file is made") {
  const TemporaryFolder folder;
  const auto warned = [&](const Metadata& metadata, const std::string& fact) {
    CreateOptions options;
    options.metadata = metadata;
    const auto writer = create_jpeg(folder.path() / "a.jpg", {{1, 1}, 1, PixelType::u8}, options);
    REQUIRE(writer->layout().warnings.size() == 1);
    CHECK_THAT(writer->layout().warnings[0], Contains(fact));
  };
  Metadata metadata;
  metadata.resolution = Resolution{1e5, 1e5, Resolution::Unit::inch};
  warned(metadata, "resolution is not kept");
  metadata.resolution = Resolution{0.3, 300, Resolution::Unit::inch};
  warned(metadata, "resolution is not kept");
  metadata.resolution = Resolution{72.4, 300, Resolution::Unit::inch};
  warned(metadata, "resolution is rounded to 72 x 300");
  metadata = {};
  metadata.icc_profile.resize(17 << 20);
  warned(metadata, "ICC profile is not kept");
  metadata = {};
  metadata.description = "a field";
  warned(metadata, "description of the source is not kept");
}

TEST_CASE("JPEG: what of a source is left out is said") {
  const TemporaryFolder folder;
  const auto warned = [&](const std::string& segments, const std::string& fact) {
    const auto warnings = warnings_of(folder.write("a.jpg", with_segments(segments)));
    REQUIRE(warnings.size() == 1);
    CHECK_THAT(warnings[0], Contains(fact));
  };
  const std::string exif = bytes(
      "Exif\0\0II*\0\x08\0\0\0\x02\0\x0F\x01\x02\0\x04\0\0\0abc\0\x12\x01\x03\0\x01\0\0\0\x05\0\0\0\0\0\0\0");
  CHECK(warnings_of(folder.write("a.jpg", with_segments(segment(0xE1, exif)))).empty());
  CHECK(open_reader(folder.path() / "a.jpg")->metadata().orientation == 5);
  CHECK(open_reader(folder.path() / "a.jpg")->metadata().exif.image.size() == 1);
  warned(segment(0xE1, exif.substr(0, 30)), "EXIF data are damaged and left out");
  CHECK(open_reader(folder.path() / "a.jpg")->metadata().orientation == 1);
  warned(segment(0xFE, "by hand") + segment(0xFE, "again"), "a comment in the file is left out");
  warned(segment(0xE1, bytes("http://ns.adobe.com/xap/1.0/\0<x/>")) +
             segment(0xED, bytes("Photoshop 3.0\0")) + segment(0xE2, bytes("MPF\0")) + segment(0xE5, "?"),
         "an index of further images (MPF), application data (APP5) in the "
         "file are "
         "left out");
  const auto index_of = [](char images) {
    return segment(0xE2, bytes("MPF\0MM\0*\0\0\0\x08\0\2\xB0\0\0\7\0\0\0\4"
                               "0100\xB0\1\0\4\0\0\0\1\0\0\0") +
                             images + bytes("\0\0\0\0"));
  };
  warned(index_of(3), "the file holds 3 images (MPF), and only the first is read");
  CHECK(warnings_of(folder.write("a.jpg", with_segments(index_of(1)))).empty());
  const auto piece = [](char index, char count, const std::string& data) {
    return segment(0xE2, bytes("ICC_PROFILE\0") + index + count + data);
  };
  const std::string damaged = "ICC profile is damaged and left out";
  warned(piece(1, 2, "a"), damaged);
  warned(piece(1, 2, "a") + piece(1, 2, "b"), damaged);
  warned(piece(1, 2, "a") + piece(2, 3, "b"), damaged);
  warned(piece(0, 1, "a"), damaged);
  warned(piece(0, 0, "a"), damaged);
  warned(piece(1, 1, ""), damaged);
  warned(segment(0xE2, bytes("ICC_PROFILE\0")), damaged);
  CHECK(warnings_of(folder.write("a.jpg", with_segments(piece(2, 2, "b") + piece(1, 2, "a")))).empty());
  CHECK(open_reader(folder.path() / "a.jpg")->metadata().icc_profile ==
        std::vector{std::byte{'a'}, std::byte{'b'}});
}

TEST_CASE("JPEG of CMYK is light where Adobe writes it and ink where others do") {
  const TemporaryFolder folder;
  const std::string adobe = sample("cmyk.jpg");
  const std::size_t adobe_bytes = 16;
  std::string other = adobe.substr(0, kStartBytes) + adobe.substr(kStartBytes + adobe_bytes);
  const auto first_value = [&](const std::string& content) {
    return std::to_integer<int>(*read_all(*open_reader(folder.write("a.jpg", content))).view().data);
  };
  CHECK(first_value(adobe) == 205);  // 205 / 255 of the light, all of it for black
  CHECK(first_value(other) == 0);    // black is 255
  const std::string profile = segment(0xE2, bytes("ICC_PROFILE\0\x01\x01") + "CMYK");
  const auto reader = open_reader(folder.write("a.jpg", std::string(adobe).insert(kStartBytes, profile)));
  CHECK_THAT(reader->layout().warnings.at(1), Contains("ICC profile is left out: it is for CMYK"));
  CHECK(reader->metadata().icc_profile.empty());
}

TEST_CASE("JPEG: pixels that libjpeg makes up are an error") {
  const TemporaryFolder folder;
  const TestImage image = photograph({{100, 150}, 3, PixelType::u8});
  const auto path = folder.path() / "a.jpg";
  write_all(*create_jpeg(path, image.spec(), {}), image);
  const std::string sound = folder.read("a.jpg");
  const std::size_t half = sound.size() / 2;
  const auto refused = [&](const std::string& content, const std::string& fact) {
    folder.write("a.jpg", content);
    CHECK_THROWS_WITH(warnings_of(path),
                      Contains("cannot read " + path.native()) && Contains(fact) && !Contains("\n"));
  };
  refused(sound.substr(0, half), "the file ends before the image does");
  refused(sound.substr(0, sound.size() - 2), "the file ends before the image does");
  refused(sound.substr(0, half) + kEnd, "premature end of data");
  refused(sound.substr(0, half) + std::string(200, '\xFE') + sound.substr(half + 200), "Corrupt JPEG data");
  refused(bytes("\xFF\xD8\xFF\xE0\0"), "");
  // Nothing is lost by what is between the markers or behind the last.
  CHECK_NOTHROW(warnings_of(folder.write("a.jpg", sound + "garbage")));
  folder.write("a.jpg", sound.substr(0, sound.size() - 2) + std::string(3, '\0') + kEnd);
  CHECK(warnings_of(path).empty());
}

TEST_CASE("JPEG of kinds that are not read is refused in words") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& content, const std::string& fact) {
    const auto path = folder.write("a.jpg", content);
    CHECK_THROWS_WITH(open_reader(path), Contains("cannot read " + path.native()) && Contains(fact) &&
                                             Contains("convert it to TIFF"));
  };
  const std::string sound = sample("grey.jpg");
  const std::size_t frame = sound.find("\xFF\xC0");
  std::string other = sound;
  other[frame + 4] = 12;
  refused(other, "precision 12");
  other = sound;
  other[frame + 1] = '\xC3';
  refused(other, "SOF type 0xc3");
  other = sound;
  other[frame + 5] = '\xFF';
  other[frame + 6] = '\xFF';
  refused(other, "65500");
}

}  // namespace
}  // namespace sepconv
