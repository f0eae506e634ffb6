// reduce: each block of N x M pixels, aligned to absolute coordinates, becomes one pixel, as in pyramids.
#include "pipeline/stages/keys.hpp"
#include "pipeline/stages/resample_stage.hpp"
#include "pipeline/stages/stages.hpp"

namespace sepconv {
namespace {

constexpr KeyRange kSide = between(1, static_cast<double>(kMaxSide));

Keys keys(ReduceOptions& options) {
  using enum ReduceOptions::Filter;
  return {
      {.name = "factor",
       .value = &options.factor,
       .words = "width of the blocks; their height, too, without factor_y",
       .unit = "pixels",
       .range = kSide,
       .needed = true},
      {.name = "factor_y",
       .value = &options.factor_y,
       .words = "height of the blocks; default: factor",
       .unit = "pixels",
       .range = kSide},
      {.name = "filter",
       .value = choice(options.filter, {{"box", box}, {"binomial", binomial}, {"nearest", nearest}}),
       .words =
           "box: mean of the block. binomial: weighted mean that reaches into the neighbouring blocks. nearest: the middle "
           "pixel, for classes and masks"},
      nodata_key(options.nodata, MissingSupport::no_fill)};
}

ResampleFilter filter_of(ReduceOptions::Filter filter) {
  if (filter == ReduceOptions::Filter::nearest) return ResampleFilter::nearest;
  return filter == ReduceOptions::Filter::box ? ResampleFilter::box : ResampleFilter::binomial;
}

StagePtr make(const ReduceOptions& options, const StageArguments& stage_args) {
  return std::make_shared<ResampleStage>(
      stage_args.text(), ResampledSide{.cell = options.factor_y.value_or(*options.factor)},
      ResampledSide{.cell = *options.factor}, filter_of(options.filter), options.nodata);
}

constexpr StageKind<ReduceOptions> kReduce{
    "reduce", "downsamples by whole factors: mean of each block of factor x factor_y pixels",
    "reduce:factor=2", keys, make};

}  // namespace

StagePtr reduce(const ReduceOptions& options) { return kReduce(options); }
StageEntry ReduceOptions::entry() { return kReduce.entry(); }

}  // namespace sepconv
