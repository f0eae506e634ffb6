// Matrix products in textbook variants, measured next to OpenBLAS and cuBLAS on the user's own machine
// (sepconv bench gemm), and sepconv's own register-tiled kernel.
//
// All compute out = op(a) op(b) + added; `added` is optional. A matrix is a row-major view of one channel of
// f32 or f64, with any shape and pitch. On the GPU every sum runs over ascending k by fused multiply-add from
// 0, and `added` comes last, so all variants are bit-identical.
#pragma once

#include <optional>
#include <string_view>

#include "core/executor.hpp"
#include "core/memory.hpp"
#include "kernels/gemm/gemm.hpp"

namespace sepconv {

/// The inputs of a product. Views must stay valid until the product is complete.
struct GemmOperands {
  ConstPixelView a, b;
  bool trans_a = false;
  bool trans_b = false;
  std::optional<ConstPixelView> added{};  ///< has the result's shape
};

/// The shape of the product. Throws InvalidArgument as gemm_shape does, also if `out` or `added` has another
/// shape.
GemmShape check_gemm_operands(const GemmOperands& operands, const ConstPixelView& out);

/// Triple loops on the host. The executor's threads divide the rows of the result; sums have the operands'
/// type.
enum class GemmLoops : std::uint8_t {
  ijk,  ///< dot product of a row of a and a column of b: reads b down its columns
  ikj,  ///< adds multiples of b's rows to a row of the result: reads everything along rows
};
void gemm_loops(GemmLoops loops, const GemmOperands& operands, const PixelView& out, Executor& executor);

/// Kernels on operands in the GPU's memory.
enum class GemmVariant : std::uint8_t {
  thread_per_element,  ///< blocks of 16 x 16 threads, one thread per element; reads global memory only
  shared_tiles,        ///< the same blocks; operands are staged as 16 x 16 tiles in shared memory
  register_tiles,  ///< sepconv's: a thread has 8 x 8 (f64: 8 x 4) sums in registers; double-buffered tiles
};
std::string_view name_of(GemmVariant variant) noexcept;

/// Enqueues a product on `stream` and returns immediately. All views are in the current device's memory.
/// Throws InvalidArgument as check_gemm_operands does, and DeviceError.
void gemm_by_variant(GemmVariant variant, const GemmOperands& operands, const PixelView& out,
                     DeviceStream stream);

/// Kernels on operands in page-locked host memory. The first block that needs a tile copies it into a cache
/// in the GPU's memory and sets its flag.
enum class ZeroCopyVariant : std::uint8_t {
  global,  ///< reads the cache in global memory
  shared,  ///< stages cached tiles in shared memory
};
std::string_view name_of(ZeroCopyVariant variant) noexcept;

/// Sides of the zero-copy kernels' blocks, in threads and elements.
inline constexpr int kZeroCopySides[] = {8, 16, 32};

/// Copies of the operands' tiles and a flag for each, in memory of the device that is current at
/// construction. Use one stream at a time.
class TileCache {
 public:
  /// For products of this shape and type. Throws InvalidArgument if `side` is not in kZeroCopySides, and
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

/// Enqueues out = a b on `stream`, for operands in page-locked host memory and `out` in the GPU's. Clears the
/// cache first. Also throws InvalidArgument for transposed operands, for `added`, for pageable operands and
/// for a cache of another shape or type.
void gemm_zero_copy(ZeroCopyVariant variant, const GemmOperands& operands, const TileCache& cache,
                    const PixelView& out, DeviceStream stream);

/// Resources that a kernel uses on a multiprocessor of the current device.
struct KernelFacts {
  int registers = 0;              ///< per thread
  std::int64_t shared_bytes = 0;  ///< per block
  int block_threads = 0;
  double occupancy = 0;  ///< resident threads of this kernel / maximum threads of a multiprocessor
};
/// Throws DeviceError.
KernelFacts gemm_facts(GemmVariant variant, PixelType type, bool trans_a, bool trans_b);
KernelFacts gemm_facts(ZeroCopyVariant variant, PixelType type, int side);

}  // namespace sepconv
