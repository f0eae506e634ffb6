#include "sepconv/pipeline/plan/missing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sepconv/core/error.hpp"
#include "sepconv/io/nodata.hpp"
#include "sepconv/pipeline/stages/alpha_stage.hpp"
#include "sepconv/pipeline/stages/pointwise_stage.hpp"

namespace sepconv {
namespace {

/// The next value of the type, for one that is not missing.
double next_to(double value, PixelType type) {
  return visit_pixel_type(type, [value]<class T>(std::type_identity<T>) {
    const T from = static_cast<T>(value);
    if constexpr (std::is_integral_v<T>) {
      return static_cast<double>(from == std::numeric_limits<T>::max() ? from - 1 : from + 1);
    } else {
      const T up = std::nextafter(from, std::numeric_limits<T>::infinity());
      return static_cast<double>(std::isinf(up) ? std::nextafter(from, -up) : up);
    }
  });
}

/// Integers that are no pixel type, and of which the arithmetic has the halves, too.
bool is_whole(StoredType type) {
  return (type.kind == StoredType::Kind::natural || type.kind == StoredType::Kind::integer) &&
         type.bits <= 32;
}

/// What is computed becomes the whole number, half to even, as which it will be stored, before it is compared
/// with the value of missing pixels. 1.5 * 2^52, or 2^23, has no room for fractions: added and taken off
/// again, it leaves none.
void then_rounded(Chain& chain, StoredType stored, Arithmetic arithmetic) {
  using Kind = PointwiseOp::Kind;
  const double whole = arithmetic == Arithmetic::f32 ? 0x1.8p23 : 0x1.8p52;
  const double least = stored.kind == StoredType::Kind::integer ? -std::exp2(stored.bits - 1) : 0;
  const double most = std::exp2(stored.bits) - 1 + least;
  const auto then = [&](Kind kind, double p, double q) {
    chain.then(pointwise_stage(fmt::format("(whole numbers: {}, {})", p, q), {.kind = kind, .p = p, .q = q}));
  };
  then(Kind::clamp, least, most);
  then(Kind::scale, 1, whole);
  then(Kind::scale, 1, -whole);
}

/// The value that is stored for one that is not missing and would be `missing.result`.
double next_in(const MissingPixels& missing, PixelType type) {
  if (!missing.stored || !is_whole(*missing.stored)) return next_to(missing.result, type);
  return value_as(missing.result + 1, *missing.stored).value_or(missing.result - 1);
}

bool is_same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

AlphaOp hiding(const MissingPixels& missing) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  return {.kind = AlphaOp::Kind::hide, .channel = *missing.alpha, .p = missing.value.value_or(kNone)};
}

AlphaOp storing(const MissingPixels& missing, PixelType result) {
  AlphaOp op{.kind = AlphaOp::Kind::store, .channel = *missing.alpha, .type = result};
  op.r = std::numeric_limits<double>::quiet_NaN();
  if (missing.value) op.p = op.r = missing.result, op.q = next_in(missing, result);
  return op;
}

StagePtr stage_of_alpha(std::string_view what, const AlphaOp& op, std::optional<double> value) {
  return alpha_stage(
      fmt::format("({}: alpha {}{})", what, op.channel, value ? fmt::format(", {}", *value) : ""), op);
}

/// Means of alpha are one; what else a stage makes of it means nothing. Colours that are multiplied by alpha
/// are means of the same pixels as it.
StagePtr honouring_alpha(const StagePtr& stage, std::int64_t alpha, bool multiplied) {
  StagePtr honouring = multiplied ? stage->honouring_missing() : stage->honouring_alpha(alpha);
  if (stage->traits().averages || stage->traits().moves_only) return honouring;
  return stage_of_colours(std::move(honouring), alpha);
}

/// What the source's metadata declare, if its type has such a value.
void take_declared(const Reader& source, MissingPixels& missing) {
  const std::optional<std::string> text = nodata_value(source.metadata());
  if (!text || text->empty()) return;
  const PixelType type = source.spec().type;
  const StoredType stored = source.layout().stored.value_or(StoredType(type));
  missing.value = declared_nodata(source.metadata(), type, stored);
  if (!missing.value)
    missing.why = fmt::format(
        "the nodata value {} is left out: {}", *text,
        number_of(*text) ? fmt::format("{} pixels have no such value, so none are missing", name_of(stored))
                         : "it is no number");
}

std::string_view kAlphaIgnored =
    "colours are computed with as if alpha hid none of them: what is transparent spreads to its neighbours";

/// Of a source that declares nothing: what the first second image does that declares a value. Returns that.
std::optional<double> take_second(const Chain& chain, MissingPixels& missing) {
  for (const StagePtr& stage : chain.stages()) {
    if (!stage->traits().second_nodata) continue;
    missing.value = std::numeric_limits<double>::quiet_NaN();
    missing.of_second = true;
    return stage->traits().second_nodata;
  }
  return std::nullopt;
}

/// With it a channel that says which pixels of the others are there says so no more: it is mixed with them,
/// or whole rows or columns of places are.
bool mixes(const StagePtr& stage) {
  return stage->traits().mixes_channels || stage->traits().product != Product::none;
}

bool mixes_alpha(const Chain& chain, const ImageSpec& source) {
  return std::ranges::any_of(chain.stages(), mixes) ||
         std::ranges::any_of(chain.specs(source),
                             [&](const ImageSpec& spec) { return spec.channels != source.channels; });
}

/// What alpha hides is missing, if each channel is computed for itself.
void take_alpha(const Reader& source, const Chain& chain, const MissingOptions& options,
                MissingPixels& missing) {
  const std::int64_t channels = source.spec().channels;
  const std::optional<std::int64_t> alpha =
      options.alpha ? options.alpha : alpha_channel(source.metadata(), channels, source.layout().stored);
  if (!alpha) return;
  if (*alpha < 0 || *alpha >= channels)
    throw InvalidArgument(fmt::format("channel {} cannot be alpha: the image has {}", *alpha, channels));
  const bool mixed = mixes_alpha(chain, source.spec());
  if (!mixed && !options.none) {
    missing.alpha = alpha;
    missing.multiplied = !options.alpha && alpha_is_associated(source.metadata());
  } else if (chain.work() == Work::neighbours) {
    missing.why +=
        fmt::format("{}{}{}", missing.why.empty() ? "" : "; ", kAlphaIgnored,
                    options.none ? "" : ", because the chain mixes it with them or over whole sides");
  }
}

void check(const MissingOptions& options, const MissingPixels& missing) {
  if (options.none && (options.value || options.result || options.alpha))
    throw InvalidArgument(
        "no pixel is to be missing, so that MissingOptions::value, its alpha and MissingOptions::result go "
        "with nothing; leave them out");
  if (options.result && !missing.value && missing.alpha)
    throw InvalidArgument(fmt::format(
        "MissingOptions::result says what pixels become that are missing by their value, and here only alpha "
        "(channel {}) hides some, whose result is 0 with alpha 0; leave it out, or set MissingOptions::value "
        "too",
        *missing.alpha));
  if (options.result && !missing.value)
    throw InvalidArgument(
        "MissingOptions::result says what missing pixels become, but none are missing; set "
        "MissingOptions::value too");
}

}  // namespace

