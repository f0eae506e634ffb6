// A stage: one step of a chain. It states its footprint and computes regions; it knows nothing of bands,
// files, threads or devices.
//
//   name        in sepconv/pipeline/stages/    footprint (input for an output rectangle)
//   gaussian    gaussian.cpp           grown by the radius
//   box         box.cpp                grown by the radius
//   binomial    binomial.cpp           grown by the radius
//   sobel       derivatives.cpp        grown by the radius
//   scharr      derivatives.cpp        grown by the radius
//   derivative  derivatives.cpp        grown by the radius
//   gradient    derivatives.cpp        grown by the radius           two branches
//   log         multi_scale.cpp        grown by the radius           two branches
//   dog         multi_scale.cpp        grown by the larger radius    two branches
//   unsharp     multi_scale.cpp        grown by the radius           two branches
//   taps        taps.cpp               grown by the radius
//   matrix      matrix.cpp             itself                        changes the number of channels
//   scale cast clamp abs threshold     pointwise.cpp   itself        cast changes the type
//   transpose   transpose.cpp          rows and columns exchanged    swaps the extent
//   gemm        gemm.cpp               whole rows, or whole columns  sets the number of columns, or of rows
//
// docs/adding-a-stage.md shows how to add one, and how gemm fits.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "sepconv/core/image.hpp"
#include "sepconv/core/memory.hpp"
#include "sepconv/kernels/cuda/runtime.hpp"
#include "sepconv/kernels/pointwise/pointwise.hpp"

namespace sepconv {

/// Immutable once made, and so safe to use from any number of threads and runs at once.
class Stage : public std::enable_shared_from_this<Stage> {
 public:
  virtual ~Stage() = default;

  /// The stage as it could be typed, every value explicit: "gaussian:sigma=2.5,truncate=4,border=reflect101".
  virtual std::string text() const = 0;

  /// Shape and type of the result for an input like this. Throws InvalidArgument if the stage cannot take it.
  virtual ImageSpec output_spec(const ImageSpec& input) const { return input; }

  /// The part of the input image that the pixels of `output` depend on, clipped to the image: never empty for
  /// an output that is not.
  virtual Rect input_for(const Rect& output, const ImageSpec& input) const {
    (void)input;
    return output;
  }

  /// The stage that does to an image what this one does to the transposed image, to the bit: transposed, then
  /// this, is that, then transposed. Null if there is none; then a transpose before this stage stays there.
  virtual std::shared_ptr<const Stage> transposed() const { return nullptr; }

  /// Whether it only moves pixels and computes nothing: then it is given a result of its input's type, and no
  /// operations to apply.
  virtual bool moves_only() const noexcept { return false; }
  /// Whether it is the transposition of the whole image, of which two in a row cancel.
  virtual bool is_transpose() const noexcept { return false; }
  /// Of a stage that makes rows of its input columns of its result: the part of the result within which it
  /// does so as a whole, the result itself or matrices of this extent that it is made of. Else nothing.
  virtual Extent turned_item(const ImageSpec& input) const {
    (void)input;
    return {};
  }

  /// Whether values need f64 whatever the image: a cast to f64 does, and a coefficient that f32 has no number
  /// for.
  virtual bool needs_f64() const { return false; }

  /// Fused multiply-adds (or operations of like cost) per output element: for the planner and for the
  /// summary.
  virtual double operations_per_element() const { return 1; }

  /// Whether a part of that work is done for every row of the input, halo included, as a convolution's row
  /// pass is; else all of it is in proportion to the output.
  virtual bool works_on_halo() const noexcept { return !moves_only(); }

  /// Bytes that the stage holds for as long as it lives, and that on_device() takes of each device: a matrix.
  virtual std::int64_t resident_bytes() const { return 0; }

  /// Of a stage with resident_bytes(): the same stage to call enqueue() of. What it holds is copied to
  /// `memory`, so many bytes of the current device that outlive it, in the order of `stream`.
  virtual std::shared_ptr<const Stage> on_device(std::byte* memory, DeviceStream stream) const {
    (void)memory, (void)stream;
    return shared_from_this();
  }

  /// Upper bound of the arena bytes that apply() takes for an output of this extent.
  virtual std::int64_t scratch_bytes(Extent output, const ImageSpec& input, Arithmetic arithmetic) const {
    (void)output, (void)input, (void)arithmetic;
    return 0;
  }

  /// Computes out.rect of the result from in.rect of the input, which holds input_for(out.rect). Both may
  /// have any pixel type: values are computed in `arithmetic` and stored as docs/maths.md says. The same bits
  /// for any way to cut an image into regions.
  virtual void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena) const = 0;

  /// The same, written to be obviously right; allocates as it likes. The whole-image runner uses it and tests
  /// compare the two.
  virtual void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const = 0;

  /// Whether enqueue() does this stage for such an input.
  virtual bool runs_on_device(const ImageSpec& input) const {
    (void)input;
    return false;
  }

  /// The operation of a stage that is nothing but one unary operation on every element, else null. A chain on
  /// a device hands it to the stage before, which saves a trip through memory.
  virtual const PointwiseOp* pointwise() const noexcept { return nullptr; }

  /// Upper bound of the device arena bytes that enqueue() takes for an output of this extent.
  virtual std::int64_t device_bytes(Extent output, const ImageSpec& input, Arithmetic arithmetic) const {
    (void)output, (void)input, (void)arithmetic;
    return 0;
  }

  /// apply() and then the unary operations `then` (at most kMostFusedOps), with the same bits, on the current
  /// device: enqueued on `stream`, without waiting for anything. Regions and arena are device memory. Throws
  /// CudaError.
  virtual void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
                       DeviceStream stream, std::span<const PointwiseOp> then) const;
};

using StagePtr = std::shared_ptr<const Stage>;

}  // namespace sepconv
