#include "pipeline/report/area_means.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <type_traits>

namespace sepconv {
namespace {

/// Rows that are added up before they are added to the cells: u16 holds the sum of this many u8, and int32 that
/// of this many values of 16 bits.
constexpr std::int64_t kMaxRows = 257;
/// The smallest type for these sums. Small types make wide vectors.
template <class T>
using RowSum =
    std::conditional_t<std::is_same_v<T, std::uint8_t>, std::uint16_t,
                       std::conditional_t<std::is_integral_v<T> && sizeof(T) <= 2, std::int32_t, double>>;

/// The edges of `count` cells in [begin, begin + length).
std::vector<std::int64_t> cell_edges(std::int64_t begin, std::int64_t length, std::int64_t count) {
  std::vector<std::int64_t> edges;
  for (std::int64_t i = 0; i <= count; ++i)
    edges.push_back(grid_position(begin, length, count, static_cast<double>(i)));
  return edges;
}

/// Index of the cell that contains `position`.
std::int64_t cell_of(const std::vector<std::int64_t>& edges, std::int64_t position) {
  return std::ranges::upper_bound(edges, position) - edges.begin() - 1;
}

/// Appends the parts of `rect` outside `other`.
void append_difference(const Rect& rect, const Rect& other, std::vector<Rect>& parts) {
  const Rect inside = rect.intersect(other);
  if (inside.empty()) return parts.push_back(rect);
  for (const Rect& part :
       {Rect{rect.row, rect.col, inside.row - rect.row, rect.cols},
        Rect{inside.row_end(), rect.col, rect.row_end() - inside.row_end(), rect.cols},
        Rect{inside.row, rect.col, inside.rows, inside.col - rect.col},
        Rect{inside.row, inside.col_end(), inside.rows, rect.col_end() - inside.col_end()}}) {
    if (!part.empty()) parts.push_back(part);
  }
}

/// Adds `count` values to `sums`, and 1 to `counts` for each floating value that is not NaN.
template <class T, class Sum>
void add_values(const T* __restrict values, std::size_t count, Sum* __restrict sums,
                std::uint32_t* __restrict counts) {
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (std::is_integral_v<T>) {
      sums[i] = static_cast<Sum>(sums[i] + static_cast<Sum>(values[i]));
    } else {
      const bool is_number = values[i] == values[i];
      sums[i] += is_number ? static_cast<Sum>(values[i]) : Sum{};
      counts[i] += is_number;
    }
  }
}

}  // namespace

AreaMeans::AreaMeans(const ImageSpec& image, const Rect& area, std::int64_t max_pixels,
                     const MissingSamples& missing)
    : area_(area), channels_(shown_channels(image)), type_(image.type), missing_(missing) {
  const Extent grid = sampling_grid(area.extent(), max_pixels);
  row_edges_ = cell_edges(area.row, area.rows, grid.rows);
  col_edges_ = cell_edges(area.col, area.cols, grid.cols);
  sums_.resize(static_cast<std::size_t>(grid.area() * channels_));
  counts_.resize(sums_.size());
}

std::vector<Rect> AreaMeans::unseen_parts(const Rect& rect) const {
  std::vector<Rect> parts;
  if (!rect.empty()) parts.push_back(rect);
  for (const Rect& seen : seen_) {
    std::vector<Rect> rest;
    for (const Rect& part : parts) append_difference(part, seen, rest);
    parts = std::move(rest);
  }
  return parts;
}

/// Joins neighbours, so that the list stays short.
void AreaMeans::set_seen(Rect rect) {
  const auto is_joined = [&rect](const Rect& seen) {
    return rect.include(seen).area() == rect.area() + seen.area();
  };
  for (auto found = seen_.begin(); (found = std::ranges::find_if(seen_, is_joined)) != seen_.end();) {
    rect = rect.include(*found);
    seen_.erase(found);
  }
  seen_.push_back(rect);
}

