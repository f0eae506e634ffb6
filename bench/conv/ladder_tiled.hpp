// The last rungs of the classic ladder: an image that stays in host memory and passes the device in bands of
// rows. All row passes of the image come first, then all column passes, so every pixel crosses the bus twice
// each way; run() of sepconv lets it cross once.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/conv/ladder.hpp"

namespace sepconv {

/// Source, filtered rows and result of a whole image in page-locked memory. Move-only.
class TiledLadderImage {
 public:
  /// Zeros what lies beyond the image. Throws OutOfMemory.
  TiledLadderImage(std::int64_t row_radius, std::int64_t col_radius, Extent image, Arithmetic arithmetic);
  /// Page-locked memory that it holds.
  static std::int64_t host_bytes(std::int64_t row_radius, std::int64_t col_radius, Extent image,
                                 Arithmetic arithmetic);

  /// For the caller to write: the image itself.
  PixelView source() const noexcept;
  PixelView result() const noexcept { return result_; }

 private:
  friend class TiledLadder;
  std::int64_t row_radius_, col_radius_;
  Buffer source_memory_, filtered_memory_, result_memory_;
  PixelView source_, filtered_,
      result_;  // with the zeros left and right of the source, above and below the filtered rows
};

/// Bands one after another on each of `streams` streams in turn, which have a band's input and output in
/// device memory each: with one stream nothing overlaps, with two one band is copied while the other
/// computes.
class TiledLadder {
 public:
  /// Bands of as many rows as make up `tile_elements`, at least one. `image` must outlive it and was made for
  /// these taps. Memory and streams are of the device that is current. Throws InvalidArgument, CudaError and
  /// OutOfMemory.
  TiledLadder(const TiledLadderImage& image, const SeparableTaps& taps, LadderRung rung,
              std::int64_t tile_elements, int streams);
  /// Device memory that it holds, the taps' few KiB aside.
  static std::int64_t device_bytes(std::int64_t row_radius, std::int64_t col_radius, Extent image,
                                   Arithmetic arithmetic, std::int64_t tile_elements, int streams);

  /// image.result() = the convolution of image.source(); returns when it is there. Throws CudaError.
  void run() const;
  std::int64_t band_rows() const noexcept { return band_rows_; }

 private:
  struct DevicePipeline {
    Buffer in, out;
    Stream stream;  // goes first: no work may be left when the memory goes
  };
  void run_pass(LadderPass pass, const LadderTaps& taps, const PixelView& from, const PixelView& to) const;

  const TiledLadderImage& image_;
  LadderRung rung_;
  LadderTaps row_taps_, col_taps_;
  std::int64_t band_rows_;
  std::vector<DevicePipeline> lanes_;
};

}  // namespace sepconv
