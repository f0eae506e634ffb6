// The launchers of the simulated GPU: they run the host's kernels on the stream's thread.
#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "core/memory.hpp"
#include "simulated_gpu.hpp"

namespace sepconv::simulated {
namespace {

using Ops = std::vector<PointwiseOp>;

/// A memory resource over existing memory, so that an arena on the stream's thread uses space of the caller's
/// arena.
class ExistingMemory final : public std::pmr::memory_resource {
 public:
  explicit ExistingMemory(std::byte* memory) : memory_(memory) {}

 private:
  void* do_allocate(std::size_t, std::size_t) override { return memory_; }
  void do_deallocate(void*, std::size_t, std::size_t) override {}
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
  std::byte* memory_;
};

void apply_all(const Ops& ops, const PixelView& to, Arithmetic arithmetic) {
  for (const PointwiseOp& op : ops) pointwise_host(op, to, to, to, arithmetic);
}

/// A dense image of the arithmetic type for results before the fused operations.
struct DenseImage {
  Buffer memory;
  PixelView view;
  DenseImage(const ConstPixelView& like, Arithmetic arithmetic)
      : memory(like.extent.area() * like.channels * size_of(pixel_type_of(arithmetic))),
        view{memory.data(), like.extent, like.channels, pixel_type_of(arithmetic),
             like.extent.cols * like.channels * size_of(pixel_type_of(arithmetic))} {}
};

std::int64_t host_scratch_bytes(const SeparableTaps& taps, Extent out, std::int64_t channels,
                                Arithmetic arithmetic) {
  return convolve_scratch_bytes(taps, out, channels, arithmetic);
}

}  // namespace

void pointwise(const PointwiseOp& op, const ConstPixelView& a, const ConstPixelView& b, const PixelView& out,
               Arithmetic arithmetic, DeviceStream stream, std::span<const PointwiseOp> fused_ops) {
  enqueue(stream, [=, ops = Ops(fused_ops.begin(), fused_ops.end())] {
    const DenseImage intermediate(out, arithmetic);
    pointwise_host(op, a, b, intermediate.view, arithmetic);
    apply_all(ops, intermediate.view, arithmetic);
    pointwise_host({}, intermediate.view, intermediate.view, out, arithmetic);
  });
}

void mix_channels(const ChannelMatrix& matrix, const ConstPixelView& in, const PixelView& out,
                  Arithmetic arithmetic, DeviceStream stream, std::span<const PointwiseOp> fused_ops) {
  enqueue(stream, [=, ops = Ops(fused_ops.begin(), fused_ops.end())] {
    const DenseImage intermediate(out, arithmetic);
    mix_channels_host(matrix, in, intermediate.view, arithmetic);
    apply_all(ops, intermediate.view, arithmetic);
    pointwise_host({}, intermediate.view, intermediate.view, out, arithmetic);
  });
}

void alpha(const AlphaOp& op, const ConstPixelView& in, const PixelView& out, Arithmetic arithmetic,
           DeviceStream stream, std::span<const PointwiseOp> fused_ops) {
  enqueue(stream, [=, ops = Ops(fused_ops.begin(), fused_ops.end())] {
    const DenseImage intermediate(out, arithmetic);
    alpha_host(op, in, intermediate.view, arithmetic);
    apply_all(ops, intermediate.view, arithmetic);
    pointwise_host({}, intermediate.view, intermediate.view, out, arithmetic);
  });
}

void keep_alpha(std::int64_t channel, const ConstPixelView& in, const PixelView& out, Arithmetic arithmetic,
                DeviceStream stream, std::span<const PointwiseOp> fused_ops) {
  enqueue(stream, [=, ops = Ops(fused_ops.begin(), fused_ops.end())] {
    keep_alpha_host(channel, in, out, arithmetic);
    apply_all(ops, out, arithmetic);
  });
}

void exact_gemm(const ExactOperand& x, const ExactOperand& y, const PixelView& out, Arithmetic arithmetic,
                DeviceStream stream, std::span<const PointwiseOp> fused_ops) {
  enqueue(stream, [=, ops = Ops(fused_ops.begin(), fused_ops.end())] {
    const DenseImage intermediate(out, arithmetic);
    const std::int64_t length = x.transposed ? x.pixels.extent.rows : x.pixels.row_elements();
    Worker arena(Buffer(exact_gemm_scratch_bytes(out.extent, out.channels, length, arithmetic)));
    exact_gemm_host(x, y, intermediate.view, arithmetic, arena);
    apply_all(ops, intermediate.view, arithmetic);
    pointwise_host({}, intermediate.view, intermediate.view, out, arithmetic);
  });
}

void resample(const Resampling& resampling, const ConstRegion& in, const Region& out, Arithmetic arithmetic,
              Arena& arena, DeviceStream stream, std::span<const PointwiseOp> fused_ops) {
  const Arena::Scope scope(arena);  // throws if the plan omits the GPU scratch memory
  arena.allocate<std::byte>(
      resample_device_bytes(resampling, out.rect.extent(), out.pixels.channels, arithmetic));
  enqueue(stream, [=, ops = Ops(fused_ops.begin(), fused_ops.end())] {
    const DenseImage intermediate(out.pixels, arithmetic);
    Worker worker(
        Buffer(resample_scratch_bytes(resampling, out.rect.extent(), out.pixels.channels, arithmetic)));
    resample_host(resampling, in, {intermediate.view, out.rect, out.image}, arithmetic, worker);
    apply_all(ops, intermediate.view, arithmetic);
    pointwise_host({}, intermediate.view, intermediate.view, out.pixels, arithmetic);
  });
}

void order(const RankFilter& filter, const Border& border, std::span<const ConstRegion> planes,
           std::span<const Region> outs, Arithmetic arithmetic, Arena& arena, DeviceStream stream,
           std::span<const PointwiseOp> fused_ops) {
  const Arena::Scope scope(arena);  // throws if the plan omits the GPU scratch memory
  arena.allocate<std::byte>(rank_bytes(filter, outs.front().pixels.channels, arithmetic));
  enqueue(stream, [=, in = std::vector(planes.begin(), planes.end()),
                   results = std::vector(outs.begin(), outs.end()),
                   ops = Ops(fused_ops.begin(), fused_ops.end())] {
    const auto plane_count = static_cast<std::size_t>(filter.window.planes());
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Region& out = results[i];
      const DenseImage intermediate(out.pixels, arithmetic);
      Worker worker(Buffer(rank_scratch_bytes(filter, out.rect.extent(), out.pixels.channels, arithmetic)));
      rank_host(filter, border, std::span(in).subspan(i, plane_count),
                {intermediate.view, out.rect, out.image}, arithmetic, worker);
      apply_all(ops, intermediate.view, arithmetic);
      pointwise_host({}, intermediate.view, intermediate.view, out.pixels, arithmetic);
    }
  });
}

