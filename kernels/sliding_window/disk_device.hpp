// How a device takes disks: the chords as kernels are given them, and what of a disk goes into the shared
// memory of a block. Private to this folder.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/memory.hpp"
#include "kernels/sliding_window/disk.hpp"

namespace sepconv {

struct DeviceDiskTuning {
  static constexpr int kTileCols = 64, kTileRows = 32;  ///< words of results that a block makes
  static constexpr int kThreadRows = 8;                 ///< of them, down a column, that a thread makes
  static constexpr int kTileInputRows = 576;            ///< the most that it takes
  /// For a block's tile, so that any GPU has them: beyond, planes in the device's memory cost hardly more.
  static constexpr std::int64_t kTileBytes = 64 * 1024 - kTileInputRows * sizeof(std::int64_t);
  /// More columns than this next to a tile are not worth taking all channels together.
  static constexpr std::int64_t kMaxBeside = 128;
  /// Words of results that are made of planes at once, unless a radius is larger: the planes stay in a
  /// device's cache.
  static constexpr std::int64_t kPartRows = 1024, kPartCols = 2048;
};

/// Chords by how far down they lie, up as down, of those from `from` on. A kernel's argument.
struct DeviceChords {
  static constexpr int kMax = 256;    ///< of one launch
  static constexpr int kLevels = 12;  ///< windows of up to 2^12 pixels: kMaxDiskRadius
  int from = 0;
  std::uint16_t half[kMax] = {};
};

/// What a device makes of a disk. A word is what one instruction compares: one element or, of integers of up
/// to 16 bits, two.
struct DeviceDisk {
  explicit DeviceDisk(const Window& disk) : window(disk), levels(WindowSteps(2 * disk.radius_x + 1).levels) {
    reach.fill(-1);
    for (std::int64_t down = 0; down <= disk.radius_y; ++down)
      for (int level = 0; level <= chord_of(disk, down).level; ++level)
        reach[static_cast<std::size_t>(level)] = static_cast<int>(down);
  }

  DeviceChords chords(std::int64_t from) const {
    DeviceChords made{.from = static_cast<int>(from)};
    const std::int64_t count = std::min<std::int64_t>(DeviceChords::kMax, window.radius_y + 1 - from);
    for (std::int64_t i = 0; i < count; ++i)
      made.half[i] = static_cast<std::uint16_t>(chord_of(window, from + i).half);
    return made;
  }

  std::int64_t tile_bytes(std::int64_t stride, std::int64_t word_bytes) const noexcept {
    return (DeviceDiskTuning::kTileRows + 2 * window.radius_y) *
           (DeviceDiskTuning::kTileCols + 2 * window.radius_x * stride) * word_bytes;
  }
  /// Whether a block has room for all that its results are made of; else planes hold it.
  bool fits_tile(std::int64_t word_bytes) const noexcept {
    return window.radius_y < DeviceChords::kMax && tile_bytes(1, word_bytes) <= DeviceDiskTuning::kTileBytes;
  }
  /// Whether a block then takes all channels, side by side as they are; else one.
  bool takes_channels(std::int64_t channels, std::int64_t word_bytes) const noexcept {
    return 2 * window.radius_x * channels <= DeviceDiskTuning::kMaxBeside &&
           tile_bytes(channels, word_bytes) <= DeviceDiskTuning::kTileBytes;
  }

  /// For results up to this extent, as much as is made of planes at once, of one channel.
  Extent part(Extent out) const noexcept {
    return {std::min(out.rows, std::max(DeviceDiskTuning::kPartRows, window.radius_y)),
            std::min(out.cols, std::max(DeviceDiskTuning::kPartCols, window.radius_x))};
  }
  /// Rows and pitch, in words, of planes of a part's results of `rows` words down...
  static Extent made(std::int64_t rows, std::int64_t cols) noexcept {
    return {round_up(rows, DeviceDiskTuning::kThreadRows), round_up(cols, 32)};
  }
  /// ... and of planes with what lies around it.
  Extent around(std::int64_t rows, std::int64_t cols) const noexcept {
    return {made(rows, cols).rows + 2 * window.radius_y, round_up(cols + 2 * window.radius_x, 32)};
  }

  Window window;
  int levels;
  /// How far up and down chords reach that are made of windows of 2^level pixels or more; -1: there is none.
  std::array<int, DeviceChords::kLevels + 1> reach{};
};

/// window_device_bytes of a disk.
inline std::int64_t disk_device_bytes(const Window& window, Extent out, Arithmetic arithmetic) {
  const DeviceDisk disk(window);
  const std::int64_t word_bytes = size_of(pixel_type_of(arithmetic));
  if (out.empty() || disk.fits_tile(word_bytes)) return 0;
  const Extent part = disk.part(out);
  const auto bytes = [&](Extent plane) { return Arena::bytes_for(plane.area() * word_bytes); };
  return (disk.levels > 0 ? 2 : 1) * bytes(disk.around(part.rows, part.cols)) +
         bytes(DeviceDisk::made(part.rows, part.cols));
}

}  // namespace sepconv
