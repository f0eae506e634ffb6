#include "bench/gemm/variants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "bench/backend.hpp"
#include "core/error.hpp"
#include "core/geometry.hpp"
#include "kernels/gemm/gemm_views.hpp"

namespace sepconv {
namespace {

/// Number of tiles of both operands, including partial ones; at least 1, so that the allocation is not empty.
std::int64_t tile_count(const GemmShape& shape, std::int64_t side) {
  const std::int64_t steps = ceil_div(shape.k, side);
  return std::max<std::int64_t>(1, (ceil_div(shape.m, side) + ceil_div(shape.n, side)) * steps);
}

int checked_side(int side) {
  if (std::ranges::find(kZeroCopySides, side) == std::end(kZeroCopySides))
    throw InvalidArgument(
        fmt::format("the zero-copy kernels have no blocks of {} x {}: give 8, 16 or 32", side, side));
  return side;
}

/// Blocks are numbered along the x axis of a grid, which has at most 2^31 - 1 blocks.
void check_blocks(const GemmShape& shape, std::int64_t side) {
  constexpr std::int64_t kMaxBlocks = (std::int64_t{1} << 31) - 1;
  if (ceil_div(shape.m, side) <= kMaxBlocks / ceil_div(shape.n, side)) return;
  throw InvalidArgument(fmt::format(
      "a result of {} x {} takes more than the {} blocks of {} x {} that a launch has: give a smaller one",
      shape.m, shape.n, kMaxBlocks, side, side));
}

}  // namespace

GemmShape check_gemm_operands(const GemmOperands& operands, const ConstPixelView& out) {
  const GemmOp op{.trans_a = operands.trans_a, .trans_b = operands.trans_b};
  const ImageSpec a = spec_of(operands.a), b = spec_of(operands.b);
  if (operands.added) gemm_shape(op, a, b, spec_of(*operands.added));
  return gemm_shape(op, a, b, spec_of(out));
}

std::string_view name_of(GemmVariant variant) noexcept {
  constexpr std::string_view kNames[] = {"a thread an element", "shared tiles 16 x 16", "register tiles"};
  return kNames[static_cast<std::size_t>(variant)];
}

std::string_view name_of(ZeroCopyVariant variant) noexcept {
  constexpr std::string_view kNames[] = {"zero-copy, global", "zero-copy, shared"};
  return kNames[static_cast<std::size_t>(variant)];
}

void gemm_by_variant(GemmVariant variant, const GemmOperands& operands, const PixelView& out,
                     DeviceStream stream) {
  const GemmShape shape = check_gemm_operands(operands, out);
  if (out.extent.empty()) return;
  check_blocks(shape, 16);
  bench_backend().gemm(variant, shape, operands, out, stream);
}

TileCache::TileCache(const GemmShape& shape, PixelType type, int side)
    : shape_(shape),
      type_(type),
      side_(checked_side(side)),
      tiles_(tile_count(shape, side) * side * side * size_of(type), device_resource()),
      flags_(tile_count(shape, side) * static_cast<std::int64_t>(sizeof(int)), device_resource()) {}

std::int64_t TileCache::device_bytes(const GemmShape& shape, PixelType type, int side) {
  const std::int64_t tile_bytes = std::int64_t{side} * side * size_of(type);
  return tile_count(shape, side) * (tile_bytes + static_cast<std::int64_t>(sizeof(int)));
}

void gemm_zero_copy(ZeroCopyVariant variant, const GemmOperands& operands, const TileCache& cache,
                    const PixelView& out, DeviceStream stream) {
  const GemmShape shape = check_gemm_operands(operands, out);
  if (operands.trans_a || operands.trans_b || operands.added)
    throw InvalidArgument(
        "the zero-copy kernels multiply two matrices as they are: transpose and add with another variant");
  if (shape != cache.shape() || out.type != cache.type()) {
    throw InvalidArgument(
        fmt::format("the tile cache was made for {} x {} x {} {}: make one for {} x {} x {} {}",
                    cache.shape().m, cache.shape().n, cache.shape().k, name_of(cache.type()), shape.m,
                    shape.n, shape.k, name_of(out.type)));
  }
  if (out.extent.empty()) return;
  check_blocks(shape, cache.side());
  bench_backend().gemm_zero_copy(variant, operands, cache, out, stream);
}

KernelFacts gemm_facts(GemmVariant variant, PixelType type, bool trans_a, bool trans_b) {
  return bench_backend().gemm_facts(variant, type, trans_a, trans_b);
}
KernelFacts gemm_facts(ZeroCopyVariant variant, PixelType type, int side) {
  return bench_backend().zero_copy_facts(variant, type, side);
}

}  // namespace sepconv
