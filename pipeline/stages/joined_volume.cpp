#include "pipeline/stages/joined_volume.hpp"

#include <algorithm>

#include "pipeline/stages/execution_backends.hpp"
#include "pipeline/stages/volume_filter_stage.hpp"
#include "pipeline/stages/volume_stage.hpp"

namespace sepconv {
namespace {

using Kind = PointwiseOp::Kind;

StageTraits traits_of(const JoinedOnVolume& joined) {
  StageTraits traits = joined.given->in_plane()->traits();
  traits.fuses_nodata = false;
  double growth = 0;
  for (const auto& branch : joined.branches) {
    traits.needs_f64 = traits.needs_f64 || branch->traits().needs_f64;
    traits.runs_on_device = traits.runs_on_device && branch->traits().runs_on_device;
    growth += branch->traits().growth;
  }
  traits.growth = std::max(traits.growth, growth);
  return traits;
}

class JoinedVolume final : public Stage {
 public:
  explicit JoinedVolume(JoinedOnVolume joined)
      : Stage(traits_of(joined)), is_(std::move(joined)), join_(*volume_join(*is_.given)) {}

  std::string text() const override { return is_.given->text(); }
  std::int64_t tile_cols() const override { return is_.plane.cols; }

  ValueRange result_range(const ValueRange& input) const override {
    if (join_.deviates) return is_.given->in_plane()->result_range(input);
    std::vector<ValueRange> ranges;
    if (is_.branches.size() == 1) ranges.push_back(input);
    for (const auto& branch : is_.branches) ranges.push_back(branch->result_range(input));
    ValueRange made = ranges.front();
    for (std::size_t i = 1; i < ranges.size(); ++i) made = range_of(join_.op, made, ranges[i]);
    return made;
  }

  Rect input_for(const Rect& output, const ImageSpec& input) const override {
    Rect needed = output;
    for (const auto& branch : is_.branches) needed = needed.include(branch->input_for(output, input));
    return needed;
  }
  /// All branches need the planes around; of their columns none may be within what another needs.
  Extent max_input_extent(Extent output, const ImageSpec& input) const override {
    if (join_.deviates) return is_.branches.front()->max_input_extent(output, input);  // they are alike
    Extent most = output;
    for (const auto& branch : is_.branches) {
      const Extent one = branch->max_input_extent(output, input);
      most = {std::max(most.rows, one.rows), most.cols + std::max<std::int64_t>(one.cols - output.cols, 0)};
    }
    return {most.rows, std::min(most.cols, input.extent.cols)};
  }
  double operations_per_element(Scratch scratch, const ImageSpec& input) const override {
    double operations = 1;
    for (const auto& branch : is_.branches) operations += branch->operations_per_element(scratch, input);
    return operations;
  }
  StagePtr with_nodata() const override {
    return make_volume_stage(*is_.given->with_nodata(), is_.plane, is_.plane);
  }

  std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override {
    const Arithmetic of_branches = join_.deviates ? Arithmetic::f64 : arithmetic;
    const auto view = [&](Extent extent, Arithmetic of) {
      return Arena::view_bytes(extent, input.channels, pixel_type_of(of));
    };
    std::int64_t most = 0;
    for (const auto& branch : is_.branches)
      most = std::max(most, branch->scratch_bytes(scratch, output, input, of_branches));
    if (!join_.deviates)
      return most + static_cast<std::int64_t>(is_.branches.size()) * view(output, arithmetic);
    return most + view(max_input_extent(output, input), of_branches) + 2 * view(output, of_branches) +
           view(output, arithmetic);
  }

  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker& worker) const override {
    const Arena::Scope scope(worker);
    run(HostBackend{arithmetic, worker}, needed_of(*this, in, out), out);
  }

  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    run(ReferenceBackend{arithmetic}, in, out);
  }

  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, std::span<const PointwiseOp> then) const override {
    const Arena::Scope scope(arena);
    run(DeviceBackend{arithmetic, arena, stream, then, out.pixels.data}, needed_of(*this, in, out), out);
  }

 private:
  template <class Backend>
  void run(const Backend& way, const ConstRegion& in, const Region& out) const {
    if (join_.deviates) return deviate(way, in, out);
    std::vector<ConstPixelView> operands;
    if (is_.branches.size() == 1) operands.push_back(in.crop(out.rect).pixels);
    std::vector<PixelView> made;
    for (const auto& branch : is_.branches) {
      const Region result = allocate(way, out);
      way.stage(*branch, in, result);
      made.push_back(result.pixels);
      operands.push_back(result.pixels);
    }
    for (std::size_t i = 1; i < operands.size(); ++i) {
      const bool last = i + 1 == operands.size();
      way.pointwise(join_.op, operands[0], operands[i], last ? out.pixels : made[0]);
    }
  }

  /// In f64, as its square is the difference of two means.
  template <class Backend>
  void deviate(const Backend& way, const ConstRegion& in, const Region& out) const {
    const Backend wide = way.in(Arithmetic::f64);
    const Region means = allocate(wide, out), squares = allocate(wide, out), made = allocate(way, out);
    const Region squared{wide.allocate(in.rect.extent(), out.pixels.channels, PixelType::f64), in.rect,
                         in.image};
    wide.stage(*is_.branches[0], in, means);
    wide.pointwise({.kind = Kind::product}, in.pixels, in.pixels, squared.pixels);
    wide.stage(*is_.branches[1], squared, squares);
    WindowMoments moments{
        .sums = means.pixels, .squares = squares.pixels, .least = join_.least, .windows = *join_.deviates};
    moments.windows.in = in, moments.windows.out = out.rect, moments.windows.plane = is_.plane;
    if (join_.contrast) moments.pixels = in.crop(out.rect).pixels;
    wide.deviation(moments, made.pixels);
    way.pointwise({.kind = Kind::copy}, made.pixels, made.pixels, out.pixels);
  }

  JoinedOnVolume is_;
  const VolumeJoin& join_;  ///< of is_.given
};

}  // namespace

StagePtr make_joined_volume(JoinedOnVolume joined) {
  return std::make_shared<JoinedVolume>(std::move(joined));
}

}  // namespace sepconv
