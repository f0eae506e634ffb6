#include "io/value_noise.hpp"

#include <algorithm>

namespace sepconv {
namespace {

// Amplitudes decrease by about 0.7 per octave, between the spectrum of clouds and that of a photograph. The
// last octave, +-1.6 % of the range at a period of 2 pixels, is grain that limits compression.
constexpr Octave kBrightness[] = {{8, 28}, {7, 20}, {6, 14}, {5, 9}, {4, 6}, {3, 4}, {2, 3}, {1, 2}};
constexpr Octave kContours[] = {{8, 64}, {7, 32}, {6, 16}, {5, 8}};

// The contour field is quantised to levels of 1/8 of the range. Each level changes the brightness by a fifth
// of the range.
constexpr int kContourShift = kFullScaleBits - 3;
constexpr std::int32_t kStep = kFullScale / 5;

/// murmur3's 32-bit finaliser. Compilers vectorise 32-bit arithmetic on every machine.
inline std::uint32_t mix32(std::uint32_t hash) noexcept {
  hash ^= hash >> 16;
  hash *= 0x85EBCA6Bu;
  hash ^= hash >> 13;
  hash *= 0xC2B2AE35u;
  return hash ^ (hash >> 16);
}

/// Doubles the resolution: out[2i] = in[i], and out[2i + 1] is the mean of in[i] and in[i + 1]. `in` has
/// count + 1 values.
void upsample(const std::int32_t* in, std::int32_t* out, std::int64_t count) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t a = in[i];
    const std::int32_t b = in[i + 1];
    out[2 * i] = a;
    out[2 * i + 1] = (a + b) >> 1;
  }
}

/// Adds the linear interpolation of `upper` and `lower` at `fraction` / 2^bits. Amplitudes up to 2^21 and at
/// most 8 bits keep the product inside 32 bits.
void add_interpolated(const std::int32_t* upper, const std::int32_t* lower, std::int32_t fraction, int bits,
                      std::int32_t* values, std::int64_t count) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    values[i] += upper[i] + (((lower[i] - upper[i]) * fraction) >> bits);
  }
}

}  // namespace

OctaveSum::OctaveSum(std::span<const Octave> octaves, std::uint64_t key, std::int64_t first_col,
                     std::int64_t cols)
    : octaves_(octaves), key_(key), first_col_(first_col), cols_(cols), lattice_(octaves.size()) {
  for (std::size_t i = 0; i < octaves.size(); ++i) {
    lattice_[i].upper.resize(static_cast<std::size_t>(node_count(octaves[i].log2_period)));
    lattice_[i].lower.resize(lattice_[i].upper.size());
  }
  // Upsampling starts at an even node, so that a level has up to two values more than nodes.
  const auto finest = static_cast<std::size_t>(node_count(0) + 2);
  coarse_.resize(finest);
  fine_.resize(finest);
}

/// Number of lattice nodes around the segment's pixels, both ends included.
std::int64_t OctaveSum::node_count(int log2_period) const noexcept {
  return ((first_col_ + cols_ - 1) >> log2_period) - first_node(log2_period) + 2;
}

std::int64_t OctaveSum::scratch_bytes(std::size_t octaves, std::int64_t cols) noexcept {
  // Lattice rows: two of at most cols / 2 + 3 nodes, half as many nodes in each coarser octave. Plus two
  // levels of interpolated values.
  const auto ends = static_cast<std::int64_t>(octaves) * 2 * 3;
  return static_cast<std::int64_t>(sizeof(std::int32_t)) * (2 * cols + ends + 2 * (cols + 4));
}

