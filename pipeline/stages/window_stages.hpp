// Stages of window statistics: mean, standard deviation, minimum and maximum of a rectangle or disk. Part of
// stages.hpp, which includes this.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/conv/border.hpp"
#include "kernels/sliding_window/window.hpp"
#include "pipeline/chain/chain.hpp"
#include "pipeline/stages/nodata_policy.hpp"

namespace sepconv {

struct BoxOptions {
  std::int64_t radius = 1;
  std::optional<std::int64_t> radius_y{};
  std::optional<std::int64_t> radius_z{};  ///< here and below: omitted: each plane of a stack separately
  Border border{};
  std::optional<MissingPolicy> nodata{};
  static StageEntry entry();
};
StagePtr box(const BoxOptions& options = {});

/// Options of minimum and maximum filters and of stages derived from them.
template <class Name>
struct MorphologyOptions {
  std::int64_t radius = 1;
  std::optional<std::int64_t> radius_y{};
  std::optional<std::int64_t> radius_z{};
  Border border{};
  std::optional<MissingPolicy> nodata{};
  Window::Shape shape = Window::Shape::box;  ///< a disk requires radii up to kMaxDiskRadius
  static StageEntry entry();
};
using ErodeOptions = MorphologyOptions<struct ErodeName>;
using DilateOptions = MorphologyOptions<struct DilateName>;
using OpeningOptions = MorphologyOptions<struct OpeningName>;
using ClosingOptions = MorphologyOptions<struct ClosingName>;
using TophatOptions = MorphologyOptions<struct TophatName>;
using BlackhatOptions = MorphologyOptions<struct BlackhatName>;
using LocalRangeOptions = MorphologyOptions<struct LocalRangeName>;
template <>
StageEntry ErodeOptions::entry();
template <>
StageEntry DilateOptions::entry();
template <>
StageEntry OpeningOptions::entry();
template <>
StageEntry ClosingOptions::entry();
template <>
StageEntry TophatOptions::entry();
template <>
StageEntry BlackhatOptions::entry();
template <>
StageEntry LocalRangeOptions::entry();
StagePtr erode(const ErodeOptions& options = {});
StagePtr dilate(const DilateOptions& options = {});
StagePtr opening(const OpeningOptions& options = {});
StagePtr closing(const ClosingOptions& options = {});
StagePtr tophat(const TophatOptions& options = {});
StagePtr blackhat(const BlackhatOptions& options = {});
/// Maximum minus minimum: the morphological gradient.
StagePtr local_range(const LocalRangeOptions& options = {});

struct StddevOptions {
  std::int64_t radius = 1;
  std::optional<std::int64_t> radius_y{};
  std::optional<std::int64_t> radius_z{};
  Border border{};
  std::optional<MissingPolicy> nodata{};
  static StageEntry entry();
};
StagePtr stddev(const StddevOptions& options = {});

/// Local contrast: (pixel - mean) / standard deviation.
struct LocalNormalizeOptions {
  std::int64_t radius = 1;
  std::optional<std::int64_t> radius_y{};
  std::optional<std::int64_t> radius_z{};
  double min_std = 0;  ///< lower bound of the standard deviation
  Border border{};
  std::optional<MissingPolicy> nodata{};
  static StageEntry entry();
};
StagePtr local_normalize(const LocalNormalizeOptions& options = {});

}  // namespace sepconv
