// PNG, JPEG, PNM and BMP: the headers that we read ourselves against what OpenCV decodes, and files written
// by our writer.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "sepconv/core/error.hpp"
#include "sepconv/io/opencv/image_file.hpp"
#include "sepconv/io/pattern.hpp"
#include "small_images.hpp"
#include "temporary_folder.hpp"
#include "test_image.hpp"

namespace sepconv {
namespace {

using Catch::Contains;

std::unique_ptr<Reader> open(const std::filesystem::path& path) {
  const InputFile file(path);
  std::array<std::byte, 8> head{};
  file.read_some_at(0, head);
  const std::optional<SmallFormat> format = sniff_small_format(head);
  if (!format) throw IoError("no small format");
  return open_image(file, *format);
}

TestImage photograph(const ImageSpec& spec) {
  return read_all(*make_pattern_reader(spec, Pattern::natural, 6));
}

TEST_CASE("Lossless small formats: what is written is read, in any rectangle") {
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
    const auto writer = create_image(path, ending, image.spec(), {.overwrite = true});
    CHECK_FALSE(writer->layout().streams);
    write_in_quarters(*writer, image);
    const auto reader = open(path);
    REQUIRE(reader->spec() == image.spec());
    CHECK_FALSE(reader->layout().streams);
    CHECK(reader->layout().block == extent);
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
    const auto abandoned = create_image(path, ".png", image.spec(), {});
    write(*abandoned);
    CHECK(folder.files().empty());
    abandoned->prepare_finish();
    CHECK_FALSE(hidden_bytes().empty());
  }
  CHECK(folder.files().empty());

  const auto writer = create_image(path, ".png", image.spec(), {});
  write(*writer);
  writer->prepare_finish();
  const std::string encoded = hidden_bytes();
  writer->prepare_finish();
  writer->finish();
  CHECK(folder.files() == std::vector<std::string>{"a.png"});
  CHECK(folder.read("a.png") == encoded);  // finish() only gives the name
  CHECK(reads_everywhere(*open(path), image));
}

TEST_CASE("JPEG comes back close to what was written, and closer with higher quality") {
  const TemporaryFolder folder;
  for (const std::int64_t channels : {1, 3}) {
    const TestImage image = photograph({{200, 300}, channels, PixelType::u8});
    double errors[2];
    for (const int high : {0, 1}) {
      CreateOptions options{.overwrite = true};
      options.layout.level = high != 0 ? 100 : 30;
      write_all(*create_image(folder.path() / "a.jpg", ".jpg", image.spec(), options), image);
      const auto reader = open(folder.path() / "a.jpg");
      REQUIRE(reader->spec() == image.spec());
      const TestImage decoded = read_all(*reader);
      double sum = 0;
      for (std::int64_t row = 0; row < 200; ++row) {
        for (std::int64_t i = 0; i < 300 * channels; ++i) {
          sum += std::abs(int{decoded.view().row<std::uint8_t>(row)[i]} -
                          int{image.view().row<std::uint8_t>(row)[i]});
        }
      }
      errors[high] = sum / static_cast<double>(image.spec().bytes());
    }
    // Colour loses more: its channels are independent here, and JPEG halves their resolution.
    CHECK(errors[1] < (channels == 1 ? 1.5 : 40));
    CHECK(errors[0] > errors[1]);
  }
}

TEST_CASE("Channels come in the order red, green, blue, alpha") {
  const TemporaryFolder folder;
  const auto ppm = open(folder.write("a.ppm", "P6 1 1 255\nRGB"));
  const TestImage pixel = read_all(*ppm);
  CHECK(std::string(reinterpret_cast<const char*>(pixel.view().data), 3) == "RGB");
}

TEST_CASE("Every kind of small file is announced as OpenCV decodes it") {
  const TemporaryFolder folder;
  for (const small_images::Sample& sample : small_images::samples()) {
    CAPTURE(sample.name);
    const auto reader = open(folder.write(sample.name, sample.content));
    CHECK(reader->spec() == sample.spec);
    // Throws if the decoded shape or type is another.
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
        const ImageSpec spec = open(folder.write("cut", sample.content.substr(0, length)))->spec();
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
        const auto reader = open(folder.write("flipped", damaged));
        REQUIRE(reader->spec().extent.area() <= std::int64_t{1} << 30);
        REQUIRE_FALSE(reader->spec().extent.empty());
      } catch (const IoError&) {
        ++refused;
      }
    }
  }
  CHECK(refused > 100);
}

