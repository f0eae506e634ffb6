// Stages of kernels and local features: any kernel, Hessian, structure tensor, tubeness, guided filter. Part of stages.hpp, which
// includes this.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kernels/conv/border.hpp"
#include "pipeline/chain/chain.hpp"
#include "pipeline/stages/nodata_policy.hpp"

namespace sepconv {

/// Correlation with any kernel of two dimensions, of odd sides.
struct CorrelateOptions {
  std::string kernel{};  ///< "[[1,2,1],[2,4,2],[1,2,1]]"; this or `file` is needed
  std::filesystem::path file{};
  /// Maximum number of separable kernels, whose sum differs by at most `tolerance`; omitted: exact.
  std::optional<std::int64_t> terms{};
  double tolerance = 1e-6;
  Border border{};
  bool flip = false;
  std::optional<MissingPolicy> nodata{};
  static StageEntry entry();
};
StagePtr correlate(const CorrelateOptions& options);

/// An element of a symmetric 2 x 2 matrix.
enum class TensorElement : std::uint8_t { xx, xy, yy };

/// The matrix of second derivatives of the blurred image. One of `eigenvalue`, `element` and `determinant` is
/// needed.
struct HessianOptions {
  std::optional<double> sigma{};  ///< needed
  std::optional<double> sigma_y{};
  double truncate = 4;
  std::optional<std::int64_t> radius{};
  std::optional<std::int64_t> radius_y{};
  std::optional<std::int64_t> eigenvalue{};  ///< here and below: 1: the larger one, 2: the smaller one
  std::optional<TensorElement> element{};
  bool determinant = false;
  Border border{};
  bool flip = false;
  std::optional<MissingPolicy> nodata{};
  static StageEntry entry();
};
StagePtr hessian(const HessianOptions& options);

/// The products of the Sobel derivatives, blurred. One of `eigenvalue`, `element` and `coherence` is needed.
struct StructureTensorOptions {
  std::optional<double> sigma{};  ///< needed
  std::optional<double> sigma_y{};
  double truncate = 4;
  std::optional<std::int64_t> radius{};
  std::optional<std::int64_t> radius_y{};
  std::optional<std::int64_t> eigenvalue{};
  std::optional<TensorElement> element{};
  bool coherence = false;  ///< ((l1 - l2) / (l1 + l2))^2 of the eigenvalues; 0 where both are 0
  Border border{};
  bool flip = false;
  std::optional<MissingPolicy> nodata{};
  static StageEntry entry();
};
StagePtr structure_tensor(const StructureTensorOptions& options);

/// Tubeness of Sato et al. (1998) in two dimensions: the largest of sigma^2 max(0, l) over the scales, l being
/// the eigenvalue of the Hessian across the ridge.
struct SatoOptions {
  enum class Ridges : std::uint8_t { bright, dark };
  std::vector<double> sigmas{};  ///< needed
  double truncate = 8;  ///< with 4 the taps do not sum to 0 well enough: flat images would have ridges
  Ridges ridges = Ridges::bright;
  Border border{};
  bool flip = false;
  std::optional<MissingPolicy> nodata{};
  static StageEntry entry();
};
StagePtr sato(const SatoOptions& options);

/// The guided filter of He et al. (2013), guided by the image itself: smooth where the variance of the window
/// is below eps, unchanged where it is above.
struct GuidedOptions {
  std::int64_t radius = 4;
  std::optional<std::int64_t> radius_y{};
  std::optional<double> eps{};  ///< needed, in squared pixel values
  Border border{};
  std::optional<MissingPolicy> nodata{};
  static StageEntry entry();
};
StagePtr guided(const GuidedOptions& options);

}  // namespace sepconv
