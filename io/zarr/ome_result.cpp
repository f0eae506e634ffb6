#include "io/zarr/ome_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.hpp"

namespace sepconv {
namespace {

constexpr std::size_t kMaxOmeAxes = 5;

constexpr int kOtherRank = 2;
/// The position of an axis in OME-Zarr's order: time, channel, others, space.
int axis_rank(std::string_view axis) {
  constexpr std::string_view kAxisOrder[] = {"t", "c", "", "z", "y", "x"};
  const auto* const found = std::ranges::find(kAxisOrder, axis);
  return found == std::end(kAxisOrder) ? kOtherRank : static_cast<int>(found - kAxisOrder);
}

/// The range of an integer type; 0 to 1 for other types.
OmeWindow default_window(SampleType type) {
  const int bits = type.bits_of_part();
  if (type.kind == SampleType::Kind::natural) return {0, std::exp2(bits) - 1, 0, std::exp2(bits) - 1};
  if (type.kind != SampleType::Kind::integer) return {0, 1, 0, 1};
  return {-std::exp2(bits - 1), std::exp2(bits - 1) - 1, -std::exp2(bits - 1), std::exp2(bits - 1) - 1};
}

/// Whether the channels of a pixel are RGB or RGBA, as in TIFF.
bool are_colours(std::int64_t samples, const Metadata& metadata) {
  if (metadata.photometric.value_or(Photometric::rgb) != Photometric::rgb) return false;
  return samples == 3 || (samples == 4 && alpha_channel(metadata, samples) == 3);
}

/// The channels red, green, blue (and alpha) if are_colours(), else empty.
std::vector<OmeChannel> colours_of(std::int64_t samples, const Metadata& metadata) {
  if (!are_colours(samples, metadata)) return {};
  std::vector<OmeChannel> colours{{"red", 0xff0000}, {"green", 0x00ff00}, {"blue", 0x0000ff}};
  if (samples == 4) colours.push_back({"alpha", 0xffffff});
  return colours;
}

/// Channels for images along c that have several samples a pixel: one for each image and sample. Names
/// combine those of both, or their numbers.
std::vector<OmeChannel> channels_of_images(const std::vector<OmeChannel>& images, std::int64_t samples,
                                           const std::vector<OmeChannel>& colours) {
  std::vector<OmeChannel> channels;
  for (std::size_t image = 0; image < images.size(); ++image) {
    const std::string& name = images[image].name;
    for (std::size_t sample = 0; sample < static_cast<std::size_t>(samples); ++sample) {
      OmeChannel& channel = channels.emplace_back(colours.empty() ? images[image] : colours[sample]);
      const std::string number = std::to_string(sample);
      channel.name = fmt::format("{} {}", name.empty() ? std::to_string(image) : name,
                                 colours.empty() ? number : channel.name);
    }
  }
  return channels;
}

bool has_metadata(const OmeChannel& channel) {
  return !channel.name.empty() || channel.rgb || channel.window || !channel.rest.empty();
}

/// The `count` channels of the result, each with a colour and a window, as OME-Zarr requires; or empty.
std::vector<OmeChannel> ome_channels(std::vector<OmeChannel> known, std::int64_t count, std::int64_t samples,
                                     SampleType type, const Metadata& metadata,
                                     std::vector<std::string>& warnings) {
  const std::vector<OmeChannel> colours = colours_of(samples, metadata);
  if (const std::int64_t images = count / samples; samples > 1 && images > 1 && std::ssize(known) != count) {
    if (known.empty()) known.resize(static_cast<std::size_t>(images));
    if (std::ssize(known) == images) known = channels_of_images(known, samples, colours);
  }
  if (std::ssize(known) != count) {
    if (std::ranges::any_of(known, has_metadata))
      warnings.emplace_back("names and colours of channels are left out: there are not as many as channels");
    known.clear();
  }
  if (known.empty() && count == samples) known = colours;
  for (OmeChannel& channel : known) {
    if (!channel.rgb) channel.rgb = 0xffffff;
    if (!channel.window) channel.window = default_window(type);
  }
  return known;
}

}  // namespace

std::vector<NgffLevelFactors> OmeResult::level_factors(const std::vector<Extent>& levels) const {
  std::vector<NgffLevelFactors> level_factors;
  std::vector<double> factors(image.axes.size(), 1);
  double& rows = factors[factors.size() - 2];
  double& cols = factors.back();
  for (std::size_t i = 0; i < levels.size(); ++i) {
    // A side of one pixel is not halved further.
    if (i > 0 && levels[i].rows < levels[i - 1].rows) rows *= 2;
    if (i > 0 && levels[i].cols < levels[i - 1].cols) cols *= 2;
    level_factors.push_back({std::to_string(i), factors});
  }
  return level_factors;
}

RasterSetSpec OmeResult::as_array(RasterSetSpec spec) const {
  spec.axes.clear();
  for (std::size_t i = 0; i < axes.rasters.size(); ++i) {
    if (axes.others[i] == axes.channel)
      spec.raster.channels *= axes.rasters[i].size;
    else
      spec.axes.push_back(axes.rasters[i]);
  }
  return spec;
}

ZarrArray OmeResult::ordered(ZarrArray array) const {
  const auto in_order = [&](const ZarrShape& sides) {  // 1 for axes that the array does not have
    ZarrShape ordered;
    for (const OmeAxis& axis : image.axes) {
      const auto index = std::ranges::find(array.names, axis.name) - array.names.begin();
      ordered.push_back(index == std::ssize(array.names) ? 1 : sides[static_cast<std::size_t>(index)]);
    }
    return ordered;
  };
  array.shape = in_order(array.shape);
  array.chunk = in_order(array.chunk);
  for (ZarrShards& level : array.shards) level.inner = in_order(level.inner);
  array.names = axis_names(image);
  array.order.resize(image.axes.size());
  std::iota(array.order.begin(), array.order.end(), 0);
  for (ZarrShards& level : array.shards) level.order = array.order;
  array.attributes = "{}";
  if (array.version == 2) array.separator = '/';  // since OME-Zarr 0.2
  return array;
}

namespace {

/// Removes the metadata that `image` represents, so that no warning reports them as lost.
Metadata without_represented(Metadata metadata, const OmeImage& image) {
  const bool has_sizes = std::ranges::any_of(
      image.axes, [](const OmeAxis& axis) { return axis.name == "x" && !axis.unit.empty(); });
  const bool has_alpha = !image.channels.empty() && image.channels.back().name == "alpha";
  if (is_stack_description(metadata.description)) metadata.description.clear();
  if (has_sizes) metadata.resolution.reset();
  if (has_alpha) metadata.extra_samples.clear();
  return metadata;
}

/// The number of channel axes and axes without an OME-Zarr name. OME-Zarr allows one of them.
std::ptrdiff_t count_channels_and_others(const RasterAxes& axes) {
  return std::ranges::count_if(axes, [](const RasterAxis& axis) {
    const int rank = axis_rank(axis.name);
    return rank == axis_rank("c") || rank == kOtherRank;
  });
}

/// Drops axes of size 1, the less important ones first, while there are more axes than OME-Zarr allows.
void drop_single_positions(RasterAxes& axes, bool adds_channels) {
  const std::size_t max_axes = kMaxOmeAxes - (adds_channels ? 3 : 2);
  constexpr int kTime = 0, kDepth = 3, kChannel = 1;
  for (const int rank : {kOtherRank, kTime, kDepth, kChannel}) {
    const auto is_droppable = [&](const RasterAxis& axis) {
      return axis.size == 1 && axis_rank(axis.name) == rank;
    };
    const bool is_one_of_many = (rank == kOtherRank || rank == kChannel) &&
                                count_channels_and_others(axes) + (adds_channels ? 1 : 0) > 1;
    if (axes.size() > max_axes || is_one_of_many) std::erase_if(axes, is_droppable);
  }
}

/// The axes of the images of a result, and the axes of its array in OME-Zarr's order.
struct ResultAxes {
  RasterAxes image_axes, array_axes;
};
ResultAxes result_axes(const RasterSetSpec& spec, std::int64_t samples) {
  ResultAxes axes;
  // A c axis of size 1 is merged with the channels of a pixel.
  for (const RasterAxis& axis : spec.axes)
    if (samples == 1 || axis.name != "c" || axis.size > 1) axes.image_axes.push_back({axis.name, axis.size});
  const bool adds_channels = samples > 1 && find_axis(axes.image_axes, "c") == nullptr;
  drop_single_positions(axes.image_axes, adds_channels);
  RasterAxes& all = axes.array_axes = axes.image_axes;
  if (const auto c = std::ranges::find(all, "c", &RasterAxis::name); c != all.end())
    c->size *= samples;
  else if (samples > 1)
    all.push_back({"c", samples});
  all.push_back({"y", spec.raster.extent.rows});
  all.push_back({"x", spec.raster.extent.cols});
  std::ranges::stable_sort(all, {}, [](const RasterAxis& axis) { return axis_rank(axis.name); });
  return axes;
}

/// Returns an empty string, or why OME-Zarr does not support the axes.
std::string axes_problem(const RasterAxes& axes) {
  if (axes.size() <= kMaxOmeAxes && count_channels_and_others(axes) <= 1) return {};
  const RasterAxis* const series = find_axis(axes, "s");
  return fmt::format(
      "OME-Zarr does not support the axes of the result ({}): they are at most {}, of t, c or another, z, y "
      "and x{}",
      to_string(axes), kMaxOmeAxes,
      series != nullptr && series->size > 1 ? "; OpenOptions::select s=0 takes one image" : "");
}

/// Maps the axes of the images to those of the array.
ZarrAxes map_axes(const ResultAxes& axes, bool has_channels) {
  const auto index_of = [&](std::string_view name) {
    return static_cast<int>(std::ranges::find(axes.array_axes, name, &RasterAxis::name) -
                            axes.array_axes.begin());
  };
  ZarrAxes result;
  result.rasters = axes.image_axes;
  for (const RasterAxis& axis : axes.image_axes) result.others.push_back(index_of(axis.name));
  result.row = index_of("y");
  result.col = index_of("x");
  if (has_channels) result.channel = index_of("c");
  return result;
}

}  // namespace

std::optional<OmeResult> ome_result(const RasterSetSpec& spec, const CreateOptions& options,
                                    std::vector<std::string>& warnings) {
  if (options.layout.zarr.is_array && options.layout.levels == Levels::none) return std::nullopt;
  const SampleType type = options.stored.value_or(SampleType(spec.raster.type));
  const std::int64_t samples = spec.raster.channels / type.parts();
  const ResultAxes axes = result_axes(spec, samples);
  if (const std::string fact = axes_problem(axes.array_axes); !fact.empty()) {
    if (options.layout.levels != Levels::none)
      throw InvalidArgument(fact + "; leave smaller levels (OutputOptions::pyramid) out");
    warnings.push_back(fact + "; the result is a plain array");
    return std::nullopt;
  }
  const OmeImage known = ome_image_of(options.metadata, warnings);
  OmeResult result{.image = {.name = known.name, .label = known.label}, .axes = map_axes(axes, samples > 1)};
  for (const RasterAxis& axis : axes.array_axes) {
    const auto known_axis = std::ranges::find(known.axes, axis.name, &OmeAxis::name);
    result.image.axes.push_back(
        known_axis != known.axes.end() ? *known_axis : OmeAxis{axis.name, ome_axis_type(axis.name), {}});
  }
  if (drop_overflowing_sizes(result.image)) warnings.emplace_back(kOverflowingSizesWarning);
  const RasterAxis* const c = find_axis(axes.array_axes, "c");
  if (c != nullptr || std::ranges::any_of(known.channels, has_metadata))
    result.image.channels =
        ome_channels(known.channels, c == nullptr ? 1 : c->size, samples, type, options.metadata, warnings);
  result.remaining_metadata = without_represented(options.metadata, result.image);
  return result;
}

}  // namespace sepconv
