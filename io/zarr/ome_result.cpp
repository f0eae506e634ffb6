#include "io/zarr/ome_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.hpp"

namespace sepconv {
namespace {

constexpr std::size_t kMaxOmeAxes = 5;

constexpr int kOtherPlace = 2;
/// time, channel, others, space.
int place_in_order(std::string_view axis) {
  constexpr std::string_view kPlaces[] = {"t", "c", "", "z", "y", "x"};
  const auto* const found = std::ranges::find(kPlaces, axis);
  return found == std::end(kPlaces) ? kOtherPlace : static_cast<int>(found - kPlaces);
}

/// All that values may be, of integers; else the usual range of what is shown.
OmeWindow whole_window(SampleType type) {
  const int bits = type.bits_of_part();
  if (type.kind == SampleType::Kind::natural) return {0, std::exp2(bits) - 1, 0, std::exp2(bits) - 1};
  if (type.kind != SampleType::Kind::integer) return {0, 1, 0, 1};
  return {-std::exp2(bits - 1), std::exp2(bits - 1) - 1, -std::exp2(bits - 1), std::exp2(bits - 1) - 1};
}

/// Whether the channels of a pixel are those of a picture, as TIFF takes them; an alpha may follow.
bool are_colours(std::int64_t samples, const Metadata& metadata) {
  if (metadata.photometric.value_or(Photometric::rgb) != Photometric::rgb) return false;
  return samples == 3 || (samples == 4 && alpha_channel(metadata, samples) == 3);
}

/// Red, green and blue where the channels of a pixel are; else none.
std::vector<OmeChannel> colours_of(std::int64_t samples, const Metadata& metadata) {
  if (!are_colours(samples, metadata)) return {};
  std::vector<OmeChannel> colours{{"red", 0xff0000}, {"green", 0x00ff00}, {"blue", 0x0000ff}};
  if (samples == 4) colours.push_back({"alpha", 0xffffff});
  return colours;
}

/// For images that have channels themselves: a channel for each of these, with the names of both, or numbers.
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

bool says_something(const OmeChannel& channel) {
  return !channel.name.empty() || channel.rgb || channel.window || !channel.rest.empty();
}

/// Those of the result: as many as there are, with a colour and a window each, as OME-Zarr wants them; or
/// none.
std::vector<OmeChannel> ome_channels(std::vector<OmeChannel> known, std::int64_t count, std::int64_t samples,
                                     SampleType type, const Metadata& metadata,
                                     std::vector<std::string>& warnings) {
  const std::vector<OmeChannel> colours = colours_of(samples, metadata);
  if (const std::int64_t images = count / samples; samples > 1 && images > 1 && std::ssize(known) != count) {
    if (known.empty()) known.resize(static_cast<std::size_t>(images));
    if (std::ssize(known) == images) known = channels_of_images(known, samples, colours);
  }
  if (std::ssize(known) != count) {
    if (std::ranges::any_of(known, says_something))
      warnings.emplace_back("names and colours of channels are left out: there are not as many as channels");
    known.clear();
  }
  if (known.empty() && count == samples) known = colours;
  for (OmeChannel& channel : known) {
    if (!channel.rgb) channel.rgb = 0xffffff;
    if (!channel.window) channel.window = whole_window(type);
  }
  return known;
}

}  // namespace

std::vector<NgffLevelFactors> OmeResult::steps(const std::vector<Extent>& levels) const {
  std::vector<NgffLevelFactors> steps;
  std::vector<double> factors(image.axes.size(), 1);
  double& rows = factors[factors.size() - 2];
  double& cols = factors.back();
  for (std::size_t i = 0; i < levels.size(); ++i) {
    // A side of one pixel is not halved any more.
    if (i > 0 && levels[i].rows < levels[i - 1].rows) rows *= 2;
    if (i > 0 && levels[i].cols < levels[i - 1].cols) cols *= 2;
    steps.push_back({std::to_string(i), factors});
  }
  return steps;
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
  const auto in_order = [&](const ZarrShape& sides) {  // one along axes that the array lacks
    ZarrShape ordered;
    for (const OmeAxis& axis : image.axes) {
      const auto place = std::ranges::find(array.names, axis.name) - array.names.begin();
      ordered.push_back(place == std::ssize(array.names) ? 1 : sides[static_cast<std::size_t>(place)]);
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

/// What OmeImage has taken over is not said to be lost.
Metadata not_taken(Metadata metadata, const OmeImage& image) {
  const bool has_sizes = std::ranges::any_of(
      image.axes, [](const OmeAxis& axis) { return axis.name == "x" && !axis.unit.empty(); });
  const bool has_alpha = !image.channels.empty() && image.channels.back().name == "alpha";
  if (counts_images(metadata.description)) metadata.description.clear();
  if (has_sizes) metadata.resolution.reset();
  if (has_alpha) metadata.extra_samples.clear();
  return metadata;
}

/// How many there are of channels and of axes that OME-Zarr has no name for, of which it has one.
std::ptrdiff_t count_channels_and_others(const RasterAxes& axes) {
  return std::ranges::count_if(axes, [](const RasterAxis& axis) {
    const int place = place_in_order(axis.name);
    return place == place_in_order("c") || place == kOtherPlace;
  });
}

/// Axes of one position, of which the smallest is said by their place, where there are more than OME-Zarr has.
void drop_single_positions(RasterAxes& axes, bool adds_channels) {
  const std::size_t most = kMaxOmeAxes - (adds_channels ? 3 : 2);
  constexpr int kTime = 0, kDepth = 3, kChannel = 1;
  for (const int place : {kOtherPlace, kTime, kDepth, kChannel}) {
    const auto is_droppable = [&](const RasterAxis& axis) {
      return axis.size == 1 && place_in_order(axis.name) == place;
    };
    const bool is_one_of_many = (place == kOtherPlace || place == kChannel) &&
                                count_channels_and_others(axes) + (adds_channels ? 1 : 0) > 1;
    if (axes.size() > most || is_one_of_many) std::erase_if(axes, is_droppable);
  }
}

/// The axes of the images that go into a result, whose pixels have this many channels, and which axes its array
/// has, in OME-Zarr's order.
struct ResultAxes {
  RasterAxes of_images, of_array;
};
ResultAxes result_axes(const RasterSetSpec& spec, std::int64_t samples) {
  ResultAxes axes;
  // The channels of a pixel are those of the only c.
  for (const RasterAxis& axis : spec.axes)
    if (samples == 1 || axis.name != "c" || axis.size > 1) axes.of_images.push_back({axis.name, axis.size});
  const bool adds_channels = samples > 1 && find_axis(axes.of_images, "c") == nullptr;
  drop_single_positions(axes.of_images, adds_channels);
  RasterAxes& all = axes.of_array = axes.of_images;
  if (const auto c = std::ranges::find(all, "c", &RasterAxis::name); c != all.end())
    c->size *= samples;
  else if (samples > 1)
    all.push_back({"c", samples});
  all.push_back({"y", spec.raster.extent.rows});
  all.push_back({"x", spec.raster.extent.cols});
  std::ranges::stable_sort(all, {}, [](const RasterAxis& axis) { return place_in_order(axis.name); });
  return axes;
}

/// Empty, or why they are none of OME-Zarr.
std::string unfit(const RasterAxes& axes) {
  if (axes.size() <= kMaxOmeAxes && count_channels_and_others(axes) <= 1) return {};
  const RasterAxis* const series = find_axis(axes, "s");
  return fmt::format(
      "OME-Zarr has not the axes of the result ({}): they are at most {}, of t, c or another, z, y and x{}",
      to_string(axes), kMaxOmeAxes,
      series != nullptr && series->size > 1 ? "; OpenOptions::select s=0 takes one image" : "");
}

/// Which of the array's axes are those of its images.
ZarrAxes places_of(const ResultAxes& axes, bool has_channels) {
  const auto place = [&](std::string_view name) {
    return static_cast<int>(std::ranges::find(axes.of_array, name, &RasterAxis::name) -
                            axes.of_array.begin());
  };
  ZarrAxes places;
  places.rasters = axes.of_images;
  for (const RasterAxis& axis : axes.of_images) places.others.push_back(place(axis.name));
  places.row = place("y");
  places.col = place("x");
  if (has_channels) places.channel = place("c");
  return places;
}

}  // namespace

std::optional<OmeResult> ome_result(const RasterSetSpec& spec, const CreateOptions& options,
                                    std::vector<std::string>& warnings) {
  if (options.layout.zarr.is_array && options.layout.levels == Levels::none) return std::nullopt;
  const SampleType type = options.stored.value_or(SampleType(spec.raster.type));
  const std::int64_t samples = spec.raster.channels / type.parts();
  const ResultAxes axes = result_axes(spec, samples);
  if (const std::string fact = unfit(axes.of_array); !fact.empty()) {
    if (options.layout.levels != Levels::none)
      throw InvalidArgument(fact + "; leave smaller levels (OutputOptions::pyramid) out");
    warnings.push_back(fact + "; so it is an array");
    return std::nullopt;
  }
  const OmeImage known = ome_image_of(options.metadata, warnings);
  OmeResult result{.image = {.name = known.name, .label = known.label}, .axes = places_of(axes, samples > 1)};
  for (const RasterAxis& axis : axes.of_array) {
    const auto said = std::ranges::find(known.axes, axis.name, &OmeAxis::name);
    result.image.axes.push_back(said != known.axes.end() ? *said
                                                         : OmeAxis{axis.name, ome_axis_type(axis.name), {}});
  }
  if (drop_overflowing_sizes(result.image)) warnings.emplace_back(kOverflowingSizesWarning);
  const RasterAxis* const c = find_axis(axes.of_array, "c");
  if (c != nullptr || std::ranges::any_of(known.channels, says_something))
    result.image.channels =
        ome_channels(known.channels, c == nullptr ? 1 : c->size, samples, type, options.metadata, warnings);
  result.left = not_taken(options.metadata, result.image);
  return result;
}

}  // namespace sepconv
