// Missing pixels of a source: which they are, and what stands for them in the result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/formats.hpp"
#include "io/reader.hpp"
#include "io/writer.hpp"
#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// What alpha is to the other channels.
enum class AlphaRule : std::uint8_t {
  weight,  ///< colours are averaged by it, and it with them, as pictures have it
  mask,    ///< pixels where it is 0 are missing; all others count whole
};

/// "weight", "mask".
std::string_view name_of(AlphaRule rule) noexcept;
std::optional<AlphaRule> alpha_rule_named(std::string_view name) noexcept;

/// What the caller decides; what is left open is the source's.
struct MissingOptions {
  /// No pixel is missing, whatever the source declares: plain arithmetic.
  bool none = false;
  /// Pixels of this value are missing, whatever the source declares; of NaN, those that are NaN.
  std::optional<double> value{};
  /// What missing pixels are in the result; what they are in the source where it is left out.
  std::optional<double> result{};
  /// The channel, from 0, that is alpha; what the source declares to be alpha where it is left out.
  std::optional<std::int64_t> alpha{};
  /// Only pixels are missing of whose channels all but alpha have the nodata value, as with GDAL's
  /// UNIFIED_SRC_NODATA; else each element that has it. Of a source that was opened so, by open_options().
  bool all_channels = false;
  /// Where it is left out: a mask in files with georeference or nodata value, in TIFFs whose alpha is a page
  /// that is a mask, and where a stage of means has the key `missing`; else a weight.
  std::optional<AlphaRule> alpha_rule{};
  friend bool operator==(const MissingOptions&, const MissingOptions&) = default;
};

/// What a source is to be opened with, besides what else is asked of it.
OpenOptions open_options(OpenOptions open, const MissingOptions& missing);

struct MissingPixels {
  std::optional<double> value{};        ///< in the source, as its type has it
  double result = 0;                    ///< what it is in the result, as its type has it
  std::optional<std::int64_t> alpha{};  ///< the channel that hides pixels where it is 0, in the result too
  bool multiplied = false;              ///< the others are multiplied by alpha
  /// Alpha is Metadata::mask_channel: the last channel of all that stages make.
  bool is_mask = false;
  /// For what a mask hides: it is `result` in the result, which has no mask; else `result` is only for
  /// `value`.
  bool by_value = false;
  bool all_channels = false;         ///< so it is if all channels of a pixel are that
  AlphaRule rule = AlphaRule::mask;  ///< of alpha; a weight leaves nothing missing
  double opaque = 1;                 ///< alpha that hides nothing behind it, as the source's elements have it
  double opaque_in_result = 1;       ///< and as the result's do
  std::string because{};             ///< why it is this rule
  /// None by a value of the source: those of a stage's second image are, and NaN.
  bool of_secondary = false;
  /// The result's elements where they are not of a pixel type, and whether alpha is one of them.
  std::optional<SampleType> stored{};
  bool stores_alpha = true;
  std::string why{};  ///< of a source that declares missing pixels: why what it declares is not honoured

  bool none() const noexcept { return !value && !alpha; }
  bool weighs() const noexcept { return alpha && rule == AlphaRule::weight; }
  /// Whether a value that is there could become `result`, or its alpha 0, when it is rounded to be stored.
  bool can_become() const;
  /// `value`, or what a mask hides, is `result` in the result.
  bool has_result() const noexcept { return value || by_value; }
  /// Those of the result.
  MissingPixels of_result() const;
};

/// By the options, else by the source's metadata. A declared value that the source's type cannot hold means
/// that nothing is missing by it; alpha is honoured unless the chain mixes channels. Throws InvalidArgument
/// where the result's type cannot hold what they are to be stored as, and for options that go with nothing.
MissingPixels missing_pixels(const Reader& source, const Chain& chain, const MissingOptions& options);
/// The same for honouring() and check_stored().
MissingPixels missing_pixels(const Reader& source, const Chain& chain, const MissingOptions& options,
                             const SinkLayout& sink);

/// The chain that does so: missing pixels become NaN, every stage honours them, and NaN is stored as
/// `missing.result`, and what else would be stored as that as the next value; and so with 0 of alpha, of
/// which means are made, and which other stages leave as it was. Where alpha is a weight: weight_by_alpha().
/// The chain itself where none are missing, or where they are only moved. For apply() and DeviceFilter, too.
/// Throws InvalidArgument for Arithmetic::f32 where it is not enough to tell values apart.
Chain apply_nodata_policy(const MissingPixels& missing, const Chain& chain, const ImageSpec& source,
                          std::optional<Arithmetic> asked = std::nullopt);

/// Makes missing pixels of a floating image NaN.
void mark_missing(const MissingPixels& missing, const PixelView& pixels, Arithmetic arithmetic);

/// Throws InvalidArgument where `missing.stored` cannot hold what missing pixels are stored as, or where a
/// value that is there could become it, or alpha 0: of integers of up to 32 bits what is computed is rounded
/// before.
void check_stored(const MissingPixels& missing, const Chain& chain);

/// What a plan says of it.
std::vector<std::string> notes_of(const MissingPixels& missing, const Chain& apply_nodata_policy);

/// Makes the nodata value true of a result. What falls is added to `lost`, a sentence.
void declare(const MissingPixels& missing, Work work, Metadata& metadata, std::vector<std::string>& lost);

}  // namespace sepconv
