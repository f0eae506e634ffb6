// sepconv bench transpose --conflicts: the bank conflicts of a tile in shared memory.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/console.hpp"
#include "app/json_text.hpp"
#include "core/error.hpp"
#include "transpose.hpp"

namespace sepconv::app {

namespace {

using nlohmann::ordered_json;
constexpr std::int64_t kMaxTileBytes = 228 << 10;  // shared memory of a multiprocessor of the largest GPUs
using Tile = std::optional<TileExtent>;

/// The bank conflicts of one permutation of the tile.
struct Conflict {
  TileAccess access;
  ConflictCount count;
  Tile for_reads, for_both;  ///< smallest padded tiles without read conflicts, without any

  ConflictCount conflicts_in(const Tile& tile) const {
    return tile ? count_conflicts(access, *tile) : ConflictCount{};
  }
};

Conflict examine(const TransposeRequest& request, const Permutation& permutation) {
  const TileAccess access{request.tile, permutation, request.element_bytes};
  return {access, count_conflicts(access, access.tile), smallest_padding(access, Conflicts::read),
          smallest_padding(access, Conflicts::read_and_write)};
}

std::string tile_text(const Tile& tile) {
  return tile ? fmt::format("{},{},{}", (*tile)[0], (*tile)[1], (*tile)[2]) : "-";
}

std::int64_t bytes_of(const TileExtent& tile, int element_bytes) {
  return std::int64_t{tile[0]} * tile[1] * tile[2] * element_bytes;
}

void print_row(const Conflict& conflict) {
  print("{:<11} {:>7.2f} {:>7.2f}   {:<12} {:>9.2f}   {:<12} {:>9}\n", to_string(conflict.access.permutation),
        conflict.count.write, conflict.count.read, tile_text(conflict.for_reads),
        conflict.conflicts_in(conflict.for_reads).write, tile_text(conflict.for_both),
        conflict.for_both ? fmt::format("{}", bytes_of(*conflict.for_both, conflict.access.element_bytes))
                          : "-");
}

ordered_json tile_json(const Tile& tile) { return tile ? ordered_json(*tile) : ordered_json(); }

ordered_json row_json(const Conflict& conflict) {
  return {
      {"permutation", to_string(conflict.access.permutation)},
      {"write_conflicts", conflict.count.write},
      {"read_conflicts", conflict.count.read},
      {"tile_without_read_conflicts", tile_json(conflict.for_reads)},
      {"its_write_conflicts",
       conflict.for_reads ? ordered_json(conflict.conflicts_in(conflict.for_reads).write) : ordered_json()},
      {"tile_without_conflicts", tile_json(conflict.for_both)}};
}

}  // namespace

void print_conflicts(const TransposeRequest& request) {
  if (bytes_of(request.tile, request.element_bytes) > kMaxTileBytes) {
    throw InvalidArgument(fmt::format(
        "--tile {} takes {} bytes, and no block has more than {} of shared memory; give a smaller tile",
        tile_text(request.tile), bytes_of(request.tile, request.element_bytes), kMaxTileBytes));
  }
  ordered_json rows = ordered_json::array();
  if (!request.json) {
    print("tile of {} elements of {} bytes in shared memory, a thread per element, 32 of them a warp\n",
          tile_text(request.tile), request.element_bytes);
    print("conflicts: wavefronts beyond the least, on average over the accesses of a warp\n\n");
    print("{:<11} {:>7} {:>7}   {:<12} {:>9}   {:<12} {:>9}\n", "permutation", "write", "read",
          "without read", "its write", "without any", "bytes");
  }
  for (const Permutation& permutation : request.chosen_permutations()) {
    const Conflict conflict = examine(request, permutation);
    request.json ? rows.push_back(row_json(conflict)) : print_row(conflict);
  }
  if (!request.json) return;
  const ordered_json all = {
      {"tile", request.tile}, {"element_bytes", request.element_bytes}, {"permutations", std::move(rows)}};
  print_lines(json_lines(all));
}

}  // namespace sepconv::app