/// Represents the size of the network's comparisons on a real GPU.
std::int64_t rank_bytes(const RankFilter& filter, std::int64_t, Arithmetic) {
  return filter.network ? Arena::bytes_for(8 * filter.window.area()) : 0;
}

void window(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
            Arithmetic arithmetic, Arena& arena, DeviceStream stream,
            std::span<const PointwiseOp> fused_ops) {
  const Arena::Scope scope(arena);  // throws if the plan omits the GPU scratch memory
  const std::int64_t channels = out.pixels.channels;
  arena.allocate<std::byte>(window_device_bytes(window, out.rect.extent(), channels, arithmetic, out.image));
  enqueue(stream, [=, ops = Ops(fused_ops.begin(), fused_ops.end())] {
    const DenseImage intermediate(out.pixels, arithmetic);
    Worker worker(Buffer(window_scratch_bytes(window, out.rect.extent(), channels, arithmetic, out.image)));
    window_host(window, border, in, {intermediate.view, out.rect, out.image}, arithmetic, worker);
    apply_all(ops, intermediate.view, arithmetic);
    pointwise_host({}, intermediate.view, intermediate.view, out.pixels, arithmetic);
  });
}

void deviation(const WindowMoments& moments, const PixelView& out, DeviceStream stream) {
  enqueue(stream, [=] { deviation_host(moments, out); });
}

void convolve(ConvolutionDesign, const SeparableTaps& taps, const Border& border, const ConstRegion& in,
              const Region& out, Arithmetic arithmetic, Arena& arena, DeviceStream stream,
              const ConvolutionEpilogue& epilogue) {
  // Scratch is in the caller's arena, as on a GPU: a caller that uses it on two streams simultaneously gets
  // wrong results here too.
  const Arena::Scope scope(arena);
  const std::int64_t bytes = host_scratch_bytes(taps, out.rect.extent(), out.pixels.channels, arithmetic);
  std::byte* const scratch = arena.allocate<std::byte>(bytes);
  const bool joined = epilogue.join != nullptr;
  enqueue(stream, [=, join = joined ? *epilogue.join : PointwiseOp{}, other = epilogue.other,
                   ops = Ops(epilogue.then.begin(), epilogue.then.end())] {
    ExistingMemory lent(scratch);
    Worker worker(Buffer(bytes, &lent));
    const DenseImage intermediate(out.pixels, arithmetic);
    convolve_host(taps, border, in, {intermediate.view, out.rect, out.image}, arithmetic, worker);
    if (joined) pointwise_host(join, other, intermediate.view, intermediate.view, arithmetic);
    apply_all(ops, intermediate.view, arithmetic);
    pointwise_host({}, intermediate.view, intermediate.view, out.pixels, arithmetic);
  });
}

bool convolve_fits(const SeparableTaps&, std::int64_t, PixelType, Arithmetic) { return true; }

std::int64_t convolve_bytes(const SeparableTaps& taps, Extent out, std::int64_t channels,
                            Arithmetic arithmetic, Extent) {
  return Arena::bytes_for(host_scratch_bytes(taps, out, channels, arithmetic));
}

namespace {

/// Calls count(channel, value) for every element.
template <class Count>
void for_each_value(const ConstPixelView& in, const Count& count) {
  visit_pixel_type(in.type, [&]<class T>(std::type_identity<T>) {
    for (std::int64_t row = 0; row < in.extent.rows; ++row) {
      for (std::int64_t i = 0; i < in.row_elements(); ++i) count(i % in.channels, in.row<T>(row)[i]);
    }
  });
}

}  // namespace

void find_nan(const ConstPixelView& in, std::int32_t* found, DeviceStream stream) {
  enqueue(stream, [=] {
    for_each_value(in, [&](std::int64_t, auto value) {
      if (value != value) std::atomic_ref<std::int32_t>(*found).store(1);
    });
  });
}

void gemm(const GemmOp& op, const ConstPixelView& a, const ConstPixelView& b, const PixelView& out,
          DeviceStream stream) {
  enqueue(stream, [=] { gemm_reference(op, a, b, out); });
}
void prepare_gemm() {}
std::string gemm_library() { return "threads"; }

void transpose(const TransposeShape& shape, ConstMatrices in, Matrices out, DeviceStream stream) {
  enqueue(stream, [=] { transpose_host(shape, in, out); });
}

}  // namespace sepconv::simulated
