// Disks on a device: chords as kernel arguments, and sizes of tiles and planes. Private to this folder.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/memory.hpp"
#include "kernels/sliding_window/disk.hpp"

namespace sepconv {

struct DeviceDiskTuning {
  static constexpr int kTileCols = 64, kTileRows = 32;  ///< result words of a block
  static constexpr int kThreadRows = 8;                 ///< result words of a thread, down a column
  static constexpr int kTileInputRows = 576;            ///< maximum input rows of a block
  /// Shared memory of a block's tile, available on any GPU. For larger tiles, planes in device memory are
  /// hardly slower.
  static constexpr std::int64_t kTileBytes = 64 * 1024 - kTileInputRows * sizeof(std::int64_t);
  /// Maximum halo columns of a tile with all channels together.
  static constexpr std::int64_t kMaxTileHalo = 128;
  /// Result words computed together from planes, unless a radius is larger: the planes stay in the device's
  /// cache.
  static constexpr std::int64_t kPartRows = 1024, kPartCols = 2048;
};

/// Half widths of the chords from row offset `from` on; the disk is symmetric. A kernel argument.
struct DeviceChords {
  static constexpr int kMax = 256;    ///< chords of one launch
  static constexpr int kLevels = 12;  ///< windows of up to 2^12 pixels, enough for kMaxDiskRadius
  int from = 0;
  std::uint16_t half[kMax] = {};
};

/// A disk on a device. A word is the operand of one comparison: one element or, for integers of up to 16
/// bits, two.
struct DeviceDisk {
  explicit DeviceDisk(const Window& disk) : window(disk), levels(WindowSteps(2 * disk.radius_x + 1).levels) {
    reach.fill(-1);
    for (std::int64_t down = 0; down <= disk.radius_y; ++down)
      for (int level = 0; level <= chord_of(disk, down).level; ++level)
        reach[static_cast<std::size_t>(level)] = static_cast<int>(down);
  }

  DeviceChords chords(std::int64_t from) const {
    DeviceChords results{.from = static_cast<int>(from)};
    const std::int64_t count = std::min<std::int64_t>(DeviceChords::kMax, window.radius_y + 1 - from);
    for (std::int64_t i = 0; i < count; ++i)
      results.half[i] = static_cast<std::uint16_t>(chord_of(window, from + i).half);
    return results;
  }

  std::int64_t tile_bytes(std::int64_t stride, std::int64_t word_bytes) const noexcept {
    return (DeviceDiskTuning::kTileRows + 2 * window.radius_y) *
           (DeviceDiskTuning::kTileCols + 2 * window.radius_x * stride) * word_bytes;
  }
  /// Whether the input of a block fits its shared memory; else planes are used.
  bool fits_tile(std::int64_t word_bytes) const noexcept {
    return window.radius_y < DeviceChords::kMax && tile_bytes(1, word_bytes) <= DeviceDiskTuning::kTileBytes;
  }
  /// Whether a block processes all channels, interleaved; else one channel.
  bool fits_all_channels(std::int64_t channels, std::int64_t word_bytes) const noexcept {
    return 2 * window.radius_x * channels <= DeviceDiskTuning::kMaxTileHalo &&
           tile_bytes(channels, word_bytes) <= DeviceDiskTuning::kTileBytes;
  }

  /// Extent of the results of one channel that are computed together from planes.
  Extent part(Extent out) const noexcept {
    return {std::min(out.rows, std::max(DeviceDiskTuning::kPartRows, window.radius_y)),
            std::min(out.cols, std::max(DeviceDiskTuning::kPartCols, window.radius_x))};
  }
  /// Rows and pitch, in words, of the plane of a part's results...
  static Extent results(std::int64_t rows, std::int64_t cols) noexcept {
    return {round_up(rows, DeviceDiskTuning::kThreadRows), round_up(cols, 32)};
  }
  /// ... and of its input with the halo.
  Extent input_plane(std::int64_t rows, std::int64_t cols) const noexcept {
    return {results(rows, cols).rows + 2 * window.radius_y, round_up(cols + 2 * window.radius_x, 32)};
  }

  Window window;
  int levels;
  /// Maximum row offset of chords that use windows of 2^level pixels or more; -1 if none does.
  std::array<int, DeviceChords::kLevels + 1> reach{};
};

/// window_device_bytes for a disk.
inline std::int64_t disk_device_bytes(const Window& window, Extent out, Arithmetic arithmetic) {
  const DeviceDisk disk(window);
  const std::int64_t word_bytes = size_of(pixel_type_of(arithmetic));
  if (out.empty() || disk.fits_tile(word_bytes)) return 0;
  const Extent part = disk.part(out);
  const auto bytes = [&](Extent plane) { return Arena::bytes_for(plane.area() * word_bytes); };
  return (disk.levels > 0 ? 2 : 1) * bytes(disk.input_plane(part.rows, part.cols)) +
         bytes(DeviceDisk::results(part.rows, part.cols));
}

}  // namespace sepconv