MissingPixels missing_pixels(const Reader& source, const Chain& chain, const MissingOptions& options,
                             const std::optional<StoredType>& stored) {
  const PixelType result = chain.result_spec(source.spec()).type;
  MissingPixels missing{.stored = stored};
  if (options.value) {
    const PixelType type = source.spec().type;
    missing.value = value_as(*options.value, type);
    if (!missing.value)
      throw InvalidArgument(
          fmt::format("pixels of {} have no value {}, so none of them is missing; set "
                      "MissingOptions::value to one that they have",
                      name_of(type), *options.value));
  } else if (options.none) {
    if (const auto text = nodata_value(source.metadata()); text && !text->empty())
      missing.why = fmt::format(
          "missing pixels (the nodata value {}) are computed with as if they were "
          "values; the result has no nodata value",
          *text);
  } else {
    take_declared(source, missing);
  }
  take_alpha(source, chain, options, missing);
  const std::optional<double> of_second =
      missing.value || options.none ? std::nullopt : take_second(chain, missing);
  check(options, missing);
  if (!missing.value) return missing;
  const double wanted = options.result.value_or(of_second.value_or(*missing.value));
  const std::optional<double> held = value_as(wanted, result);
  if (!held)
    throw InvalidArgument(
        fmt::format("missing pixels are to be {}, and the result's pixels of {} have no such "
                    "value; set MissingOptions::result to one that they have",
                    wanted, name_of(result)));
  missing.result = *held;
  return missing;
}

