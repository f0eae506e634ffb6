// taps: any separable filter, its taps given on the spot or in a file.
#include "sepconv/kernels/conv/taps.hpp"

#include <fmt/format.h>

#include "sepconv/core/error.hpp"
#include "sepconv/pipeline/stages/filter_stage.hpp"
#include "sepconv/pipeline/stages/table.hpp"

namespace sepconv {
namespace {

SeparableTaps taps_from_file(const StageArgs& args) {
  if (args.has("row") || args.has("col")) args.fail("file", "give a file, or row and col, not both");
  Table table = read_table(args.text("file"));
  if (table.size() > 2)
    args.fail("file", fmt::format("it holds {} rows; two are needed: row taps, column taps", table.size()));
  if (table.size() == 1) return {table[0], table[0]};
  return {std::move(table[0]), std::move(table[1])};
}

StagePtr make_taps(const StageArgs& args) {
  SeparableTaps taps;
  if (args.has("file")) {
    taps = taps_from_file(args);
  } else {
    if (args.has("row")) taps.row = args.numbers("row");
    if (args.has("col")) taps.col = args.numbers("col");
    if (taps.row.empty() && taps.col.empty()) args.fail("row", "give row taps, col taps or both, or file");
  }
  for (const auto* list : {&taps.row, &taps.col}) {
    if (list->empty() || list->size() % 2 == 1) continue;
    throw InvalidArgument(
        fmt::format("stage 'taps' is given {} taps; an odd number is needed, the anchor is the middle one: "
                    "add a 0 at one end",
                    list->size()));
  }
  if (std::max(taps.row_radius(), taps.col_radius()) > kMaxRadius) {
    throw InvalidArgument(
        fmt::format("stage 'taps' has a radius over {}; that many taps are not supported", kMaxRadius));
  }
  return make_filter(args, std::move(taps));
}

}  // namespace

StageDefinitions taps_stages() {
  return {
      {{"taps", "a separable filter with the given taps, applied as correlation", "taps:row=-1,0,1,col=1,2,1",
        convolving_keys(
            {{"row", "taps along x, odd in number; left out: no row pass"},
             {"col", "taps along y, odd in number; left out: no column pass"},
             {"file", "text or NPY with a row of row taps and a row of column taps (one row: both)"}})},
       make_taps}};
}

}  // namespace sepconv
