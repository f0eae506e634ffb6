// The classic ladder of matrix products: kernels and loops that are not fast but that one can learn from,
// kept to be measured next to OpenBLAS and cuBLAS on the user's own machine (sepconv bench gemm), and a
// register-tiled kernel of ours.
//
// All compute out = op(a) op(b) + added, where `added` may be left out. A matrix is a view of one channel,
// f32 or f64, row-major, of any shape and pitch. On the GPU every sum runs over ascending k by fused
// multiply-add from 0, and `added` comes last, so that all rungs give the same bits.
#pragma once

#include <optional>
#include <string_view>

#include "core/executor.hpp"
#include "core/memory.hpp"
#include "kernels/gemm/gemm.hpp"

namespace sepconv {

/// What a product reads. Views stay valid until it is done.
struct GemmOperands {
  ConstPixelView a, b;
  bool trans_a = false;
  bool trans_b = false;
  std::optional<ConstPixelView> added{};  ///< of the result's shape
};

/// The shape of the product. Throws InvalidArgument as gemm_shape does, also for `out` or `added` of another
/// one.
GemmShape check_gemm_operands(const GemmOperands& operands, const ConstPixelView& out);

/// The host's three loops. Their rows are shared by the executor's threads; sums are in the operands' type.
enum class GemmLoops : std::uint8_t {
  ijk,  ///< a row of a times a column of b at a time: goes down b's columns
  ikj,  ///< a row of the result collects multiples of b's rows: everything is read along rows
};
void gemm_loops(GemmLoops loops, const GemmOperands& operands, const PixelView& out, Executor& executor);

/// Kernels on operands in the GPU's memory.
enum class GemmRung : std::uint8_t {
  thread_an_element,  ///< blocks of 16 x 16 threads, a thread per element of the result; everything from
                      ///< global memory
  shared_tiles,       ///< the same blocks stage tiles of 16 x 16 in shared memory
  register_tiles,  ///< ours: a thread has 8 x 8 (f64: 8 x 4) sums in registers; two buffers in shared memory
};
std::string_view name_of(GemmRung rung) noexcept;

/// Enqueued on `stream`; returns at once. All views are of the current device's memory. Throws
/// InvalidArgument as check_gemm_operands does, and CudaError.
void gemm_ladder(GemmRung rung, const GemmOperands& operands, const PixelView& out, DeviceStream stream);

/// Kernels on operands in page-locked memory of the host. A block copies a tile into a cache in the GPU's
/// memory the first time that any block needs it, and sets its flag.
enum class ZeroCopyRung : std::uint8_t {
  global,  ///< computes from the cache
  shared,  ///< stages what it computes with in shared memory
};
std::string_view name_of(ZeroCopyRung rung) noexcept;

/// Sides of the zero-copy kernels' blocks, in threads and elements.
inline constexpr int kZeroCopySides[] = {8, 16, 32};

/// Copies of the operands' tiles in memory of the device that is current when it is made, and a flag for
/// each. One stream at a time.
class TileCache {
 public:
  /// For products of this shape and type. Throws InvalidArgument for a side that there is no kernel for, and
  /// OutOfMemory.
  TileCache(const GemmShape& shape, PixelType type, int side);
  static std::int64_t device_bytes(const GemmShape& shape, PixelType type, int side);

  const GemmShape& shape() const noexcept { return shape_; }
  PixelType type() const noexcept { return type_; }
  int side() const noexcept { return side_; }
  std::byte* tiles() const noexcept { return tiles_.data(); }
  std::byte* flags() const noexcept { return flags_.data(); }
  std::int64_t flag_bytes() const noexcept { return flags_.size(); }

 private:
  GemmShape shape_;
  PixelType type_;
  int side_;
  Buffer tiles_, flags_;
};

/// out = a b, for operands in page-locked memory and `out` in the GPU's. Empties the cache first. Enqueued on
/// `stream`. Throws InvalidArgument too for operands that are transposed, with something added or not
/// page-locked, and for a cache of another product.
void gemm_zero_copy(ZeroCopyRung rung, const GemmOperands& operands, const TileCache& cache,
                    const PixelView& out, DeviceStream stream);

/// What a launch takes of a multiprocessor of the current device.
struct KernelFacts {
  int registers = 0;              ///< of a thread
  std::int64_t shared_bytes = 0;  ///< of a block
  int block_threads = 0;
  double occupancy =
      0;  ///< threads that a multiprocessor can hold of this kernel over those that it has room for
};
/// Throws CudaError.
KernelFacts gemm_facts(GemmRung rung, PixelType type, bool trans_a, bool trans_b);
KernelFacts gemm_facts(ZeroCopyRung rung, PixelType type, int side);

}  // namespace sepconv
