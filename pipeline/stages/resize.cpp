// resize: any size, with the antialiasing filters of Pillow, or area averages.
#include "core/error.hpp"
#include "pipeline/stages/keys.hpp"
#include "pipeline/stages/resample_stage.hpp"
#include "pipeline/stages/stages.hpp"

namespace sepconv {
namespace {

Keys keys(ResizeOptions& options) {
  using enum ResizeOptions::Filter;
  return {
      {.name = "size",
       .value = &options.size,
       .words = "COLSxROWS of the result; or give scale or fit",
       .unit = "pixels",
       .range = between(1, static_cast<double>(kMaxSide)),
       .not_with = "scale",
       .former_name = "to"},
      {.name = "fit",
       .value = &options.fit,
       .words = "COLSxROWS that the result fits in, with the proportions of the image",
       .unit = "pixels",
       .range = between(1, static_cast<double>(kMaxSide)),
       .not_with = "size"},
      {.name = "scale",
       .value = &options.scale,
       .words = "scale factor along both axes",
       .range = above(0),
       .former_name = "by"},
      {.name = "filter",
       .value = choice(options.filter, {{"linear", linear},
                                        {"cubic", cubic},
                                        {"lanczos3", lanczos3},
                                        {"area", area},
                                        {"box", box},
                                        {"nearest", nearest}}),
       .words =
           "linear, cubic, lanczos3, box: Pillow's BILINEAR, BICUBIC, LANCZOS and BOX, antialiased. area: "
           "OpenCV's INTER_AREA, GDAL's average. nearest: one pixel, for classes and masks"},
      nodata_key(options.nodata, MissingSupport::no_fill)};
}

ResampleFilter filter_of(ResizeOptions::Filter filter) {
  switch (filter) {
    case ResizeOptions::Filter::linear:
      return ResampleFilter::linear;
    case ResizeOptions::Filter::cubic:
      return ResampleFilter::cubic;
    case ResizeOptions::Filter::lanczos3:
      return ResampleFilter::lanczos3;
    case ResizeOptions::Filter::area:
      return ResampleFilter::area;
    case ResizeOptions::Filter::box:
      return ResampleFilter::box;
    case ResizeOptions::Filter::nearest:
      return ResampleFilter::nearest;
  }
  throw InvalidArgument(
      "resize has no filter of this number; take linear, cubic, lanczos3, area, box or nearest");
}

StagePtr make(const ResizeOptions& options, const StageArguments& stage_args) {
  const Extent size = options.size.value_or(Extent{}), fit = options.fit.value_or(Extent{});
  if ((options.size ? 1 : 0) + (options.scale ? 1 : 0) + (options.fit ? 1 : 0) != 1)
    stage_args.refuse("size", "give one of size, scale and fit");
  const double scale = options.scale.value_or(0);
  return std::make_shared<ResampleStage>(stage_args.text(),
                                         ResampledSide{.to = size.rows, .by = scale, .fit = fit.rows},
                                         ResampledSide{.to = size.cols, .by = scale, .fit = fit.cols},
                                         filter_of(options.filter), options.nodata);
}

constexpr StageKind<ResizeOptions> kResize{"resize", "resamples to another size, with antialiasing",
                                           "resize:scale=0.5", keys, make};

}  // namespace

StagePtr resize(const ResizeOptions& options) { return kResize(options); }
StageEntry ResizeOptions::entry() { return kResize.entry(); }

}  // namespace sepconv
