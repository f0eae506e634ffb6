// Stages that are made of all pixels of a rectangle or a disk alike, whatever its size: their mean and
// deviation, the smallest and the greatest of them. As in stages.hpp, which includes this.
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
  std::optional<std::int64_t> radius_z{};  ///< here and below left out: each plane of a stack by itself
  Border border{};
  std::optional<MissingPolicy> nodata{};
  static StageEntry entry();
};
StagePtr box(const BoxOptions& options = {});

/// The options of the smallest and the largest, and of what is made of them.
template <class Name>
struct MorphologyOptions {
  std::int64_t radius = 1;
  std::optional<std::int64_t> radius_y{};
  std::optional<std::int64_t> radius_z{};
  Border border{};
  std::optional<MissingPolicy> nodata{};
  Window::Shape shape = Window::Shape::box;  ///< of a disk as far as the radii are up to kMaxDiskRadius
  static StageEntry entry();
};
using ErodeOptions = MorphologyOptions<struct ErodeName>;
using DilateOptions = MorphologyOptions<struct DilateName>;
using OpeningOptions = MorphologyOptions<struct OpeningName>;
using ClosingOptions = MorphologyOptions<struct ClosingName>;
using TophatOptions = MorphologyOptions<struct TophatName>;
using BlackhatOptions = MorphologyOptions<struct BlackhatName>;
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
StagePtr erode(const ErodeOptions& options = {});
StagePtr dilate(const DilateOptions& options = {});
StagePtr opening(const OpeningOptions& options = {});
StagePtr closing(const ClosingOptions& options = {});
StagePtr tophat(const TophatOptions& options = {});
StagePtr blackhat(const BlackhatOptions& options = {});

struct StddevOptions {
  std::int64_t radius = 1;
  std::optional<std::int64_t> radius_y{};
  std::optional<std::int64_t> radius_z{};
  Border border{};
  std::optional<MissingPolicy> nodata{};
  static StageEntry entry();
};
StagePtr stddev(const StddevOptions& options = {});

/// Local contrast.
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
