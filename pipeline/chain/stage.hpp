// A stage: one step of a chain, as users write it. A stage is a primitive, which the engine computes, or is
// made of primitives (lower()). Besides, it says what becomes of it in an image with missing pixels, alpha, a
// mask or an axis z, and after a transpose.
//
// pipeline/stages/registry.cpp lists all stages. docs/adding-a-stage.md shows how to add one and how gemm
// fits in.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/raster_axes.hpp"
#include "kernels/device/optional_kernels.hpp"
#include "pipeline/chain/primitive.hpp"
#include "pipeline/chain/value_range.hpp"

namespace sepconv {

class Reader;

/// A matrix product: a sum over a whole side of the input.
enum class Product : std::uint8_t {
  none,
  over_rows,     ///< sums over whole rows of the input
  over_columns,  ///< sums over whole columns of the input
};

/// What the chain, the planner and the metadata of the result need to know about a stage.
struct StageProperties {
  /// The stage sets the pixel type of its result.
  bool casts = false;
  /// Each result pixel depends only on the input pixel at the same position, in any channels. A stage with
  /// `pointwise` has this property anyway.
  bool is_per_pixel = false;
  /// The stage is linear over complex numbers: applied to real and imaginary parts in separate channels, it
  /// gives the parts of the complex result.
  bool is_complex_linear = false;
  /// The stage filters along z and needs a volume: it is replaced by on_volume() or in_plane().
  bool filters_along_z = false;
  /// If `changes_size`: input rows and columns per result row and column. Empty: the ratio of the side
  /// lengths.
  Extent scale_factor{};
  /// The sums run over whole sides of the input, with operations_per_element terms each.
  Product product = Product::none;
  /// Values need f64 for any image, as in a cast to f64 or with a coefficient outside the range of f32.
  bool needs_f64 = false;
  /// enqueue() is implemented.
  bool runs_on_device = false;
  /// The kernels that enqueue() uses besides convolution and pointwise operations. Where a backend lacks one, the
  /// stage runs on the CPU.
  DeviceKernels device_kernels = DeviceKernels::none;
  /// The scratch is accessed in memory order and split where that matters, so it may exceed the cache of a
  /// core.
  bool streams_scratch = false;
  /// Bytes allocated for the lifetime of the stage, as for a matrix. on_device() needs as many on each
  /// device.
  std::int64_t resident_bytes = 0;
  /// The handling of missing pixels is fixed: they are NaN, the key `nodata` is given, or the stage uses no
  /// neighbours.
  bool handles_nodata = false;
  /// The result is a weighted mean, channel by channel: a constant image stays unchanged.
  bool is_average = false;
  /// Each result value is an input value of the same channel, or the border value.
  bool is_selection = false;
  /// The stage is not an average itself but combines its input with averages, and its key `nodata` fixes how
  /// they treat missing pixels.
  bool has_fixed_mean_policy = false;
  /// The stage is a cast; it rounds to this type.
  std::optional<PixelType> rounds_to{};
  /// The value that opaque alpha becomes. Empty: alpha keeps its values.
  std::optional<double> opaque{};
  /// A result channel may depend on other channels of the input.
  bool mixes_channels = false;
  /// The last channel of the result is the last channel of the input, unchanged.
  bool keeps_last_channel = false;
  /// The stage has a second input image, of which it needs the same part as of the first. open_secondary() is
  /// implemented, and apply() is called on the result of bind_secondary().
  bool has_secondary = false;
  /// If `has_secondary`: the second image is a set of several rasters, of which for_raster() selects one.
  bool secondary_is_raster_set = false;
  /// If `has_secondary`: the nodata value of the second image, if it declares one.
  std::optional<double> secondary_nodata{};
  /// Preferred tile width: a multiple of this many columns.
  std::int64_t tile_cols = 1;
  /// A sentence for the plan about the method of computation; may be empty.
  std::string note{};
};

/// What a stage declares when it is constructed.
struct StageDeclaration {
  /// The stage as text, with every value explicit: "gaussian:sigma=2.5,truncate=4,border=reflect101".
  std::string text;
  PrimitiveTraits traits{};
  StageProperties properties{};
};

/// An alpha channel: the weight of the colours of its pixel.
struct AlphaWeight {
  std::int64_t channel = 0;
  double opaque = 1;        ///< alpha of an opaque pixel
  bool multiplied = false;  ///< the other channels are premultiplied by alpha / opaque, in source and result
};

/// Shape of a volume that is processed as one image: each row is one or more planes, flattened.
struct VolumeShape {
  Extent plane;
  std::int64_t depth = 1;   ///< planes along z
  std::int64_t planes = 1;  ///< planes per row: positions of the axes that vary faster than z

