// A chain of stages.
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/chain/stage_entry.hpp"

namespace sepconv {

class Reader;
struct Metadata;

/// What a chain makes a pixel of.
enum class Work : std::uint8_t {
  none,        ///< pixels are only moved
  pixels,      ///< each of one pixel
  neighbours,  ///< of others too
};

/// Stages applied one after another. Each sees its own input image extended by its own border. An empty chain
/// copies. Values stay in the arithmetic type between stages and are rounded once, at the end, to the type of
/// the last output_spec.
class Chain {
 public:
  Chain() = default;
  explicit Chain(std::vector<StagePtr> stages) : stages_(std::move(stages)) {}
  Chain(std::initializer_list<StagePtr> stages) : stages_(stages) {}
  /// A stage is a chain of one.
  template <std::convertible_to<StagePtr> StageLike>
  Chain(StageLike stage) : stages_{std::move(stage)} {}

  /// Each element one stage of `table`, e.g. {"gaussian:sigma=2.5", "cast:type=f32"}. Throws InvalidArgument.
  static Chain parse(std::span<const std::string> stages, std::span<const StageEntry> table = stage_table());
  static Chain parse(std::initializer_list<std::string_view> stages,
                     std::span<const StageEntry> table = stage_table());

  Chain& then(StagePtr stage) {
    stages_.push_back(std::move(stage));
    return *this;
  }

  const std::vector<StagePtr>& stages() const noexcept { return stages_; }
  std::size_t size() const noexcept { return stages_.size(); }
  bool empty() const noexcept { return stages_.empty(); }

  /// Spec of the input of each stage and, last, of the result: size() + 1 of them. Throws InvalidArgument,
  /// naming the stage.
  std::vector<ImageSpec> specs(const ImageSpec& source) const;
  ImageSpec result_spec(const ImageSpec& source) const { return specs(source).back(); }

  /// Whether values of the result are values of the source, or weighted means of them.
  bool keeps_range() const noexcept;
  /// Whether each of them is a value of the source.
  bool keeps_values() const noexcept;

  /// The part of the source that a part of the result is computed from: never empty for one that is not.
  Rect input_for(const Rect& output, const ImageSpec& source) const;

  /// `asked` if set; f64 when the source, the result or a stage is f64, or a side of the image
  /// becomes more than 512 times shorter; else f32.
  Arithmetic arithmetic(const ImageSpec& source, std::optional<Arithmetic> requested = std::nullopt) const;

  /// The first stage that does not run on a device for this source; null if all do.
  const Stage* host_only_stage() const;

  /// Throws InvalidArgument for elements of the source that are complex, if a stage is not by_parts, and for
  /// classes, if it makes other values of several.
  void check_takes(const Reader& source) const;

  /// What its stages hold, and take of each device.
  std::int64_t resident_bytes() const;

  /// The chain to enqueue: Stage::on_device() of each. `memory` has room for resident_bytes() and outlives
  /// it.
  Chain on_device(std::byte* memory, DeviceStream stream) const;

  /// Stage::with_mask_channel() of each, for a source with Metadata::mask_channel; else the chain itself.
  Chain with_mask_channel(const Metadata& source) const;

  /// Stage::of_raster() of each.
  Chain of_raster(std::int64_t raster, const RasterAxes& axes) const;

  /// The same result by less moving: every transpose goes towards the end, past stages that have a
  /// transposed() twin, and two that meet cancel. What is left of them is one transpose at the end, unless a
  /// stage has no twin. The same bits.
  Chain transposes_last() const;

  /// Whether rows of the source are columns of the result: an odd number of stages transposes.
  bool turns() const;

  Work work() const noexcept;
  /// Whether any stage does more than move pixels.
  bool computes() const noexcept { return work() != Work::none; }

  /// "gaussian:... | cast:..." or "copy" for an empty chain.
  std::string text() const;

 private:
  std::vector<StagePtr> stages_;
};

/// The stages of the first, then those of the second; a StagePtr is a chain of one.
inline Chain operator|(Chain first, const Chain& second) {
  for (const StagePtr& stage : second.stages()) first.then(stage);
  return first;
}

}  // namespace sepconv
