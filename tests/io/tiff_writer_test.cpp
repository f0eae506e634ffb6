#include <tiffio.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "core/error.hpp"
#include "io/byte_file.hpp"
#include "io/tiff/tiff.hpp"
#include "temporary_folder.hpp"
#include "test_image.hpp"
#include "tiff_layouts.hpp"

namespace sepconv {
namespace {

using Catch::Contains;

TEST_CASE("TIFF: metadata are written and read back") {
  const TemporaryFolder folder;
  CreateOptions options;
  Metadata& metadata = options.metadata;
  metadata.resolution = Resolution{300, 150, Resolution::Unit::centimetre};
  metadata.icc_profile.assign(1000, std::byte{7});
  metadata.description = "cells at 40x";
  metadata.software = "a scanner";
  metadata.date_time = "2024:01:02 03:04:05";
  metadata.artist = "somebody";
  metadata.copyright = "nobody";
  const double scale[] = {0.5, 0.5, 0};
  const auto* scale_bytes = reinterpret_cast<const std::byte*>(scale);
  metadata.geo_tags = {
      {33550, 12, 3, {scale_bytes, scale_bytes + sizeof scale}},
      {42113, 2, 5, {std::byte{'-'}, std::byte{'9'}, std::byte{'9'}, std::byte{'9'}, std::byte{0}}}};
  metadata.photometric = Photometric::rgb;
  metadata.extra_samples = {2};
  const TestImage image = TestImage::random({{20, 20}, 4, PixelType::u16});
  for (const bool tiled : {false, true}) {
    options.overwrite = true;
    options.layout = tiled ? tiles({16, 16}, Compression::deflate) : strips(3);
    write_all(*create_tiff(folder.path() / "a.tif", image.spec(), options), image);
    const Metadata read = open_tiff(InputFile(folder.path() / "a.tif"), {.page = 0})->metadata();
    CHECK(read.resolution == metadata.resolution);
    CHECK(read.icc_profile == metadata.icc_profile);
    CHECK(read.description == metadata.description);
    CHECK(read.software == metadata.software);
    CHECK(read.date_time == metadata.date_time);
    CHECK(read.artist == metadata.artist);
    CHECK(read.copyright == metadata.copyright);
    CHECK(read.geo_tags == metadata.geo_tags);
    CHECK(read.photometric == metadata.photometric);
    CHECK(read.extra_samples == metadata.extra_samples);
  }
}

TEST_CASE("Metadata that no longer holds is dropped") {
  Metadata metadata;
  metadata.resolution = Resolution{300, 300};
  metadata.geo_tags.resize(1);
  metadata.icc_profile.resize(1);
  metadata.photometric = Photometric::rgb;
  metadata.extra_samples = {1};
  metadata.description = "ImageJ=1.53\nslices=3";
  metadata.artist = "somebody";
  std::vector<std::string> lost;
  const Metadata same = metadata.derive_for({}, lost);
  CHECK((same.resolution && same.geo_tags.size() == 1 && same.photometric && !same.description.empty()));
  const Metadata rearranged = metadata.derive_for({.map = std::nullopt}, lost);
  CHECK((!rearranged.resolution && rearranged.geo_tags.empty() && rearranged.photometric &&
         rearranged.description == "ImageJ=1.53\n"));
  const Metadata mixed = metadata.derive_for({.channels = true}, lost);
  CHECK((mixed.resolution && mixed.icc_profile.empty() && !mixed.photometric && mixed.extra_samples.empty()));
  metadata.photometric = Photometric::min_is_white;
  CHECK_FALSE(metadata.derive_for({.channels = true}, lost).photometric);
  CHECK(std::ranges::count(
            lost, "\"0 is white\" is left out: the channels of the result are not the source's") == 1);
  CHECK(metadata.derive_for({.channels = true, .to_one_channel = true}, lost).photometric ==
        Photometric::min_is_white);
  CHECK(std::ranges::count(
            lost, "\"0 is white\" is left out: the channels of the result are not the source's") == 1);
  metadata.describes_several_images = true;
  CHECK(metadata.derive_for({.type = true}, lost).description.empty());
  CHECK(metadata.derive_for({.map = std::nullopt, .channels = true, .type = true}, lost).artist ==
        "somebody");
  metadata.description = "a plain remark";
  metadata.describes_several_images = false;
  CHECK(metadata.derive_for({.map = std::nullopt, .channels = true, .type = true}, lost).description ==
        "a plain remark");
}

TEST_CASE("TIFF: BigTIFF is decided before the first byte") {
  const TemporaryFolder folder;
  const auto is_big = [&](const ImageSpec& spec, Compression compression) {
    CreateOptions options;
    options.layout = tiles({512, 512}, compression);
    const auto writer = create_tiff(folder.path() / "a.tif", spec, options);
    return writer->layout().description.find("BigTIFF") != std::string::npos;
  };
  CHECK_FALSE(is_big({{65536, 65024}, 1, PixelType::u8}, Compression::none));
  CHECK(is_big({{65536, 65536}, 1, PixelType::u8}, Compression::none));
  CHECK(is_big({{65536, 50000}, 1, PixelType::u8}, Compression::lzw));
  CHECK(is_big({{1'000'000, 1'000'000}, 3, PixelType::f64}, Compression::none));
  CHECK(folder.files().empty());
}

TEST_CASE("TIFF: without finish() no file is left and an existing target is kept") {
  const TemporaryFolder folder;
  const TestImage image = TestImage::random({{40, 40}, 1, PixelType::u8});
  for (const Compression compression : {Compression::none, Compression::deflate}) {
    CreateOptions options;
    options.layout = tiles({16, 16}, compression);
    {
      const auto writer = create_tiff(folder.path() / "a.tif", image.spec(), options);
      SerialExecutor serial;
      writer->write(Rect::whole(image.spec().extent), image.view(), serial);
    }
    CHECK(folder.files().empty());
  }
  folder.write("a.tif", "precious");
  CHECK_THROWS_WITH(create_tiff(folder.path() / "a.tif", image.spec(), {}),
                    Contains("CreateOptions::overwrite"));
  CHECK(folder.read("a.tif") == "precious");
}

TEST_CASE("TIFF: unsupported outputs are refused by name before anything is created") {
  const TemporaryFolder folder;
  const auto refused = [&](const ImageSpec& spec, FileLayout layout, const std::string& message) {
    CreateOptions options;
    options.layout = layout;
    CHECK_THROWS_WITH(create_tiff(folder.path() / "a.tif", spec, options),
                      Contains(message) && Contains("a.tif"));
  };
  const ImageSpec spec{{100, 100}, 1, PixelType::u8};
  refused(spec, tiles({10, 16}), "multiples of 16");
  refused({{0, 5}, 1, PixelType::u8}, {}, "cannot hold");
  refused({{5, 5}, 70000, PixelType::u8}, {}, "70000 channels");
  refused({{5, 5}, 1, PixelType::u16}, strips(0, Compression::jpeg), "JPEG takes u8");
  refused({{5, 5}, 4, PixelType::u8}, strips(0, Compression::jpeg), "1 or 3 channels");
  refused({{5, 70000}, 1, PixelType::u8}, strips(0, Compression::jpeg), "choose tiles");
  FileLayout level = strips(0, Compression::zstd);
  level.level = 40;
  refused(spec, level, "level 40");
  level.compression = Compression::lzw;
  refused(spec, level, "no levels");
  CreateOptions classic;
  classic.big_tiff = false;
  CHECK_THROWS_AS(create_tiff(folder.path() / "a.tif", {{70000, 70000}, 1, PixelType::u8}, classic),
                  InvalidArgument);
  CHECK(folder.files().empty());
}

/// Writes full-width parts of `rows` rows from the bottom up.
void write_upwards(Writer& writer, const TestImage& image, std::int64_t rows) {
  ThreadedExecutor executor(3);
  const Extent extent = image.spec().extent;
  for (std::int64_t row = (extent.rows - 1) / rows * rows; row >= 0; row -= rows) {
    const Rect part{row, 0, std::min(rows, extent.rows - row), extent.cols};
    writer.write(part, image.view().crop(part), executor);
  }
  writer.finish();
}

TEST_CASE("TIFF: rows of uncompressed tiles may be written in any parts, and the file is the same") {
  const TemporaryFolder folder;
  CreateOptions options;
  options.overwrite = true;
  struct Case {
    Extent tile, image;
  };
  // The last case has tiles larger than a task's buffer, the one before has such rows.
  for (const auto& [tile, image_extent] : {Case{{32, 48}, {75, 101}},
                                           {{16, 16}, {16, 16}},
                                           {{16, 32}, {1, 100}},
                                           {{64, 16}, {63, 1}},
                                           {{16, 1 << 17}, {21, 1000}},
                                           {{512, 1024}, {601, 1100}}}) {
    for (const bool planar : {false, true}) {
      options.layout = tiles(tile);
      options.layout.planar = planar;
      const TestImage image = TestImage::random({image_extent, 2, PixelType::u16}, 11, 8);
      const auto whole = create_tiff(folder.path() / "whole.tif", image.spec(), options);
      REQUIRE(whole->layout().block == tile);
      REQUIRE(whole->layout().unit() == Extent{1, tile.cols});
      write_all(*whole, image);
      CHECK(same_pixels(read_all(*open_tiff(InputFile(folder.path() / "whole.tif"), {.page = 0})).view(),
                        image.view()));
      for (const std::int64_t rows : {1, 7, 16, 40}) {
        write_upwards(*create_tiff(folder.path() / "parts.tif", image.spec(), options), image, rows);
        CHECK(folder.read("parts.tif") == folder.read("whole.tif"));
      }
    }
  }
}

TEST_CASE("TIFF: rectangles off the blocks are refused, those of uncompressed tiles off their columns") {
  const TemporaryFolder folder;
  const TestImage image = TestImage::random({{90, 70}, 1, PixelType::u8});
  SerialExecutor executor;
  const auto write = [&](Compression compression, const Rect& rect) {
    CreateOptions options;
    options.layout = tiles({32, 32}, compression);
    create_tiff(folder.path() / "a.tif", image.spec(), options)
        ->write(rect, image.view().crop(rect), executor);
  };
  CHECK_NOTHROW(write(Compression::none, {5, 32, 7, 32}));
  CHECK_NOTHROW(write(Compression::deflate, {64, 64, 26, 6}));
  CHECK_THROWS_WITH(write(Compression::none, {0, 16, 32, 48}), Contains("off its blocks of 32 x 1"));
  CHECK_THROWS_WITH(write(Compression::deflate, {5, 32, 7, 32}), Contains("off its blocks of 32 x 32"));
}

TEST_CASE("TIFF: uncompressed pixels begin where a page of memory does, unless the file is small") {
  const TemporaryFolder folder;
  CreateOptions options;
  options.overwrite = true;
  const auto first_offset = [&](Extent extent) {
    const TestImage image = TestImage::random({extent, 1, PixelType::u8});
    write_all(*create_tiff(folder.path() / "a.tif", image.spec(), options), image);
    const std::unique_ptr<TIFF, void (*)(TIFF*)> file(TIFFOpen((folder.path() / "a.tif").c_str(), "r"),
                                                      TIFFClose);
    return TIFFGetStrileOffset(file.get(), 0);
  };
  for (const FileLayout& layout : {strips(16), tiles({128, 128})}) {
    for (const bool big : {false, true}) {
      options.layout = layout;
      options.big_tiff = big;
      CHECK(first_offset({256, 256}) == 4096);
      CHECK(first_offset({10, 10}) == (big ? 16U : 8U));
    }
  }
}

}  // namespace
}  // namespace sepconv
