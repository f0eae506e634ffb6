// Tiled variants of separable convolution: the image stays in host memory and passes through the device in
// bands of rows. All row passes come before all column passes, so every pixel crosses the bus twice in each
// direction. In sepconv's run() it crosses once.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/conv/variants.hpp"

namespace sepconv {

/// Source, filtered rows and result of a whole image in page-locked memory. Move-only.
class TiledConvolverImage {
 public:
  /// Zeroes the border around the image. Throws OutOfMemory.
  TiledConvolverImage(std::int64_t row_radius, std::int64_t col_radius, Extent image, Arithmetic arithmetic);
  /// Page-locked memory in bytes that an object allocates.
  static std::int64_t host_bytes(std::int64_t row_radius, std::int64_t col_radius, Extent image,
                                 Arithmetic arithmetic);

  /// The source image without its border; the caller writes it.
  PixelView source() const noexcept;
  PixelView result() const noexcept { return result_; }

 private:
  friend class TiledConvolver;
  std::int64_t row_radius_, col_radius_;
  Buffer source_memory_, filtered_memory_, result_memory_;
  // Including the zero columns next to the source and the zero rows above and below the filtered rows.
  PixelView source_, filtered_, result_;
};

/// Processes bands round-robin on `streams` streams, each with device buffers for a band's input and output.
/// With one stream nothing overlaps; with two, one band is copied while the other is computed.
class TiledConvolver {
 public:
  /// A band has `tile_elements` / image columns rows, at least one. `image` must outlive the object and must
  /// have been constructed for the radii of `taps`. Memory and streams belong to the current device. Throws
  /// InvalidArgument, DeviceError and OutOfMemory.
  TiledConvolver(const TiledConvolverImage& image, const SeparableTaps& taps, ConvVariant variant,
                 std::int64_t tile_elements, int streams);
  /// Device memory in bytes that an object allocates, without the few KiB of taps.
  static std::int64_t device_bytes(std::int64_t row_radius, std::int64_t col_radius, Extent image,
                                   Arithmetic arithmetic, std::int64_t tile_elements, int streams);

  /// Convolves image.source() into image.result(). Blocks until the result is complete. Throws DeviceError.
  void run() const;
  std::int64_t band_rows() const noexcept { return band_rows_; }

 private:
  struct Lane {
    Buffer in, out;
    Stream stream;  // destroyed first, so that no work still uses the buffers
  };
  void run_pass(ConvPass pass, const VariantTaps& taps, const PixelView& source,
                const PixelView& destination) const;

  const TiledConvolverImage& image_;
  ConvVariant variant_;
  VariantTaps row_taps_, col_taps_;
  std::int64_t band_rows_;
  std::vector<Lane> lanes_;
};

}  // namespace sepconv
