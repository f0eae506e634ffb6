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
  for (const auto& sample_file : small_images::jpeg_samples()) {
    if (sample_file.name == name) return sample_file.content;
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

/// A file with `segments` after the SOI marker.
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
  // 300 per inch, converted to centimetres by another program.
  CreateOptions options{.overwrite = true};
  options.metadata.resolution = Resolution{118.1102, 118.1102, centimetre};
  write_all(*create_jpeg(folder.path() / "a.jpg", image.spec(), options), image);
  CHECK(open_reader(folder.path() / "a.jpg")->metadata().resolution == Resolution{300, 300, inch});
}

TEST_CASE("JPEG: a warning names metadata that cannot be kept when the file is created") {
  const TemporaryFolder folder;
  const auto check_warning = [&](const Metadata& metadata, const std::string& fact) {
    CreateOptions options;
    options.metadata = metadata;
    const auto writer = create_jpeg(folder.path() / "a.jpg", {{1, 1}, 1, PixelType::u8}, options);
    REQUIRE(writer->layout().warnings.size() == 1);
    CHECK_THAT(writer->layout().warnings[0], Contains(fact));
  };
  Metadata metadata;
  metadata.resolution = Resolution{1e5, 1e5, Resolution::Unit::inch};
  check_warning(metadata, "resolution is not kept");
  metadata.resolution = Resolution{0.3, 300, Resolution::Unit::inch};
  check_warning(metadata, "resolution is not kept");
  metadata.resolution = Resolution{72.4, 300, Resolution::Unit::inch};
  check_warning(metadata, "resolution is rounded to 72 x 300");
  metadata = {};
  metadata.icc_profile.resize(17 << 20);
  check_warning(metadata, "ICC profile is not kept");
  metadata = {};
  metadata.description = "a field";
  check_warning(metadata, "description of the source is not kept");
}

TEST_CASE("JPEG: a warning names metadata of the source that are left out") {
  const TemporaryFolder folder;
  const auto check_warning = [&](const std::string& segments, const std::string& fact) {
    const auto warnings = warnings_of(folder.write("a.jpg", with_segments(segments)));
    REQUIRE(warnings.size() == 1);
    CHECK_THAT(warnings[0], Contains(fact));
  };
  const std::string exif = bytes(
      "Exif\0\0II*\0\x08\0\0\0\x02\0\x0F\x01\x02\0\x04\0\0\0abc\0\x12\x01\x03\0\x01\0\0\0\x05\0\0\0\0\0\0\0");
  CHECK(warnings_of(folder.write("a.jpg", with_segments(segment(0xE1, exif)))).empty());
  CHECK(open_reader(folder.path() / "a.jpg")->metadata().orientation == 5);
  CHECK(open_reader(folder.path() / "a.jpg")->metadata().exif.image.size() == 1);
  check_warning(segment(0xE1, exif.substr(0, 30)), "EXIF data are damaged and left out");
  CHECK(open_reader(folder.path() / "a.jpg")->metadata().orientation == 1);
  check_warning(segment(0xFE, "by hand") + segment(0xFE, "again"), "a comment in the file is left out");
  check_warning(segment(0xE1, bytes("http://ns.adobe.com/xap/1.0/\0<x/>")) +
                    segment(0xED, bytes("Photoshop 3.0\0")) + segment(0xE2, bytes("MPF\0")) +
                    segment(0xE5, "?"),
                "an index of further images (MPF), application data (APP5) in the "
                "file are "
                "left out");
  const auto index_of = [](char images) {
    return segment(0xE2, bytes("MPF\0MM\0*\0\0\0\x08\0\2\xB0\0\0\7\0\0\0\4"
                               "0100\xB0\1\0\4\0\0\0\1\0\0\0") +
                             images + bytes("\0\0\0\0"));
  };
  check_warning(index_of(3), "the file holds 3 images (MPF), and only the first is read");
  CHECK(warnings_of(folder.write("a.jpg", with_segments(index_of(1)))).empty());
  const auto profile_segment = [](char index, char count, const std::string& data) {
    return segment(0xE2, bytes("ICC_PROFILE\0") + index + count + data);
  };
  const std::string damaged = "ICC profile is damaged and left out";
  check_warning(profile_segment(1, 2, "a"), damaged);
  check_warning(profile_segment(1, 2, "a") + profile_segment(1, 2, "b"), damaged);
  check_warning(profile_segment(1, 2, "a") + profile_segment(2, 3, "b"), damaged);
  check_warning(profile_segment(0, 1, "a"), damaged);
  check_warning(profile_segment(0, 0, "a"), damaged);
  check_warning(profile_segment(1, 1, ""), damaged);
  check_warning(segment(0xE2, bytes("ICC_PROFILE\0")), damaged);
  CHECK(warnings_of(
            folder.write("a.jpg", with_segments(profile_segment(2, 2, "b") + profile_segment(1, 2, "a"))))
            .empty());
  CHECK(open_reader(folder.path() / "a.jpg")->metadata().icc_profile ==
        std::vector{std::byte{'a'}, std::byte{'b'}});
}

