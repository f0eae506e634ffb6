#include "bench/transpose/variants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "bench/backend.hpp"
#include "core/error.hpp"

namespace sepconv {
namespace {

constexpr int kTileSide = 8;
constexpr std::int64_t kMaxTileBytes = 48 << 10;  // shared memory available without opt-in

void check_elements(std::int64_t element_bytes, std::int64_t elements) {
  if (element_bytes != 1 && element_bytes != 2 && element_bytes != 4 && element_bytes != 8) {
    throw InvalidArgument(fmt::format(
        "the transpose benchmark has no kernels for elements of {} bytes: give 1, 2, 4 or 8", element_bytes));
  }
  if (elements > kMaxVariantElements) {
    throw InvalidArgument(
        fmt::format("the transpose benchmark counts up to {} elements: give fewer", kMaxVariantElements));
  }
}

void check_aligned(std::int64_t element_bytes, ConstMatrices matrices) {
  const auto address = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(matrices.data));
  if ((address | matrices.pitch_bytes | matrices.item_bytes) % element_bytes != 0) {
    throw InvalidArgument(fmt::format(
        "the transpose benchmark takes addresses and distances that are multiples of an element's {} bytes",
        element_bytes));
  }
}

/// Product of the lengths, or kMaxVariantElements + 1 if it is larger. Throws for a negative length.
std::int64_t checked_count(const TensorExtent& extent) {
  if (std::ranges::any_of(extent, [](std::int64_t length) { return length < 0; }))
    throw InvalidArgument("the lengths of what is to be transposed must be 0 or more");
  if (std::ranges::count(extent, 0) > 0) return 0;
  std::int64_t count = 1;
  for (const std::int64_t length : extent) {
    if (length > kMaxVariantElements / count) return kMaxVariantElements + 1;
    count *= length;
  }
  return count;
}

void check_tile(const TileExtent& tile, std::int64_t element_bytes) {
  const bool is_valid =
      std::ranges::all_of(tile, [](int length) { return length >= kTileSide && length <= 1024; });
  const std::int64_t bytes = kTileSide * tile[1] * tile[2] * element_bytes;
  if (!is_valid || bytes > kMaxTileBytes) {
    throw InvalidArgument(
        fmt::format("a tile of {} x {} x {} elements of {} bytes does not suit the benchmark: give 8 x 8 x 8 "
                    "or a little more",
                    tile[0], tile[1], tile[2], element_bytes));
  }
}

/// The 2-D slices of a tensor along the last input axis and the last output axis; each is transposed.
struct Slices {
  TransposeShape shape;
  std::int64_t in_pitch = 0, in_item = 0, out_pitch = 0, out_item = 0;  // elements
};

Slices slices_of(const TensorExtent& extent, const Permutation& permutation, std::int64_t element_bytes) {
  const auto strides = [](const TensorExtent& e) { return TensorExtent{e[1] * e[2], e[2], 1}; };
  const TensorExtent in = strides(extent), out = strides(permuted(extent, permutation));
  const Permutation inverse = permutation.inverse();
  const auto rows = static_cast<std::size_t>(permutation.axes[2]);
  const std::size_t items = 1 - rows;  // the remaining one of axes 0 and 1
  const auto out_stride_along = [&](std::size_t axis) {
    return out[static_cast<std::size_t>(inverse.axes[axis])];
  };
  return {{extent[items], extent[rows], extent[2], element_bytes},
          in[rows],
          in[items],
          out_stride_along(2),
          out_stride_along(items)};
}

}  // namespace

std::string_view name_of(TransposeVariant variant) noexcept {
  constexpr std::string_view kNames[] = {"one thread",
                                         "a thread a row",
                                         "a thread an element",
                                         "copy",
                                         "copy, shared",
                                         "tiled 32 x 32",
                                         "tiled 32 x 32, padded",
                                         "tiled 16 x 16",
                                         "tiled 16 x 16, padded",
                                         "coalesced",
                                         "coalesced, padded",
                                         "tiled 8 x 8, padded"};
  return kNames[static_cast<std::size_t>(variant)];
}

std::string_view name_of(PermuteVariant variant) noexcept {
  constexpr std::string_view kNames[] = {
      "copy",          "copy, shared",     "simple",        "simple, template", "shared", "shared, template",
      "conflict-free", "2-D tile 32 x 32", "2-D tile 8 x 8"};
  return kNames[static_cast<std::size_t>(variant)];
}

void transpose_by_variant(TransposeVariant variant, const TransposeShape& shape, ConstMatrices in,
                          Matrices out, DeviceStream stream) {
  const std::int64_t elements = checked_count({shape.items, shape.rows, shape.cols});
  check_elements(shape.element_bytes, elements);
  check_aligned(shape.element_bytes, in);
  check_aligned(shape.element_bytes, out);
  if (elements > 0) bench_backend().transpose(variant, shape, in, out, stream);
}

TileExtent permute_tile(PermuteVariant variant, const Permutation& permutation, std::int64_t element_bytes) {
  const TileExtent tile{kTileSide, kTileSide, kTileSide};
  if (variant != PermuteVariant::conflict_free) return tile;
  const TileAccess access{tile, permutation, static_cast<int>(element_bytes)};
  const std::optional<TileExtent> best = smallest_padding(access, Conflicts::read_and_write);
  return best ? *best : smallest_padding(access, Conflicts::read).value_or(tile);
}

void permute_by_variant(PermuteVariant variant, const TileExtent& tile, const TensorExtent& extent,
                        const Permutation& permutation, std::int64_t element_bytes, const std::byte* in,
                        std::byte* out, DeviceStream stream) {
  const std::int64_t elements = checked_count(extent);
  check_elements(element_bytes, elements);
  check_aligned(element_bytes, {in, 0, 0});
  check_aligned(element_bytes, {out, 0, 0});
  check_tile(tile, element_bytes);
  if (!can_permute(variant, permutation)) {
    throw InvalidArgument(
        fmt::format("the variant '{}' cannot permute by {}: give a permutation that moves the last axis",
                    name_of(variant), to_string(permutation)));
  }
  if (elements == 0) return;
  if (variant != PermuteVariant::tile_2d_32 && variant != PermuteVariant::tile_2d_8)
    return bench_backend().permute(variant, extent, permutation, element_bytes, tile, in, out, stream);
  const Slices slices = slices_of(extent, permutation, element_bytes);
  const auto bytes = [&](std::int64_t distance) { return distance * element_bytes; };
  transpose_by_variant(variant == PermuteVariant::tile_2d_32 ? TransposeVariant::coalesced_padded
                                                             : TransposeVariant::tiled_8_padded,
                       slices.shape, {in, bytes(slices.in_pitch), bytes(slices.in_item)},
                       {out, bytes(slices.out_pitch), bytes(slices.out_item)}, stream);
}

}  // namespace sepconv
