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

/// Which input pixels a result pixel is computed from.
enum class Work : std::uint8_t {
  none,        ///< pixels are only moved
  pixels,      ///< from the pixel at the same position
  neighbours,  ///< from neighbouring pixels, too
};

/// Stages applied in order. Each stage extends its own input by its own border. An empty chain copies. Values
/// stay in the arithmetic type between stages and are rounded once, at the end, to the type of the last
/// output_spec.
class Chain {
 public:
  Chain() = default;
  explicit Chain(std::vector<StagePtr> stages) : stages_(std::move(stages)) {}
  Chain(std::initializer_list<StagePtr> stages) : stages_(stages) {}
  /// A chain of one stage.
  template <std::convertible_to<StagePtr> StageLike>
  Chain(StageLike stage) : stages_{std::move(stage)} {}

  /// Parses one stage per element with `table`, e.g. {"gaussian:sigma=2.5", "cast:type=f32"}. Throws
  /// InvalidArgument.
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

  /// Specs of the input of each stage and of the result: size() + 1 elements. Throws InvalidArgument, naming
  /// the stage.
  std::vector<ImageSpec> specs(const ImageSpec& source) const;
  ImageSpec result_spec(const ImageSpec& source) const { return specs(source).back(); }

  /// Whether result values are source values or weighted means of them.
  bool keeps_range() const noexcept;
  /// Whether every result value is a source value.
  bool keeps_values() const noexcept;

  /// The part of the source that `output` of the result depends on; not empty unless `output` is.
  Rect input_for(const Rect& output, const ImageSpec& source) const;

  /// `requested` if set; f64 if the source, the result or a stage is f64, or if a side of the image becomes
  /// more than 512 times shorter; otherwise f32.
  Arithmetic arithmetic(const ImageSpec& source, std::optional<Arithmetic> requested = std::nullopt) const;

  /// The first stage that does not run on a device of the installed backend, and the reason; empty if all do.
  std::string why_not_on_device() const;

  /// Throws InvalidArgument if the source is complex and a stage is not is_complex_linear, and if the source
  /// contains class numbers and a stage combines several of them.
  void check_supports(const Reader& source) const;

  /// Sum of the resident_bytes of the stages; each device needs as many.
  std::int64_t resident_bytes() const;

  /// The chain to enqueue: Stage::on_device() of each stage. `memory` has resident_bytes() bytes and outlives
  /// the chain.
  Chain on_device(std::byte* memory, DeviceStream stream) const;

  /// Stage::with_mask_channel() of each stage for a source with Metadata::mask_channel; otherwise the chain
  /// itself.
  Chain with_mask_channel(const Metadata& source) const;

  /// Stage::for_raster() of each stage.
  Chain for_raster(std::int64_t raster, const RasterAxes& axes) const;

  /// An equivalent chain, bit for bit, that moves fewer pixels. Each transpose moves towards the end past
  /// stages that have transposed(), and two adjacent transposes cancel. One transpose remains at most, at the
  /// end, unless a stage has no transposed().
  Chain transposes_last() const;

  /// Whether the chain transposes the image: the number of transposing stages is odd.
  bool turns() const;

  Work work() const noexcept;
  /// Whether any stage does more than move pixels.
  bool computes() const noexcept { return work() != Work::none; }

  /// "gaussian:... | cast:...", or "copy" for an empty chain.
  std::string text() const;

 private:
  std::vector<StagePtr> stages_;
};

/// Concatenates two chains; a StagePtr is a chain of one stage.
inline Chain operator|(Chain first, const Chain& second) {
  for (const StagePtr& stage : second.stages()) first.then(stage);
  return first;
}

}  // namespace sepconv