Chain honouring(const MissingPixels& missing, const Chain& chain, const ImageSpec& source,
                std::optional<Arithmetic> asked) {
  const PixelType result = chain.result_spec(source).type;
  const bool moved = !chain.computes() && (!missing.value || is_same(*missing.value, missing.result));
  if (missing.none() || moved) return chain;
  const bool second_is_wide = std::ranges::any_of(chain.stages(), [](const StagePtr& stage) {
    return stage->traits().second_nodata && stage->traits().needs_f64;
  });
  if (asked == Arithmetic::f32 &&
      (source.type == PixelType::f64 || result == PixelType::f64 || second_is_wide))
    throw InvalidArgument("f32 does not tell the missing pixels of an f64 image from others; compute in f64");
  Chain honouring;
  if (missing.alpha)
    honouring.then(stage_of_alpha("missing", hiding(missing), missing.value));
  else if (!std::isnan(*missing.value))
    honouring.then(pointwise_stage(fmt::format("(missing: {})", *missing.value),
                                   {.kind = PointwiseOp::Kind::mark_missing, .p = *missing.value}));
  for (const StagePtr& stage : chain.stages())
    honouring.then(missing.alpha ? honouring_alpha(stage, *missing.alpha, missing.multiplied)
                                 : stage->honouring_missing());
  if (missing.value && missing.stored && is_whole(*missing.stored))
    then_rounded(honouring, *missing.stored, chain.arithmetic(source, asked));
  if (missing.alpha)
    return honouring.then(stage_of_alpha("missing to", storing(missing, result),
                                         missing.value ? std::optional(missing.result) : std::nullopt));
  return honouring.then(pointwise_stage(fmt::format("(missing to: {})", missing.result),
                                        {.kind = PointwiseOp::Kind::store_missing,
                                         .p = missing.result,
                                         .q = next_in(missing, result),
                                         .type = result}));
}

void mark_missing(const MissingPixels& missing, const PixelView& pixels, Arithmetic arithmetic) {
  if (missing.alpha) return alpha_host(hiding(missing), pixels, pixels, arithmetic);
  pointwise_host({.kind = PointwiseOp::Kind::mark_missing, .p = *missing.value}, pixels, pixels, pixels,
                 arithmetic);
}

MissingPixels MissingPixels::of_result() const {
  MissingPixels missing{.result = result, .alpha = alpha, .multiplied = multiplied};
  if (value) missing.value = result;
  return missing;
}

bool MissingPixels::can_become() const {
  return stored && (alpha || (value && !std::isnan(result) && !is_whole(*stored)));
}

void check_stored(const MissingPixels& missing, const Chain& chain) {
  const std::optional<StoredType>& stored = missing.stored;
  if (missing.none() || !stored || !chain.computes()) return;
  if (missing.value && !value_as(missing.result, *stored))
    throw InvalidArgument(
        fmt::format("missing pixels are to be {}, and the result's elements of {} have no such value; set "
                    "MissingOptions::result to one that they have",
                    missing.result, name_of(*stored)));
  if (!missing.can_become()) return;
  throw InvalidArgument(
      fmt::format("the result is stored as {}, where a value that is rounded could become one that is "
                  "missing; end the chain "
                  "with a cast to {}, or set MissingOptions::none",
                  name_of(*stored), name_of(stored->pixels())));
}

std::vector<std::string> notes_of(const MissingPixels& missing, const Chain& honouring) {
  if (missing.none()) return {};
  const std::string which =
      missing.alpha
          ? fmt::format("that alpha (channel {}) hides{}", *missing.alpha,
                        missing.value ? fmt::format(", and elements of value {},", *missing.value) : "")
      : missing.of_second ? "that a second image lacks, and NaN,"
                          : fmt::format("of value {}", *missing.value);
  if (!honouring.computes()) return {fmt::format("missing pixels are those {}, and only moved", which)};
  std::vector<std::string> notes{fmt::format("pixels {} are missing: {}", which, honouring.text())};
  if (missing.alpha)
    notes.emplace_back(
        "alpha of the result is 0 where a pixel is missing; elsewhere means are made of it, and other stages "
        "leave "
        "it as it is");
  if (missing.value && !std::isnan(missing.result))
    notes.push_back(
        fmt::format("missing pixels of the result are {}; a value that would be stored so is "
                    "stored as the next one",
                    missing.result));
  for (const StagePtr& stage : honouring.stages()) {
    if (stage->traits().product == Product::none) continue;
    notes.emplace_back("a product with a matrix is missing wherever one of its terms is");
    break;
  }
  return notes;
}

void declare(const MissingPixels& missing, Work work, Metadata& metadata, std::vector<std::string>& lost) {
  const std::optional<std::string> text = nodata_value(metadata);
  if (!missing.why.empty() && work != Work::none) lost.push_back(missing.why);
  if (missing.value) {
    const std::optional<double> declared = text ? number_of(*text) : std::nullopt;
    if (!declared || !is_same(*declared, missing.result))
      set_nodata(metadata, fmt::format("{}", missing.result));
  } else if (text && (work != Work::none || text->empty())) {
    set_nodata(metadata, std::nullopt);
  }
}

}  // namespace sepconv