void AreaMeans::see(const Rect& rect, const ConstPixelView& pixels) {
  for (const Rect& part : unseen_parts(rect.intersect(area_))) {
    const ConstPixelView view = pixels.crop({part.row - rect.row, part.col - rect.col, part.rows, part.cols});
    visit_pixel_type(type_, [&]<class T>(std::type_identity<T>) { add<T>(part, view); });
    set_seen(part);
  }
}

template <class T>
void AreaMeans::add(const Rect& part, const ConstPixelView& pixels) {
  using Sum = RowSum<T>;
  const bool is_plain = pixels.channels == channels_ && !missing_.value && !missing_.alpha;
  const bool all_count = is_plain && std::is_integral_v<T>;
  std::vector<Sum> sums(static_cast<std::size_t>(part.cols * channels_));
  std::vector<std::uint32_t> counts(sums.size());
  for (std::int64_t row = part.row; row < part.row_end();) {
    const std::int64_t cell_row = cell_of(row_edges_, row);
    const std::int64_t end =
        std::min({row_edges_[static_cast<std::size_t>(cell_row) + 1], part.row_end(), row + kMaxRows});
    std::ranges::fill(sums, Sum{});
    std::ranges::fill(counts, all_count ? static_cast<std::uint32_t>(end - row) : 0);
    for (; row < end; ++row) {
      const T* const values = pixels.row<T>(row - part.row);
      if (is_plain)
        add_values(values, sums.size(), sums.data(), counts.data());
      else
        add_present_values(values, pixels.channels, sums, counts);
    }
    add_to_cells(cell_row, part, sums, counts);
  }
}

/// For rows with missing pixels or channels that are not shown.
template <class T, class Sum>
void AreaMeans::add_present_values(const T* row, std::int64_t row_channels, std::vector<Sum>& sums,
                                   std::vector<std::uint32_t>& counts) const {
  const double missing = missing_.value.value_or(std::numeric_limits<double>::quiet_NaN());  // equals nothing
  const auto channels = static_cast<std::size_t>(channels_);
  for (std::size_t i = 0; i < sums.size(); i += channels, row += row_channels) {
    const bool is_shown = !missing_.alpha || row[*missing_.alpha] != T{0};
    for (std::size_t channel = 0; channel < channels; ++channel) {
      const T value = row[channel];
      const bool counted = is_shown & (value == value) & (static_cast<double>(value) != missing);
      const Sum added = counted ? static_cast<Sum>(value) : Sum{};
      sums[i + channel] = static_cast<Sum>(sums[i + channel] + added);
      counts[i + channel] += counted;
    }
  }
}

template <class Sum>
void AreaMeans::add_to_cells(std::int64_t cell_row, const Rect& part, const std::vector<Sum>& sums,
                             const std::vector<std::uint32_t>& counts) {
  std::size_t i = 0;
  for (std::int64_t col = part.col, cell_col = cell_of(col_edges_, col); col < part.col_end(); ++cell_col) {
    const std::int64_t end = std::min(col_edges_[static_cast<std::size_t>(cell_col) + 1], part.col_end());
    const auto cell = static_cast<std::size_t>((cell_row * grid().cols + cell_col) * channels_);
    for (; col < end; ++col) {
      for (std::size_t channel = 0; channel < static_cast<std::size_t>(channels_); ++channel, ++i) {
        sums_[cell + channel] += static_cast<double>(sums[i]);
        counts_[cell + channel] += counts[i];
      }
    }
  }
}

std::vector<float> AreaMeans::values() const {
  std::vector<float> means;
  means.reserve(sums_.size());
  for (std::size_t i = 0; i < sums_.size(); ++i)
    means.push_back(counts_[i] > 0 ? static_cast<float>(sums_[i] / counts_[i])
                                   : std::numeric_limits<float>::quiet_NaN());
  return means;
}

}  // namespace sepconv
