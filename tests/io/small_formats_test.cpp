// Tests common to PNG, JPEG, PNM and BMP: every variant is read correctly, our files round-trip, damaged
// files are errors.
#include <catch2/catch.hpp>

#include "core/error.hpp"
#include "io/codec_guard.hpp"
#include "io/formats.hpp"
#include "small_images.hpp"
#include "temporary_folder.hpp"
#include "test_image.hpp"

namespace sepconv {
namespace {

using Catch::Contains;

TEST_CASE("Lossless small formats: round trip, in any rectangle") {
  const TemporaryFolder folder;
  struct Case {
    const char* ending;
    PixelType type;
    std::int64_t channels;
  };
  const auto [ending, type, channels] = GENERATE(
      Case{".png", PixelType::u8, 1}, Case{".png", PixelType::u8, 3}, Case{".png", PixelType::u8, 4},
      Case{".png", PixelType::u16, 1}, Case{".png", PixelType::u16, 3}, Case{".png", PixelType::u16, 4},
      Case{".ppm", PixelType::u8, 3}, Case{".ppm", PixelType::u16, 3}, Case{".pgm", PixelType::u8, 1},
      Case{".pgm", PixelType::u16, 1}, Case{".bmp", PixelType::u8, 1}, Case{".bmp", PixelType::u8, 3});
  for (const Extent extent : {Extent{1, 1}, Extent{13, 31}, Extent{300, 701}}) {
    CAPTURE(ending, name_of(type), channels, extent.rows, extent.cols);
    const TestImage image = TestImage::random({extent, channels, type}, 8, 40);
    const auto path = folder.path() / (std::string("a") + ending);
    const auto writer = create_writer(path, image.spec(), {.overwrite = true});
    CHECK_FALSE(writer->layout().streams);
    write_in_quarters(*writer, image);
    const auto reader = open_reader(path);
    REQUIRE(reader->spec() == image.spec());
    CHECK_FALSE(reader->layout().streams);
    CHECK(reader->layout().block == extent);
    CHECK(reader->metadata().photometric == (channels == 1 ? std::nullopt : std::optional(Photometric::rgb)));
    CHECK(reader->metadata().extra_samples == std::vector<std::uint16_t>(channels == 4 ? 1 : 0, 2));
    CHECK(reads_everywhere(*reader, image));
  }
}

TEST_CASE("Small images are encoded before finish() when asked, under no visible name") {
  const TemporaryFolder folder;
  const TestImage image = TestImage::random({{40, 50}, 3, PixelType::u8});
  const auto path = folder.path() / "a.png";
  const auto write = [&](Writer& writer) {
    SerialExecutor executor;
    writer.write(Rect::whole(image.spec().extent), image.view(), executor);
  };
  const auto hidden_bytes = [&] {
    const auto files = folder.files();
    REQUIRE(files.size() == 1);
    CHECK(files[0].starts_with(".a.png.sepconv-"));
    return folder.read(files[0]);
  };
  {
    const auto abandoned = create_writer(path, image.spec(), {});
    write(*abandoned);
    CHECK(folder.files().empty());
    abandoned->prepare_finish();
    CHECK_FALSE(hidden_bytes().empty());
  }
  CHECK(folder.files().empty());

  const auto writer = create_writer(path, image.spec(), {});
  write(*writer);
  writer->prepare_finish();
  const std::string encoded = hidden_bytes();
  writer->prepare_finish();
  writer->finish();
  CHECK(folder.files() == std::vector<std::string>{"a.png"});
  CHECK(folder.read("a.png") == encoded);  // finish() only renames the file
  CHECK(reads_everywhere(*open_reader(path), image));
}

TEST_CASE("Every variant of a small format is read correctly") {
  const TemporaryFolder folder;
  for (const small_images::Sample& sample : small_images::samples()) {
    CAPTURE(sample.name);
    const auto reader = open_reader(folder.write(sample.name, sample.content));
    CHECK(reader->spec() == sample.spec);
    // Throws if the decoded shape or type differs.
    const TestImage image = read_all(*reader);
    const TestImage expected = small_images::expected(sample);
    CHECK(same_pixels(image.view(), expected.view()));
  }
}

TEST_CASE("Small files cut anywhere are an error or keep their announced shape") {
  const TemporaryFolder folder;
  for (const small_images::Sample& sample : small_images::samples()) {
    for (std::size_t length = 9; length < sample.content.size(); ++length) {
      CAPTURE(sample.name, length);
      try {
        const ImageSpec spec = open_reader(folder.write("cut", sample.content.substr(0, length)))->spec();
        CHECK(spec == sample.spec);
      } catch (const IoError& error) {
        CHECK_THAT(error.what(), Contains("cannot read " + (folder.path() / "cut").native()));
      }
    }
  }
}

TEST_CASE("Small headers with flipped bits announce a bounded image or say what is wrong") {
  const TemporaryFolder folder;
  std::mt19937 random(21);
  int refused = 0;
  for (const small_images::Sample& sample : small_images::samples()) {
    for (int round = 0; round < 200; ++round) {
      std::string damaged = sample.content;
      for (int flips = 1 + round % 3; flips > 0; --flips)
        damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
      try {
        const auto reader = open_reader(folder.write("flipped", damaged));
        REQUIRE(reader->spec().extent.area() <= std::int64_t{1} << 30);
        REQUIRE_FALSE(reader->spec().extent.empty());
      } catch (const IoError&) {
        ++refused;
      }
    }
  }
  CHECK(refused > 100);
}

TEST_CASE("Buffer sizes of small formats include the image once") {
  const TemporaryFolder folder;
  const ImageSpec spec{{1000, 1000}, 3, PixelType::u8};
  for (const char* const ending : {".png", ".jpg", ".ppm", ".bmp"}) {
    CAPTURE(ending);
    const auto path = folder.path() / (std::string("a") + ending);
    const auto writer = create_writer(path, spec, {});
    write_all(*writer, TestImage::random(spec));
    for (const std::int64_t bytes : {writer->buffer_bytes(1), open_reader(path)->buffer_bytes(1)}) {
      CHECK(bytes >= spec.bytes());
      CHECK(bytes < 2 * spec.bytes());
    }
  }
}

TEST_CASE("The caller's warnings and those about metadata that the format cannot store are given") {
  const TemporaryFolder folder;
  for (const char* const ending : {".png", ".jpg", ".pgm", ".bmp"}) {
    CAPTURE(ending);
    CreateOptions options{.overwrite = true, .warnings = {"a choice"}};
    options.metadata.geo_tags.push_back({33550, 12, 1, std::vector<std::byte>(8)});
    options.metadata.orientation = 6;
    const auto writer =
        create_writer(folder.path() / (std::string("a") + ending), {{4, 4}, 1, PixelType::u8}, options);
    const auto& warnings = writer->layout().warnings;
    REQUIRE(warnings.size() == 2);
    CHECK(warnings[0] == "a choice");
    CHECK_THAT(warnings[1], Contains("georeference"));
    const bool keeps_orientation = ending == std::string(".png") || ending == std::string(".jpg");
    CHECK((warnings[1].find("orientation") == std::string::npos) == keeps_orientation);
  }
}

TEST_CASE("A file that would be displayed wrongly is refused before anything is created") {
  const TemporaryFolder folder;
  const auto create = [&](const std::string& ending, std::int64_t channels, const Metadata& metadata) {
    CreateOptions options;
    options.metadata = metadata;
    return create_writer(folder.path() / ("a" + ending), {{4, 4}, channels, PixelType::u8}, options)
        ->layout()
        .warnings;
  };
  using enum Photometric;
  const auto refused = [&](const std::string& ending, std::int64_t channels,
                           std::optional<Photometric> photometric, std::vector<std::uint16_t> extra,
                           const std::string& fact) {
    CAPTURE(ending, channels, fact);
    Metadata metadata;
    metadata.photometric = photometric;
    metadata.extra_samples = std::move(extra);
    CHECK_THROWS_AS(create(ending, channels, metadata), InvalidArgument);
    CHECK_THROWS_WITH(create(ending, channels, metadata), Contains(fact) && Contains("choose .tif"));
  };
  for (const char* const ending : {".png", ".jpg", ".ppm", ".bmp"}) {
    refused(ending, 3, cielab, {}, "CIE L*a*b*");
    refused(ending, 3, icc_lab, {}, "ICC L*a*b*");
    refused(ending, 3, itu_lab, {}, "ITU L*a*b*");
    refused(ending, 3, other, {}, "neither intensities nor colours");
  }
  for (const char* const ending : {".png", ".jpg", ".pgm", ".bmp"})
    refused(ending, 1, min_is_white, {}, "0 is white");
  refused(".png", 4, rgb, {0}, "channel 4 is not alpha");
  refused(".png", 4, rgb, {}, "channel 4 is not alpha");
  refused(".png", 4, min_is_black, {0, 0, 0}, "channel 4 is not alpha");
  refused(".png", 4, std::nullopt, {1}, "associated alpha");
  CHECK(folder.files().empty());

  Metadata rgb_metadata;
  rgb_metadata.photometric = rgb;
  CHECK(create(".png", 3, rgb_metadata).empty());
  rgb_metadata.extra_samples = {2};
  CHECK(create(".png", 4, rgb_metadata).empty());
  const auto alpha_warnings = create(".png", 4, {});
  REQUIRE(alpha_warnings.size() == 1);
  CHECK_THAT(alpha_warnings[0], Contains("channel 4 becomes alpha"));
}

TEST_CASE("Types and channels that a small format cannot store are refused before anything is created") {
  const TemporaryFolder folder;
  const auto create = [&](const std::string& ending, ImageSpec spec) {
    create_writer(folder.path() / ("a" + ending), spec, {});
  };
  const Extent extent{4, 4};
  CHECK_THROWS_WITH(create(".png", {extent, 1, PixelType::f32}),
                    Contains("PNG holds u8 and u16 with 1 or 3 or 4 channels"));
  CHECK_THROWS_AS(create(".png", {extent, 2, PixelType::u8}), InvalidArgument);
  CHECK_THROWS_AS(create(".png", {extent, 13, PixelType::u8}), InvalidArgument);
  CHECK_THROWS_AS(create(".jpg", {extent, 3, PixelType::u16}), InvalidArgument);
  CHECK_THROWS_AS(create(".jpg", {extent, 4, PixelType::u8}), InvalidArgument);
  CHECK_THROWS_AS(create(".pgm", {extent, 3, PixelType::u8}), InvalidArgument);
  CHECK_THROWS_AS(create(".ppm", {extent, 1, PixelType::u8}), InvalidArgument);
  CHECK_THROWS_AS(create(".bmp", {extent, 1, PixelType::u16}), InvalidArgument);
  CHECK_THROWS_AS(create(".bmp", {extent, 4, PixelType::u8}), InvalidArgument);
  CHECK_THROWS_AS(create(".jpg", {{70'000, 4}, 1, PixelType::u8}), InvalidArgument);
  CHECK(folder.files().empty());
}

TEST_CASE("Memory that a codec cannot have is no damage") {
  CodecGuard guard;
  const auto throws = [&](const char* words) {
    REQUIRE_FALSE(guard.run([&] { guard.fail(words); }));
    guard.rethrow("cannot read a.png: ", "; the file is damaged, copy it again");
  };
  CHECK_THROWS_AS(throws("Out of memory"), OutOfMemory);
  CHECK_THROWS_AS(throws("Insufficient memory (case 4)"), OutOfMemory);
  CHECK_THROWS_WITH(throws("incorrect data check"),
                    "cannot read a.png: incorrect data check; the file is damaged, copy it again");
}

}  // namespace
}  // namespace sepconv