void OctaveSum::fill_lattice_row(std::size_t octave, std::int64_t node,
                                 std::vector<std::int32_t>& values) const {
  const std::uint64_t row_key = mix64(mix64(key_ + octave) ^ static_cast<std::uint64_t>(node));
  const auto low_bits = static_cast<std::uint32_t>(row_key);
  const auto high_bits = static_cast<std::uint32_t>(row_key >> 32);
  const auto first = static_cast<std::uint32_t>(first_node(octaves_[octave].log2_period));
  const std::int32_t weight = octaves_[octave].weight;
  const auto count = static_cast<std::uint32_t>(values.size());
  std::int32_t* const out = values.data();
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t hash = mix32(mix32((first + i) ^ low_bits) + high_bits);
    out[i] = (static_cast<std::int32_t>(hash >> 16) - 32768) * weight;
  }
}

void OctaveSum::load_lattice_rows(std::size_t octave, std::int64_t node) {
  LatticeRows& rows = lattice_[octave];
  if (rows.upper_node == node) return;
  if (rows.upper_node + 1 == node && rows.upper_node >= 0) {
    rows.upper.swap(rows.lower);
  } else {
    fill_lattice_row(octave, node, rows.upper);
  }
  fill_lattice_row(octave, node + 1, rows.lower);
  rows.upper_node = node;
}

std::span<const std::int32_t> OctaveSum::row(std::int64_t row) {
  // From the coarsest lattice to the pixels: adds an octave at its lattice, then doubles the resolution.
  // Linear interpolation of a piecewise linear function on a finer lattice is exact, so that this is the sum
  // of the octaves at the cost of the finest.
  const int coarsest = octaves_.front().log2_period;
  std::vector<std::int32_t>* current = &coarse_;
  std::vector<std::int32_t>* next = &fine_;
  std::int32_t* values = current->data();
  std::fill_n(values, node_count(coarsest), 0);
  std::size_t octave = 0;
  for (int level = coarsest; level > 0; --level) {
    const std::int64_t count = node_count(level);
    if (octave < octaves_.size() && octaves_[octave].log2_period == level) {
      load_lattice_rows(octave, row >> level);
      const auto fraction = static_cast<std::int32_t>(row & ((std::int64_t{1} << level) - 1));
      add_interpolated(lattice_[octave].upper.data(), lattice_[octave].lower.data(), fraction, level, values,
                       count);
      ++octave;
    }
    upsample(values, next->data(), count - 1);
    (*next)[static_cast<std::size_t>(2 * (count - 1))] = values[count - 1];
    // The finer lattice begins at twice the coarse lattice's first node or one later.
    values = next->data() + (first_node(level - 1) - 2 * first_node(level));
    std::swap(current, next);
  }
  return {values, static_cast<std::size_t>(cols_)};
}

NaturalNoise::NaturalNoise(std::uint64_t seed, std::int64_t channel, std::int64_t first_col,
                           std::int64_t cols)
    : brightness_(kBrightness, mix64(mix64(seed) + 2 * static_cast<std::uint64_t>(channel)), first_col, cols),
      contours_(kContours, mix64(mix64(seed) + 2 * static_cast<std::uint64_t>(channel) + 1), first_col, cols),
      values_(static_cast<std::size_t>(cols)) {}

std::span<const std::int32_t> NaturalNoise::row(std::int64_t row) {
  const std::int32_t* const brightness = brightness_.row(row).data();
  const std::int32_t* const contours = contours_.row(row).data();
  std::int32_t* const values = values_.data();
  const auto count = static_cast<std::int64_t>(values_.size());
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t level = (contours[i] >> kContourShift) & 3;
    const std::int32_t value = kFullScale / 2 - 3 * kStep / 2 + level * kStep + brightness[i];
    values[i] = std::clamp(value, 0, kFullScale - 1);
  }
  return values_;
}

std::int64_t NaturalNoise::scratch_bytes(std::int64_t cols) noexcept {
  return OctaveSum::scratch_bytes(std::size(kBrightness), cols) +
         OctaveSum::scratch_bytes(std::size(kContours), cols) +
         static_cast<std::int64_t>(sizeof(std::int32_t)) * cols;
}

}  // namespace sepconv
