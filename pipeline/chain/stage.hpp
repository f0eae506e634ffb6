// A stage: one step of a chain. It states its footprint and computes regions; it knows nothing of bands,
// of the files of images or of threads, and of a device only the stream that it is handed.
//
// pipeline/stages/registry.cpp lists all. docs/adding-a-stage.md shows how to add one, and how gemm fits.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/image.hpp"
#include "core/worker.hpp"
#include "io/raster_axes.hpp"
#include "kernels/cuda/runtime.hpp"
#include "kernels/pointwise/alpha.hpp"
#include "kernels/pointwise/pointwise.hpp"
#include "pipeline/chain/value_range.hpp"

namespace sepconv {

class Reader;

/// A sum over a whole side of the input, as products with a matrix make.
enum class Product : std::uint8_t {
  none,
  of_rows,     ///< of whole rows of the input
  of_columns,  ///< of whole columns of it
};

/// What a stage is, as data: all that the chain and the planner know of it besides its footprint.
struct StageTraits {
  /// It says of which type its result is.
  bool casts = false;
  /// It only moves pixels and computes nothing: then it is given a result of its input's type, and no
  /// operations to apply.
  bool is_permutation = false;
  /// Each pixel of its result is made of the one in its place, whatever the channels. What has `pointwise` is
  /// so anyway.
  bool is_per_pixel = false;
  /// A sum's result is the sum of its parts' results, channel by channel: what it makes of real and imaginary
  /// parts, as channels next to each other, is what it makes of complex numbers.
  bool is_complex_linear = false;
  /// It is the transposition of the whole image, of which two in a row cancel.
  bool is_transpose = false;
  /// Its result has larger or smaller pixels than its input: rows and columns are in proportion to the
  /// input's. Its operations_per_element are of what is longer along each side, input or output.
  bool scales = false;
  /// For what scales: rows and columns of its input to one of its result; empty: as the sides are to each
  /// other.
  Extent cell{};
  /// Its sums run over whole sides of the input, operations_per_element terms each.
  Product product = Product::none;
  /// Values need f64 whatever the image: a cast to f64 does, and a coefficient that f32 has no number for.
  bool needs_f64 = false;
  /// enqueue() does this stage.
  bool runs_on_device = false;
  /// Fused multiply-adds (or operations of like cost) per output element: for the planner and the summary.
  double operations_per_element = 1;
  /// The part of them that is done for every row of the input, halo included, as a convolution's row pass is;
  /// the others are in proportion to the output.
  double halo_work_fraction = 0.5;
  /// That part is done for every column of the input too.
  bool halo_work_in_columns = false;
  /// Its scratch is walked through in the order of memory, and cut to fit where that matters: it may be larger than a
  /// core's cache.
  bool streams_scratch = false;
  /// Bytes that it holds for as long as it lives, and that on_device() takes of each device: a matrix.
  std::int64_t resident_bytes = 0;
  /// Values of at most m in magnitude become values of at most growth * max(m, 1).
  double growth = std::numeric_limits<double>::infinity();
  /// What it makes of missing pixels is settled: they are NaN, its key says it, or it asks no neighbours.
  bool handles_nodata = false;
  /// Where all that it needs is NaN, its result is.
  bool propagates_nodata = false;
  /// apply_fused() does this stage, and costs where something is missing only.
  bool fuses_nodata = false;
  /// Its result is made of weighted means, channel by channel: of an image of one value that value.
  bool averages = false;
  /// Each value of its result is one of the same channel of its input, or of the border.
  bool selects = false;
  /// It does not average, but joins its input with means, of which its key says what they make of missing
  /// pixels.
  bool joins_settled_means = false;
  /// It is a cast, which rounds to this type.
  std::optional<PixelType> rounds_to{};
  /// Alpha that hides nothing becomes this number; left out, alpha keeps its numbers.
  std::optional<double> opaque{};
  /// A channel of its result is not made of that channel of its input alone.
  bool mixes_channels = false;
  /// The last channel of its result is the last of its input, whatever it makes of the others.
  bool keeps_last = false;
  /// It has a second image next to its input, of which it needs what it needs of that: open_secondary() is
  /// there, and apply() is called of what bind_secondary() makes.
  bool has_secondary = false;
  /// For what has_secondary: that is a set of several, of which of_raster() takes one.
  bool secondary_is_set = false;
  /// For what has_secondary: the value of that image's missing pixels, if it declares one.
  std::optional<double> secondary_nodata{};
  /// The stage is nothing but this unary operation on every element. A chain on a device hands it to the
  /// stage before, which saves a trip through memory.
  std::optional<PointwiseOp> pointwise{};
  /// Or it is nothing but this operation on every pixel.
  std::optional<AlphaOp> alpha{};
};

/// A channel that is the weight of its pixel's colours.
struct AlphaWeight {
  std::int64_t channel = 0;
  double opaque = 1;  ///< alpha of a pixel that hides nothing behind it
  bool multiplied =
      false;  ///< the other channels are multiplied by alpha / opaque, in the source and the result
};

/// Whose scratch, or work: apply()'s on the host, or enqueue()'s on a device.
enum class Scratch : std::uint8_t { host, device };

/// Immutable once made, and so safe to use from any number of threads and runs at once.
class Stage : public std::enable_shared_from_this<Stage> {
 public:
  virtual ~Stage() = default;

