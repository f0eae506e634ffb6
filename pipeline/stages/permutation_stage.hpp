// Base class of stages that only move pixels. Private to pipeline/stages.
#pragma once

#include <functional>

#include "kernels/transpose/transpose.hpp"
#include "pipeline/chain/stage.hpp"

namespace sepconv {

/// A stage implemented by transpositions of pixels between views.
class PermutationStage : public Stage {
 public:
  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker& worker) const final;
  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const final;
  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, const Epilogue& epilogue) const final;

 protected:
  explicit PermutationStage(std::string text, Movement movement = Movement::permutation)
      : Stage({.text = std::move(text),
               .traits = {.movement = movement,
                          .work = {.halo_fraction = 0},
                          .nan = {.propagates = true, .max_gain = 1}},
               .properties = {.is_complex_linear = true,
                              .runs_on_device = true,
                              .device_kernels = DeviceKernels::transposes,
                              .handles_nodata = true}}) {}

  using Transpose =
      std::function<void(const TransposeShape& shape, const ConstMatrices& in, const Matrices& out)>;

  /// Computes out.rect of the result with as many calls of `transpose` as necessary. `in` contains
  /// input_for(out.rect).
  virtual void move(const ConstRegion& in, const Region& out, const Transpose& transpose) const = 0;
};

}  // namespace sepconv
