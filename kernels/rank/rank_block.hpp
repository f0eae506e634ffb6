// How rank_host divides a region into blocks, and a block's input; private to this folder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/memory.hpp"
#include "kernels/rank/rank.hpp"
#include "kernels/simd/rows.hpp"

namespace sepconv {

/// Tuning of rank_host. Measured on a Zen 5, one thread on 2048 x 512 pixels of waves and noise.
struct RankTuning {
  static constexpr std::int64_t kBlockRows = 128;       ///< for one plane; divided by the number of planes...
  static constexpr std::int64_t kMinBlockRows = 16;     ///< ... but at least this many
  static constexpr std::int64_t kBlockElements = 1024;  ///< elements of a block's row
  static constexpr std::int64_t kSmallSide = 5;         ///< for windows of at most 5 x 5 pixels...
  static constexpr std::int64_t kWide = 4;              ///< ... blocks are wider and lower by this factor
  static constexpr std::int64_t kMovingElements = 256;  ///< elements of a row for a moving window
  static constexpr std::int64_t kSlackElements = 64;    ///< elements accessible beyond a row's end
  /// Maximum operations (vectors of minima and maxima per vector of pixels) for which a network is faster
  /// than column histograms (kMaxBeforeCounts) or a moving window (kMaxBeforeMoving + kMaxForEachRow * rows).
  static constexpr std::int64_t kMaxBeforeCounts = 14;
  static constexpr std::int64_t kMaxBeforeMoving = 70;
  static constexpr std::int64_t kMaxForEachRow = 2;
  static constexpr std::int64_t kNetworkBytes = 40 << 10;  ///< slots that stay in the L1 cache...
  static constexpr std::int64_t kMinBytes = 1024;          ///< ... unless pieces would be shorter than this
};

/// Sizes of a block and of its input, which grow with the output's extent. The input's rows are interleaved
/// by plane: one row of each plane, then the next of each.
struct RankLayout {
  std::int64_t rows, cols;                 ///< of a block of output
  std::int64_t padded_rows, padded_pitch;  ///< of its input, pitch in elements
  std::int64_t moving_cols;                ///< of a part of it for a moving window

  RankLayout(const RankWindow& window, Extent out, std::int64_t channels)
      : rows(std::min(out.rows, std::max(RankTuning::kBlockRows / window.planes() / wide(window),
                                         RankTuning::kMinBlockRows))),
        cols(std::min(out.cols,
                      std::max<std::int64_t>(16, RankTuning::kBlockElements * wide(window) / channels))),
        padded_rows(input_rows(window, rows)),
        padded_pitch((cols + window.cols() - 1) * channels + RankTuning::kSlackElements),
        moving_cols(std::min(cols, RankTuning::kMovingElements)) {}

  static std::int64_t wide(const RankWindow& window) noexcept {
    const bool is_small = std::max(window.rows(), window.cols()) <= RankTuning::kSmallSide;
    return is_small && window.planes() == 1 ? RankTuning::kWide : 1;
  }
  static std::int64_t input_rows(const RankWindow& window, std::int64_t rows) noexcept {
    return (rows - 1) * window.planes() + window.lines();
  }
  std::int64_t moving_area(const RankWindow& window) const noexcept {
    return padded_rows * (moving_cols + window.cols() - 1);
  }
};

/// The plane of the windows' centre pixels; it always exists.
inline const ConstRegion& centre_plane(const RankWindow& window, std::span<const ConstRegion> planes) {
  return planes[static_cast<std::size_t>(window.front)];
}

/// The type in which values are compared: that of the input if it represents the values and the border's
/// constant exactly, else the arithmetic type.
inline PixelType rank_elements(PixelType input, const Border& border, Arithmetic arithmetic) {
  if (size_of(input) > size_of(pixel_type_of(arithmetic))) return pixel_type_of(arithmetic);
  if (border.mode != BorderMode::constant) return input;
  const bool is_exact = visit_pixel_type(input, [&]<class T>(std::type_identity<T>) {
    return static_cast<double>(to_pixel<T>(border.value)) == border.value;
  });
  return is_exact ? input : pixel_type_of(arithmetic);
}

/// The input of a block, in elements E: data points to the first element under the first window.
template <class E>
struct RankInput {
  const E* data = nullptr;
  std::int64_t pitch = 0;  ///< elements from row to row
  const E* row(std::int64_t i) const noexcept { return data + i * pitch; }
};

/// Reads regions of planes with their border.
template <class E>
class RankReader {
 public:
  RankReader(const RankFilter& filter, const Border& border, std::span<const ConstRegion> planes)
      : window_(filter.window), border_(border), planes_(planes) {
    const PixelType type = centre_plane(filter.window, planes).pixels.type;
    if constexpr (std::is_floating_point_v<E>)
      if (type != pixel_type_of<E>()) load_ = load_row_for<E>(type);
  }

