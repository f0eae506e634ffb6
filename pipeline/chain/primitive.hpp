// A primitive: an operation that the engine computes, one node of a graph (graph.hpp). It declares the shape
// and type of its result, its footprint and its cost, and computes regions. It knows nothing about bands, image
// files or threads; of a device it sees only the stream passed to it.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/image.hpp"
#include "core/worker.hpp"
#include "kernels/device/runtime.hpp"
#include "kernels/pointwise/alpha.hpp"
#include "kernels/pointwise/pointwise.hpp"

namespace sepconv {

/// How a primitive that computes nothing moves pixels.
enum class Movement : std::uint8_t {
  none,         ///< it computes
  permutation,  ///< pixels change their places
  transpose,    ///< the whole image is transposed. Two transposes in a row cancel
};

/// Work of a primitive, for the planner and the summary.
struct PrimitiveWork {
  /// Fused multiply-adds (or operations of similar cost) per output element.
  double operations_per_element = 1;
  /// Fraction of the operations done for every row of the input, halo included, as in the row pass of a
  /// convolution. The rest is proportional to the output.
  double halo_fraction = 0.5;
  /// That fraction is done for every column of the input, too.
  bool halo_in_columns = false;
};

/// What a primitive does with NaN, which marks missing pixels.
struct NanTraits {
  /// apply_fused() is implemented, and missing pixels cost time only where they occur.
  bool fuses = false;
  /// The result is NaN where the whole footprint is NaN.
  bool propagates = false;
  /// Values of at most m in magnitude become values of at most max_gain * max(m, 1).
  double max_gain = std::numeric_limits<double>::infinity();
};

/// All that the engine knows about a primitive besides its functions.
struct PrimitiveTraits {
  /// The primitive is only this operation on every element. It is binary in a node with a second operand. On a
  /// device the previous primitive applies it, if it is unary or fuses_join allows, which saves a pass through
  /// memory.
  std::optional<PointwiseOp> pointwise{};
  /// The primitive is only this operation on every pixel.
  std::optional<AlphaOp> alpha{};
  /// Unless `none`, the result has the type of the input, and the primitive is given no operations to apply.
  Movement movement = Movement::none;
  /// The result has a different pixel size: its rows and columns are in proportion to those of the input.
  /// operations_per_element counts per element of the longer of input and output, for each side.
  bool changes_size = false;
  /// Intermediate results are stored in the type of the input: they are values of it, as in a minimum.
  bool keeps_type = false;
  /// enqueue() applies Epilogue::join, if that fuses_into_convolution().
  bool fuses_join = false;
  PrimitiveWork work{};
  NanTraits nan{};

  bool is_permutation() const noexcept { return movement != Movement::none; }
  bool is_transpose() const noexcept { return movement == Movement::transpose; }
};

/// What a stage applies to each result on a device before it is stored.
struct Epilogue {
  std::span<const PointwiseOp> ops{};  ///< unary operations, at most kMaxFusedOps, after the join
  /// For a primitive with fuses_join: a binary operation on `other` and the result; null: none.
  const PointwiseOp* join = nullptr;
  ConstPixelView other{};  ///< of the extent of the result, in device memory
};

/// Where scratch or work is counted: apply() on the host or enqueue() on a device.
enum class Scratch : std::uint8_t { host, device };

/// Immutable after construction; any number of threads and runs may use it simultaneously.
class Primitive {
 public:
  virtual ~Primitive() = default;

  /// Names the primitive in messages and in the text of a chain.
  const std::string& text() const noexcept { return text_; }
  const PrimitiveTraits& traits() const noexcept { return traits_; }

  /// Shape and type of the result for this input. Throws InvalidArgument if the primitive cannot process it.
  virtual ImageSpec output_spec(const ImageSpec& input) const { return input; }

  /// The part of the input that the pixels of `output`, a rectangle of the result, depend on. It is not empty
  /// unless `output` is. It may depend on the position of `output`. Coordinates beyond the edges refer to the
  /// periodically repeated image; a primitive with any other border clips.
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
    return traits_.work.operations_per_element;
  }

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

  /// For a primitive with NanTraits::fuses: apply() preceded by `mark` (mark_missing) and followed by `store`
  /// (store_missing), each unless null. One pass, with the same bits. If `store` has an integer type, only
  /// missing pixels may be or become NaN.
  virtual void apply_fused(const PointwiseOp* mark, const PointwiseOp* store, const ConstRegion& in,
                           const Region& out, Arithmetic arithmetic, Worker& worker) const;

  /// The same as apply(), written to be obviously correct; it may allocate. The whole-image runner uses it,
  /// and tests compare the two.
  virtual void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const = 0;

  /// apply() followed by `epilogue`, with the same bits, on the current device. The work is enqueued on
  /// `stream`; the call does not wait. Regions and arena are device memory. Throws DeviceError.
  virtual void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
                       DeviceStream stream, const Epilogue& epilogue) const;

 protected:
  Primitive(std::string text, const PrimitiveTraits& traits) : text_(std::move(text)), traits_(traits) {}
  Primitive(const Primitive&) = default;

 private:
  std::string text_;
  PrimitiveTraits traits_;
};

/// A primitive and the values that it reads, by their numbers (graph.hpp).
struct Node {
  std::shared_ptr<const Primitive> primitive;
  std::size_t input = 0;
  /// Second operand of a primitive that is a binary pointwise operation.
  std::optional<std::size_t> second{};

  friend bool operator==(const Node&, const Node&) = default;
};

}  // namespace sepconv
