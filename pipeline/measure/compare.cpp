// compare_images(): run() streams A into a sink. The sink reads the same rectangles of B and sums the
// differences.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <tuple>

#include "core/error.hpp"
#include "core/view_check.hpp"
#include "io/sample_type.hpp"
#include "pipeline/measure/measure.hpp"
#include "pipeline/measure/stats_tiles.hpp"

namespace sepconv {

namespace {

/// Bytes of B in memory at a time, unless one block of B is larger.
constexpr std::int64_t kBytesOfB = std::int64_t{4} << 20;

struct Difference {
  std::int64_t different = 0, missing_in_a = 0, missing_in_b = 0;
  double max = 0, sum = 0, squares = 0;
  std::optional<Comparison::Position> first;

  static bool before(const Comparison::Position& a, const Comparison::Position& b) {
    return std::tie(a.row, a.col, a.channel) < std::tie(b.row, b.col, b.channel);
  }
  void add(const Difference& other) {
    different += other.different;
    missing_in_a += other.missing_in_a;
    missing_in_b += other.missing_in_b;
    max = std::max(max, other.max);
    sum += other.sum;
    squares += other.squares;
    if (other.first && (!first || before(*other.first, *first))) first = other.first;
  }
};

/// |a - b|. The distance of equal infinities and of two NaNs is 0; that of one NaN from any number is
/// infinite.
double distance(double a, double b) {
  if (a == b) return 0;
  const double difference = std::abs(a - b);
  if (difference == difference) return difference;
  return std::isnan(a) && std::isnan(b) ? 0 : std::numeric_limits<double>::infinity();
}

/// Missing pixels of one image.
struct MissingInOne {
  double value;        ///< NaN: none
  std::int64_t alpha;  ///< the channel that hides pixels; -1: none
  bool operator==(const MissingInOne& other) const noexcept {
    return alpha == other.alpha && (value == other.value || (std::isnan(value) && std::isnan(other.value)));
  }
};
struct MissingInBoth {
  MissingInOne a, b;
};

/// Element i of a row; NaN if the pixel is missing.
template <class T>
double value_or_nan(const T* row, std::int64_t i, std::int64_t channels, const MissingInOne& missing) {
  const auto number = static_cast<double>(row[i]);
  const double alpha =
      missing.alpha < 0 ? 1 : static_cast<double>(row[i / channels * channels + missing.alpha]);
  const bool hidden = alpha == 0 || std::isnan(alpha);
  return hidden || number == missing.value ? std::numeric_limits<double>::quiet_NaN() : number;
}

/// Difference of two views; `origin` is their rectangle in the images.
template <class T>
Difference difference_of(const ConstPixelView& a, const ConstPixelView& b, const Rect& origin,
                         const MissingInBoth& missing, double tolerance) {
  Difference total;
  for (std::int64_t row = 0; row < a.extent.rows; ++row) {
    // Rows with equal bytes have equal values. Most rows of most comparisons do; this test is ten times as
    // fast.
    if (missing.a == missing.b &&
        std::memcmp(a.row_data(row), b.row_data(row), static_cast<std::size_t>(a.row_bytes())) == 0)
      continue;
    const T* left = a.row<T>(row);
    const T* right = b.row<T>(row);
    for (std::int64_t i = 0; i < a.row_elements(); ++i) {
      const double value_a = value_or_nan(left, i, a.channels, missing.a);
      const double value_b = value_or_nan(right, i, a.channels, missing.b);
      const double difference = distance(value_a, value_b);
      total.max = std::max(total.max, difference);
      total.sum += difference;
      total.squares += difference * difference;
      if (difference <= tolerance) continue;
      if (std::isnan(value_a)) ++total.missing_in_a;
      if (std::isnan(value_b)) ++total.missing_in_b;
      if (total.different++ > 0) continue;
      total.first = Comparison::Position{origin.row + row, origin.col + i / a.channels, i % a.channels,
                                         value_a, value_b};
    }
  }
  return total;
}

/// Uses cells of whole blocks of B, so that every block of B is decoded once. A sequential B gets full-width
/// rows.
SinkLayout layout_for(const Reader& b) {
  const SourceLayout& from = b.layout();
  const Extent extent = b.spec().extent;
  SinkLayout layout;
  layout.description = "comparison";
  layout.access = from.access;
  layout.block = cell_extent(b.spec(), from.streams ? from.unit() : Extent{1, 1});
  if (from.access == Access::sequential) layout.block.cols = extent.cols;
  return layout;
}

template <class T>
class ComparingWriter final : public Writer {
 public:
  ComparingWriter(Reader& b, const MissingInBoth& missing, double tolerance)
      : b_(b),
        missing_(missing),
        tolerance_(tolerance),
        layout_(layout_for(b)),
        sums_(b.spec(), layout_.block, Difference()) {}

  const ImageSpec& spec() const noexcept override { return b_.spec(); }
  const SinkLayout& layout() const noexcept override { return layout_; }
  void finish() override {}

  void write(const Rect& rect, const ConstPixelView& in, Executor& executor) override {
    const Extent piece = piece_extent();
    if (piece_.size() == 0) piece_ = Buffer(piece_bytes());
    for_each_cell(rect, {piece.rows, std::min(piece.cols, rect.cols)}, [&](std::int64_t, const Rect& part) {
      add(part, in.crop({part.row - rect.row, part.col - rect.col, part.rows, part.cols}), executor);
    });
  }

