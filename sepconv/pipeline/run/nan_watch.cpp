#include "sepconv/pipeline/run/nan_watch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "sepconv/io/flat/row_pieces.hpp"

namespace sepconv {
namespace {

/// Compared without a branch so many at a time, so that the compiler uses vectors.
constexpr std::int64_t kBlock = 1024;

template <class T>
bool holds_nan(const T* values, std::int64_t count) {
  std::int64_t first = 0;
  for (; first + kBlock <= count; first += kBlock) {
    int unequal = 0;
    for (std::int64_t i = 0; i < kBlock; ++i)
      unequal |= static_cast<int>(values[first + i] != values[first + i]);
    if (unequal != 0) return true;
  }
  return std::any_of(values + first, values + count, [](T value) { return std::isnan(value); });
}

bool row_holds_nan(const ConstPixelView& pixels, std::int64_t row) {
  if (pixels.type == PixelType::f64) return holds_nan(pixels.row<double>(row), pixels.row_elements());
  return holds_nan(pixels.row<float>(row), pixels.row_elements());
}

bool calls_nan_missing(const Metadata& metadata) {
  const auto value = nodata_value(metadata);
  return value && std::isnan(std::strtod(value->c_str(), nullptr));
}

}  // namespace

NanWatch::NanWatch(const Reader& source, const Chain& chain)
    : looks_(is_floating(source.spec().type) && chain.work() == Work::neighbours &&
             !calls_nan_missing(source.metadata())) {}

void NanWatch::look(const ConstPixelView& pixels, Executor& executor) {
  if (!looks_ || found_.load(std::memory_order_relaxed) || pixels.extent.empty()) return;
  for_each_row_piece(pixels.extent.rows, pixels.row_bytes(), executor,
                     [&](std::int64_t first, std::int64_t count) {
                       for (std::int64_t row = first; row < first + count; ++row) {
                         if (found_.load(std::memory_order_relaxed)) return;
                         if (row_holds_nan(pixels, row)) found_.store(true, std::memory_order_relaxed);
                       }
                     });
}

std::vector<std::string> NanWatch::warnings() const {
  if (!found_) return {};
  return {
      "the source holds NaN, which filters compute with as if it were a value: what they make of pixels near "
      "one is NaN, or no filtered value"};
}

}  // namespace sepconv