TEST_CASE("Damaged pixels are an error that names the file") {
  const TemporaryFolder folder;
  const TestImage image = TestImage::random({{40, 40}, 3, PixelType::u8});
  write_all(*create_image(folder.path() / "a.png", ".png", image.spec(), {}), image);
  std::string content = folder.read("a.png");
  CHECK_THROWS_WITH(open(folder.write("half.png", content.substr(0, content.size() / 2))),
                    Contains("truncated"));
  content[content.size() / 2] ^= 1;  // OpenCV has libpng say so on stderr, too
  const auto reader = open(folder.write("flipped.png", content));
  CHECK_THROWS_WITH(read_all(*reader), Contains("cannot read") && Contains("flipped.png"));

  write_all(*create_image(folder.path() / "a.jpg", ".jpg", image.spec(), {}), image);
  content = folder.read("a.jpg");
  CHECK_THROWS_WITH(open(folder.write("half.jpg", content.substr(0, content.size() / 2))),
                    Contains("end marker is missing"));
}

TEST_CASE("A huge announced size costs nothing and is refused in words") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(open(folder.write("a.pgm", "P5 2147483647 2147483647 255\nx")),
                    Contains("more than OpenCV decodes"));
  CHECK_THROWS_WITH(open(folder.write("b.pgm", "P5 999999 1000 255\nx")), Contains("truncated"));
  CHECK_THROWS_WITH(open(folder.write("c.pgm", "P5 0 10 255\nx")), Contains("damaged"));
}

TEST_CASE("Memory is announced before it is taken") {
  const TemporaryFolder folder;
  const ImageSpec spec{{1000, 1000}, 3, PixelType::u8};
  const auto writer = create_image(folder.path() / "a.png", ".png", spec, {});
  CHECK(writer->buffer_bytes(1) >= 3 * spec.bytes());
  const auto reader = open(folder.write("a.ppm", "P6 1000 1000 255\n" + std::string(3'000'000, 'x')));
  CHECK(reader->buffer_bytes(1) >= spec.bytes());
}

TEST_CASE("Types and channels that a small format cannot hold are refused before anything is made") {
  const TemporaryFolder folder;
  const auto make = [&](const std::string& ending, ImageSpec spec) {
    create_image(folder.path() / ("a" + ending), ending, spec, {});
  };
  const Extent extent{4, 4};
  CHECK_THROWS_WITH(make(".png", {extent, 1, PixelType::f32}),
                    Contains("PNG holds u8 and u16 with 1 or 3 or 4 channels"));
  CHECK_THROWS_AS(make(".png", {extent, 2, PixelType::u8}), InvalidArgument);
  CHECK_THROWS_AS(make(".png", {extent, 13, PixelType::u8}), InvalidArgument);
  CHECK_THROWS_AS(make(".jpg", {extent, 3, PixelType::u16}), InvalidArgument);
  CHECK_THROWS_AS(make(".jpg", {extent, 4, PixelType::u8}), InvalidArgument);
  CHECK_THROWS_AS(make(".pgm", {extent, 3, PixelType::u8}), InvalidArgument);
  CHECK_THROWS_AS(make(".ppm", {extent, 1, PixelType::u8}), InvalidArgument);
  CHECK_THROWS_AS(make(".bmp", {extent, 1, PixelType::u16}), InvalidArgument);
  CHECK_THROWS_AS(make(".bmp", {extent, 4, PixelType::u8}), InvalidArgument);
  CHECK_THROWS_AS(make(".jpg", {{70'000, 4}, 1, PixelType::u8}), InvalidArgument);
  CHECK(folder.files().empty());
}

}  // namespace
}  // namespace sepconv
