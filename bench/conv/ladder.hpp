// The first rungs of the classic ladder of separable convolution: kernels that are not fast but that one can
// learn from, kept to be measured next to convolve_cuda on the user's own GPU (sepconv bench conv). One
// channel, f32 or f64, an image of zeros all around.
//
// A Ladder takes memory and taps once, load() puts an image into its zero-padded source, convolve() climbs a
// rung as often as wanted.
#pragma once

#include <cstdint>
#include <vector>

#include "core/memory.hpp"
#include "kernels/conv/conv.hpp"

namespace sepconv {

enum class LadderRung : std::uint8_t {
  naive,          ///< one thread a pixel; taps and source in global memory
  constant_taps,  ///< the same kernel with its taps in constant memory
  shared_tile,  ///< taps in constant memory; a block of 32 x 32 threads stages what it reads, radius on both
                ///< sides included
};
enum class LadderPass : std::uint8_t { rows, cols };

/// A block's tile of f64 values then takes the 48 KiB of shared memory that every GPU gives to every block.
inline constexpr std::int64_t kMaxLadderRadius = 80;

/// The taps of one pass, rounded once to the arithmetic type: on the host, to travel as a kernel parameter
/// (which lies in constant memory), and in memory of the device that was current when they were made.
/// Move-only.
class LadderTaps {
 public:
  /// Returns when they have arrived. Throws InvalidArgument for an even number of taps and for more than 2
  /// kMaxLadderRadius + 1, and CudaError and OutOfMemory.
  LadderTaps(std::vector<double> taps, Arithmetic arithmetic);

  const std::vector<double>& host() const noexcept { return taps_; }
  const std::byte* device() const noexcept { return device_.data(); }
  std::int64_t count() const noexcept { return static_cast<std::int64_t>(taps_.size()); }
  std::int64_t radius() const noexcept { return count() / 2; }
  PixelType type() const noexcept { return type_; }

 private:
  std::vector<double> taps_;
  PixelType type_;
  Buffer device_;
};

/// One pass over what it needs and no more: `in` has taps.count() - 1 columns (row pass) or rows (column
/// pass) more than `out`, the zeros beyond the image among them. The taps stay until the stream has passed.
/// out = per element, acc = +0; for k ascending: acc = fma(tap[k], in[k], acc): the bits of
/// convolve_reference. Views of device memory of the taps' type, one channel, any pitch, valid until the
/// stream has passed; enqueued on `stream`, returns at once. Throws InvalidArgument and CudaError.
void ladder_pass(LadderRung rung, LadderPass pass, const LadderTaps& taps, const ConstPixelView& in,
                 const PixelView& out, DeviceStream stream);

/// Sets device memory to bytes of one value, in stream order. Throws CudaError.
void ladder_fill(std::byte* memory, int value, std::int64_t bytes, DeviceStream stream);

/// What ladder_pass asks of its arguments. Throws InvalidArgument.
void check_ladder_pass(LadderPass pass, const LadderTaps& taps, const ConstPixelView& in,
                       const PixelView& out);

/// Both passes over a whole image, with a source that has zeros on its left and right and filtered rows that
/// have zero rows above and below, in memory of the device that is current when it is made. One stream at a
/// time.
class Ladder {
 public:
  /// Throws InvalidArgument, CudaError and OutOfMemory.
  Ladder(const SeparableTaps& taps, Extent image, Arithmetic arithmetic);
  /// Device memory that it holds, the taps' few KiB aside.
  static std::int64_t device_bytes(std::int64_t row_radius, std::int64_t col_radius, Extent image,
                                   Arithmetic arithmetic);

  /// Copies an image in device memory into the padded source, in stream order.
  void load(const ConstPixelView& image, DeviceStream stream) const;
  /// The convolution of what was loaded last, into device memory of the image's extent, in stream order.
  void convolve(LadderRung rung, const PixelView& out, DeviceStream stream) const;

 private:
  LadderTaps row_taps_, col_taps_;
  Extent image_;
  Buffer source_memory_, filtered_memory_;
  PixelView source_, filtered_;  // with their zeros
};

}  // namespace sepconv
