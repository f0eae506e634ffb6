#include "pipeline/stages/permutation_stage.hpp"

#include "core/error.hpp"
#include "kernels/pointwise/pointwise.hpp"

namespace sepconv {
namespace {

void check_types(const ConstPixelView& in, const PixelView& out) {
  if (in.type != out.type || in.channels != out.channels)
    throw InvalidArgument(
        "a stage that only moves pixels was given another type or number of channels for its result");
}

}  // namespace

void PermutationStage::apply(const ConstRegion& in, const Region& out, Arithmetic, Worker&) const {
  check_types(in.pixels, out.pixels);
  move(in, out, [](const TransposeShape& shape, const ConstMatrices& from, const Matrices& to) {
    transpose_host(shape, from, to);
  });
}

void PermutationStage::apply_reference(const ConstRegion& in, const Region& out,
                                       Arithmetic arithmetic) const {
  if (in.pixels.type == out.pixels.type) return move(in, out, transpose_reference);
  const ImageSpec spec{in.rect.extent(), in.pixels.channels, out.pixels.type};
  const Buffer memory(spec.bytes());
  const PixelView converted = dense_view(memory.data(), spec);
  pointwise_reference({}, in.pixels, in.pixels, converted, arithmetic);
  move({converted, in.rect, in.image}, out, transpose_reference);
}

void PermutationStage::enqueue(const ConstRegion& in, const Region& out, Arithmetic, Arena&,
                               DeviceStream stream, const Epilogue& epilogue) const {
  check_types(in.pixels, out.pixels);
  if (!epilogue.ops.empty())
    throw InvalidArgument("a stage that only moves pixels cannot apply operations to them");
  move(in, out, [&](const TransposeShape& shape, const ConstMatrices& from, const Matrices& to) {
    transpose_device(shape, from, to, stream);
  });
}

}  // namespace sepconv
