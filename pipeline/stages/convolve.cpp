// convolve: any separable filter, with taps given as text or in a file.
#include <fmt/format.h>

#include "core/error.hpp"
#include "kernels/conv/taps.hpp"
#include "pipeline/stages/filter_stage.hpp"
#include "pipeline/stages/read_matrix.hpp"
#include "pipeline/stages/stages.hpp"

namespace sepconv {
namespace {

Keys keys(ConvolveOptions& options) {
  return joined({{{.name = "row",
                   .value = &options.row,
                   .words = "taps along x, an odd number; default: no pass along x",
                   .not_with = "file"},
                  {.name = "col",
                   .value = &options.col,
                   .words = "taps along y, an odd number; default: no pass along y",
                   .not_with = "file"},
                  {.name = "z", .value = &options.z, .words = "taps along z of a stack, an odd number"},
                  {.name = "file",
                   .value = &options.file,
                   .words = "text or NPY file of two rows: taps along x, taps along y; one row: for both"}},
                 convolving_keys(options)});
}

SeparableTaps taps_from_file(const ConvolveOptions& options, const StageArguments& stage_args) {
  Table table = read_table(options.file);
  if (table.size() > 2)
    stage_args.refuse("file",
                      fmt::format("it holds {} rows; two are needed: row taps, column taps", table.size()));
  if (table.size() == 1) return {table[0], table[0]};
  return {std::move(table[0]), std::move(table[1])};
}

StagePtr make(const ConvolveOptions& options, const StageArguments& stage_args) {
  const SeparableTaps taps =
      options.file.empty() ? SeparableTaps{options.row, options.col} : taps_from_file(options, stage_args);
  if (taps.row.empty() && taps.col.empty() && options.z.empty())
    stage_args.refuse("row", "give row taps, col taps, z taps or several of them, or file");
  for (const auto* list : {&taps.row, &taps.col, &options.z}) {
    if (list->empty() || list->size() % 2 == 1) continue;
    throw InvalidArgument(fmt::format(
        "stage 'convolve' is given {} taps; an odd number is needed, the anchor is the middle one: "
        "add a 0 at one end",
        list->size()));
  }
  const SeparableTaps along_z{{}, options.z};
  if (std::max({taps.row_radius(), taps.col_radius(), along_z.col_radius()}) > kMaxRadius) {
    throw InvalidArgument(
        fmt::format("stage 'convolve' has a radius over {}; that many taps are not supported", kMaxRadius));
  }
  return make_filter(stage_args, options, taps, along_z.col);
}

constexpr StageKind<ConvolveOptions> kConvolve{
    "convolve",
    "a separable filter with the given taps, applied as correlation",
    "convolve:row=-1,0,1,col=1,2,1",
    keys,
    make,
    "taps"};

}  // namespace

StagePtr convolve(const ConvolveOptions& options) { return kConvolve(options); }
StageEntry ConvolveOptions::entry() { return kConvolve.entry(); }

}  // namespace sepconv
