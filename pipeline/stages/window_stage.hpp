// The minimum or maximum of a rectangle or disk. Private to pipeline/stages.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "kernels/pointwise/missing.hpp"
#include "pipeline/stages/execution_backends.hpp"
#include "pipeline/stages/f32_range.hpp"
#include "pipeline/stages/neighbourhood.hpp"
#include "pipeline/stages/nodata_policy.hpp"

namespace sepconv {

inline constexpr Window::Op kErosion = Window::Op::minimum, kDilation = Window::Op::maximum;

class WindowStage final : public Stage {
 public:
  WindowStage(std::string text, Window::Op op, Neighbourhood neighbourhood, Window::Shape shape, double value,
              std::optional<MissingPolicy> missing, std::function<StagePtr(bool, bool)> remake)
      : Stage(declaration_of(std::move(text), neighbourhood, shape, value, missing)),
        neighbourhood_(neighbourhood),
        border_{neighbourhood.border, value},
        missing_(missing),
        window_{.op = op,
                .radius_x = neighbourhood.radius_x,
                .radius_y = neighbourhood.radius_y,
                .shape = shape,
                .ignores_nan = missing && *missing != MissingPolicy::propagate},
        remake_(std::move(remake)) {}

  StagePtr transposed() const override { return remake_(true, false); }
  StagePtr with_nodata() const override { return missing_ ? shared_from_this() : remake_(false, true); }
  Rect input_for(const Rect& output, const ImageSpec& input) const override {
    return neighbourhood_.input_for(output, input.extent);
  }

  std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override {
    const auto window_bytes = scratch == Scratch::host ? window_scratch_bytes : window_device_bytes;
    const std::int64_t retained = missing_ == MissingPolicy::ignore
                                      ? Arena::view_bytes(output, input.channels, pixel_type_of(arithmetic))
                                      : 0;
    return retained + window_bytes(window_, output, input.channels, arithmetic,
                                   neighbourhood_.largest_image(input.extent));
  }

  void apply(const ConstRegion& source, const Region& result, Arithmetic arithmetic,
             Worker& worker) const override {
    const auto [in, out] = neighbourhood_.as_separate_image(source, result);
    const Arena::Scope scope(worker);
    run(HostBackend{arithmetic, worker}, in, out);
  }

  void enqueue(const ConstRegion& source, const Region& result, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, const Epilogue& epilogue) const override {
    const auto [in, out] = neighbourhood_.as_separate_image(source, result);
    const Arena::Scope scope(arena);
    run(StreamBackend{arithmetic, arena, stream, epilogue.ops, out.pixels.data}, in, out);
  }

  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    run(ReferenceBackend{arithmetic}, in, out);
  }

 private:
  static StageDeclaration declaration_of(std::string text, const Neighbourhood& neighbourhood,
                                         Window::Shape shape, double value,
                                         std::optional<MissingPolicy> missing) {
    const bool is_box = shape == Window::Shape::box;
    const bool is_constant = neighbourhood.border == BorderMode::constant;
    return {.text = std::move(text),
            .traits = {.keeps_type = !is_constant,
                       .work = {.operations_per_element = is_box ? neighbourhood.window_operations()
                                                                 : neighbourhood.disk_operations(),
                                .halo_in_columns = true},
                       .nan = {.propagates = missing && !(missing == MissingPolicy::fill && is_constant),
                               .max_gain = std::max(1.0, std::abs(value))}},
            .properties = {.needs_f64 = any_beyond_f32(std::span(&value, 1)),
                           .runs_on_device = neighbourhood.windows_on_device(),
                           .device_kernels = is_box ? DeviceKernels::windows : DeviceKernels::disks,
                           .streams_scratch = is_box && !missing,
                           .handles_nodata = missing.has_value(),
                           .is_selection = true}};
  }

  /// Missing pixels stay missing unless they are to be filled.
  template <class Backend>
  void run(const Backend& backend, const ConstRegion& in, const Region& out) const {
    const bool keeps_missing = missing_ == MissingPolicy::ignore && is_floating(in.pixels.type);
    if (!keeps_missing) return backend.window(window_, border_, in, out);
    const Region values = allocate(backend, out);
    backend.window(window_, border_, in, values);
    backend.pointwise({.kind = PointwiseOp::Kind::keep_missing}, in.crop(out.rect).pixels, values.pixels,
                      out.pixels);
  }

  Neighbourhood neighbourhood_;
  Border border_;
  std::optional<MissingPolicy> missing_;
  Window window_;
  /// Creates the same stage for the transposed image, or with nodata=ignore.
  std::function<StagePtr(bool transposed, bool ignores)> remake_;
};

}  // namespace sepconv