  /// End of a block of at most `cols` columns that begins at `col`. Blocks at the image's sides are cut off,
  /// so that the others can be read in place.
  std::int64_t block_end(std::int64_t col, std::int64_t cols) const {
    if (!reads_in_place()) return col + cols;
    const Rect& in = planes_.front().rect;
    const std::int64_t first = in.col + window_.left;
    const std::int64_t end = in.col_end() - window_.right - RankTuning::kSlackElements;
    if (col < first) return std::min(col + cols, std::max(first, col + RankTuning::kSlackElements));
    return col < end ? std::min(col + cols, end) : col + cols;
  }

  /// The block's pixels in the image, if they need no border and no conversion and include the slack; else a
  /// copy in `scratch`.
  RankInput<E> block(const Rect& out, E* scratch, std::int64_t pitch) const {
    const Rect needed{out.row - window_.up, out.col - window_.left, out.rows + window_.rows() - 1,
                      out.cols + window_.cols() - 1};
    Rect with_slack = needed;
    with_slack.cols += RankTuning::kSlackElements;
    const ConstRegion& in = planes_.front();
    if (reads_in_place() && in.rect.contains(with_slack))
      return {reinterpret_cast<const E*>(in.crop(needed).pixels.data),
              in.pixels.pitch_bytes / static_cast<std::int64_t>(sizeof(E))};
    E* to = scratch;
    for (std::int64_t row = needed.row; row < needed.row_end(); ++row)
      for (const ConstRegion& plane : planes_) {
        copy_row(plane, row, needed.col, needed.col_end(), to);
        to += pitch;
      }
    return {scratch, pitch};
  }

 private:
  void copy_row(const ConstRegion& in, std::int64_t row, std::int64_t first, std::int64_t end, E* to) const {
    const std::int64_t channels = centre_plane(window_, planes_).pixels.channels;
    const bool has_pixels = in.pixels.data != nullptr;
    const std::int64_t from = has_pixels ? border_index(row, in.image.rows, border_.mode) : -1;
    const E constant = static_cast<E>(border_.value);
    std::fill_n(to + (end - first) * channels, RankTuning::kSlackElements, E(0));
    if (from < 0) {
      std::fill_n(to, (end - first) * channels, constant);
      return;
    }
    const ConstRegion line = in.crop({from, in.rect.col, 1, in.rect.cols});
    const std::int64_t inside = std::max<std::int64_t>(first, 0), inside_end = std::min(end, in.image.cols);
    const auto copy_pixel = [&](std::int64_t col) {
      E* const at = to + (col - first) * channels;
      const std::int64_t mapped = border_index(col, in.image.cols, border_.mode);
      if (mapped < 0)
        std::fill_n(at, channels, constant);
      else
        copy(line, mapped, 1, at);
    };
    for (std::int64_t col = first; col < std::min(inside, end); ++col) copy_pixel(col);
    if (inside < inside_end) copy(line, inside, inside_end - inside, to + (inside - first) * channels);
    for (std::int64_t col = std::max(inside_end, first); col < end; ++col) copy_pixel(col);
  }

  void copy(const ConstRegion& line, std::int64_t col, std::int64_t cols, E* to) const {
    const std::byte* const from = line.pixels.data + (col - line.rect.col) * line.pixels.pixel_bytes();
    const std::int64_t elements = cols * line.pixels.channels;
    if constexpr (std::is_floating_point_v<E>)
      if (load_ != nullptr) return load_(from, elements, to);
    std::memcpy(to, from, static_cast<std::size_t>(elements) * sizeof(E));
  }

  bool reads_in_place() const noexcept {
    return load_ == nullptr && planes_.size() == 1 &&
           planes_.front().pixels.pitch_bytes % static_cast<std::int64_t>(sizeof(E)) == 0;
  }

  RankWindow window_;
  Border border_;
  std::span<const ConstRegion> planes_;
  void (*load_)(const std::byte*, std::int64_t, E*) = nullptr;
};

}  // namespace sepconv
