#include "pipeline/run/nan_detector.hpp"

#include <algorithm>
#include <limits>

#include "io/flat/row_pieces.hpp"
#include "kernels/pointwise/missing.hpp"

namespace sepconv {
namespace {

bool is_kind(const StagePtr& stage, PointwiseOp::Kind kind) {
  return stage->traits().pointwise && stage->traits().pointwise->kind == kind;
}

NanDetector::Meaning meaning_in(const Chain& chain) {
  using enum NanDetector::Meaning;
  using Kind = PointwiseOp::Kind;
  const auto contains = [&](Kind kind) {
    return std::ranges::any_of(chain.stages(),
                               [kind](const StagePtr& stage) { return is_kind(stage, kind); });
  };
  const bool hides_alpha = !chain.empty() && chain.stages().front()->traits().alpha &&
                           chain.stages().front()->traits().alpha->kind == AlphaOp::Kind::hide;
  if (contains(Kind::mark_missing) || hides_alpha) return also_missing;
  if (contains(Kind::store_missing)) return harmless;
  const bool all_handle_nodata = std::ranges::all_of(
      chain.stages(), [](const StagePtr& stage) { return stage->properties().handles_nodata; });
  return chain.work() != Work::neighbours || all_handle_nodata ? harmless : plain_value;
}

}  // namespace

NanDetector::NanDetector(const Reader& source, const Chain& chain)
    : meaning_(is_floating(source.spec().type) ? meaning_in(chain) : Meaning::harmless) {}

void NanDetector::inspect(const ConstPixelView& pixels, Executor& executor) {
  if (!is_active() || pixels.extent.empty()) return;
  for_each_row_piece(pixels.extent.rows, pixels.row_bytes(), executor,
                     [&](std::int64_t first, std::int64_t count) {
                       constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
                       for (std::int64_t row = first; row < first + count && is_active(); ++row) {
                         if (find_missing_state(pixels.crop({row, 0, 1, pixels.extent.cols}), kNan) !=
                             MissingState::none_missing)
                           set_found();
                       }
                     });
}

std::vector<std::string> NanDetector::warnings() const {
  if (!found_) return {};
  if (meaning_ == Meaning::also_missing)
    return {"the source contains NaN, which counts as nodata, as the declared value does"};
  return {
      "the source contains NaN that is not declared as nodata: it spreads to neighbouring pixels; if it "
      "means missing pixels, set MissingOptions::value to nan"};
}

}  // namespace sepconv
