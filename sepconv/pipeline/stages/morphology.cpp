// erode, dilate and what is made of them, with flat rectangles and disks: open, close, tophat, blackhat.
#include <fmt/format.h>

#include <algorithm>

#include "sepconv/pipeline/stages/blur_width.hpp"
#include "sepconv/pipeline/stages/deep_stage.hpp"
#include "sepconv/pipeline/stages/morphology_stage.hpp"
#include "sepconv/pipeline/stages/own_chain_stage.hpp"
#include "sepconv/pipeline/stages/stages.hpp"

namespace sepconv {
namespace {

template <class Options>
struct MorphologyNamed;
template <>
struct MorphologyNamed<ErodeOptions> {
  static constexpr std::string_view kName = "erode", kExample = "erode:radius=3",
                                    kHelp = "least of (2 radius + 1) x (2 radius_y + 1) pixels, or of a disk";
  static Morphology morphology() { return {{kErosion}}; }
};
template <>
struct MorphologyNamed<DilateOptions> {
  static constexpr std::string_view kName = "dilate", kExample = "dilate:radius=3",
                                    kHelp =
                                        "greatest of (2 radius + 1) x (2 radius_y + 1) pixels, or of a disk";
  static Morphology morphology() { return {{kDilation}}; }
};
template <>
struct MorphologyNamed<OpeningOptions> {
  static constexpr std::string_view kName = "open", kExample = "open:radius=4,shape=disk",
                                    kHelp = "erode, then dilate: what is bright and smaller goes";
  static Morphology morphology() { return {{kErosion, kDilation}}; }
};
template <>
struct MorphologyNamed<ClosingOptions> {
  static constexpr std::string_view kName = "close", kExample = "close:radius=3",
                                    kHelp = "dilate, then erode: what is dark and smaller goes";
  static Morphology morphology() { return {{kDilation, kErosion}}; }
};
template <>
struct MorphologyNamed<TophatOptions> {
  static constexpr std::string_view kName = "tophat", kExample = "tophat:radius=9",
                                    kHelp = "the image less what open leaves: what is bright and smaller";
  static Morphology morphology() { return {{kErosion, kDilation}, Morphology::Result::input_less_last}; }
};
template <>
struct MorphologyNamed<BlackhatOptions> {
  static constexpr std::string_view kName = "blackhat", kExample = "blackhat:radius=9",
                                    kHelp = "what close leaves less the image: what is dark and smaller";
  static Morphology morphology() { return {{kDilation, kErosion}, Morphology::Result::last_less_input}; }
};

template <class Options>
StagePtr morphology_of(const Options& options);

template <class Options>
Keys morphology_keys(Options& options) {
  using Shape = Window::Shape;
  return joined({window_keys(options),
                 {radius_z_key(options.radius_z, kPlanesByThemselves),
                  {.name = "shape",
                   .value = choice(options.shape, {{"box", Shape::box}, {"disk", Shape::disk}}),
                   .words = "all of the pixels, or a disk of them, (x / radius)^2 + (y / radius_y)^2 <= 1, "
                            "on the CPU only; with radius_z a cylinder"}}});
}

/// The stage within planes, or the one along z.
template <class Options>
StagePtr make_flat(const Options& options, std::string text, std::int64_t radius_x, std::int64_t radius_y,
                   std::function<StagePtr(bool, bool)> again) {
  return std::make_shared<MorphologyStage>(std::move(text), MorphologyNamed<Options>::morphology(),
                                           Neighbourhood{radius_x, radius_y, options.border.mode},
                                           options.shape, options.border.value, options.missing,
                                           std::move(again));
}

/// Least or greatest values along z of a stack, and then `plane`. What stays missing is not known any more
/// when they are taken within planes; `refuse` says so of a source that declares missing pixels.
template <class Options>
StagePtr deep_window(const Options& options, const Spelling& spelling, StagePtr plane,
                     const std::function<void()>& refuse) {
  const auto again = [options, refuse](bool transposed, bool ignores) {
    if (ignores) refuse();
    Options other = options;
    other.radius_y = transposed ? 0 : *options.radius_z;
    other.radius = transposed ? *options.radius_z : 0;
    other.radius_z.reset();
    other.shape = Window::Shape::box;
    return morphology_of(other);
  };
  Options line = options;
  line.shape = Window::Shape::box;
  return make_deep(spelling, std::move(plane), make_flat(line, spelling.text(), 0, *options.radius_z, again));
}

/// One of several windows of a volume, as the stage that it is by itself.
template <class One, class Options>
StagePtr one_of_several(const Options& options, const std::function<void()>& refuse) {
  One one{options.radius, options.radius_y, options.radius_z, options.border, options.missing, options.shape};
  One defaults;
  const Spelling spelling(MorphologyNamed<One>::kName, morphology_keys(one), morphology_keys(defaults));
  One plane = one;
  plane.radius_z.reset();
  return deep_window(one, spelling, morphology_of(plane), refuse);
}

template <class Options>
StagePtr deep_morphology(const Options& options, const Spelling& spelling, StagePtr plane) {
  using Result = Morphology::Result;
  const Morphology morphology = MorphologyNamed<Options>::morphology();
  const AlongZ kind = morphology.result == Result::last ? AlongZ::extremes : AlongZ::differences;
  check_missing_along_z(spelling, options.missing, kind);
  const auto refuse = [text = spelling.text(), kind] { refuse_missing_along_z(text, kind); };
  if (morphology.ops.size() == 1) return deep_window(options, spelling, std::move(plane), refuse);
  Chain windows;
  for (const Window::Op op : morphology.ops)
    windows.then(op == kErosion ? one_of_several<ErodeOptions>(options, refuse)
                                : one_of_several<DilateOptions>(options, refuse));
  if (morphology.result == Result::last) return make_deep(spelling, std::move(windows));
  const double sign = morphology.result == Result::input_less_last ? 1 : -1;
  return own_chain_stage(
      spelling, windows,
      {.kind = PointwiseOp::Kind::mix, .p = sign, .q = -sign, .keeps_missing = options.missing.has_value()});
}

template <class Options>
StagePtr make_morphology(const Options& options, const Spelling& spelling) {
  if (options.missing == MissingPolicy::fill &&
      MorphologyNamed<Options>::morphology().result != Morphology::Result::last)
    spelling.refuse("missing", "there is nothing to take from a missing pixel; take missing=ignore");
  const std::int64_t radius_y = options.radius_y.value_or(options.radius);
  if (options.shape == Window::Shape::disk && std::max(options.radius, radius_y) > kMostDiskRadius)
    spelling.refuse("shape", fmt::format("a disk's radius is at most {}; take shape=box", kMostDiskRadius));
  const auto again = [options, radius_y](bool transposed, bool ignores) {
    Options other = options;
    if (transposed) other.radius = radius_y, other.radius_y = options.radius;
    if (ignores) other.missing = MissingPolicy::ignore;
    return morphology_of(other);
  };
  StagePtr plane = make_flat(options, spelling.text(), options.radius, radius_y, again);
  if (options.radius_z) return deep_morphology(options, spelling, std::move(plane));
  return plane;
}

template <class Options>
constexpr StageKind<Options> kMorphology{MorphologyNamed<Options>::kName, MorphologyNamed<Options>::kHelp,
                                         MorphologyNamed<Options>::kExample, morphology_keys<Options>,
                                         make_morphology<Options>};

template <class Options>
StagePtr morphology_of(const Options& options) {
  return kMorphology<Options>(options);
}

}  // namespace

template <>
StageEntry ErodeOptions::entry() {
  return kMorphology<ErodeOptions>.entry();
}
template <>
StageEntry DilateOptions::entry() {
  return kMorphology<DilateOptions>.entry();
}
template <>
StageEntry OpeningOptions::entry() {
  return kMorphology<OpeningOptions>.entry();
}
template <>
StageEntry ClosingOptions::entry() {
  return kMorphology<ClosingOptions>.entry();
}
template <>
StageEntry TophatOptions::entry() {
  return kMorphology<TophatOptions>.entry();
}
template <>
StageEntry BlackhatOptions::entry() {
  return kMorphology<BlackhatOptions>.entry();
}

StagePtr erode(const ErodeOptions& options) { return morphology_of(options); }
StagePtr dilate(const DilateOptions& options) { return morphology_of(options); }
StagePtr opening(const OpeningOptions& options) { return morphology_of(options); }
StagePtr closing(const ClosingOptions& options) { return morphology_of(options); }
StagePtr tophat(const TophatOptions& options) { return morphology_of(options); }
StagePtr blackhat(const BlackhatOptions& options) { return morphology_of(options); }

}  // namespace sepconv