TEST_CASE("CMYK JPEG values are light with an Adobe marker, else ink") {
  const TemporaryFolder folder;
  const std::string with_adobe = sample("cmyk.jpg");
  const std::size_t adobe_bytes = 16;
  std::string modified = with_adobe.substr(0, kStartBytes) + with_adobe.substr(kStartBytes + adobe_bytes);
  const auto first_value = [&](const std::string& content) {
    return std::to_integer<int>(*read_all(*open_reader(folder.write("a.jpg", content))).view().data);
  };
  CHECK(first_value(with_adobe) == 205);  // 205 / 255 of full light
  CHECK(first_value(modified) == 0);      // black is 255
  const std::string profile = segment(0xE2, bytes("ICC_PROFILE\0\x01\x01") + "CMYK");
  const auto reader =
      open_reader(folder.write("a.jpg", std::string(with_adobe).insert(kStartBytes, profile)));
  CHECK_THAT(reader->layout().warnings.at(1), Contains("ICC profile is left out: it is for CMYK"));
  CHECK(reader->metadata().icc_profile.empty());
}

TEST_CASE("JPEG: pixels that libjpeg makes up are an error") {
  const TemporaryFolder folder;
  const TestImage image = photograph({{100, 150}, 3, PixelType::u8});
  const auto path = folder.path() / "a.jpg";
  write_all(*create_jpeg(path, image.spec(), {}), image);
  const std::string valid = folder.read("a.jpg");
  const std::size_t half = valid.size() / 2;
  const auto refused = [&](const std::string& content, const std::string& fact) {
    folder.write("a.jpg", content);
    CHECK_THROWS_WITH(warnings_of(path),
                      Contains("cannot read " + path.native()) && Contains(fact) && !Contains("\n"));
  };
  refused(valid.substr(0, half), "the file ends before the image does");
  refused(valid.substr(0, valid.size() - 2), "the file ends before the image does");
  refused(valid.substr(0, half) + kEnd, "premature end of data");
  refused(valid.substr(0, half) + std::string(200, '\xFE') + valid.substr(half + 200), "Corrupt JPEG data");
  refused(bytes("\xFF\xD8\xFF\xE0\0"), "");
  // Bytes between the markers or after the last one lose no pixels.
  CHECK_NOTHROW(warnings_of(folder.write("a.jpg", valid + "garbage")));
  folder.write("a.jpg", valid.substr(0, valid.size() - 2) + std::string(3, '\0') + kEnd);
  CHECK(warnings_of(path).empty());
}

TEST_CASE("Unsupported JPEG variants are refused with a clear message") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& content, const std::string& fact) {
    const auto path = folder.write("a.jpg", content);
    CHECK_THROWS_WITH(open_reader(path), Contains("cannot read " + path.native()) && Contains(fact) &&
                                             Contains("convert it to TIFF"));
  };
  const std::string valid = sample("grey.jpg");
  const std::size_t frame = valid.find("\xFF\xC0");
  std::string modified = valid;
  modified[frame + 4] = 12;
  refused(modified, "precision 12");
  modified = valid;
  modified[frame + 1] = '\xC3';
  refused(modified, "SOF type 0xc3");
  modified = valid;
  modified[frame + 5] = '\xFF';
  modified[frame + 6] = '\xFF';
  refused(modified, "65500");
}

}  // namespace
}  // namespace sepconv
