// Images with masks in separate pages, of every type and layout: any rectangle of them.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "io/raster_set.hpp"
#include "libtiff_file.hpp"
#include "threaded_executor.hpp"

using namespace sepconv;

namespace {

/// A mask that is 0 in about a third of its pixels.
TestImage random_mask(Extent extent) {
  TestImage mask = TestImage::random({extent, 1, PixelType::u8}, 7);
  for (std::int64_t row = 0; row < extent.rows; ++row) {
    std::uint8_t* const pixels = mask.view().row<std::uint8_t>(row);
    for (std::int64_t col = 0; col < extent.cols; ++col) pixels[col] = pixels[col] % 3 == 0 ? 0 : 255;
  }
  return mask;
}

void write_masked(const std::filesystem::path& path, const TestImage& image, const TestImage& mask,
                  const LibtiffFile& how) {
  TIFF* const tiff = TIFFOpen(path.c_str(), how.mode.c_str());
  REQUIRE(tiff != nullptr);
  append_page(tiff, image, how);
  TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, FILETYPE_MASK);
  append_page(tiff, mask, how);
  TIFFClose(tiff);
}

template <class T>
void check_pixels(const TestImage& image, const TestImage& mask, const TestImage& part, const Rect& rect) {
  const std::int64_t image_channels = image.spec().channels, part_channels = part.spec().channels;
  for (std::int64_t row = 0; row < rect.rows; ++row) {
    const T* const read = part.view().row<T>(row);
    const T* const expected = image.view().row<T>(rect.row + row) + rect.col * image_channels;
    const std::uint8_t* const mask_row = mask.view().row<std::uint8_t>(rect.row + row) + rect.col;
    for (std::int64_t col = 0; col < rect.cols; ++col) {
      for (std::int64_t c = 0; c < image_channels; ++c) {
        INFO(to_string(rect) << ", row " << row << ", column " << col << ", channel " << c);
        const T value = read[col * part_channels + c];
        if (is_floating(image.spec().type) && mask_row[col] == 0)
          REQUIRE(std::isnan(static_cast<double>(value)));
        else
          REQUIRE(std::memcmp(&value, &expected[col * image_channels + c], sizeof(T)) == 0);
      }
      if (part_channels > image_channels)
        REQUIRE(read[col * part_channels + image_channels] ==
                (mask_row[col] == 0 ? T(0) : std::numeric_limits<T>::max()));
    }
  }
}

}  // namespace

TEST_CASE("A mask is read with its image, in any rectangle of any type and layout") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "masked.tif";
  ThreadedExecutor executor(3);
  for (const LibtiffFile& how : {LibtiffFile{}, LibtiffFile{.tiled = true},
                                 LibtiffFile{.compression = COMPRESSION_ADOBE_DEFLATE, .rows_per_strip = 70},
                                 LibtiffFile{.compression = COMPRESSION_LZW, .tiled = true}}) {
    for (const PixelType type : kPixelTypes) {
      for (const std::int64_t channels : {1, 3}) {
        const TestImage image = TestImage::random({{141, 83}, channels, type});
        const TestImage mask = random_mask({141, 83});
        write_masked(path, image, mask, how);
        const auto reader = only_raster(*open_set(path), path);
        CHECK(reader->spec().channels == (is_floating(type) ? channels : channels + 1));
        CHECK(reader->layout().warnings.size() == (is_floating(type) ? 1 : 0));
        CHECK(reader->layout().has_mask);
        CHECK(reader->metadata().mask_channel == !is_floating(type));
        for (const Rect& rect :
             {Rect{0, 0, 141, 83}, Rect{3, 5, 70, 1}, Rect{63, 0, 2, 83}, Rect{140, 82, 1, 1}}) {
          TestImage part({rect.extent(), reader->spec().channels, type}, 12 * size_of(type));
          reader->read(rect, part.view(), executor);
          visit_pixel_type(type,
                           [&]<class T>(std::type_identity<T>) { check_pixels<T>(image, mask, part, rect); });
        }
        const auto plain = only_raster(*open_set(path, {.masks = false}), path);
        CHECK(plain->spec() == image.spec());
        CHECK(plain->layout().warnings.size() == 1);
      }
    }
  }
}
