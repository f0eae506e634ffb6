#include "sepconv/pipeline/plan/band_rows.hpp"

#include <algorithm>

#include "sepconv/pipeline/chain/chain_tile.hpp"

namespace sepconv {
namespace {

Rect rows_to_hold(const Plan& plan, const SourceLayout& source, std::int64_t band) {
  Rect needed = source_rect(plan.chain, plan.specs, plan.band_rect(band));
  if (source.streams && source.access == Access::random) {
    const std::int64_t end =
        std::min(round_up(needed.row_end(), source.unit().rows), plan.source().extent.rows);
    needed.rows = end - needed.row;
  }
  return needed;
}

}  // namespace

BandRows band_rows(const Plan& plan, const SourceLayout& source, std::int64_t band, bool follows) {
  const Rect held = rows_to_hold(plan, source, band);
  BandRows rows{held, {held.row, held.col, 0, held.cols}, held};
  if (!follows) return rows;
  const Rect before = rows_to_hold(plan, source, band - 1);
  const Rect shared = held.intersect(before);
  // A band at the top of the next column of bands has other columns.
  if (before.col != held.col || before.cols != held.cols || shared.row != held.row || shared.empty())
    return rows;
  rows.shared = shared;
  rows.missing = {shared.row_end(), held.col, held.rows - shared.rows, held.cols};
  return rows;
}

}  // namespace sepconv
