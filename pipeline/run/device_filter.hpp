// Applies a chain to the caller's device memory, on the caller's stream.
//
//   const sepconv::DeviceFilter blur(chain, {{rows, cols}, 1, sepconv::PixelType::f32});
//   blur.enqueue(sepconv::view_of(frame, {rows, cols}), sepconv::view_of(blurred, {rows, cols}), stream);
//
// enqueue() returns immediately; the work runs in stream order. docs/examples/device_filter.cpp and
// docs/examples/in_cuda_program.cu are whole programs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/image.hpp"
#include "kernels/device/runtime.hpp"
#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// A chain prepared for images of one shape on the device that was current at construction. Move-only.
///
/// The constructor allocates all device memory besides the caller's images, and copies second images there.
/// enqueue() allocates nothing, does not block, and gives results bit-identical to run(). Any number of
/// threads may call enqueue() simultaneously, on any streams. Calls on one filter share its scratch, so the
/// device executes them one after another, in call order; for overlap use one filter per stream.
class DeviceFilter {
 public:
  /// `input` is the spec of the whole image. The scratch suffices for parts of the result of at most
  /// `largest_part` (empty: the whole result). Throws InvalidArgument if the chain does not accept the image
  /// or a stage does not run on a device, OutOfMemory if the scratch cannot be allocated, IoError from second
  /// images, and DeviceError, also if no GPU exists.
  DeviceFilter(Chain chain, const ImageSpec& input, std::optional<Arithmetic> arithmetic = std::nullopt,
               Extent largest_part = {});
  DeviceFilter(DeviceFilter&&) noexcept;
  DeviceFilter& operator=(DeviceFilter&&) noexcept;
  /// Waits for the last enqueued call and frees the scratch (for which CUDA may wait for other work too).
  /// Errors of that work are not reported here, but when the caller synchronises its stream.
  ~DeviceFilter();

  /// Enqueues the chain from `in` to `out`. `in` has the spec input(), `out` the spec result(), with any
  /// pitch. Both are in the filter's device memory, must not overlap, and must stay valid until the work is
  /// done. `stream` belongs to that device (null: its default stream); another device may be current. Throws
  /// InvalidArgument before anything is enqueued, and DeviceError.
  ///
  /// If `stream` is being captured into a CUDA graph, the call is added to the graph in stream order but not
  /// ordered with other calls on this filter: launch the graph when those are done, and keep the filter alive
  /// while the graph is used.
  void enqueue(const ConstPixelView& in, const PixelView& out, DeviceStream stream) const;

  /// The same for a part: computes out.rect of the result, at most the filter's largest part, from `in`,
  /// which contains at least chain.input_for(out.rect, input()). Bit-identical to the whole image's result.
  void enqueue(const ConstRegion& in, const Region& out, DeviceStream stream) const;

  const ImageSpec& input() const noexcept;
  const ImageSpec& result() const noexcept;
  Arithmetic arithmetic() const noexcept;
  /// Device memory that the filter has allocated, in bytes.
  std::int64_t scratch_bytes() const noexcept;
  /// Index of the filter's device among list_devices().
  int device() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sepconv
