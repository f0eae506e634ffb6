// Stages made in a program: each is a function of its options, and what `|` makes of them is a chain.
//
//   const sepconv::Chain chain = sepconv::gaussian({.sigma = 2.5}) | sepconv::sobel({.axis =
//   sepconv::Axis::x});
//
// A text makes the same stage of the same keys: parse_stage("gaussian:sigma=2.5"). Each function throws
// InvalidArgument, with the same sentence, for options that cannot be. Formulae are in docs/maths.md, the
// words for each key in its stage's file and in `sepconv stages NAME`. Lengths are in pixels; x runs along
// rows, y along columns, and what ends in _y is as for x where it is left out; z runs from plane to plane of
// a stack, and what ends in _z is for files that have that axis only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/pixel_type.hpp"
#include "kernels/conv/border.hpp"
#include "pipeline/chain/chain.hpp"
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
  double truncate = 4;  ///< in sigmas, where there is no radius
  std::optional<std::int64_t> radius{};
  std::optional<std::int64_t> radius_y{};
  std::int64_t order = 0;  ///< of the derivative, 0 to 3
  std::optional<std::int64_t> order_y{};
  std::optional<double> sigma_z{};  ///< left out: each plane of a stack by itself
  std::optional<std::int64_t> radius_z{};
  std::int64_t order_z = 0;
  GaussianMethod method = GaussianMethod::exact;
  Border border{};
  bool flip = false;                      ///< convolution in place of correlation; here and below
  std::optional<MissingPolicy> nodata{};  ///< here and below: left out, as docs/maths.md says
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
  std::optional<std::int64_t> radius{};  ///< (order + 1) / 2 where it is left out
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
  std::optional<double> sigma{};  ///< this and the next six: of Operator::gaussian only
  std::optional<double> sigma_y{};
  double truncate = 4;
  std::optional<std::int64_t> radius{};
  std::optional<std::int64_t> radius_y{};
  std::optional<double> sigma_z{};  ///< as sigma where it is left out; this and the next: of Axes::xyz
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
  std::optional<std::int64_t> radius{};  ///< of both blurs
  std::optional<std::int64_t> radius_y{};
  std::optional<double> sigma2{};  ///< needed: of the blur that is subtracted
  std::optional<double> sigma2_y{};
  std::optional<double> sigma_z{};
  std::optional<std::int64_t> radius_z{};
  std::optional<double> sigma2_z{};  ///< needed where there is sigma_z
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
  std::vector<double> row{};  ///< none: no row pass
  std::vector<double> col{};  ///< none: no column pass
  std::vector<double> z{};    ///< along z of stacks; none: each plane by itself
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
  std::int64_t rows = 1;  ///< that `values` make
  static StageEntry entry();
};
StagePtr mix_channels(const MixChannelsOptions& options);

/// For the window's values the middle one; of an even number the upper of the two.
struct MedianOptions {
  std::int64_t radius = 1;
  std::optional<std::int64_t> radius_y{};
  std::optional<Extent> size{};  ///< in place of radius; pixel size / 2 is the one that the window is for
  std::int64_t origin = 0;       ///< the window lies so far to the left
  std::int64_t origin_y = 0;
  std::optional<std::int64_t> radius_z{};  ///< here and below: with it, or size_z, of stacks over planes, too
  std::optional<std::int64_t> size_z{};    ///< in place of radius_z
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
  std::optional<std::int64_t> rank{};  ///< needed; from 0, or from -1 down from the largest
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

/// low becomes 0 and high the largest value of the type, of f32 and f64 1; low above high inverts.
struct StretchOptions {
  std::optional<double> low{};      ///< needed
  std::optional<double> high{};     ///< needed
  std::optional<PixelType> type{};  ///< needed
  static StageEntry entry();
};
StagePtr stretch(const StretchOptions& options);

struct ClampOptions {
  std::optional<double> low{}, high{};  ///< one of them, or both
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
struct ProductOptions {
  enum class Side : std::uint8_t { right, left };
  std::filesystem::path file{};  ///< needed
  Side side = Side::right;       ///< of the image
  static StageEntry entry();
};
StagePtr gemm(const ProductOptions& options);

/// Cells of factor x factor_y pixels become one.
struct ReduceOptions {
  enum class Filter : std::uint8_t { box, binomial, nearest };
  std::optional<std::int64_t> factor{};  ///< needed
  std::optional<std::int64_t> factor_y{};
  Filter filter = Filter::box;
  std::optional<MissingPolicy> nodata{};  ///< ignore or propagate
  static StageEntry entry();
};
StagePtr reduce(const ReduceOptions& options);

/// Another size, given or by a factor.
struct ResizeOptions {
  enum class Filter : std::uint8_t { linear, cubic, lanczos3, area, box, nearest };
  std::optional<Extent> size{};  ///< needed, or `scale`
  std::optional<double> scale{};
  Filter filter = Filter::linear;
  std::optional<MissingPolicy> nodata{};  ///< ignore or propagate
  static StageEntry entry();
};
StagePtr resize(const ResizeOptions& options);

}  // namespace sepconv
