// The "natural" test pattern: fractal value noise crossed by contour edges. Uses integer arithmetic, so that
// all machines and all divisions into rectangles give the same pixels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sepconv {

/// One octave of value noise: random values on a lattice with a period of 2^log2_period pixels, interpolated
/// linearly.
struct Octave {
  int log2_period;
  std::int32_t weight;  ///< amplitude / 2^15, in units of kFullScale
};

/// Computed values are in [0, kFullScale).
inline constexpr int kFullScaleBits = 22;
inline constexpr std::int32_t kFullScale = 1 << kFullScaleBits;

/// Sum of octaves along segments of rows. Caches the lattice rows above and below the last row, so that
/// ascending rows cost little more than one interpolation per pixel.
class OctaveSum {
 public:
  /// `octaves`: coarsest first, distinct periods of at least 2. The segment is columns [first_col, first_col
  /// + cols).
  OctaveSum(std::span<const Octave> octaves, std::uint64_t key, std::int64_t first_col, std::int64_t cols);

  /// Values of the segment in `row`, valid until the next call.
  std::span<const std::int32_t> row(std::int64_t row);

  static std::int64_t scratch_bytes(std::size_t octaves, std::int64_t cols) noexcept;

 private:
  struct LatticeRows {
    std::int64_t upper_node = -1;
    std::vector<std::int32_t> upper, lower;
  };

  void load_lattice_rows(std::size_t octave, std::int64_t node);
  void fill_lattice_row(std::size_t octave, std::int64_t node, std::vector<std::int32_t>& values) const;
  std::int64_t first_node(int log2_period) const noexcept { return first_col_ >> log2_period; }
  std::int64_t node_count(int log2_period) const noexcept;

  std::span<const Octave> octaves_;
  std::uint64_t key_;
  std::int64_t first_col_, cols_;
  std::vector<LatticeRows> lattice_;
  std::vector<std::int32_t> coarse_, fine_;
};

/// One channel of the pattern along a segment of rows.
class NaturalNoise {
 public:
  NaturalNoise(std::uint64_t seed, std::int64_t channel, std::int64_t first_col, std::int64_t cols);

  /// Values in [0, kFullScale), valid until the next call. Fastest for ascending rows.
  std::span<const std::int32_t> row(std::int64_t row);

  /// Bytes of an object for a segment of this length.
  static std::int64_t scratch_bytes(std::int64_t cols) noexcept;

 private:
  OctaveSum brightness_, contours_;
  std::vector<std::int32_t> values_;
};

/// SplitMix64's finaliser (Steele, Lea and Flood 2014): every bit of the result depends on every bit of the
/// key.
constexpr std::uint64_t mix64(std::uint64_t key) noexcept {
  key += 0x9E3779B97F4A7C15u;
  key = (key ^ (key >> 30)) * 0xBF58476D1CE4E5B9u;
  key = (key ^ (key >> 27)) * 0x94D049BB133111EBu;
  return key ^ (key >> 31);
}

}  // namespace sepconv