  const StageTraits& traits() const noexcept { return traits_; }

  /// The stage as it could be typed, every value explicit: "gaussian:sigma=2.5,truncate=4,border=reflect101".
  virtual std::string text() const = 0;

  /// What a plan says of the way in which it computes: a sentence, or nothing.
  virtual std::string note() const { return {}; }

  /// Shape and type of the result for an input like this. Throws InvalidArgument if the stage cannot take it.
  virtual ImageSpec output_spec(const ImageSpec& input) const { return input; }

  /// What values of its result may be, of input values in this range: a plan says what the result's type does
  /// not hold of it. By default what its pixel operation makes of them, or the same.
  virtual ValueRange result_range(const ValueRange& input) const {
    return traits_.pointwise ? range_of(*traits_.pointwise, input, input) : input;
  }

  /// The part of the input image that the pixels of `output`, which lies in the result, depend on: never
  /// empty for an output that is not. It may depend on where `output` lies. What reaches beyond the image is
  /// the image again, which repeats there: a stage that means anything else beyond the edges clips.
  virtual Rect input_for(const Rect& output, const ImageSpec& input) const {
    (void)input;
    return output;
  }

  /// The extent of that, at most, of any output of at most this extent, wherever it lies.
  virtual Extent max_input_extent(Extent output, const ImageSpec& input) const;

  /// Fused multiply-adds (or operations of like cost) there for an element of its result, of an input like
  /// this: by default those of its traits.
  virtual double operations_per_element(Scratch scratch, const ImageSpec& input) const {
    (void)scratch, (void)input;
    return traits_.operations_per_element;
  }

  /// The stage that does to an image what this one does to the transposed image, to the bit: transposed, then
  /// this, is that, then transposed. Null if there is none; then a transpose before this stage stays there.
  virtual std::shared_ptr<const Stage> transposed() const { return nullptr; }

  /// The stage where NaN stands for a missing pixel: what makes something else of NaN, as a threshold does,
  /// leaves it one, and what computes with neighbours does what its key `missing` says, or the stage's kind.
  virtual std::shared_ptr<const Stage> with_nodata() const { return shared_from_this(); }
  /// The same where this channel says how much of a pixel there is, and where none is, is NaN like all
  /// others.
  virtual std::shared_ptr<const Stage> with_alpha_mask(std::int64_t alpha) const {
    (void)alpha;
    return with_nodata();
  }
  /// The same, of a stage that makes no means, where alpha is a weight: means that it joins its input with
  /// are made by weight.
  virtual std::shared_ptr<const Stage> weight_by_alpha(const AlphaWeight& weight) const {
    (void)weight;
    return with_nodata();
  }

