#include "pipeline/job/display_range.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "io/full_scale.hpp"
#include "pipeline/stages/stages.hpp"

namespace sepconv {
namespace {

struct Range {
  double low = 0, high = 1;
};

/// Range of elements with fewer bits than their pixels; of bool 0 to 1.
std::optional<Range> range_of_few_bits(const Reader& source) {
  const auto& colours = source.metadata().colours;
  if (colours && !is_plain(*colours)) return std::nullopt;  // colour indices
  const std::optional<SampleType>& stored = source.layout().stored;
  if (!stored) return std::nullopt;
  if (stored->kind != SampleType::Kind::boolean && !stored->is_packed()) return std::nullopt;
  return Range{0, full_scale(*stored)};
}

/// The full range of a result's elements: 0 to the maximum.
Range whole_range(const Chain& chain, const Reader& source, PixelType result) {
  const std::optional<SampleType> stored = stored_type_of(chain, source);
  if (!stored || stored->is_complex() || stored->kind == SampleType::Kind::floating)
    return {0, full_scale(result)};
  return {0, std::exp2(stored->bits - (stored->kind == SampleType::Kind::integer ? 1 : 0)) - 1};
}

/// Maximum value that the chain can produce and its type can represent.
double max_result_value(const Chain& chain, const Reader& source, PixelType result) {
  ValueRange range = range_of(source.layout().stored.value_or(SampleType(source.spec().type)));
  for (const StagePtr& stage : chain.stages()) range = stage->result_range(range);
  const double bound = is_floating(result) ? range.high : std::min(range.high, full_scale(result));
  return bound > 0 && std::isfinite(bound) ? bound : full_scale(result);
}

/// Whether the chain itself sets the range of its result.
bool sets_range(const Chain& chain) {
  return std::ranges::any_of(chain.stages(), [](const StagePtr& stage) {
    const PrimitiveTraits& traits = stage->traits();
    const StageProperties& properties = stage->properties();
    using Kind = PointwiseOp::Kind;
    return properties.casts || (traits.pointwise && (traits.pointwise->kind == Kind::scale ||
                                                     traits.pointwise->kind == Kind::threshold));
  });
}

bool is_stretch(const StagePtr& stage) { return stage->text().starts_with("stretch:"); }

/// Whether a stage inverts, as stretch:low=255,high=0 and scale:factor=-1 do.
bool inverts_itself(const Chain& chain) {
  return std::ranges::any_of(chain.stages(), [](const StagePtr& stage) {
    const std::optional<PointwiseOp>& op = stage->traits().pointwise;
    return op && op->kind == PointwiseOp::Kind::scale && op->p < 0;
  });
}

/// False for scientific data: georeferenced images and images described by OME-XML.
bool is_plain(const Metadata& metadata) { return metadata.geo_tags.empty() && !is_ome(metadata.description); }

}  // namespace

DisplayChain display_chain(const Chain& chain, const Reader& source, const DisplayFormat& format,
                           const OutputOptions& request) {
  const Seen seen = format.seen;
  DisplayChain shown{.chain = chain};
  const ImageSpec result = chain.result_spec(source.spec());
  const bool is_set = sets_range(chain);
  const bool is_white_zero = seen == Seen::as_picture && result.channels == 1 &&
                             source.metadata().photometric == Photometric::min_is_white;
  const bool ends_stretched = !chain.empty() && is_stretch(chain.stages().back());
  const bool inverts = is_white_zero && !is_set;
  const bool narrows = request.to_8bit && (result.type != PixelType::u8 || request.range_of_8bit) &&
                       !(ends_stretched && result.type == PixelType::u8);
  std::optional<Range> low_bit_range = is_set ? std::nullopt : range_of_few_bits(source);
  if (seen == Seen::as_data || (seen == Seen::as_either && (low_bit_range && low_bit_range->high > 127.5)))
    low_bit_range.reset();
  const std::optional<SampleType>& stored = source.layout().stored;
  const bool is_array =
      stored && stored->kind == SampleType::Kind::boolean;  // TIFFs of single bits are packed
  if (seen == Seen::as_either && (is_array || !is_plain(source.metadata()))) low_bit_range.reset();
  shown.is_min_black = is_white_zero;
  shown.is_8bit = request.to_8bit;
  if (is_white_zero && is_set && !inverts_itself(chain))
    shown.warnings.push_back(fmt::format(
        "0 is white in the source, and black in the result: values are as the chain makes them; the stage "
        "stretch:low={},high=0,type={} at the end inverts them",
        max_result_value(chain, source, result.type),
        name_of(narrows || format.is_u8_only ? PixelType::u8 : result.type)));
  const bool has_inks = seen == Seen::as_picture && source.metadata().photometric == Photometric::cmyk;
  const bool only_averages = std::ranges::all_of(chain.stages(), [](const StagePtr& stage) {
    return stage->properties().is_average || stage->traits().is_permutation();
  });
  if (has_inks && !only_averages)
    shown.warnings.emplace_back(
        "the chain computes on inks (CMYK), which are dark where they are large, before they become RGB; "
        "write the picture first, and filter that, to compute on RGB");
  if (!low_bit_range && !narrows && !inverts) return shown;
  Range range = low_bit_range ? *low_bit_range : whole_range(chain, source, result.type);
  if (narrows && request.range_of_8bit) range = {request.range_of_8bit->first, request.range_of_8bit->second};
  const PixelType type = narrows || (low_bit_range && format.is_u8_only) ? PixelType::u8 : result.type;
  if (low_bit_range && !narrows)
    shown.warnings.push_back(
        fmt::format("values from 0 to {:g} are shown as 0 to {:g}; the stage cast:type={} at the end leaves "
                    "them as they are",
                    range.high, full_scale(type), name_of(type)));
  if (narrows)
    shown.warnings.push_back(fmt::format("values from {:g} to {:g} become 0 to 255", range.low, range.high));
  if (inverts)
    shown.warnings.emplace_back("0 is white in the source, and black in the result: values are inverted");
  if (inverts) std::swap(range.low, range.high);
  shown.chain.then(stretch({.low = range.low, .high = range.high, .type = type}));
  return shown;
}

std::pair<double, double> parse_value_range(std::string_view text) {
  std::pair<double, double> range{};
  const char* const end = text.data() + text.size();
  const auto low = std::from_chars(text.data(), end, range.first);
  const bool has_colon = low.ec == std::errc() && low.ptr != end && *low.ptr == ':';
  const auto high = has_colon ? std::from_chars(low.ptr + 1, end, range.second) : low;
  const bool is_range = has_colon && high.ec == std::errc() && high.ptr == end &&
                        std::isfinite(range.first) && std::isfinite(range.second) &&
                        range.first != range.second;
  if (!is_range)
    throw InvalidArgument(fmt::format(
        "'{}' is not a range of values; give those that become 0 and 255, like 0:4095", printable(text)));
  return range;
}

DisplayFormat display_format_of(const std::filesystem::path& path, Formats formats) {
  const Format* const format = format_of_name(path, formats);
  return format == nullptr ? DisplayFormat{} : DisplayFormat{format->seen, format->is_u8_only};
}

void apply_display_chain(const DisplayChain& shown, CreateOptions& options) {
  options.warnings.insert(options.warnings.end(), shown.warnings.begin(), shown.warnings.end());
  if (shown.is_min_black) options.metadata.photometric = Photometric::min_is_black;
  if (shown.is_8bit) options.background_without_alpha = Background{};
}

Chain shown_in_preview(const Chain& chain, const Reader& source) {
  const PixelType result = chain.result_spec(source.spec()).type;
  const std::optional<Range> low_bit_range = range_of_few_bits(source);
  if (!low_bit_range || sets_range(chain) || result != PixelType::u8) return chain;
  return chain | stretch({.low = 0, .high = low_bit_range->high, .type = result});
}

}  // namespace sepconv
