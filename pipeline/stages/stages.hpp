// Functions that create stages from options; operator| concatenates them to a chain.
//
//   const sepconv::Chain chain = sepconv::gaussian({.sigma = 2.5}) | sepconv::sobel({.axis =
//   sepconv::Axis::x});
//
// The text of the same keys creates the same stage: parse_stage("gaussian:sigma=2.5"). Each function throws
// InvalidArgument for invalid options, with the same message as the parser. Formulae are in docs/maths.md;
// keys are described in the file of each stage and by `sepconv stages NAME`. Lengths are in pixels. x runs
// along rows, y along columns and z from plane to plane of a stack. An omitted option ending in _y has the
// value for x. Options ending in _z require an axis z.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/pixel_type.hpp"
#include "kernels/conv/border.hpp"
#include "pipeline/chain/chain.hpp"
#include "pipeline/stages/feature_stages.hpp"
#include "pipeline/stages/image_arithmetic.hpp"
#include "pipeline/stages/nodata_policy.hpp"
#include "pipeline/stages/window_stages.hpp"

namespace sepconv {

/// x: from column to column. y: from row to row. z: from plane to plane of a stack.
enum class Axis : std::uint8_t { x, y, z };

/// How a blur is computed. multirate: by cells of many pixels, for a standard deviation of 8 to 10000, at a
/// cost that does not depend on it, and to 1e-4 of the Gaussian's taps; docs/maths.md.
enum class GaussianMethod : std::uint8_t { exact, multirate };

struct GaussianOptions {
  std::optional<double> sigma{};  ///< needed
  std::optional<double> sigma_y{};
  double truncate = 4;  ///< in sigmas; used if radius is omitted
  std::optional<std::int64_t> radius{};
  std::optional<std::int64_t> radius_y{};
  std::int64_t order = 0;  ///< of the derivative, 0 to 3
  std::optional<std::int64_t> order_y{};
  std::optional<double> sigma_z{};  ///< omitted: each plane of a stack separately
  std::optional<std::int64_t> radius_z{};
  std::int64_t order_z = 0;
  GaussianMethod method = GaussianMethod::exact;
  Border border{};
  bool flip = false;                      ///< convolution instead of correlation; here and below
  std::optional<MissingPolicy> nodata{};  ///< here and below: default in docs/maths.md
  static StageEntry entry();
};
StagePtr gaussian(const GaussianOptions& options);

struct BinomialOptions {
  std::int64_t radius = 1;  ///< up to 512
  std::optional<std::int64_t> radius_y{};
  std::optional<std::int64_t> radius_z{};
  Border border{};
  bool flip = false;
  std::optional<MissingPolicy> nodata{};
  static StageEntry entry();
};
StagePtr binomial(const BinomialOptions& options = {});

struct SobelOptions {
  Axis axis = Axis::x;
  Border border{};
  bool flip = false;
  std::optional<MissingPolicy> nodata{};
  static StageEntry entry();
};
StagePtr sobel(const SobelOptions& options = {});

struct ScharrOptions {
  Axis axis = Axis::x;
  Border border{};
  bool flip = false;
  std::optional<MissingPolicy> nodata{};
  static StageEntry entry();
};
StagePtr scharr(const ScharrOptions& options = {});

struct DerivativeOptions {
  std::int64_t order = 1;  ///< 1 to 16
  Axis axis = Axis::x;
  std::optional<std::int64_t> radius{};  ///< default (order + 1) / 2
  Border border{};
  bool flip = false;
  std::optional<MissingPolicy> nodata{};
  static StageEntry entry();
};
StagePtr derivative(const DerivativeOptions& options = {});

struct GradientOptions {
  enum class Operator : std::uint8_t { sobel, scharr, gaussian };
  enum class Axes : std::uint8_t { xy, xyz };
  Operator op = Operator::sobel;  ///< the key `operator`
  Axes axes = Axes::xy;
  std::optional<double> sigma{};  ///< this and the next six: for Operator::gaussian only
  std::optional<double> sigma_y{};
  double truncate = 4;
  std::optional<std::int64_t> radius{};
  std::optional<std::int64_t> radius_y{};
  std::optional<double> sigma_z{};  ///< default sigma; this and the next: for Axes::xyz
  std::optional<std::int64_t> radius_z{};
  Border border{};
  bool flip = false;
  std::optional<MissingPolicy> nodata{};
  static StageEntry entry();
};
StagePtr gradient(const GradientOptions& options = {});

struct GaussianLaplaceOptions {
  std::optional<double> sigma{};  ///< needed
  std::optional<double> sigma_y{};
  double truncate = 4;
  std::optional<std::int64_t> radius{};
  std::optional<std::int64_t> radius_y{};
  std::optional<double> sigma_z{};
  std::optional<std::int64_t> radius_z{};
  Border border{};
  bool flip = false;
  std::optional<MissingPolicy> nodata{};
  static StageEntry entry();
};
StagePtr gaussian_laplace(const GaussianLaplaceOptions& options);

struct DogOptions {
  std::optional<double> sigma{};  ///< needed
  std::optional<double> sigma_y{};
  double truncate = 4;
  std::optional<std::int64_t> radius{};  ///< for both blurs
  std::optional<std::int64_t> radius_y{};
  std::optional<double> sigma2{};  ///< needed: sigma of the blur that is subtracted
  std::optional<double> sigma2_y{};
  std::optional<double> sigma_z{};
  std::optional<std::int64_t> radius_z{};
  std::optional<double> sigma2_z{};  ///< needed with sigma_z
  Border border{};
  bool flip = false;
  std::optional<MissingPolicy> nodata{};
  static StageEntry entry();
};
StagePtr dog(const DogOptions& options);

struct UnsharpOptions {
  std::optional<double> sigma{};  ///< needed
  std::optional<double> sigma_y{};
  double truncate = 4;
  std::optional<std::int64_t> radius{};
  std::optional<std::int64_t> radius_y{};
  std::optional<double> sigma_z{};
  std::optional<std::int64_t> radius_z{};
  double amount = 1;
  double threshold = 0;
  Border border{};
  bool flip = false;
  std::optional<MissingPolicy> nodata{};
  static StageEntry entry();
};
StagePtr unsharp(const UnsharpOptions& options);

/// Taps along x and along y, an odd number each, or a file with a row of each.
struct ConvolveOptions {
  std::vector<double> row{};  ///< empty: no row pass
  std::vector<double> col{};  ///< empty: no column pass
  std::vector<double> z{};    ///< along z of stacks; empty: each plane separately
  std::filesystem::path file{};
  Border border{};
  bool flip = false;
  std::optional<MissingPolicy> nodata{};
  static StageEntry entry();
};
StagePtr convolve(const ConvolveOptions& options);

/// A row of numbers for each channel of the result, from a file or row by row.
struct MixChannelsOptions {
  std::filesystem::path file{};
  std::vector<double> values{};
  std::int64_t rows = 1;  ///< number of rows in `values`
  static StageEntry entry();
};
StagePtr mix_channels(const MixChannelsOptions& options);

/// An expression of the channels of each pixel, like "(b4 - b3) / (b4 + b3)": b1, b2, ... are channels, and x is
/// each channel by itself; sepconv stages math.
struct MathOptions {
  std::string expr{};
  static StageEntry entry();
};
StagePtr math(const MathOptions& options);

/// The median of the window; of an even number of values the upper of the two middle ones.
struct MedianOptions {
  std::int64_t radius = 1;
  std::optional<std::int64_t> radius_y{};
  std::optional<Extent> size{};  ///< instead of radius; the reference pixel of the window is size / 2
  std::int64_t origin = 0;       ///< shift of the window to the left
  std::int64_t origin_y = 0;
  std::optional<std::int64_t>
      radius_z{};                        ///< here and below: radius_z or size_z extend the window over planes
  std::optional<std::int64_t> size_z{};  ///< instead of radius_z
  std::optional<std::int64_t> origin_z{};
  Border border{};
  std::optional<MissingPolicy> nodata{};
  static StageEntry entry();
};
StagePtr median(const MedianOptions& options = {});

struct PercentileOptions {
  std::optional<double> percent{};  ///< needed; 0 to 100
  std::int64_t radius = 1;
  std::optional<std::int64_t> radius_y{};
  std::optional<Extent> size{};
  std::int64_t origin = 0;
  std::int64_t origin_y = 0;
  std::optional<std::int64_t> radius_z{};
  std::optional<std::int64_t> size_z{};
  std::optional<std::int64_t> origin_z{};
  Border border{};
  std::optional<MissingPolicy> nodata{};
  static StageEntry entry();
};
StagePtr percentile(const PercentileOptions& options);

struct RankOptions {
  std::optional<std::int64_t> rank{};  ///< needed; 0 is the smallest value, -1 the largest
  std::int64_t radius = 1;
  std::optional<std::int64_t> radius_y{};
  std::optional<Extent> size{};
  std::int64_t origin = 0;
  std::int64_t origin_y = 0;
  std::optional<std::int64_t> radius_z{};
  std::optional<std::int64_t> size_z{};
  std::optional<std::int64_t> origin_z{};
  Border border{};
  std::optional<MissingPolicy> nodata{};
  static StageEntry entry();
};
StagePtr rank(const RankOptions& options);

struct ScaleOptions {
  double factor = 1;
  double offset = 0;
  static StageEntry entry();
};
StagePtr scale(const ScaleOptions& options);

struct CastOptions {
  std::optional<PixelType> type{};  ///< needed
  static StageEntry entry();
};
StagePtr cast(const CastOptions& options);

/// Maps low to 0 and high to the maximum of the type, which is 1 for f32 and f64; low above high inverts.
struct StretchOptions {
  std::optional<double> low{};      ///< needed
  std::optional<double> high{};     ///< needed
  std::optional<PixelType> type{};  ///< needed
  static StageEntry entry();
};
StagePtr stretch(const StretchOptions& options);

struct ClampOptions {
  std::optional<double> low{}, high{};  ///< at least one is needed
  static StageEntry entry();
};
StagePtr clamp(const ClampOptions& options);

struct AbsOptions {
  static StageEntry entry();
};
StagePtr abs(const AbsOptions& options = {});

struct ThresholdOptions {
  std::optional<double> at{};  ///< needed
  double above = 1;
  double below = 0;
  static StageEntry entry();
};
StagePtr threshold(const ThresholdOptions& options);

struct TransposeOptions {
  static StageEntry entry();
};
StagePtr transpose(const TransposeOptions& options = {});

/// The stage "gemm": a product with a matrix from a file.
struct GemmStageOptions {
  enum class Side : std::uint8_t { right, left };
  std::filesystem::path file{};  ///< needed
  Side side = Side::right;       ///< side of the image that the matrix is on
  static StageEntry entry();
};
StagePtr gemm(const GemmStageOptions& options);

/// Each block of factor x factor_y pixels becomes one.
struct ReduceOptions {
  enum class Filter : std::uint8_t { box, binomial, nearest };
  std::optional<std::int64_t> factor{};  ///< needed
  std::optional<std::int64_t> factor_y{};
  Filter filter = Filter::box;
  std::optional<MissingPolicy> nodata{};  ///< ignore or propagate
  static StageEntry entry();
};
StagePtr reduce(const ReduceOptions& options);

/// A new size, given or by a factor.
struct ResizeOptions {
  enum class Filter : std::uint8_t { linear, cubic, lanczos3, area, box, nearest };
  std::optional<Extent> size{}, fit{};  ///< one of these or `scale` is needed
  std::optional<double> scale{};
  Filter filter = Filter::linear;
  std::optional<MissingPolicy> nodata{};  ///< ignore or propagate
  static StageEntry entry();
};
StagePtr resize(const ResizeOptions& options);

}  // namespace sepconv
