// Missing pixels of a source, the chain that handles them, and their value in the result. Which pixels are
// missing is decided by missing_pixels() (pipeline/job/missing_pixels.hpp).
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/reader.hpp"
#include "io/writer.hpp"
#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// Role of alpha for the other channels.
enum class AlphaRule : std::uint8_t {
  weight,  ///< colours are averaged weighted by alpha, and alpha is averaged with them, as in pictures
  mask,    ///< pixels with alpha 0 are missing; all others have full weight
};

/// "weight" or "mask".
std::string_view name_of(AlphaRule rule) noexcept;
std::optional<AlphaRule> alpha_rule_named(std::string_view name) noexcept;

/// Options of the caller; unset ones follow from the source.
struct MissingOptions {
  /// No pixel is missing, regardless of the source's metadata: plain arithmetic.
  bool none = false;
  /// Pixels of this value are missing, regardless of the source's metadata. NaN: pixels that are NaN.
  std::optional<double> value{};
  /// Value of missing pixels in the result; default: their value in the source.
  std::optional<double> result{};
  /// Index of the alpha channel, from 0; default: the one that the source declares.
  std::optional<std::int64_t> alpha{};
  /// A pixel is missing only if all its channels except alpha have the nodata value, as with GDAL's
  /// UNIFIED_SRC_NODATA; otherwise each element counts alone. The source must be opened with open_options().
  bool all_channels = false;
  /// Default: mask in files with a georeference or nodata value, in TIFFs whose alpha is a mask page, and if
  /// an averaging stage has the key `nodata`; otherwise weight.
  std::optional<AlphaRule> alpha_rule{};
  friend bool operator==(const MissingOptions&, const MissingOptions&) = default;
};

struct MissingPixels {
  std::optional<double> value{};        ///< nodata value in the source, converted to its type
  double result = 0;                    ///< value in the result, converted to its type
  std::optional<std::int64_t> alpha{};  ///< channel that hides pixels where it is 0, in the result too
  bool multiplied = false;              ///< the other channels are premultiplied by alpha
  /// Alpha is Metadata::mask_channel: the last channel of every stage's result.
  bool is_mask = false;
  /// Pixels that the mask hides become `result`, and the result has no mask. Otherwise `result` applies only
  /// to `value`.
  bool replaces_mask = false;
  bool all_channels = false;         ///< as MissingOptions::all_channels
  AlphaRule rule = AlphaRule::mask;  ///< role of alpha; with a weight no pixel is missing
  double opaque = 1;                 ///< full-scale alpha of the source's elements
  double opaque_in_result = 1;       ///< the same of the result's elements
  std::string rule_reason{};         ///< reason for `rule`
  /// Only pixels that are missing in a stage's second image, and NaN, are missing.
  bool from_secondary = false;
  /// The stored sample type of the result if it is not a pixel type, and whether alpha is stored.
  std::optional<SampleType> stored{};
  bool stores_alpha = true;
  std::string ignored_reason{};  ///< why the source's declaration of missing pixels is ignored

  bool none() const noexcept { return !value && !alpha; }
  bool weighs() const noexcept { return alpha && rule == AlphaRule::weight; }
  /// Whether rounding to the stored type could turn a valid value into `result`, or its alpha into 0.
  bool rounding_may_collide() const;
  /// Whether missing pixels become `result` in the result.
  bool has_result() const noexcept { return value || replaces_mask; }
  /// The missing pixels of the result.
  MissingPixels of_result() const;
  /// These, stored as the sink stores its pixels: sets `stored` and `stores_alpha`.
  MissingPixels stored_in(const SinkLayout& sink) const;
};

/// The chain that handles missing pixels: they become NaN, every stage propagates them, and NaN is stored as
/// `missing.result`; valid values equal to it are stored as the next value. An alpha mask of 0 is handled
/// likewise: averaging stages average it, others leave it unchanged. For a weight see weight_by_alpha().
/// Returns `chain` itself if no pixels are missing or pixels are only moved. Also for apply() and
/// DeviceFilter. Throws InvalidArgument if Arithmetic::f32 cannot distinguish the values.
Chain apply_nodata_policy(const MissingPixels& missing, const Chain& chain, const ImageSpec& source,
                          std::optional<Arithmetic> asked = std::nullopt);

/// Whether two nodata values are equal, or both NaN.
inline bool is_same_nodata(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Sets missing pixels of a floating image to NaN.
void mark_missing(const MissingPixels& missing, const PixelView& pixels, Arithmetic arithmetic);

/// Throws InvalidArgument if `missing.stored` cannot represent the value of missing pixels, or if rounding
/// could turn a valid value into it or alpha into 0. Integers of up to 32 bits are safe: results are rounded
/// before the comparison.
void check_stored(const MissingPixels& missing, const Chain& chain);

}  // namespace sepconv
