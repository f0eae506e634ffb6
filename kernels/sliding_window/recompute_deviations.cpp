#include "kernels/sliding_window/recompute_deviations.hpp"

#include "kernels/simd/dispatch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sliding_window/recompute_deviations.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/sliding_window/deviation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// Recomputes runs of adjacent pixels, whose windows are added together.
class DeviationRecomputer {
 public:
  DeviationRecomputer(const SpreadWindows& windows, std::optional<double> min_deviation, const PixelView& out)
      : windows_(windows),
        min_deviation_(min_deviation),
        out_(out),
        channels_(out.channels),
        run_cols_(std::max<std::int64_t>(1, kElements / channels_)),
        load_(load_row_for<double>(windows.in.pixels.type)) {
    const std::int64_t padded = run_cols_ * channels_ + kMaxLanes;
    for (auto* values : {&count_, &sum_, &squares_, &origin_, &pixels_, &results_})
      values->resize(static_cast<std::size_t>(padded));
    line_.resize(static_cast<std::size_t>((run_cols_ + 2 * windows.radius_x) * channels_ + kMaxLanes));
    first_line_ = line_;
  }

  void run() {
    visit_pixel_type(out_.type, [&]<class T>(std::type_identity<T>) {
      if constexpr (std::is_floating_point_v<T>)
        for (std::int64_t row = 0; row < out_.extent.rows; ++row)
          for (std::int64_t col = 0; col < out_.extent.cols;)
            col += recompute_run(out_.row<T>(row), row, col);
    });
  }

 private:
  static constexpr std::int64_t kElements = 64, kMaxLanes = 64;

  /// Recomputes a run of the row from `col` on, within one row of a plane; returns its length.
  template <class T>
  std::int64_t recompute_run(T* row, std::int64_t at_row, std::int64_t col) {
    const SpreadPosition position(windows_, windows_.out.row + at_row, windows_.out.col + col);
    const std::int64_t cols = std::min({run_cols_, out_.extent.cols - col, position.width() - position.x()});
    T* const values = row + col * channels_;
    elements_ = cols * channels_;
    if (std::none_of(values, values + elements_, [](T value) { return value == T(kImprecise); })) return cols;
    if (!add_one_value(position, cols)) add_windows(position, cols);
    measure(position, cols);
    for (std::int64_t i = 0; i < elements_; ++i)
      if (values[i] == T(kImprecise)) values[i] = static_cast<T>(results_[static_cast<std::size_t>(i)]);
    return cols;
  }

  /// Loads `count` pixels of a line, from x on, to `to`.
  void load(const SpreadPosition& position, const SpreadPosition::Line& line, std::int64_t x,
            std::int64_t count, double* to) const {
    const ConstRegion& in = windows_.in;
    const auto pixel = [&](std::int64_t at) {
      return in.pixels.row_data(line.row) + (line.first_col + at - in.rect.col) * in.pixels.pixel_bytes();
    };
    if (line.row >= 0 && x >= 0 && x + count <= position.width())
      return load_(pixel(x), count * channels_, to);
    for (std::int64_t i = 0; i < count; ++i, to += channels_) {
      const std::int64_t at = line.row < 0 ? -1 : position.mapped_x(x + i);
      if (at < 0)
        std::fill_n(to, channels_, windows_.border.value);
      else
        load_(pixel(at), channels_, to);
    }
  }

  /// Fast path for flat areas, where all pixels of the windows are equal in each channel. Returns whether
  /// they are.
  bool add_one_value(const SpreadPosition& position, std::int64_t cols) {
    const std::int64_t pixels = cols + 2 * windows_.radius_x;
    const auto count = static_cast<std::size_t>(pixels * channels_),
               channels = static_cast<std::size_t>(channels_);
    const auto bytes = count * sizeof(double);
    for (std::int64_t dz = -windows_.radius_z; dz <= windows_.radius_z; ++dz) {
      for (std::int64_t dy = -windows_.radius_y; dy <= windows_.radius_y; ++dy) {
        const bool is_first = dz == -windows_.radius_z && dy == -windows_.radius_y;
        std::vector<double>& line = is_first ? first_line_ : line_;
        load(position, position.line(dz, dy), position.x() - windows_.radius_x, pixels, line.data());
        if (!is_first && std::memcmp(line.data(), first_line_.data(), bytes) != 0) return false;
        if (is_first && !(std::equal(line.data() + channels, line.data() + count, line.data()) &&
                          std::none_of(line.data(), line.data() + channels, [](double x) { return x != x; })))
          return false;
      }
    }
    const auto window_pixels =
        (2 * windows_.radius_x + 1) * (2 * windows_.radius_y + 1) * (2 * windows_.radius_z + 1);
    std::ranges::fill(count_, static_cast<double>(window_pixels));
    std::ranges::fill(sum_, 0), std::ranges::fill(squares_, 0);
    std::copy_n(first_line_.data(), elements_, origin_.data());
    return true;
  }

