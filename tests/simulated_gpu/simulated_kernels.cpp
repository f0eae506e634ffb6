// The launchers of the simulated GPU: the host's kernels, run on the stream's thread.
#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "bench/conv/ladder.hpp"
#include "bench/transpose/launch.hpp"
#include "sepconv/kernels/conv/conv.hpp"
#include "sepconv/kernels/conv/conv_check.hpp"
#include "sepconv/kernels/gemm/exact.hpp"
#include "sepconv/kernels/gemm/gemm.hpp"
#include "sepconv/kernels/pointwise/pointwise_check.hpp"
#include "sepconv/kernels/reduce/reduce.hpp"
#include "sepconv/kernels/transpose/permutation.hpp"
#include "sepconv/kernels/transpose/transpose_check.hpp"
#include "simulated_gpu.hpp"

namespace sepconv {
namespace {

using Ops = std::vector<PointwiseOp>;

/// Lends memory that is there already: an arena on the stream's thread over space of the caller's arena.
class LentMemory final : public std::pmr::memory_resource {
 public:
  explicit LentMemory(std::byte* memory) : memory_(memory) {}

 private:
  void* do_allocate(std::size_t, std::size_t) override { return memory_; }
  void do_deallocate(void*, std::size_t, std::size_t) override {}
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
  std::byte* memory_;
};

void apply_all(const Ops& ops, const PixelView& to, Arithmetic arithmetic) {
  for (const PointwiseOp& op : ops) pointwise_host(op, to, to, to, arithmetic);
}

/// A dense image of the arithmetic type, where results wait for the operations after them.
struct Kept {
  Buffer memory;
  PixelView view;
  Kept(const ConstPixelView& like, Arithmetic arithmetic)
      : memory(like.extent.area() * like.channels * size_of(pixel_type_of(arithmetic))),
        view{memory.data(), like.extent, like.channels, pixel_type_of(arithmetic),
             like.extent.cols * like.channels * size_of(pixel_type_of(arithmetic))} {}
};

std::int64_t host_scratch_bytes(const SeparableTaps& taps, Extent out, std::int64_t channels,
                                Arithmetic arithmetic) {
  return convolve_scratch_bytes(taps, out, channels, arithmetic);
}

}  // namespace

void pointwise_cuda(const PointwiseOp& op, const ConstPixelView& a, const ConstPixelView& b,
                    const PixelView& out, Arithmetic arithmetic, DeviceStream stream,
                    std::span<const PointwiseOp> then) {
  check_pointwise(op, a, b, out);
  simulated::enqueue(stream, [=, ops = Ops(then.begin(), then.end())] {
    const Kept kept(out, arithmetic);
    pointwise_host(op, a, b, kept.view, arithmetic);
    apply_all(ops, kept.view, arithmetic);
    pointwise_host({}, kept.view, kept.view, out, arithmetic);
  });
}

void mix_channels_cuda(const ChannelMatrix& matrix, const ConstPixelView& in, const PixelView& out,
                       Arithmetic arithmetic, DeviceStream stream, std::span<const PointwiseOp> then) {
  check_mix_channels(matrix, in, out);
  simulated::enqueue(stream, [=, ops = Ops(then.begin(), then.end())] {
    const Kept kept(out, arithmetic);
    mix_channels_host(matrix, in, kept.view, arithmetic);
    apply_all(ops, kept.view, arithmetic);
    pointwise_host({}, kept.view, kept.view, out, arithmetic);
  });
}

void exact_gemm_cuda(const ExactOperand& x, const ExactOperand& y, const PixelView& out,
                     Arithmetic arithmetic, DeviceStream stream, std::span<const PointwiseOp> then) {
  simulated::enqueue(stream, [=, ops = Ops(then.begin(), then.end())] {
    const Kept kept(out, arithmetic);
    const std::int64_t length = x.transposed ? x.pixels.extent.rows : x.pixels.row_elements();
    Arena arena(Buffer(exact_gemm_scratch_bytes(out.extent, out.channels, length, arithmetic)));
    exact_gemm_host(x, y, kept.view, arithmetic, arena);
    apply_all(ops, kept.view, arithmetic);
    pointwise_host({}, kept.view, kept.view, out, arithmetic);
  });
}

void convolve_cuda(const SeparableTaps& taps, const Border& border, const ConstRegion& in, const Region& out,
                   Arithmetic arithmetic, Arena& arena, DeviceStream stream,
                   const ConvolutionEpilogue& epilogue) {
  check_convolution(taps, in, out);
  // Scratch is the caller's, as on a GPU: whoever uses it on two streams at once gets wrong results here too.
  const Arena::Scope scope(arena);
  const std::int64_t bytes = host_scratch_bytes(taps, out.rect.extent(), out.pixels.channels, arithmetic);
  std::byte* const scratch = arena.allocate<std::byte>(bytes);
  const bool joined = epilogue.join != nullptr;
  simulated::enqueue(stream, [=, join = joined ? *epilogue.join : PointwiseOp{}, other = epilogue.other,
                              ops = Ops(epilogue.then.begin(), epilogue.then.end())] {
    LentMemory lent(scratch);
    Arena own(Buffer(bytes, &lent));
    const Kept kept(out.pixels, arithmetic);
    convolve_host(taps, border, in, {kept.view, out.rect, out.image}, arithmetic, own);
    if (joined) pointwise_host(join, other, kept.view, kept.view, arithmetic);
    apply_all(ops, kept.view, arithmetic);
    pointwise_host({}, kept.view, kept.view, out.pixels, arithmetic);
  });
}

void convolve_cuda(CudaDesign, const SeparableTaps& taps, const Border& border, const ConstRegion& in,
                   const Region& out, Arithmetic arithmetic, Arena& arena, DeviceStream stream,
                   const ConvolutionEpilogue& epilogue) {
  convolve_cuda(taps, border, in, out, arithmetic, arena, stream, epilogue);
}
bool convolve_cuda_fits(const SeparableTaps&, std::int64_t, PixelType, Arithmetic) { return true; }

std::int64_t convolve_device_bytes(const SeparableTaps& taps, Extent out, std::int64_t channels,
                                   Arithmetic arithmetic, Extent) {
  return Arena::bytes_for(host_scratch_bytes(taps, out, channels, arithmetic));
}

void ladder_pass(LadderRung, LadderPass pass, const LadderTaps& taps, const ConstPixelView& in,
                 const PixelView& out, DeviceStream stream) {
  check_ladder_pass(pass, taps, in, out);
  simulated::enqueue(stream, [=, &taps] {
    visit_arithmetic(
        taps.type() == PixelType::f64 ? Arithmetic::f64 : Arithmetic::f32,
        [&]<class A>(std::type_identity<A>) {
          for (std::int64_t row = 0; row < out.extent.rows; ++row) {
            for (std::int64_t col = 0; col < out.extent.cols; ++col) {
              A sum = 0;
              for (std::int64_t k = 0; k < taps.count(); ++k) {
                const A value = pass == LadderPass::rows ? in.row<A>(row)[col + k] : in.row<A>(row + k)[col];
                sum = std::fma(static_cast<A>(taps.host()[static_cast<std::size_t>(k)]), value, sum);
              }
              out.row<A>(row)[col] = sum;
            }
          }
        });
  });
}

void ladder_fill(std::byte* memory, int value, std::int64_t bytes, DeviceStream stream) {
  simulated::enqueue(stream, [=] { std::memset(memory, value, static_cast<std::size_t>(bytes)); });
}

void cell_moments_cuda(const ConstPixelView& in, Extent cell, Moments* moments, DeviceStream stream) {
  simulated::enqueue(stream, [=] {
    Moments* to = moments;
    for (std::int64_t row = 0; row < in.extent.rows; row += cell.rows) {
      for (std::int64_t col = 0; col < in.extent.cols; col += cell.cols) {
        const Rect rect = Rect{row, col, cell.rows, cell.cols}.intersect(Rect::whole(in.extent));
        for (std::int64_t channel = 0; channel < in.channels; ++channel)
          *to++ = cell_moments(in.crop(rect), channel);
      }
    }
  });
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

void count_values_cuda(const ConstPixelView& in, std::int64_t* counts, DeviceStream stream) {
  simulated::enqueue(stream, [=] {
    const std::int64_t least = in.type == PixelType::i16 ? -32768 : 0;
    for_each_value(in, [&](std::int64_t channel, auto value) {
      std::atomic_ref(counts[channel * value_count(in.type) + static_cast<std::int64_t>(value) - least])++;
    });
  });
}

void count_bins_cuda(const ConstPixelView& in, const BinScale* scales, std::int64_t* counts,
                     DeviceStream stream) {
  simulated::enqueue(stream, [=] {
    for_each_value(in, [&](std::int64_t channel, auto value) {
      const int bin = scales[channel].bin(static_cast<double>(value));
      if (bin >= 0) std::atomic_ref(counts[channel * kBins + bin])++;
    });
  });
}

void gemm_cuda(const GemmOp& op, const ConstPixelView& a, const ConstPixelView& b, const PixelView& out,
               DeviceStream stream) {
  simulated::enqueue(stream, [=] { gemm_reference(op, a, b, out); });
}
void prepare_gemm_cuda() {}
std::string gemm_cuda_library() { return "threads"; }

void transpose_cuda(const TransposeShape& shape, ConstMatrices in, Matrices out, DeviceStream stream) {
  check_transpose(shape);
  simulated::enqueue(stream, [=] { transpose_host(shape, in, out); });
}

void permute_cuda(const TensorExtent& extent, const Permutation& permutation, std::int64_t element_bytes,
                  const std::byte* in, std::byte* out, DeviceStream stream) {
  const PermutationAsTranspose work = as_transpose(extent, permutation, element_bytes);
  transpose_cuda(work.shape, {in, work.in_pitch_bytes, work.in_item_bytes},
                 {out, work.out_pitch_bytes, work.out_item_bytes}, stream);
}

void transpose_ladders::launch(TransposeRung rung, const TransposeShape& shape, ConstMatrices in,
                               Matrices out, DeviceStream stream) {
  if (!only_copies(rung)) return transpose_cuda(shape, in, out, stream);
  for (std::int64_t item = 0; item < shape.items; ++item) {
    copy_rows(out.data + item * out.item_bytes, out.pitch_bytes, in.data + item * in.item_bytes,
              in.pitch_bytes, shape.cols * shape.element_bytes, shape.rows, stream);
  }
}

void transpose_ladders::launch(PermuteRung rung, const TensorExtent& extent, const Permutation& permutation,
                               std::int64_t element_bytes, const TileExtent&, const std::byte* in,
                               std::byte* out, DeviceStream stream) {
  permute_cuda(extent, only_copies(rung) ? Permutation() : permutation, element_bytes, in, out, stream);
}

}  // namespace sepconv
