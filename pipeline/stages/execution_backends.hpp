// Backends for stages that combine several kernels: reference code, the host with the arena of a worker, or a
// device. All run the same steps. Private to pipeline/stages.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/conv/conv.hpp"
#include "kernels/pointwise/alpha.hpp"
#include "kernels/pointwise/pointwise.hpp"
#include "kernels/resample/resample.hpp"
#include "kernels/sliding_window/standard_deviation.hpp"
#include "kernels/sliding_window/window.hpp"
#include "pipeline/chain/stage.hpp"

namespace sepconv {
/// Reference kernels; allocates separate buffers, which live as long as the backend.
struct ReferenceBackend {
  static constexpr Scratch kScratch = Scratch::host;
  Arithmetic arithmetic;
  mutable std::vector<Buffer> memory{};

  /// The backend in another arithmetic type, with separate buffers.
  ReferenceBackend with_arithmetic(Arithmetic other) const { return {other}; }

  PixelView allocate(Extent extent, std::int64_t channels, PixelType type) const {
    const ImageSpec spec{extent, channels, type};
    return dense_view(memory.emplace_back(spec.bytes()).data(), spec);
  }
  void pointwise(const PointwiseOp& op, const ConstPixelView& a, const ConstPixelView& b,
                 const PixelView& out) const {
    pointwise_reference(op, a, b, out, arithmetic);
  }
  /// join(other, filter(in)), or filter(in) if `join` is a copy.
  void convolve(const SeparableTaps& taps, const Border& border, const ConstRegion& in,
                const PointwiseOp& join, const ConstPixelView& other, const Region& out) const {
    const PixelView filtered = allocate(out.rect.extent(), out.pixels.channels, pixel_type_of(arithmetic));
    convolve_reference(taps, border, in, {filtered, out.rect, out.image}, arithmetic);
    if (join.kind == PointwiseOp::Kind::copy) return pointwise(join, filtered, filtered, out.pixels);
    pointwise(join, other, filtered, out.pixels);
  }
  void window(const Window& window, const Border& border, const ConstRegion& in, const Region& out) const {
    window_reference(window, border, in, out, arithmetic);
  }
  void deviation(const WindowMoments& moments, const PixelView& out) const {
    deviation_reference(moments, out);
  }
  void resample(const Resampling& resampling, const ConstRegion& in, const Region& out) const {
    resample_reference(resampling, in, out, arithmetic);
  }
  void keep_alpha(std::int64_t channel, const ConstPixelView& from, const PixelView& out) const {
    keep_alpha_host(channel, from, out, arithmetic);
  }
  void stage(const Stage& stage, const ConstRegion& in, const Region& out) const {
    stage.apply_reference(in, out, arithmetic);
  }
};

/// Host kernels, with memory from the arena of a worker.
struct HostBackend {
  static constexpr Scratch kScratch = Scratch::host;
  Arithmetic arithmetic;
  Worker& worker;

  HostBackend with_arithmetic(Arithmetic other) const { return {other, worker}; }
  PixelView allocate(Extent extent, std::int64_t channels, PixelType type) const {
    return worker.allocate_view(extent, channels, type);
  }
  void pointwise(const PointwiseOp& op, const ConstPixelView& a, const ConstPixelView& b,
                 const PixelView& out) const {
    pointwise_host(op, a, b, out, arithmetic);
  }
  void convolve(const SeparableTaps& taps, const Border& border, const ConstRegion& in,
                const PointwiseOp& join, const ConstPixelView& other, const Region& out) const {
    if (join.kind == PointwiseOp::Kind::copy) return convolve_host(taps, border, in, out, arithmetic, worker);
    const Arena::Scope scope(worker);
    const PixelView filtered = allocate(out.rect.extent(), out.pixels.channels, pixel_type_of(arithmetic));
    convolve_host(taps, border, in, {filtered, out.rect, out.image}, arithmetic, worker);
    pointwise(join, other, filtered, out.pixels);
  }
  void window(const Window& window, const Border& border, const ConstRegion& in, const Region& out) const {
    window_host(window, border, in, out, arithmetic, worker);
  }
  void deviation(const WindowMoments& moments, const PixelView& out) const { deviation_host(moments, out); }
  void resample(const Resampling& resampling, const ConstRegion& in, const Region& out) const {
    resample_host(resampling, in, out, arithmetic, worker);
  }
  void keep_alpha(std::int64_t channel, const ConstPixelView& from, const PixelView& out) const {
    keep_alpha_host(channel, from, out, arithmetic);
  }
  void stage(const Stage& stage, const ConstRegion& in, const Region& out) const {
    stage.apply(in, out, arithmetic, worker);
  }
};

/// Device kernels. The operations `epilogue_ops` are applied by the kernel that writes `result`, or by
/// keep_alpha().
struct StreamBackend {
  static constexpr Scratch kScratch = Scratch::device;
  Arithmetic arithmetic;
  Arena& arena;
  DeviceStream stream;
  std::span<const PointwiseOp> epilogue_ops;
  const std::byte* result;

  StreamBackend with_arithmetic(Arithmetic other) const {
    return {other, arena, stream, epilogue_ops, result};
  }
  PixelView allocate(Extent extent, std::int64_t channels, PixelType type) const {
    return arena.allocate_view(extent, channels, type);
  }
  std::span<const PointwiseOp> epilogue_ops_of(const PixelView& out) const {
    return out.data == result ? epilogue_ops : std::span<const PointwiseOp>{};
  }
  void pointwise(const PointwiseOp& op, const ConstPixelView& a, const ConstPixelView& b,
                 const PixelView& out) const {
    pointwise_device(op, a, b, out, arithmetic, stream, epilogue_ops_of(out));
  }
  void convolve(const SeparableTaps& taps, const Border& border, const ConstRegion& in,
                const PointwiseOp& join, const ConstPixelView& other, const Region& out) const {
    convolve_device(taps, border, in, out, arithmetic, arena, stream,
                    {.join = join.kind == PointwiseOp::Kind::copy ? nullptr : &join,
                     .other = other,
                     .then = epilogue_ops_of(out.pixels)});
  }
  void window(const Window& window, const Border& border, const ConstRegion& in, const Region& out) const {
    window_device(window, border, in, out, arithmetic, arena, stream, epilogue_ops_of(out.pixels));
  }
  void deviation(const WindowMoments& moments, const PixelView& out) const {
    deviation_device(moments, out, stream);
  }
  void resample(const Resampling& resampling, const ConstRegion& in, const Region& out) const {
    resample_device(resampling, in, out, arithmetic, arena, stream, epilogue_ops_of(out.pixels));
  }
  void keep_alpha(std::int64_t channel, const ConstPixelView& from, const PixelView& out) const {
    keep_alpha_device(channel, from, out, arithmetic, stream, epilogue_ops);
  }
  void stage(const Stage& stage, const ConstRegion& in, const Region& out) const {
    stage.enqueue(in, out, arithmetic, arena, stream, {epilogue_ops_of(out.pixels)});
  }
};

/// A region like `like`, allocated in the arithmetic type of the backend.
template <class Backend>
Region allocate(const Backend& backend, const Region& like) {
  return {backend.allocate(like.rect.extent(), like.pixels.channels, pixel_type_of(backend.arithmetic)),
          like.rect, like.image};
}

/// The part of `in` that the stage needs for this part of its result.
inline ConstRegion needed_of(const Stage& stage, const ConstRegion& in, const Region& out) {
  return in.crop(stage.input_for(out.rect, {in.image, in.pixels.channels, in.pixels.type}));
}

}  // namespace sepconv