  std::int64_t buffer_bytes(int concurrency) const override {
    return b_.buffer_bytes(concurrency) + piece_bytes() + sums_.bytes(0);
  }

  Difference total() const { return sums_.total(); }

 private:
  /// Whole blocks of the layout, first side by side, then below each other, up to kBytesOfB.
  Extent piece_extent() const {
    const Extent block = layout_.block;
    const std::int64_t block_bytes = block.area() * spec().pixel_bytes();
    const std::int64_t across =
        std::clamp<std::int64_t>(kBytesOfB / block_bytes, 1, ceil_div(spec().extent.cols, block.cols));
    const std::int64_t down = std::max<std::int64_t>(kBytesOfB / (across * block_bytes), 1);
    return {down * block.rows, across * block.cols};
  }
  std::int64_t piece_bytes() const { return piece_extent().area() * spec().pixel_bytes(); }

  void add(const Rect& part, const ConstPixelView& a, Executor& executor) {
    const PixelView b{piece_.data(), part.extent(), spec().channels, spec().type,
                      part.cols * spec().pixel_bytes()};
    b_.read(part, b, executor);
    sums_.add(part, executor, [&](const Rect& cell, Difference& difference) {
      const Rect inside{cell.row - part.row, cell.col - part.col, cell.rows, cell.cols};
      difference = difference_of<T>(a.crop(inside), b.crop(inside), cell, missing_, tolerance_);
    });
  }

  Reader& b_;
  MissingInBoth missing_;
  double tolerance_;
  SinkLayout layout_;
  CellSums<Difference> sums_;
  Buffer piece_;
};

/// Sample type of an image; for packed samples the pixel type into which they are unpacked.
SampleType type_of(const Reader& image) {
  const SampleType type = image.layout().stored.value_or(SampleType(image.spec().type));
  return type.is_packed() ? SampleType(type.pixels()) : type;
}

std::string describe(const Reader& image) {
  const ImageSpec& spec = image.spec();
  const SampleType type = type_of(image);
  return fmt::format("{} x {} x {} {}", spec.extent.cols, spec.extent.rows, spec.channels / type.parts(),
                     name_of(type));
}

/// Maximum value of an integer type; 1 for other types.
double peak_of(SampleType type) {
  using Kind = SampleType::Kind;
  const int digits = type.kind == Kind::boolean   ? 1
                     : type.kind == Kind::natural ? type.bits
                     : type.kind == Kind::integer ? type.bits - 1
                                                  : 1;
  return std::ldexp(1.0, digits) - 1;
}

double psnr_of(double mean_square, double peak) {
  return mean_square > 0 ? 10 * std::log10(peak * peak / mean_square)
                         : std::numeric_limits<double>::infinity();
}

}  // namespace

Comparison total_of(const std::vector<Comparison>& comparisons) {
  Comparison total;
  double sum = 0;
  double squares = 0;
  for (const Comparison& comparison : comparisons) {
    total.elements += comparison.elements;
    total.different += comparison.different;
    total.missing_in_a += comparison.missing_in_a;
    total.missing_in_b += comparison.missing_in_b;
    total.max_difference = std::max(total.max_difference, comparison.max_difference);
    sum += comparison.mean_difference * static_cast<double>(comparison.elements);
    squares += comparison.mean_square * static_cast<double>(comparison.elements);
    total.peak = comparison.peak;
    if (!total.first) total.first = comparison.first;
  }
  total.mean_difference = sum / static_cast<double>(total.elements);
  total.mean_square = squares / static_cast<double>(total.elements);
  total.psnr_db = psnr_of(total.mean_square, total.peak);
  return total;
}

Comparison compare_images(Reader& a, Reader& b, double tolerance, const RunOptions& options) {
  const ImageSpec& spec = a.spec();
  check_image("the image to compare", spec);
  if (!(tolerance >= 0)) {
    throw InvalidArgument(
        fmt::format("a tolerance of {} cannot be used; give 0 or a positive number", tolerance));
  }
  if (spec != b.spec() || type_of(a) != type_of(b)) {
    throw InvalidArgument(
        fmt::format("the images differ in shape or type ({} and {}, columns x rows x channels); compare "
                    "images of the same shape and type",
                    describe(a), describe(b)));
  }
  const auto missing_in = [&](const Reader& image) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    const MissingPixels missing = missing_pixels(image, Chain(), options.missing);
    return MissingInOne{missing.value.value_or(kNone), missing.alpha.value_or(-1)};
  };
  const MissingInBoth missing{missing_in(a), missing_in(b)};
  const Difference total = visit_pixel_type(spec.type, [&]<class T>(std::type_identity<T>) {
    ComparingWriter<T> sink(b, missing, tolerance);
    run(a, sink, Chain(), options);
    return sink.total();
  });
  Comparison result;
  result.elements = spec.extent.area() * spec.channels;
  result.different = total.different;
  result.missing_in_a = total.missing_in_a;
  result.missing_in_b = total.missing_in_b;
  result.max_difference = total.max;
  result.mean_difference = total.sum / static_cast<double>(result.elements);
  result.peak = peak_of(type_of(a));
  result.mean_square = total.squares / static_cast<double>(result.elements);
  result.psnr_db = psnr_of(result.mean_square, result.peak);
  result.first = total.first;
  return result;
}

}  // namespace sepconv
