#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "io/byte_file.hpp"
#include "io/tiff/tiff.hpp"
#include "temporary_folder.hpp"
#include "test_image.hpp"
#include "tiff_layouts.hpp"

namespace sepconv {
namespace {

constexpr Compression kLossless[] = {Compression::none, Compression::lzw, Compression::deflate,
                                     Compression::zstd, Compression::packbits};

std::string text_of(const FileLayout& layout, const ImageSpec& spec) {
  return fmt::format("{} {}x{} strip {} codec {} predictor {} planar {}; {}x{}x{} {}",
                     layout.tiled ? "tiles" : "strips", layout.tile.cols, layout.tile.rows,
                     layout.rows_per_strip, static_cast<int>(layout.compression), layout.predictor,
                     layout.planar, spec.extent.cols, spec.extent.rows, spec.channels, name_of(spec.type));
}

/// Writes groups of at least `group` rows with `executor`; the groups are whole units of the writer.
void write_rows(const std::filesystem::path& path, const TestImage& image, const CreateOptions& options,
                Executor& executor, std::int64_t group = 60) {
  const auto writer = create_tiff(path, image.spec(), options);
  const std::int64_t rows = round_up(group, writer->layout().unit().rows);
  for (std::int64_t row = 0; row < image.spec().extent.rows; row += rows) {
    const Rect part =
        Rect{row, 0, rows, image.spec().extent.cols}.intersect(Rect::whole(image.spec().extent));
    writer->write(part, image.view().crop(part), executor);
  }
  writer->finish();
}

void check_round_trip(const TemporaryFolder& folder, const ImageSpec& spec, const CreateOptions& options) {
  INFO(text_of(options.layout, spec));
  const TestImage image = TestImage::random(spec, 7, 24);
  ThreadedExecutor executor(3);
  write_rows(folder.path() / "a.tif", image, options, executor);
  const auto reader = open_tiff(InputFile(folder.path() / "a.tif"), {.page = 0});
  REQUIRE(reader->spec() == spec);
  REQUIRE(reads_everywhere(*reader, image));
  const FileLayout layout = reader->layout().file.value();
  CHECK(layout.tiled == options.layout.tiled);
  CHECK(layout.compression == options.layout.compression);
  CHECK(layout.planar == (options.layout.planar && spec.channels > 1));
}

TEST_CASE("TIFF round trip: every codec, type, layout and number of channels") {
  const TemporaryFolder folder;
  CreateOptions options;
  options.overwrite = true;
  for (const Compression compression : kLossless) {
    for (const PixelType type : kPixelTypes) {
      for (const std::int64_t channels : {1, 3, 5}) {
        for (const FileLayout& base : {tiles({32, 16}, compression), strips(7, compression)}) {
          for (const bool planar : {false, true}) {
            options.layout = base;
            options.layout.planar = planar;
            check_round_trip(folder, {{45, 37}, channels, type}, options);
          }
        }
      }
    }
  }
}

TEST_CASE("TIFF round trip: sizes around tiles and strips") {
  const TemporaryFolder folder;
  CreateOptions options;
  options.overwrite = true;
  for (const Compression compression : {Compression::none, Compression::deflate}) {
    for (const Extent extent :
         {Extent{1, 1}, {1, 100}, {100, 1}, {16, 16}, {15, 17}, {17, 15}, {31, 33}, {64, 64}}) {
      for (const FileLayout& layout :
           {tiles({16, 16}, compression), strips(1, compression), strips(16, compression),
            strips(0, compression), strips(1000, compression)}) {
        options.layout = layout;
        check_round_trip(folder, {extent, 2, PixelType::u16}, options);
      }
    }
  }
}

TEST_CASE("TIFF round trip: rows longer than the scratch of a task") {
  const TemporaryFolder folder;
  CreateOptions options;
  options.overwrite = true;
  for (const bool planar : {false, true}) {
    for (const FileLayout& base : {strips(2), tiles({16, 1 << 16})}) {
      options.layout = base;
      options.layout.planar = planar;
      check_round_trip(folder, {{5, 100'003}, 2, PixelType::f32}, options);
    }
  }
}

TEST_CASE("TIFF without a predictor, as BigTIFF or classic, with levels") {
  const TemporaryFolder folder;
  CreateOptions options;
  options.overwrite = true;
  for (const bool big : {false, true}) {
    options.big_tiff = big;
    for (const Compression compression : kLossless) {
      options.layout = tiles({16, 16}, compression);
      options.layout.predictor = false;
      check_round_trip(folder, {{40, 33}, 3, PixelType::f32}, options);
      CHECK(file_info(folder.path() / "a.tif").format == (big ? "BigTIFF" : "TIFF"));
    }
  }
  options.layout = strips(8, Compression::zstd);
  for (const int level : {1, 19}) {
    options.layout.level = level;
    check_round_trip(folder, {{40, 33}, 1, PixelType::u8}, options);
  }
}

TEST_CASE("TIFF: any rectangle of an uncompressed image may be written, in any order") {
  const TemporaryFolder folder;
  const TestImage image = TestImage::random({{50, 61}, 3, PixelType::u16}, 3, 8);
  CreateOptions options;
  for (const bool planar : {false, true}) {
    options.layout = strips(4);
    options.layout.planar = planar;
    options.overwrite = true;
    const auto writer = create_tiff(folder.path() / "a.tif", image.spec(), options);
    REQUIRE(writer->layout().block == Extent{1, 1});
    write_in_quarters(*writer, image);
    CHECK(same_pixels(read_all(*open_tiff(InputFile(folder.path() / "a.tif"), {.page = 0})).view(),
                      image.view()));
  }
}

TEST_CASE("TIFF: blocks may be written in any order") {
  const TemporaryFolder folder;
  const TestImage image = TestImage::random({{96, 64}, 1, PixelType::u8}, 5);
  for (const Compression compression : kLossless) {
    CreateOptions options;
    options.overwrite = true;
    options.layout = tiles({16, 32}, compression);
    const auto writer = create_tiff(folder.path() / "a.tif", image.spec(), options);
    write_in_quarters(*writer, image);
    CHECK(same_pixels(read_all(*open_tiff(InputFile(folder.path() / "a.tif"), {.page = 0})).view(),
                      image.view()));
  }
}

// A smooth image, for which JPEG's errors are a few steps at most.
TestImage smooth_image(const ImageSpec& spec) {
  TestImage image(spec);
  for (std::int64_t row = 0; row < spec.extent.rows; ++row) {
    for (std::int64_t i = 0; i < image.view().row_elements(); ++i) {
      image.view().row<std::uint8_t>(row)[i] =
          static_cast<std::uint8_t>(60 + row + i / spec.channels / 2 + 20 * (i % spec.channels));
    }
  }
  return image;
}

TEST_CASE("TIFF with JPEG: near the original, in RGB, grey and planes") {
  const TemporaryFolder folder;
  for (const std::int64_t channels : {1, 3}) {
    for (const FileLayout& base :
         {tiles({32, 48}, Compression::jpeg), strips(16, Compression::jpeg), strips(0, Compression::jpeg)}) {
      for (const bool planar : {false, true}) {
        const TestImage image = smooth_image({{75, 101}, channels, PixelType::u8});
        CreateOptions options;
        options.overwrite = true;
        options.layout = base;
        options.layout.planar = planar;
        options.layout.level = 95;
        INFO(text_of(options.layout, image.spec()));
        write_all(*create_tiff(folder.path() / "a.tif", image.spec(), options), image);
        const auto reader = open_tiff(InputFile(folder.path() / "a.tif"), {.page = 0});
        const TestImage read = read_all(*reader);
        int max_error = 0;
        for (std::int64_t row = 0; row < 75; ++row) {
          for (std::int64_t i = 0; i < read.view().row_elements(); ++i) {
            max_error = std::max(max_error, std::abs(int{read.view().row<std::uint8_t>(row)[i]} -
                                                     int{image.view().row<std::uint8_t>(row)[i]}));
          }
        }
        CHECK(max_error <= 6);
        CHECK(max_error > 0);
        CHECK(reads_everywhere(*reader, read));
        CHECK(reader->metadata().photometric ==
              (channels == 3 ? Photometric::rgb : Photometric::min_is_black));
      }
    }
  }
}

TEST_CASE("TIFF: the bytes of a file do not depend on the number of threads") {
  const TemporaryFolder folder;
  const TestImage image = smooth_image({{300, 257}, 3, PixelType::u8});
  for (const Compression compression : {Compression::none, Compression::lzw, Compression::deflate,
                                        Compression::zstd, Compression::jpeg, Compression::packbits}) {
    for (const FileLayout& base : {tiles({32, 32}, compression), strips(16, compression)}) {
      for (const bool planar : {false, true}) {
        CreateOptions options;
        options.overwrite = true;
        options.layout = base;
        options.layout.planar = planar;
        INFO(text_of(options.layout, image.spec()));
        SerialExecutor serial;
        write_rows(folder.path() / "serial.tif", image, options, serial);
        ThreadedExecutor threads(4);
        write_rows(folder.path() / "threads.tif", image, options, threads);
        CHECK(folder.read("serial.tif") == folder.read("threads.tif"));
      }
    }
  }
}

}  // namespace
}  // namespace sepconv
