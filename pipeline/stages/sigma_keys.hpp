// Keys shared by stages: sigma, radius and truncate along each axis. Private to pipeline/stages.
#pragma once

#include <fmt/format.h>

#include "kernels/conv/conv.hpp"
#include "kernels/conv/taps.hpp"
#include "pipeline/stages/filter_stage.hpp"
#include "pipeline/stages/keys.hpp"

namespace sepconv {

/// The width of a blur along both axes.
struct GaussianWidth {
  double sigma_x, sigma_y;
  std::int64_t radius_x, radius_y;

  /// Taps for derivatives of these orders.
  SeparableTaps taps(std::int64_t order_x = 0, std::int64_t order_y = 0) const {
    return {gaussian_taps(sigma_x, radius_x, static_cast<int>(order_x)),
            gaussian_taps(sigma_y, radius_y, static_cast<int>(order_y))};
  }
};

inline Key length_key(std::string_view name, KeyValue value, std::string_view words, KeyRange range,
                      bool needed = false, std::string_view only_with = "") {
  return {.name = name,
          .value = std::move(value),
          .words = words,
          .unit = "pixels",
          .range = range,
          .needed = needed,
          .only_with = only_with};
}

/// The keys radius and radius_y.
template <class Options>
Keys radius_keys(Options& options, std::int64_t max_radius,
                 std::string_view words = "pixels on each side of the center",
                 std::string_view only_with = "") {
  const KeyRange range = between(0, static_cast<double>(max_radius));
  return {length_key("radius", &options.radius, words, range, false, only_with),
          length_key("radius_y", &options.radius_y, "radius along y; default: as along x", range, false,
                     only_with)};
}

inline constexpr std::string_view kEachPlaneSeparately =
    "radius along z of a stack; default: each plane by itself";

inline Key radius_z_key(std::optional<std::int64_t>& radius_z, std::string_view words,
                        std::string_view only_with = "", std::int64_t max_radius = kMaxRadius) {
  return length_key("radius_z", &radius_z, words, between(0, static_cast<double>(max_radius)), false,
                    only_with);
}

/// The keys of window filters: radius, radius_y, border, value, missing.
template <class Options>
Keys window_keys(Options& options, MissingSupport support = MissingSupport::all) {
  return joined(
      {radius_keys(options, kMaxRadius), border_keys(options.border), {nodata_key(options.nodata, support)}});
}

inline Key truncate_key(double& truncate, std::string_view only_with = "", std::string_view not_with = "") {
  return {.name = "truncate",
          .value = &truncate,
          .words = "the radius in standard deviations: int(truncate * sigma + 0.5)",
          .unit = "sigmas",
          .range = at_least(0),
          .only_with = only_with,
          .not_with = not_with};
}

/// The keys sigma, sigma_y, truncate, radius, radius_y.
template <class Options>
Keys width_keys(Options& options, std::string_view only_with = "", const KeyRange& range = at_least(0)) {
  return joined(
      {{length_key("sigma", &options.sigma,
                   range.excludes_min ? "standard deviation" : "standard deviation; 0 leaves the axis alone",
                   range, true, only_with),
        length_key("sigma_y", &options.sigma_y, "standard deviation along y; default: as along x", range,
                   false, only_with),
        truncate_key(options.truncate, only_with, "radius")},
       radius_keys(options, kMaxRadius, "pixels on each side of the center; default: from truncate",
                   only_with)});
}

/// `radius` if given, else the radius by truncate. Throws InvalidArgument for `key`, with `remedy`, if it is too
/// large.
inline std::int64_t gaussian_radius_of(const StageArguments& stage_args, std::string_view key, double sigma,
                                       double truncate, std::optional<std::int64_t> radius,
                                       std::string_view remedy = "take a smaller sigma or give radius") {
  if (radius) return *radius;
  if (truncate * sigma + 0.5 > static_cast<double>(kMaxRadius)) {
    stage_args.refuse(key, fmt::format("the radius would exceed {}; {}", kMaxRadius, remedy));
  }
  return gaussian_radius(sigma, truncate);
}

/// The keys sigma_z and radius_z.
template <class Options>
Keys depth_keys(Options& options, const KeyRange& range = at_least(0)) {
  return {length_key("sigma_z", &options.sigma_z,
                     "standard deviation along z of a stack; default: each plane by itself", range),
          radius_z_key(options.radius_z, "radius along z; default: from truncate", "sigma_z")};
}

/// Gaussian taps along z for `sigma`, which was given as `key`.
template <class Options>
std::vector<double> taps_along_z(const Options& options, const StageArguments& stage_args,
                                 std::string_view key, double sigma, std::int64_t order = 0) {
  const std::int64_t radius = gaussian_radius_of(stage_args, key, sigma, options.truncate, options.radius_z);
  return gaussian_taps(sigma, radius, static_cast<int>(order));
}

/// The width for `sigma` and `sigma_y`, which were given as `key` and `key`_y, and the other options.
template <class Options>
GaussianWidth width_of(const Options& options, const StageArguments& stage_args, double sigma,
                       std::optional<double> sigma_y, const std::string& key = "sigma") {
  const double y = sigma_y.value_or(sigma);
  return {sigma, y, gaussian_radius_of(stage_args, key, sigma, options.truncate, options.radius),
          gaussian_radius_of(stage_args, sigma_y ? key + "_y" : key, y, options.truncate,
                             options.radius_y ? options.radius_y : options.radius)};
}
template <class Options>
GaussianWidth width_of(const Options& options, const StageArguments& stage_args) {
  return width_of(options, stage_args, *options.sigma, options.sigma_y);
}

}  // namespace sepconv
