// A stage: one step of a chain. It declares its footprint and computes regions. It knows nothing about bands,
// image files or threads; of a device it sees only the stream passed to it.
//
// pipeline/stages/registry.cpp lists all stages. docs/adding-a-stage.md shows how to add one and how gemm
// fits in.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "core/worker.hpp"
#include "io/raster_axes.hpp"
#include "kernels/cuda/runtime.hpp"
#include "kernels/pointwise/alpha.hpp"
#include "kernels/pointwise/pointwise.hpp"
#include "pipeline/chain/value_range.hpp"

namespace sepconv {

class Reader;

/// A matrix product: a sum over a whole side of the input.
enum class Product : std::uint8_t {
  none,
  over_rows,     ///< sums over whole rows of the input
  over_columns,  ///< sums over whole columns of the input
};

/// Properties of a stage: all that the chain and the planner know about it besides its footprint.
struct StageTraits {
  /// The stage sets the pixel type of its result.
  bool casts = false;
  /// The stage only moves pixels and computes nothing. Its result has the type of its input, and it is given
  /// no operations to apply.
  bool is_permutation = false;
  /// Each result pixel depends only on the input pixel at the same position, in any channels. A stage with
  /// `pointwise` has this property anyway.
  bool is_per_pixel = false;
  /// The stage is linear over complex numbers: applied to real and imaginary parts in separate channels, it
  /// gives the parts of the complex result.
  bool is_complex_linear = false;
  /// The stage filters along z and needs a volume: it is replaced by on_volume() or in_plane().
  bool filters_along_z = false;
  /// The stage transposes the whole image. Two such stages in a row cancel.
  bool is_transpose = false;
  /// The result has a different pixel size: its rows and columns are in proportion to those of the input.
  /// operations_per_element counts per element of the longer of input and output, for each side.
  bool changes_size = false;
  /// If `changes_size`: input rows and columns per result row and column. Empty: the ratio of the side lengths.
  Extent scale_factor{};
  /// The sums run over whole sides of the input, with operations_per_element terms each.
  Product product = Product::none;
  /// Values need f64 for any image, as in a cast to f64 or with a coefficient outside the range of f32.
  bool needs_f64 = false;
  /// enqueue() is implemented.
  bool runs_on_device = false;
  /// Fused multiply-adds (or operations of similar cost) per output element, for the planner and the summary.
  double operations_per_element = 1;
  /// Fraction of the operations done for every row of the input, halo included, as in the row pass of a
  /// convolution. The rest is proportional to the output.
  double halo_work_fraction = 0.5;
  /// That fraction is done for every column of the input, too.
  bool halo_work_in_columns = false;
  /// The scratch is accessed in memory order and split where that matters, so it may exceed the cache of a
  /// core.
  bool streams_scratch = false;
  /// Bytes allocated for the lifetime of the stage, as for a matrix. on_device() needs as many on each
  /// device.
  std::int64_t resident_bytes = 0;
  /// Values of at most m in magnitude become values of at most max_gain * max(m, 1).
  double max_gain = std::numeric_limits<double>::infinity();
  /// The handling of missing pixels is fixed: they are NaN, the key `nodata` is given, or the stage uses no
  /// neighbours.
  bool handles_nodata = false;
  /// The result is NaN where the whole footprint is NaN.
  bool propagates_nodata = false;
  /// apply_fused() is implemented, and missing pixels cost time only where they occur.
  bool fuses_nodata = false;
  /// enqueue() applies Epilogue::join.
  bool fuses_join = false;
  /// Intermediate results are stored in the type of the input: they are values of it, as in a minimum.
  bool keeps_type = false;
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
  /// The stage is only this unary operation on every element. On a device the previous stage applies it,
  /// which saves a pass through memory.
  std::optional<PointwiseOp> pointwise{};
  /// The stage is only this operation on every pixel.
  std::optional<AlphaOp> alpha{};
};

/// An alpha channel: the weight of the colours of its pixel.
struct AlphaWeight {
  std::int64_t channel = 0;
  double opaque = 1;        ///< alpha of an opaque pixel
  bool multiplied = false;  ///< the other channels are premultiplied by alpha / opaque, in source and result
};

/// What a stage applies to each result on a device before it is stored.
struct Epilogue {
  std::span<const PointwiseOp> ops{};  ///< unary operations, at most kMaxFusedOps, after the join
  /// For a stage with fuses_join: a binary operation on `other` and the result; null: none.
  const PointwiseOp* join = nullptr;
  ConstPixelView other{};  ///< of the extent of the result, in device memory
};

/// Where scratch or work is counted: apply() on the host or enqueue() on a device.
enum class Scratch : std::uint8_t { host, device };

class Stage;

/// A stage and the values that it reads, by their numbers (graph.hpp).
struct Node {
  std::shared_ptr<const Stage> stage;
  std::size_t input = 0;
  /// Second operand of a stage that is a binary pointwise operation.
  std::optional<std::size_t> second{};
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
class Stage : public std::enable_shared_from_this<Stage> {
 public:
  virtual ~Stage() = default;

