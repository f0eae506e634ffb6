// The library stage: a chain on memory that the caller owns, on the caller's stream.
//
//   const sepconv::DeviceFilter blur(chain, {{rows, cols}, 1, sepconv::PixelType::f32});
//   blur.enqueue(sepconv::view_of(frame, {rows, cols}), sepconv::view_of(blurred, {rows, cols}), stream);
//
// It returns at once; what was put on the stream before comes before it, and what is put there after sees the
// result. docs/examples/device_filter.cpp and docs/examples/in_cuda_program.cu are whole programs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/image.hpp"
#include "kernels/cuda/runtime.hpp"
#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// A chain made ready for images of one shape on the device that was current when it was made. Move-only.
///
/// All device memory that it needs besides the caller's images is taken by the constructor; enqueue()
/// allocates none (second images of its stages are read and copied there as a whole, too), waits for nothing
/// and gives the bytes that run() gives. Any number of threads may call enqueue() at once, on any streams.
/// Calls on one filter share its scratch, so the device does them one after another, in the order in which
/// they were made; for overlap make a filter a stream.
class DeviceFilter {
 public:
  /// Throws InvalidArgument if the chain does not take such an image or a stage of it does not run on a
  /// device, OutOfMemory if the scratch cannot be had, IoError of second images, and CudaError, also where
  /// there is no GPU. `input` is
  /// the whole image; the scratch does for parts of the result of at most `largest_part` (empty: all of it).
  DeviceFilter(Chain chain, const ImageSpec& input, std::optional<Arithmetic> arithmetic = std::nullopt,
               Extent largest_part = {});
  DeviceFilter(DeviceFilter&&) noexcept;
  DeviceFilter& operator=(DeviceFilter&&) noexcept;
  /// Waits for what this filter was last asked to do, and frees its scratch (for which CUDA may wait for
  /// other work too). A failure of that work is not reported here: the caller's own wait for its stream
  /// reports it.
  ~DeviceFilter();

  /// Enqueues the chain from `in` to `out`. `in` has the spec input(), `out` the spec result(), any pitch;
  /// both are memory of the filter's device, do not overlap, and stay valid until `stream` has passed.
  /// `stream` belongs to that device (null: its default stream); another device may be current. Throws
  /// InvalidArgument before anything is enqueued, and CudaError.
  ///
  /// While `stream` is being captured into a CUDA graph, the calls go into the graph in the stream's order
  /// and are in no order with other calls on this filter: launch the graph when those are done, and keep the
  /// filter for as long as the graph is used.
  void enqueue(const ConstPixelView& in, const PixelView& out, DeviceStream stream) const;

  /// The same for a part: out.rect of the result, of at most the filter's largest part, from `in`, which
  /// holds at least chain.input_for(out.rect, input()). The bytes are those of the whole image's result
  /// there.
  void enqueue(const ConstRegion& in, const Region& out, DeviceStream stream) const;

  const ImageSpec& input() const noexcept;
  const ImageSpec& result() const noexcept;
  Arithmetic arithmetic() const noexcept;
  /// Device memory that the filter holds.
  std::int64_t scratch_bytes() const noexcept;
  /// Index of the filter's device among cuda_devices().
  int device() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sepconv