  /// Spec of the image for planes like `of_plane`.
  ImageSpec spec(const ImageSpec& of_plane) const {
    return {{depth, planes * of_plane.extent.area()}, of_plane.channels, of_plane.type};
  }
};

/// Immutable after construction; any number of threads and runs may use it simultaneously.
class Stage : public Primitive, public std::enable_shared_from_this<Stage> {
 public:
  const StageProperties& properties() const noexcept { return properties_; }
  StageDeclaration declaration() const { return {text(), traits(), properties()}; }

  /// The range of result values for input values in this range. A plan reports which of them the result type
  /// cannot represent. Default: the range after the pixel operation, or the input range.
  virtual ValueRange result_range(const ValueRange& input) const {
    return traits().pointwise ? range_of(*traits().pointwise, input, input) : input;
  }

  /// The stage T for which "transpose, then this stage" equals "T, then transpose", bit for bit. Null if it
  /// does not exist; then a transpose before this stage stays there.
  virtual std::shared_ptr<const Stage> transposed() const { return nullptr; }

  /// The stage for images in which NaN marks missing pixels. A stage that would turn NaN into a value, such
  /// as a threshold, keeps NaN. A stage with neighbours does what its key `nodata` says, or the default for
  /// its kind.
  virtual std::shared_ptr<const Stage> with_nodata() const { return shared_from_this(); }
  /// As with_nodata(), but channel `alpha` is the coverage of a pixel. A pixel with coverage 0 is NaN in all
  /// channels.
  virtual std::shared_ptr<const Stage> with_alpha_mask(std::int64_t alpha) const {
    (void)alpha;
    return with_nodata();
  }
  /// As with_nodata(), for a stage that does not average, where alpha is a weight. Averages that it combines
  /// with its input are weighted by alpha.
  virtual std::shared_ptr<const Stage> weight_by_alpha(const AlphaWeight& weight) const {
    (void)weight;
    return with_nodata();
  }

  /// The stage for images with an additional last channel, a mask. The stage ignores the mask when it mixes
  /// channels.
  virtual std::shared_ptr<const Stage> with_mask_channel() const { return shared_from_this(); }

  /// For a stage that transposes: the extent of each transposed item, which is the result itself or one of
  /// the matrices in it. Empty for other stages.
  virtual Extent transposed_item(const ImageSpec& input) const {
    (void)input;
    return {};
  }

  /// Adds the nodes that compute the stage from value `input`, and returns the value of the result. Default:
  /// one node, the stage itself.
  virtual std::size_t lower(std::vector<Node>& nodes, std::size_t input) const;

  /// The stage for a volume of this shape with planes like `plane`. Null, the default: the stage processes
  /// each plane as an image. Throws InvalidArgument if the stage cannot process the volume.
  virtual std::shared_ptr<const Stage> on_volume(const ImageSpec& plane, const VolumeShape& shape) const {
    (void)plane, (void)shape;
    return nullptr;
  }
  /// The stage without its filters along z; null if nothing remains.
  virtual std::shared_ptr<const Stage> in_plane() const { return shared_from_this(); }

  /// For a stage with has_secondary: a reader for the second image, with the extent and channels of the
  /// input. Throws IoError and InvalidArgument.
  virtual std::unique_ptr<Reader> open_secondary(const ImageSpec& input) const;
  /// The same stage bound to these pixels of the second image, which must outlive it. They are in host memory
  /// for apply() and in device memory for enqueue(). Later calls must need no other part of the second image,
  /// which may repeat.
  virtual std::shared_ptr<const Stage> bind_secondary(const ConstRegion& second) const {
    (void)second;
    return shared_from_this();
  }
  /// The same stage for raster number `raster` of an input set with these axes. The second image may be part
  /// of such a set, too. Throws InvalidArgument if the sets do not match.
  virtual std::shared_ptr<const Stage> for_raster(std::int64_t raster, const RasterAxes& axes) const {
    (void)raster, (void)axes;
    return shared_from_this();
  }

  /// For a stage with resident_bytes: the stage to call enqueue() on. Its data is copied to `memory`,
  /// resident_bytes of the current device, in the order of `stream`. `memory` must outlive the returned
  /// stage.
  virtual std::shared_ptr<const Stage> on_device(std::byte* memory, DeviceStream stream) const {
    (void)memory, (void)stream;
    return shared_from_this();
  }

 protected:
  explicit Stage(StageDeclaration declaration)
      : Primitive(std::move(declaration.text), declaration.traits),
        properties_(std::move(declaration.properties)) {}
  Stage(const Stage&) = default;

 private:
  StageProperties properties_;
};

using StagePtr = std::shared_ptr<const Stage>;

/// A stage and the values that it reads, by their numbers: 0 is the input, i + 1 the result of node i.
struct StageNode {
  StagePtr stage;
  std::size_t input = 0;
  /// Second operand of a stage that is a binary pointwise operation.
  std::optional<std::size_t> second{};
};

}  // namespace sepconv
