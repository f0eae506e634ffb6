// The whole-image runner: keeps whole images in memory and runs one reference stage after another. It is
// simple, for verification.
#include <algorithm>
#include <iterator>

#include "core/error.hpp"
#include "core/view_check.hpp"
#include "kernels/pointwise/pointwise.hpp"
#include "pipeline/run/nan_detector.hpp"
#include "pipeline/run/resident_operands.hpp"
#include "pipeline/run/run.hpp"

namespace sepconv {
namespace {

struct Image {
  explicit Image(const ImageSpec& spec) : pixels(spec.bytes()), view(dense_view(pixels.data(), spec)) {}
  Buffer pixels;
  PixelView view;
};

}  // namespace

std::vector<std::string> run_whole_image(Reader& source, Writer& sink, const Chain& full_chain,
                                         std::optional<Arithmetic> asked, const MissingOptions& options,
                                         const SinkLayout* as) {
  check_image("the source", source.spec());
  full_chain.check_supports(source);
  const MissingPixels missing =
      missing_pixels(source, full_chain, options).stored_in(as != nullptr ? *as : sink.layout());
  check_stored(missing, full_chain);
  const Chain with_nodata = apply_nodata_policy(missing, full_chain, source.spec(), asked);
  const std::vector<ImageSpec> specs = with_nodata.specs(source.spec());
  if (specs.back() != sink.spec()) throw InvalidArgument("the sink was not made for this chain's result");
  const Arithmetic arithmetic = with_nodata.arithmetic(source.spec(), asked);
  SerialExecutor executor;
  const ResidentOperands operands(with_nodata, specs, Rect::whole(specs.back().extent), executor);
  const Chain chain = operands.bound(with_nodata);

  Image image(source.spec());
  source.read(Rect::whole(source.spec().extent), image.view, executor);
  NanDetector nan_detector(source, chain);
  nan_detector.inspect(image.view, executor);
  for (std::size_t i = 0; i < chain.size(); ++i) {
    ImageSpec spec = specs[i + 1];
    spec.type = chain.stages()[i]->traits().is_permutation() ? image.view.type : pixel_type_of(arithmetic);
    Image result(spec);
    chain.stages()[i]->apply_reference(Region::whole(image.view), Region::whole(result.view), arithmetic);
    image = std::move(result);
  }
  Image result(specs.back());
  if (image.view.type == result.view.type)
    copy_pixels(image.view, result.view);
  else
    pointwise_reference({}, image.view, image.view, result.view, arithmetic);
  sink.write(Rect::whole(specs.back().extent), result.view, executor);
  sink.finish();
  std::vector<std::string> warnings = source.warnings_after_reading();
  std::ranges::move(nan_detector.warnings(), std::back_inserter(warnings));
  return warnings;
}

}  // namespace sepconv