  /// The stage for images with one channel more, the last, which it does not see where it mixes channels.
  virtual std::shared_ptr<const Stage> with_mask_channel() const { return shared_from_this(); }

  /// For a stage that makes rows of its input columns of its result: the part of the result within which it
  /// does so as a whole, the result itself or matrices of this extent that it is made of. Else nothing.
  virtual Extent transposed_item(const ImageSpec& input) const {
    (void)input;
    return {};
  }

  /// For a stage that filters along the axis z of a stack, too: what it does before in_plane() to an image
  /// whose rows are planes, along its columns. Null of all others.
  virtual std::shared_ptr<const Stage> along_z() const { return nullptr; }
  /// What it does to each plane: itself, unless it filters along z; null where that is all.
  virtual std::shared_ptr<const Stage> in_plane() const { return shared_from_this(); }

  /// For a stage that has_secondary: that image, as large as the input and with its channels. Throws IoError
  /// and InvalidArgument.
  virtual std::unique_ptr<Reader> open_secondary(const ImageSpec& input) const;
  /// The same stage with these pixels of it, in host memory to apply() and in the device's to enqueue(),
  /// which outlive it. What is asked of it then is to need no more of the image, which may repeat.
  virtual std::shared_ptr<const Stage> bind_secondary(const ConstRegion& second) const {
    (void)second;
    return shared_from_this();
  }
  /// The same stage for this raster of a set with these axes, of which its second image may be one, too.
  /// Throws InvalidArgument for another set.
  virtual std::shared_ptr<const Stage> of_raster(std::int64_t raster, const RasterAxes& axes) const {
    (void)raster, (void)axes;
    return shared_from_this();
  }

  /// Parts of its result are best computed in multiples of this many columns.
  virtual std::int64_t tile_cols() const { return 1; }

  /// Upper bound of the scratch bytes that apply() or enqueue() takes for any output of at most this extent.
  virtual std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                                     Arithmetic arithmetic) const {
    (void)scratch, (void)output, (void)input, (void)arithmetic;
    return 0;
  }

  /// Computes out.rect of the result from in.rect of the input, which holds input_for(out.rect). Both may
  /// have any pixel type: values are computed in `arithmetic` and stored as docs/maths.md says. The same bits
  /// for any way to cut an image into regions.
  virtual void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic,
                     Worker& worker) const = 0;

  /// For a stage that fuses_nodata: apply() between the operations `mark`, mark_missing, and `store`,
  /// store_missing, where they are given, with the same bits in one pass. With a `store` to an integer type
  /// nothing but what is missing may be or become NaN.
  virtual void apply_fused(const PointwiseOp* mark, const PointwiseOp* store, const ConstRegion& in,
                           const Region& out, Arithmetic arithmetic, Worker& worker) const;

  /// The same as apply(), written to be obviously right; allocates as it likes. The whole-image runner uses
  /// it and tests compare the two.
  virtual void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const = 0;

  /// For a stage with resident_bytes: the same stage to call enqueue() of. What it holds is copied to
  /// `memory`, this many bytes of the current device that outlive it, in the order of `stream`.
  virtual std::shared_ptr<const Stage> on_device(std::byte* memory, DeviceStream stream) const {
    (void)memory, (void)stream;
    return shared_from_this();
  }

  /// apply() and then the unary operations `then` (at most kMaxFusedOps), with the same bits, on the current
  /// device: enqueued on `stream`, without waiting for anything. Regions and arena are device memory. Throws
  /// CudaError.
  virtual void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
                       DeviceStream stream, std::span<const PointwiseOp> epilogue_ops) const;

 protected:
  explicit Stage(const StageTraits& traits = {}) : traits_(traits) {}
  Stage(const Stage&) = default;

 private:
  StageTraits traits_;
};

using StagePtr = std::shared_ptr<const Stage>;

}  // namespace sepconv
