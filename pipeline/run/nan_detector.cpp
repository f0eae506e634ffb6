#include "pipeline/run/nan_detector.hpp"

#include <algorithm>
#include <limits>

#include "io/flat/row_pieces.hpp"
#include "kernels/pointwise/missing.hpp"

namespace sepconv {
namespace {

bool is_of(const StagePtr& stage, PointwiseOp::Kind kind) {
  return stage->traits().pointwise && stage->traits().pointwise->kind == kind;
}

NanDetector::Meaning meaning_in(const Chain& chain) {
  using enum NanDetector::Meaning;
  using Kind = PointwiseOp::Kind;
  const auto has = [&](Kind kind) {
    return std::ranges::any_of(chain.stages(), [kind](const StagePtr& stage) { return is_of(stage, kind); });
  };
  const bool hides = !chain.empty() && chain.stages().front()->traits().alpha &&
                     chain.stages().front()->traits().alpha->kind == AlphaOp::Kind::hide;
  if (has(Kind::mark_missing) || hides) return missing_too;
  if (has(Kind::store_missing)) return settled;
  const bool all_settled = std::ranges::all_of(
      chain.stages(), [](const StagePtr& stage) { return stage->traits().handles_nodata; });
  return chain.work() != Work::neighbours || all_settled ? settled : a_value;
}

}  // namespace

NanDetector::NanDetector(const Reader& source, const Chain& chain)
    : meaning_(is_floating(source.spec().type) ? meaning_in(chain) : Meaning::settled) {}

void NanDetector::look(const ConstPixelView& pixels, Executor& executor) {
  if (!looks() || pixels.extent.empty()) return;
  for_each_row_piece(
      pixels.extent.rows, pixels.row_bytes(), executor, [&](std::int64_t first, std::int64_t count) {
        constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
        for (std::int64_t row = first; row < first + count && looks(); ++row) {
          if (presence_of(pixels.crop({row, 0, 1, pixels.extent.cols}), kNan) != ValidMask::all_there) find();
        }
      });
}

std::vector<std::string> NanDetector::warnings() const {
  if (!found_) return {};
  if (meaning_ == Meaning::missing_too)
    return {"the source contains NaN, which counts as nodata, as the declared value does"};
  return {
      "the source contains NaN that is not declared as nodata: it spreads to neighbouring pixels; if it "
      "means missing pixels, set MissingOptions::value to nan"};
}

}  // namespace sepconv
