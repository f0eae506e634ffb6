#include "pipeline/job/missing_pixels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/error.hpp"
#include "core/view_check.hpp"
#include "io/full_scale.hpp"
#include "io/nodata.hpp"
#include "pipeline/stages/alpha_weighting.hpp"

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
        "with MissingOptions::none no pixel is missing, so MissingOptions::value, MissingOptions::all_channels, "
        "MissingOptions::alpha_rule, MissingOptions::result and a channel of alpha have no meaning; leave them "
        "out");
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

constexpr std::string_view kAlphaIgnored =
    "alpha is ignored: colours of transparent pixels bleed into their neighbours";

/// Whether the stage mixes the alpha channel with others, or mixes whole rows or columns of positions, so
/// that it no longer describes single pixels.
bool mixes(const StagePtr& stage) {
  return stage->properties().mixes_channels || stage->properties().product != Product::none;
}

/// Whether the chain mixes the channel that Chain::with_mask_channel() adds. A product of NaN is NaN in all
/// channels, so products do not mix it.
bool mixes_mask(const Chain& chain) {
  return std::ranges::any_of(chain.stages(), [](const StagePtr& stage) {
    return stage->properties().mixes_channels && !stage->properties().keeps_last_channel;
  });
}

bool mixes_alpha(const Chain& chain, const ImageSpec& source) {
  return std::ranges::any_of(chain.stages(), mixes) ||
         std::ranges::any_of(chain.specs(source),
                             [&](const ImageSpec& spec) { return spec.channels != source.channels; });
}

/// Why alpha must be a mask: something else also makes pixels missing. Empty if nothing does.
std::string why_mask(const Chain& chain, const MissingPixels& missing) {
  if (missing.is_mask) return "a mask hides pixels";
  if (missing.from_secondary) return "a second image of the chain has missing pixels";
  if (missing.value) return fmt::format("pixels of value {} are missing, too", *missing.value);
  if (const Stage* const stage = stage_with_fixed_means(chain))
    return fmt::format("'{}' says what becomes of missing pixels", stage->text());
  return {};
}

/// Sets the alpha channel in `missing` if the chain does not mix it with other channels; otherwise appends to
/// `missing.ignored_reason` that alpha is ignored. Throws InvalidArgument for a channel that does not exist.
void find_alpha(const Reader& source, const Chain& chain, const MissingOptions& options,
                MissingPixels& missing) {
  const std::int64_t channels = source.spec().channels;
  const std::optional<std::int64_t> declared =
      alpha_channel(source.metadata(), channels, source.layout().stored);
  const std::optional<std::int64_t> alpha = options.alpha ? options.alpha : declared;
  if (!alpha) {
    if (options.alpha_rule)
      missing.ignored_reason +=
          fmt::format("{}MissingOptions::alpha_rule changes nothing, because no channel is alpha",
                      missing.ignored_reason.empty() ? "" : "; ");
    return;
  }
  if (*alpha < 0 || *alpha >= channels)
    throw InvalidArgument(fmt::format("channel {} cannot be alpha: the image has {}", *alpha, channels));
  const bool is_mask = source.metadata().mask_channel && alpha == channels - 1;
  const bool mixed = is_mask ? mixes_mask(chain) : mixes_alpha(chain, source.spec());
  if (!mixed && !options.none) {
    missing.alpha = alpha;
    missing.is_mask = is_mask;
    missing.multiplied = alpha == declared && alpha_is_associated(source.metadata());
    missing.opaque = full_scale(source.layout().stored.value_or(SampleType(source.spec().type)));
    missing.opaque_in_result = missing.opaque;
    for (const StagePtr& stage : chain.stages())
      missing.opaque_in_result = stage->properties().opaque.value_or(missing.opaque_in_result);
  } else if (chain.work() == Work::neighbours) {
    missing.ignored_reason +=
        fmt::format("{}{}{}", missing.ignored_reason.empty() ? "" : "; ", kAlphaIgnored,
                    options.none ? "" : ", because the chain mixes it with them or over whole sides");
  }
}

/// Sets `missing.rule` and its reason; alpha and missing values must be known. Throws InvalidArgument if
/// alpha is requested as a weight while something else makes pixels missing.
void choose_alpha_rule(const Reader& source, const Chain& chain, const MissingOptions& options,
                       MissingPixels& missing) {
  if (!missing.alpha) return;
  const std::string mask_reason = why_mask(chain, missing);
  if (options.alpha_rule) {
    if (*options.alpha_rule == AlphaRule::weight && !mask_reason.empty())
      throw InvalidArgument(fmt::format(
          "MissingOptions::alpha_rule requests alpha as a weight, but {}; leave one of the two out",
          mask_reason));
    missing.rule = *options.alpha_rule;
    missing.rule_reason = "MissingOptions::alpha_rule says so";
    return;
  }
  const std::string reason = source.layout().has_mask              ? "the file stores it as a mask"
                             : is_georeferenced(source.metadata()) ? "the file has a georeference"
                                                                   : mask_reason;
  missing.rule = reason.empty() ? AlphaRule::weight : AlphaRule::mask;
  missing.rule_reason =
      reason.empty() ? "the image is a picture, without georeference or nodata value" : reason;
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

OpenOptions open_options(OpenOptions open, const MissingOptions& missing) {
  open.masks = open.masks && !missing.none;
  open.nodata_of_all = missing.all_channels;
  open.nodata = missing.all_channels ? missing.value : std::nullopt;
  return open;
}

void declare(const MissingPixels& missing, bool computes, Metadata& metadata,
             std::vector<std::string>& lost) {
  const std::optional<std::string> text = nodata_value(metadata);
  if (!missing.ignored_reason.empty() && computes) lost.push_back(missing.ignored_reason);
  if (missing.has_result()) {
    const std::optional<double> declared = text ? number_of(*text) : std::nullopt;
    if (!declared || !is_same_nodata(*declared, missing.result))
      set_nodata(metadata, fmt::format("{}", missing.result));
  } else if (text && (computes || text->empty())) {
    set_nodata(metadata, std::nullopt);
  }
}

Plan plan(const Reader& source, const Writer& sink, const Chain& chain, const PlanOptions& options) {
  check_image("the source", source.spec());
  chain.check_supports(source);
  return plan(source, sink, chain, missing_pixels(source, chain, options.missing), options);
}

}  // namespace sepconv
