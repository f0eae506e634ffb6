// Separable convolution on the GPU in textbook variants, from naive to tiled. They are measured next to
// convolve_device on the user's own GPU (sepconv bench conv). Images have one channel of f32 or f64; the border
// is zero.
//
// A VariantConvolver allocates memory and stores the taps once. load() copies an image into its zero-padded source;
// convolve() runs a variant, any number of times.
#pragma once

#include <cstdint>
#include <vector>

#include "core/memory.hpp"
#include "kernels/conv/conv.hpp"

namespace sepconv {

enum class ConvVariant : std::uint8_t {
  naive,          ///< one thread per pixel; taps and source in global memory
  constant_taps,  ///< the same kernel with its taps in constant memory
  shared_tile,    ///< taps in constant memory; a block of 32 x 32 threads stages its input, halo included
};
enum class ConvPass : std::uint8_t { rows, cols };

/// With this radius a block's f64 tile fits in 48 KiB, the shared memory available without opt-in.
inline constexpr std::int64_t kMaxVariantRadius = 80;

/// The taps of one pass, rounded to the arithmetic type: on the host, for kernel parameters (which are in
/// constant memory), and on the device that was current at construction. Move-only.
class VariantTaps {
 public:
  /// Blocks until the taps are on the device. Throws InvalidArgument for an even number of taps or more than
  /// 2 kMaxVariantRadius + 1; also DeviceError and OutOfMemory.
  VariantTaps(std::vector<double> taps, Arithmetic arithmetic);

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

/// Enqueues one pass on `stream` and returns immediately. `in` has taps.count() - 1 more columns (row pass)
/// or rows (column pass) than `out`; they include the zero border. Per element: acc = +0; for k ascending:
/// acc = fma(tap[k], in[k], acc), bit-identical to convolve_reference. The views are device memory of the
/// taps' type with one channel and any pitch. Views and taps must stay valid until the pass has finished.
/// Throws InvalidArgument and DeviceError.
void convolve_pass(ConvVariant variant, ConvPass pass, const VariantTaps& taps, const ConstPixelView& in,
                   const PixelView& out, DeviceStream stream);

/// Sets device memory to bytes of one value, in stream order. Throws DeviceError.
void fill_device_memory(std::byte* memory, int value, std::int64_t bytes, DeviceStream stream);

/// Checks the arguments of convolve_pass. Throws InvalidArgument.
void check_convolve_pass(ConvPass pass, const VariantTaps& taps, const ConstPixelView& in,
                         const PixelView& out);

/// Both passes over a whole image, in memory of the device that is current at construction. The source has
/// zero columns left and right; the filtered rows have zero rows above and below. Use one stream at a time.
class VariantConvolver {
 public:
  /// Throws InvalidArgument, DeviceError and OutOfMemory.
  VariantConvolver(const SeparableTaps& taps, Extent image, Arithmetic arithmetic);
  /// Device memory in bytes that a VariantConvolver allocates, without the few KiB of taps.
  static std::int64_t device_bytes(std::int64_t row_radius, std::int64_t col_radius, Extent image,
                                   Arithmetic arithmetic);

  /// Copies an image in device memory into the padded source, in stream order.
  void load(const ConstPixelView& image, DeviceStream stream) const;
  /// Convolves the last loaded image into `out`, device memory of the same extent, in stream order.
  void convolve(ConvVariant variant, const PixelView& out, DeviceStream stream) const;

 private:
  VariantTaps row_taps_, col_taps_;
  Extent image_;
  Buffer source_memory_, filtered_memory_;
  PixelView source_, filtered_;  // including the zero border
};

}  // namespace sepconv