  const StageTraits& traits() const noexcept { return traits_; }

  /// The stage as text, with every value explicit: "gaussian:sigma=2.5,truncate=4,border=reflect101".
  virtual std::string text() const = 0;

  /// A sentence for the plan about the method of computation; may be empty.
  virtual std::string note() const { return {}; }

  /// Shape and type of the result for this input. Throws InvalidArgument if the stage cannot process it.
  virtual ImageSpec output_spec(const ImageSpec& input) const { return input; }

  /// The range of result values for input values in this range. A plan reports which of them the result type
  /// cannot represent. Default: the range after the pixel operation, or the input range.
  virtual ValueRange result_range(const ValueRange& input) const {
    return traits_.pointwise ? range_of(*traits_.pointwise, input, input) : input;
  }

  /// The part of the input that the pixels of `output`, a rectangle of the result, depend on. It is not empty
  /// unless `output` is. It may depend on the position of `output`. Coordinates beyond the edges refer to the
  /// periodically repeated image; a stage with any other border clips.
  virtual Rect input_for(const Rect& output, const ImageSpec& input) const {
    (void)input;
    return output;
  }

  /// Maximum extent of input_for() for any output up to this extent, at any position.
  virtual Extent max_input_extent(Extent output, const ImageSpec& input) const;

  /// Fused multiply-adds (or operations of similar cost) per result element on the host or device, for this
  /// input. Default: the value in traits().
  virtual double operations_per_element(Scratch scratch, const ImageSpec& input) const {
    (void)scratch, (void)input;
    return traits_.operations_per_element;
  }

  /// The stage T for which "transpose, then this stage" equals "T, then transpose", bit for bit. Null if it
  /// does not exist; then a transpose before this stage stays there.
  virtual std::shared_ptr<const Stage> transposed() const { return nullptr; }

  /// The stage for images in which NaN marks missing pixels. A stage that would turn NaN into a value, such
  /// as a threshold, keeps it. A stage with neighbours does what its key `nodata` says, or the default for
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

  /// Preferred tile width: a multiple of this many columns.
  virtual std::int64_t tile_cols() const { return 1; }

  /// Upper bound of the scratch bytes that apply() or enqueue() uses for any output up to this extent.
  virtual std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                                     Arithmetic arithmetic) const {
    (void)scratch, (void)output, (void)input, (void)arithmetic;
    return 0;
  }

  /// Computes out.rect of the result. in.rect contains input_for(out.rect). Both may have any pixel type:
  /// values are computed in `arithmetic` and stored as docs/maths.md says. The result is the same, bit for
  /// bit, however an image is divided into regions.
  virtual void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic,
                     Worker& worker) const = 0;

  /// For a stage with fuses_nodata: apply() preceded by `mark` (mark_missing) and followed by `store`
  /// (store_missing), each unless null. One pass, with the same bits. If `store` has an integer type, only
  /// missing pixels may be or become NaN.
  virtual void apply_fused(const PointwiseOp* mark, const PointwiseOp* store, const ConstRegion& in,
                           const Region& out, Arithmetic arithmetic, Worker& worker) const;

  /// The same as apply(), written to be obviously correct; it may allocate. The whole-image runner uses it,
  /// and tests compare the two.
  virtual void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const = 0;

  /// For a stage with resident_bytes: the stage to call enqueue() on. Its data is copied to `memory`,
  /// resident_bytes of the current device, in the order of `stream`. `memory` must outlive the returned
  /// stage.
  virtual std::shared_ptr<const Stage> on_device(std::byte* memory, DeviceStream stream) const {
    (void)memory, (void)stream;
    return shared_from_this();
  }

  /// apply() followed by `epilogue`, with the same bits, on the current device. The work is enqueued on `stream`; the call does not wait. Regions and arena are
  /// device memory. Throws CudaError.
  virtual void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
                       DeviceStream stream, const Epilogue& epilogue) const;

 protected:
  explicit Stage(const StageTraits& traits = {}) : traits_(traits) {}
  Stage(const Stage&) = default;

 private:
  StageTraits traits_;
};

using StagePtr = std::shared_ptr<const Stage>;

}  // namespace sepconv
