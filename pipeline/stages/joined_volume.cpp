#include "pipeline/stages/joined_volume.hpp"

#include <algorithm>

#include "pipeline/stages/execution_backends.hpp"
#include "pipeline/stages/volume_filter_stage.hpp"
#include "pipeline/stages/volume_stage.hpp"

namespace sepconv {
namespace {

using Kind = PointwiseOp::Kind;

StageTraits traits_of(const JoinedOnVolume& joined) {
  StageTraits traits = joined.stage->in_plane()->traits();
  traits.fuses_nodata = false;
  double max_gain = 0;
  for (const auto& branch : joined.branches) {
    traits.needs_f64 = traits.needs_f64 || branch->traits().needs_f64;
    traits.runs_on_device = traits.runs_on_device && branch->traits().runs_on_device;
    max_gain += branch->traits().max_gain;
  }
  traits.max_gain = std::max(traits.max_gain, max_gain);
  return traits;
}

class JoinedVolume final : public Stage {
 public:
  explicit JoinedVolume(JoinedOnVolume joined)
      : Stage(traits_of(joined)), joined_(std::move(joined)), join_(*volume_join(*joined_.stage)) {}

  std::string text() const override { return joined_.stage->text(); }
  std::int64_t tile_cols() const override { return joined_.plane.cols; }

  ValueRange result_range(const ValueRange& input) const override {
    if (join_.deviation_windows) return joined_.stage->in_plane()->result_range(input);
    std::vector<ValueRange> ranges;
    if (joined_.branches.size() == 1) ranges.push_back(input);
    for (const auto& branch : joined_.branches) ranges.push_back(branch->result_range(input));
    ValueRange joined_range = ranges.front();
    for (std::size_t i = 1; i < ranges.size(); ++i)
      joined_range = range_of(join_.op, joined_range, ranges[i]);
    return joined_range;
  }

  Rect input_for(const Rect& output, const ImageSpec& input) const override {
    Rect needed = output;
    for (const auto& branch : joined_.branches) needed = needed.include(branch->input_for(output, input));
    return needed;
  }
  /// The branches share the planes around the output. Their column ranges may be disjoint, so their margins
  /// add up.
  Extent max_input_extent(Extent output, const ImageSpec& input) const override {
    if (join_.deviation_windows)
      return joined_.branches.front()->max_input_extent(output, input);  // both have the same footprint
    Extent max_extent = output;
    for (const auto& branch : joined_.branches) {
      const Extent branch_extent = branch->max_input_extent(output, input);
      max_extent = {std::max(max_extent.rows, branch_extent.rows),
                    max_extent.cols + std::max<std::int64_t>(branch_extent.cols - output.cols, 0)};
    }
    return {max_extent.rows, std::min(max_extent.cols, input.extent.cols)};
  }
  double operations_per_element(Scratch scratch, const ImageSpec& input) const override {
    double operations = 1;
    for (const auto& branch : joined_.branches) operations += branch->operations_per_element(scratch, input);
    return operations;
  }
  StagePtr with_nodata() const override {
    return make_volume_stage(*joined_.stage->with_nodata(), joined_.plane, joined_.plane);
  }

  std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override {
    const Arithmetic branch_arithmetic = join_.deviation_windows ? Arithmetic::f64 : arithmetic;
    const auto view = [&](Extent extent, Arithmetic of) {
      return Arena::view_bytes(extent, input.channels, pixel_type_of(of));
    };
    std::int64_t max_scratch = 0;
    for (const auto& branch : joined_.branches)
      max_scratch = std::max(max_scratch, branch->scratch_bytes(scratch, output, input, branch_arithmetic));
    if (!join_.deviation_windows)
      return max_scratch + static_cast<std::int64_t>(joined_.branches.size()) * view(output, arithmetic);
    return max_scratch + view(max_input_extent(output, input), branch_arithmetic) +
           2 * view(output, branch_arithmetic) + view(output, arithmetic);
  }

  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker& worker) const override {
    const Arena::Scope scope(worker);
    run(HostBackend{arithmetic, worker}, needed_of(*this, in, out), out);
  }

  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    run(ReferenceBackend{arithmetic}, in, out);
  }

  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, std::span<const PointwiseOp> epilogue_ops) const override {
    const Arena::Scope scope(arena);
    run(DeviceBackend{arithmetic, arena, stream, epilogue_ops, out.pixels.data}, needed_of(*this, in, out),
        out);
  }

 private:
  template <class Backend>
  void run(const Backend& backend, const ConstRegion& in, const Region& out) const {
    if (join_.deviation_windows) return deviate(backend, in, out);
    std::vector<ConstPixelView> operands;
    if (joined_.branches.size() == 1) operands.push_back(in.crop(out.rect).pixels);
    std::vector<PixelView> results;
    for (const auto& branch : joined_.branches) {
      const Region result = allocate(backend, out);
      backend.stage(*branch, in, result);
      results.push_back(result.pixels);
      operands.push_back(result.pixels);
    }
    for (std::size_t i = 1; i < operands.size(); ++i) {
      const bool last = i + 1 == operands.size();
      backend.pointwise(join_.op, operands[0], operands[i], last ? out.pixels : results[0]);
    }
  }

  /// Computed in f64, because the variance is a difference of two means.
  template <class Backend>
  void deviate(const Backend& backend, const ConstRegion& in, const Region& out) const {
    const Backend wide = backend.with_arithmetic(Arithmetic::f64);
    const Region means = allocate(wide, out), squares = allocate(wide, out),
                 deviations = allocate(backend, out);
    const Region squared{wide.allocate(in.rect.extent(), out.pixels.channels, PixelType::f64), in.rect,
                         in.image};
    wide.stage(*joined_.branches[0], in, means);
    wide.pointwise({.kind = Kind::product}, in.pixels, in.pixels, squared.pixels);
    wide.stage(*joined_.branches[1], squared, squares);
    WindowMoments moments{.sums = means.pixels,
                          .squares = squares.pixels,
                          .least = join_.min_deviation,
                          .windows = *join_.deviation_windows};
    moments.windows.in = in, moments.windows.out = out.rect, moments.windows.plane = joined_.plane;
    if (join_.contrast) moments.pixels = in.crop(out.rect).pixels;
    wide.deviation(moments, deviations.pixels);
    backend.pointwise({.kind = Kind::copy}, deviations.pixels, deviations.pixels, out.pixels);
  }

  JoinedOnVolume joined_;
  const VolumeJoin& join_;  ///< owned by joined_.stage
};

}  // namespace

StagePtr make_joined_volume(JoinedOnVolume joined) {
  return std::make_shared<JoinedVolume>(std::move(joined));
}

}  // namespace sepconv
