#include "pipeline/plan/missing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "io/nodata.hpp"
#include "pipeline/plan/alpha_rule.hpp"

namespace sepconv {
namespace {

/// Sets the nodata value that the source's metadata declare, if its type can represent it.
void read_declared_nodata(const Reader& source, MissingPixels& missing) {
  const std::optional<std::string> text = nodata_value(source.metadata());
  if (!text || text->empty()) return;
  const PixelType type = source.spec().type;
  const SampleType stored = source.layout().stored.value_or(SampleType(type));
  missing.value = declared_nodata(source.metadata(), type, stored);
  if (!missing.value)
    missing.ignored_reason = fmt::format(
        "the nodata value {} is left out: {}", *text,
        number_of(*text) ? fmt::format("{} pixels have no such value, so none are missing", name_of(stored))
                         : "it is not a number");
}

/// For a source without nodata value: uses and returns the nodata value of the first second image that
/// declares one.
std::optional<double> read_second_nodata(const Chain& chain, MissingPixels& missing) {
  for (const StagePtr& stage : chain.stages()) {
    if (!stage->properties().secondary_nodata) continue;
    missing.value = std::numeric_limits<double>::quiet_NaN();
    missing.from_secondary = true;
    return stage->properties().secondary_nodata;
  }
  return std::nullopt;
}

/// The nodata value for MissingOptions::all_channels.
double value_of_all(const Reader& source, const MissingOptions& options) {
  const PixelType type = source.spec().type;
  const SampleType stored = source.layout().stored.value_or(SampleType(type));
  const std::optional<double> declared =
      options.value ? options.value : declared_nodata(source.metadata(), type, stored);
  return declared.value_or(0);  // unreachable: the source cannot be opened without one
}

void check(const MissingOptions& options, const MissingPixels& missing) {
  if (options.none &&
      (options.value || options.result || options.alpha || options.all_channels || options.alpha_rule))
    throw InvalidArgument(
        "no pixel is to be missing, so that MissingOptions::value, its alpha, MissingOptions::all_channels, "
        "MissingOptions::alpha_rule and MissingOptions::result go with nothing; leave them out");
  if (options.result && !missing.value && missing.alpha && !missing.is_mask)
    throw InvalidArgument(fmt::format(
        "MissingOptions::result says what pixels become that are missing by their value, and here only alpha "
        "(channel {}) hides some, whose result is 0 with alpha 0; leave it out, or set MissingOptions::value "
        "too",
        *missing.alpha));
  if (options.result && !missing.value && !missing.is_mask)
    throw InvalidArgument(
        "MissingOptions::result has no effect: the input has no nodata; set MissingOptions::value too");
}

}  // namespace

MissingPixels missing_pixels(const Reader& source, const Chain& chain, const MissingOptions& options) {
  const PixelType result = chain.result_spec(source.spec()).type;
  MissingPixels missing;
  if (options.all_channels) {
    missing.all_channels = true;
  } else if (options.value) {
    const PixelType type = source.spec().type;
    missing.value = value_as(*options.value, type);
    if (!missing.value)
      throw InvalidArgument(
          fmt::format("pixels of {} have no value {}, so none of them is missing; set MissingOptions::value "
                      "to one that they have",
                      name_of(type), *options.value));
  } else if (options.none) {
    if (const auto text = nodata_value(source.metadata()); text && !text->empty())
      missing.ignored_reason = fmt::format(
          "missing pixels (the nodata value {}) are computed with as if they were values; the result has no "
          "nodata value",
          *text);
  } else {
    read_declared_nodata(source, missing);
    if (missing.value && options.alpha_rule == AlphaRule::weight) {
      missing.ignored_reason =
          fmt::format("the nodata value {} is left out, because alpha is a weight", *missing.value);
      missing.value.reset();
    }
  }
  find_alpha(source, chain, options, missing);
  const std::optional<double> from_secondary =
      missing.value || options.none ? std::nullopt : read_second_nodata(chain, missing);
  check(options, missing);
  choose_alpha_rule(source, chain, options, missing);
  if (missing.all_channels && !missing.alpha)
    throw InvalidArgument(
        "pixels of which all channels have the nodata value are known by a mask that the source has when it "
        "is opened as open_options() says, and that no stage mixes with its channels; open it so, or leave "
        "MissingOptions::all_channels out");
  missing.replaces_mask = missing.is_mask && (options.result || missing.all_channels);
  if (!missing.has_result()) return missing;
  const double requested = options.result   ? *options.result
                           : from_secondary ? *from_secondary
                           : missing.value  ? *missing.value
                                            : value_of_all(source, options);
  const std::optional<double> representable = value_as(requested, result);
  if (!representable)
    throw InvalidArgument(
        fmt::format("missing pixels are to be {}, and the result's pixels of {} have no such value; set "
                    "MissingOptions::result to one that they have",
                    requested, name_of(result)));
  missing.result = *representable;
  return missing;
}

MissingPixels missing_pixels(const Reader& source, const Chain& chain, const MissingOptions& options,
                             const SinkLayout& sink) {
  MissingPixels missing = missing_pixels(source, chain, options);
  missing.stored = sink.stored;
  missing.stores_alpha = !sink.alpha_becomes_mask;
  return missing;
}

OpenOptions open_options(OpenOptions open, const MissingOptions& missing) {
  open.masks = open.masks && !missing.none;
  open.nodata_of_all = missing.all_channels;
  open.nodata = missing.all_channels ? missing.value : std::nullopt;
  return open;
}

MissingPixels MissingPixels::of_result() const {
  MissingPixels missing{.result = result,
                        .alpha = alpha,
                        .multiplied = multiplied,
                        .is_mask = is_mask,
                        .replaces_mask = replaces_mask,
                        .rule = rule,
                        .opaque = opaque_in_result,
                        .opaque_in_result = opaque_in_result,
                        .rule_reason = rule_reason,
                        .stores_alpha = stores_alpha};
  missing.all_channels = all_channels;
  if (has_result() && !all_channels) missing.value = result;
  return missing;
}

std::vector<std::string> missing_pixel_notes(const MissingPixels& missing, const Chain& nodata_chain) {
  if (missing.none()) return {};
  if (missing.weighs()) return alpha_weight_notes(missing, nodata_chain);
  const std::string which =
      missing.alpha
          ? fmt::format("that alpha (channel {}) hides{}", *missing.alpha,
                        missing.value ? fmt::format(", and elements of value {},", *missing.value) : "")
      : missing.from_secondary ? "that a second image lacks, and NaN,"
                               : fmt::format("of value {}", *missing.value);
  if (!nodata_chain.computes()) return {fmt::format("missing pixels are those {}, and only moved", which)};
  std::vector<std::string> notes{fmt::format("pixels {} are missing: {}", which, nodata_chain.text())};
  if (missing.is_mask)
    notes.push_back(
        missing.replaces_mask
            ? fmt::format("what the mask hides is {} in the result, which has no mask", missing.result)
            : "the mask of the result hides what is missing");
  else if (missing.alpha)
    notes.emplace_back(
        "alpha of the result is 0 where a pixel is missing; elsewhere means are made of it, and other stages "
        "leave it as it is");
  if (missing.alpha && !missing.is_mask)
    notes.push_back(
        fmt::format("alpha is a mask and no weight, because {}; MissingOptions::alpha_rule overrides this",
                    missing.rule_reason));
  if (missing.has_result() && !std::isnan(missing.result) && !missing.all_channels)
    notes.push_back(
        fmt::format("missing pixels of the result are {}; a value that would be stored so is stored as the "
                    "next one",
                    missing.result));
  for (const StagePtr& stage : nodata_chain.stages()) {
    if (stage->properties().product == Product::none) continue;
    notes.emplace_back("a product with a matrix is missing wherever one of its terms is");
    break;
  }
  return notes;
}

}  // namespace sepconv
