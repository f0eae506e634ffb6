#include <catch2/catch.hpp>

#include "sepconv/core/error.hpp"
#include "sepconv/io/tiff/tiff.hpp"
#include "temporary_folder.hpp"
#include "test_image.hpp"
#include "tiff_layouts.hpp"

namespace sepconv {
namespace {

using Catch::Contains;

TEST_CASE("TIFF: metadata goes along") {
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
    const Metadata read = open_tiff(folder.path() / "a.tif", 0)->metadata();
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
  const Metadata same = metadata.kept_for(true, true, true);
  CHECK((same.resolution && same.geo_tags.size() == 1 && same.photometric && !same.description.empty()));
  const Metadata resized = metadata.kept_for(false, true, true);
  CHECK((!resized.resolution && resized.geo_tags.empty() && resized.photometric &&
         resized.description.empty()));
  const Metadata mixed = metadata.kept_for(true, false, true);
  CHECK((mixed.resolution && mixed.icc_profile.empty() && !mixed.photometric && mixed.extra_samples.empty()));
  CHECK(metadata.kept_for(true, true, false).description.empty());
  CHECK(metadata.kept_for(false, false, false).artist == "somebody");
  metadata.description = "a plain remark";
  CHECK(metadata.kept_for(false, false, false).description == "a plain remark");
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

TEST_CASE("TIFF: nothing is left without finish(), and an existing target stays") {
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
  CHECK_THROWS_WITH(create_tiff(folder.path() / "a.tif", image.spec(), {}), Contains("--force"));
  CHECK(folder.read("a.tif") == "precious");
}

TEST_CASE("TIFF: what cannot be written is refused by name, before anything is made") {
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

TEST_CASE("TIFF: rectangles off the blocks are refused") {
  const TemporaryFolder folder;
  CreateOptions options;
  options.layout = tiles({16, 16});
  const TestImage image = TestImage::random({{40, 40}, 1, PixelType::u8});
  const auto writer = create_tiff(folder.path() / "a.tif", image.spec(), options);
  SerialExecutor serial;
  const Rect off{8, 0, 16, 40};
  CHECK_THROWS_AS(writer->write(off, image.view().crop(off), serial), InvalidArgument);
  const Rect last{32, 32, 8, 8};
  CHECK_NOTHROW(writer->write(last, image.view().crop(last), serial));
}

}  // namespace
}  // namespace sepconv