  void add_windows(const SpreadPosition& position, std::int64_t cols) {
    for (auto* values : {&count_, &sum_, &squares_, &origin_}) std::ranges::fill(*values, 0);
    for_each_neighbour(windows_, [&](std::int64_t dz, std::int64_t dy, std::int64_t dx) {
      load(position, position.line(dz, dy), position.x() + dx, cols, pixels_.data());
      add_pixels();
    });
  }

  /// Vector version of add_pixel().
  void add_pixels() {
    const hn::ScalableTag<double> d;
    const auto one = hn::Set(d, 1.0);
    for (std::size_t i = 0; i < static_cast<std::size_t>(elements_); i += hn::Lanes(d)) {
      const auto pixel = hn::LoadU(d, &pixels_[i]), count = hn::LoadU(d, &count_[i]);
      const auto sum = hn::LoadU(d, &sum_[i]), squares = hn::LoadU(d, &squares_[i]);
      const auto counts = windows_.ignores_nan ? hn::Not(hn::IsNaN(pixel)) : hn::Eq(one, one);
      const auto origin =
          hn::IfThenElse(hn::And(counts, hn::Eq(count, hn::Zero(d))), pixel, hn::LoadU(d, &origin_[i]));
      const auto distance = hn::Sub(pixel, origin);
      hn::StoreU(origin, d, &origin_[i]);
      hn::StoreU(hn::IfThenElse(counts, hn::Add(count, one), count), d, &count_[i]);
      hn::StoreU(hn::IfThenElse(counts, hn::Add(sum, distance), sum), d, &sum_[i]);
      hn::StoreU(hn::IfThenElse(counts, fused_multiply_add(distance, distance, squares), squares), d,
                 &squares_[i]);
    }
  }

  void measure(const SpreadPosition& position, std::int64_t cols) {
    const hn::ScalableTag<double> d;
    if (min_deviation_) load(position, position.line(0, 0), position.x(), cols, pixels_.data());
    for (std::size_t i = 0; i < static_cast<std::size_t>(elements_); i += hn::Lanes(d)) {
      const SpreadVectors<hn::Vec<decltype(d)>> sums{hn::LoadU(d, &count_[i]), hn::LoadU(d, &sum_[i]),
                                                     hn::LoadU(d, &squares_[i]), hn::LoadU(d, &origin_[i])};
      hn::StoreU(deviation_or_contrast(sums, spread_of(sums), &pixels_[i], min_deviation_), d, &results_[i]);
    }
  }

  const SpreadWindows& windows_;
  std::optional<double> min_deviation_;
  PixelView out_;
  std::int64_t channels_, run_cols_;
  LoadRow<double> load_;
  std::int64_t elements_ = 0;  ///< of the current run
  std::vector<double> count_, sum_, squares_, origin_, pixels_, results_, line_, first_line_;
};

void recompute(const SpreadWindows& windows, std::optional<double> min_deviation, const PixelView& out) {
  DeviationRecomputer(windows, min_deviation, out).run();
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sepconv {

HWY_EXPORT(recompute);

void recompute_deviations(const SpreadWindows& windows, std::optional<double> min_deviation,
                          const PixelView& out) {
  const auto is_imprecise = [](auto value) {
    return value == -std::numeric_limits<decltype(value)>::infinity();
  };
  const bool any = visit_pixel_type(out.type, [&]<class T>(std::type_identity<T>) {
    for (std::int64_t row = 0; row < out.extent.rows; ++row)
      if (std::any_of(out.row<T>(row), out.row<T>(row) + out.row_elements(), is_imprecise)) return true;
    return false;
  });
  if (any) HWY_DYNAMIC_DISPATCH(recompute)(windows, min_deviation, out);
}

}  // namespace sepconv
#endif
