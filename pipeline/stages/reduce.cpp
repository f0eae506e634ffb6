// reduce: cells of N x M pixels become one, on absolute coordinates: what pyramids are made of.
#include "pipeline/stages/keys.hpp"
#include "pipeline/stages/resample_stage.hpp"
#include "pipeline/stages/stages.hpp"

namespace sepconv {
namespace {

constexpr KeyRange kSide = between(1, static_cast<double>(kMaxSide));

Keys keys(ReduceOptions& options) {
  using enum ReduceOptions::Filter;
  return {{.name = "factor",
           .value = &options.factor,
           .words = "side of the cells that become one",
           .unit = "pixels",
           .range = kSide,
           .needed = true},
          {.name = "factor_y",
           .value = &options.factor_y,
           .words = "the side along y; as along x where it is left out",
           .unit = "pixels",
           .range = kSide},
          {.name = "filter",
           .value = choice(options.filter, {{"box", box}, {"binomial", binomial}, {"nearest", nearest}}),
           .words = "a cell's mean, a smoother one of the cells around it too, or the pixel in its middle, "
                    "for classes and masks"},
          missing_key(options.missing, MissingWays::no_fill)};
}

ResampleFilter filter_of(ReduceOptions::Filter filter) {
  if (filter == ReduceOptions::Filter::nearest) return ResampleFilter::nearest;
  return filter == ReduceOptions::Filter::box ? ResampleFilter::box : ResampleFilter::binomial;
}

StagePtr make(const ReduceOptions& options, const StageArguments& spelling) {
  return std::make_shared<ResampleStage>(
      spelling.text(), ResampledSide{.cell = options.factor_y.value_or(*options.factor)},
      ResampledSide{.cell = *options.factor}, filter_of(options.filter), options.missing);
}

constexpr StageKind<ReduceOptions> kReduce{
    "reduce", "means of cells of factor x factor_y pixels; the last cells are of what is there",
    "reduce:factor=2", keys, make};

}  // namespace

StagePtr reduce(const ReduceOptions& options) { return kReduce(options); }
StageEntry ReduceOptions::entry() { return kReduce.entry(); }

}  // namespace sepconv
