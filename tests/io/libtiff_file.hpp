// TIFFs that our own writer cannot create: written by libtiff or byte by byte.
#pragma once

#include <tiffio.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdarg>
#include <string>
#include <vector>

#include "temporary_folder.hpp"
#include "test_image.hpp"

namespace sepconv {

/// Replaces libtiff's process-wide message handlers by ones that count and discard. Our readers must never
/// call them.
class GlobalMessages {
 public:
  GlobalMessages() : error_(TIFFSetErrorHandler(count)), warning_(TIFFSetWarningHandler(count)) { seen_ = 0; }
  GlobalMessages(const GlobalMessages&) = delete;
  GlobalMessages& operator=(const GlobalMessages&) = delete;
  ~GlobalMessages() {
    TIFFSetErrorHandler(error_);
    TIFFSetWarningHandler(warning_);
  }
  int seen() const { return seen_; }

 private:
  static void count(const char*, const char*, va_list) { ++seen_; }
  static inline std::atomic<int> seen_ = 0;
  TIFFErrorHandler error_;
  TIFFErrorHandler warning_;
};

struct LibtiffFile {
  std::string mode = "wl";
  int compression = COMPRESSION_NONE;
  int predictor = PREDICTOR_NONE;
  int fill_order = FILLORDER_MSB2LSB;
  bool tiled = false;
  int rows_per_strip = 7;
};

inline void set_fields(TIFF* tiff, const ImageSpec& spec, const LibtiffFile& how) {
  const int format = is_floating(spec.type)        ? SAMPLEFORMAT_IEEEFP
                     : spec.type == PixelType::i16 ? SAMPLEFORMAT_INT
                                                   : SAMPLEFORMAT_UINT;
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(spec.extent.cols));
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(spec.extent.rows));
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, static_cast<int>(spec.channels));
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, static_cast<int>(8 * size_of(spec.type)));
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, format);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_FILLORDER, how.fill_order);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, how.compression);
  if (how.predictor != PREDICTOR_NONE) TIFFSetField(tiff, TIFFTAG_PREDICTOR, how.predictor);
  if (how.tiled) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, 32);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, 16);
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, how.rows_per_strip);
  }
}

/// Appends `image` as a page, by scanlines or tile by tile.
inline void append_page(TIFF* tiff, const TestImage& image, const LibtiffFile& how) {
  const ImageSpec& spec = image.spec();
  set_fields(tiff, spec, how);
  if (!how.tiled) {
    for (std::int64_t row = 0; row < spec.extent.rows; ++row) {
      std::vector<std::byte> line(image.view().row_data(row), image.view().row_data(row) + spec.row_bytes());
      REQUIRE(TIFFWriteScanline(tiff, line.data(), static_cast<std::uint32_t>(row), 0) == 1);
    }
  } else {
    for (std::int64_t row = 0; row < spec.extent.rows; row += 16) {
      for (std::int64_t col = 0; col < spec.extent.cols; col += 32) {
        TestImage tile(ImageSpec{{16, 32}, spec.channels, spec.type});
        const Rect part = Rect{row, col, 16, 32}.intersect(Rect::whole(spec.extent));
        copy_pixels(image.view().crop(part), tile.view().crop(Rect::whole(part.extent())));
        REQUIRE(TIFFWriteTile(tiff, tile.view().data, static_cast<std::uint32_t>(col),
                              static_cast<std::uint32_t>(row), 0, 0) > 0);
      }
    }
  }
  REQUIRE(TIFFWriteDirectory(tiff) == 1);
}

inline std::filesystem::path libtiff_file(const TemporaryFolder& folder, const TestImage& image,
                                          const LibtiffFile& how) {
  const std::filesystem::path path = folder.path() / "made.tif";
  const GlobalMessages quiet;
  TIFF* tiff = TIFFOpen(path.c_str(), how.mode.c_str());
  REQUIRE(tiff != nullptr);
  append_page(tiff, image, how);
  TIFFClose(tiff);
  return path;
}

/// A little-endian classic TIFF of entries (tag, type SHORT 3 or LONG 4, value).
inline std::string handmade_tiff(const std::vector<std::array<std::uint32_t, 3>>& entries) {
  std::string file = {'I', 'I', 42, 0, 8, 0, 0, 0};
  const auto put = [&](std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) file.push_back(static_cast<char>(value >> (8 * i)));
  };
  put(static_cast<std::uint32_t>(entries.size()), 2);
  for (const auto& [tag, type, value] : entries) put(tag, 2), put(type, 2), put(1, 4), put(value, 4);
  put(0, 4);
  return file;
}

}  // namespace sepconv
