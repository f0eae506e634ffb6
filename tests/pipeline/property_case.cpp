#include "property_case.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <limits>
#include <stdexcept>

#include "../support/fault_injection.hpp"
#include "../support/image.hpp"
#include "../support/matrix_file.hpp"
#include "../support/small_run.hpp"
#include "kernels/pointwise/missing.hpp"
#include "pipeline/job/plan_json.hpp"
#include "pipeline/stages/on_volume.hpp"

namespace sepconv::test {
namespace {

template <class T>
T pick(std::mt19937_64& random, std::initializer_list<T> choices) {
  return choices.begin()[random() % choices.size()];
}

std::int64_t between(std::mt19937_64& random, std::int64_t min_value, std::int64_t max_value) {
  return min_value +
         static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(max_value - min_value + 1));
}

std::string random_border(std::mt19937_64& random) {
  return pick<std::string>(random, {"reflect101", "reflect", "replicate", "constant,value=7.5", "wrap"});
}

/// The key nodata of an averaging stage.
std::string random_missing(std::mt19937_64& random) {
  return pick<std::string>(random, {"", "", "", ",nodata=ignore", ",nodata=propagate", ",nodata=fill"});
}

/// The key nodata of a stage whose taps may sum to 0 or that scales. `other` is one more choice.
std::string random_missing(std::mt19937_64& random, const std::string& other_choice) {
  return pick<std::string>(random, {"", "", "", ",nodata=propagate", other_choice});
}

std::string random_taps(std::mt19937_64& random) {
  std::vector<double> taps(static_cast<std::size_t>(2 * between(random, 0, 6) + 1));
  for (double& tap : taps) tap = static_cast<double>(between(random, -8, 8)) / 16;
  return fmt::format("{}", fmt::join(taps, ","));
}

/// Rank filters with small windows, some of them off-centre.
std::string random_rank_stage(std::mt19937_64& random) {
  const std::int64_t max_value = random() % 6 == 0 ? 16 : 3;
  switch (random() % 4) {
    case 0:
      return fmt::format("median:radius={},radius_y={}", between(random, 0, max_value),
                         between(random, 0, max_value));
    case 1:
      return fmt::format("percentile:percent={},radius={}", pick(random, {0.0, 12.5, 80.0, 100.0}),
                         between(random, 0, max_value));
    case 2:
      return fmt::format("rank:rank=-1,size={}x{}", between(random, 1, 7), between(random, 1, 7));
    default:
      return "rank:rank=5,size=4x5,origin=1,origin_y=-2";
  }
}

std::string random_shape(std::mt19937_64& random) {
  return pick<std::string>(random, {"", "", ",shape=disk"});
}

/// Stages that keep the number of channels.
std::string random_stage(std::mt19937_64& random) {
  const std::string border = random_border(random);
  switch (random() % 23) {
    case 0:
      return fmt::format(
          "gaussian:sigma={},{}border={}", pick(random, {0.4, 1.0, 2.5, 9.0}),
          pick<std::string>(random, {"", "", "sigma_y=3,", "radius_y=0,", "order=1,order_y=3,"}), border);
    case 22:
      return fmt::format("gaussian:sigma={},sigma_y={},method=multirate,border={}{}",
                         pick(random, {8.0, 9.5, 21.0}), pick(random, {8.0, 13.0, 40.0}), border,
                         random_missing(random));
    case 1:
      return fmt::format("box:radius={},radius_y={},border={}{}", between(random, 0, 40),
                         between(random, 0, 40), border, random_missing(random));
    case 2:
      return fmt::format("binomial:radius={},border={}{}", between(random, 0, 9), border,
                         random_missing(random));
    case 3:
      return fmt::format("sobel:axis={},border={}{}", pick<std::string>(random, {"x", "y"}), border,
                         random_missing(random, ""));
    case 4:
      return fmt::format("scharr:axis={},border={}", pick<std::string>(random, {"x", "y"}), border);
    case 5:
      return fmt::format("derivative:order={},axis={},border={}", between(random, 1, 4),
                         pick<std::string>(random, {"x", "y"}), border);
    case 6:
      return fmt::format("gradient:border={}", border);
    case 7:
      return fmt::format("gaussian_laplace:sigma=1.5,border={}", border);
    case 8:
      return fmt::format("dog:sigma=1,sigma2=2.2,border={}{}", border, random_missing(random));
    case 9:
      return fmt::format("unsharp:sigma=1.2,amount=0.7,threshold=2,border={}{}", border,
                         random_missing(random, ",nodata=ignore"));
    case 10:
      return fmt::format("convolve:row={},col={},border={}", random_taps(random), random_taps(random),
                         border);
    case 11:
      return fmt::format("convolve:{}={},flip=true,border={}", pick<std::string>(random, {"row", "col"}),
                         random_taps(random), border);
    case 12:
      return "scale:factor=0.37,offset=-3";
    case 13:
      return fmt::format("cast:type={}", pick<std::string>(random, {"u8", "u16", "i16", "f32", "f64"}));
    case 14:
      if (random() % 2 == 0)
        return fmt::format("{},border={}{}", random_rank_stage(random), border, random_missing(random));
      return pick<std::string>(random, {"clamp:low=3,high=90", "abs"});
    case 15:
      return fmt::format("reduce:factor={},factor_y={},filter={}{}", between(random, 1, 5),
                         between(random, 1, 5), pick<std::string>(random, {"box", "binomial", "nearest"}),
                         random_missing(random, ",nodata=ignore"));
    case 16:
      return fmt::format("resize:{},filter={}{}",
                         random() % 2 == 0
                             ? fmt::format("to={}x{}", between(random, 1, 150), between(random, 1, 150))
                             : fmt::format("by={}", pick(random, {0.1, 0.37, 0.5, 1.0, 1.3, 2.0})),
                         pick<std::string>(random, {"linear", "cubic", "lanczos3", "area", "nearest"}),
                         random_missing(random, ",nodata=ignore"));
    case 17:
    case 18:
      return fmt::format(
          "{}:radius={},radius_y={},border={}{}{}",
          pick<std::string>(random, {"erode", "dilate", "opening", "closing", "tophat", "blackhat"}),
          between(random, 0, 24), between(random, 0, 24), border, random_shape(random),
          pick<std::string>(random, {"", "", ",nodata=ignore", ",nodata=propagate"}));
    case 19:
      return fmt::format("stddev:radius={},radius_y={},border={}{}", between(random, 0, 12),
                         between(random, 0, 12), border, random_missing(random));
    case 20:
      return fmt::format("local_normalize:radius={},min_std={},border={}{}", between(random, 0, 12),
                         pick<std::string>(random, {"0", "2"}), border,
                         random_missing(random, ",nodata=ignore"));
    default:
      return "threshold:at=20,above=200,below=10";
  }
}

/// A stage that combines its input with `other`, a file or a chain.
std::string random_binary_stage(std::mt19937_64& random, const std::string& other_choice) {
  const auto name = pick<std::string>(
      random, {"add:", "subtract:", "multiply:", "divide:", "min:", "max:", "blend:alpha=0.3,"});
  return name + other_choice;
}

/// A filter or pointwise stage that keeps its input's size.
std::string random_stage_in_place(std::mt19937_64& random) {
  std::string stage = random_stage(random);
  while (stage.starts_with("re")) stage = random_stage(random);
  return stage;
}

std::string random_chain_stage(std::mt19937_64& random) {
  std::vector<std::string> stages;
  for (std::int64_t remaining = between(random, 1, 2); remaining > 0; --remaining)
    stages.push_back(random_stage_in_place(random));
  return random_binary_stage(random, fmt::format("chain=[{}]", fmt::join(stages, " | ")));
}

/// A stage along z of volumes. All have nodata=propagate, because missing pixels are not left out along z.
std::string random_volume_stage(std::mt19937_64& random) {
  const std::string common_keys = fmt::format(",border={},nodata=propagate", random_border(random));
  switch (random() % 8) {
    case 0:
      return fmt::format("gaussian:sigma={},sigma_z={},order_z={}{}", pick(random, {0.4, 1.0, 2.5}),
                         pick(random, {0.4, 1.2, 5.0}), between(random, 0, 2), common_keys);
    case 1:
      return fmt::format("box:radius={},radius_z={}{}", between(random, 0, 4), between(random, 0, 9),
                         common_keys);
    case 2:
      return fmt::format("convolve:z={}{}", random_taps(random), common_keys);
    case 3:
      return pick<std::string>(random,
                               {"sobel:axis=z", "gradient:axes=xyz", "gaussian_laplace:sigma=0.8,sigma_z=1.5",
                                "stddev:radius=2,radius_z=1", "local_normalize:radius=1,radius_z=2"}) +
             common_keys;
    case 4:
      return fmt::format(
          "{}:radius={},radius_z={}{}{}",
          pick<std::string>(random, {"erode", "dilate", "opening", "closing", "tophat", "blackhat"}),
          between(random, 0, 4), between(random, 0, 9), random_shape(random), common_keys);
    case 5:
      return random_binary_stage(
          random, fmt::format("chain=[{} | {}]", random_stage_in_place(random), random_volume_stage(random)));
    case 6:
      return fmt::format("rank:rank={},size={}x{},size_z={}{}", between(random, 0, 3), between(random, 2, 6),
                         between(random, 2, 5), between(random, 1, 5), common_keys);
    default:
      return fmt::format("binomial:radius=1,radius_z={}{}", between(random, 0, 3), common_keys);
  }
}

/// A mix_channels stage from `channels` to a random number of channels, which `channels` is set to.
std::string random_matrix(std::mt19937_64& random, std::int64_t& channels) {
  const std::int64_t rows = between(random, 1, 5);
  const std::int64_t cols = channels + between(random, 0, 1);
  std::vector<double> values(static_cast<std::size_t>(rows * cols));
  for (double& value : values) value = static_cast<double>(between(random, -8, 8)) / 8;
  channels = rows;
  return fmt::format("mix_channels:rows={},values={}", rows, fmt::join(values, ","));
}

/// Placeholders for file paths, which differ between runs and machines.
constexpr std::string_view kMatrixFile = "matrix.npy", kSecondFile = "second.tif";

std::string with_file(std::string stage, std::string_view name, const std::string& file) {
  const std::size_t at = stage.find(name);
  return at == std::string::npos ? stage : stage.replace(at, name.size(), file);
}

Chain chain_of(const PropertyCase& c) {
  static const MatrixFolder matrices;
  std::vector<std::string> stages = c.stages;
  if (!c.matrix.extent.empty()) {
    const std::string file = matrices.noise(c.matrix.extent, c.matrix.type, c.matrix_seed);
    for (std::string& stage : stages) stage = with_file(stage, kMatrixFile, file);
  }
  if (!c.second.extent.empty()) {
    const std::string file = matrices.noise_image(c.second, c.second_seed);
    for (std::string& stage : stages) stage = with_file(stage, kSecondFile, file);
  }
  const Chain chain = Chain::parse(stages);
  return c.depth == 0 ? chain : on_volume(chain, c.spec, {c.spec.extent, c.depth, c.planes});
}

/// The spec of the image that is run.
ImageSpec image_spec(const PropertyCase& c) {
  return c.depth == 0 ? c.spec : VolumeShape{c.spec.extent, c.depth, c.planes}.spec(c.spec);
}

/// Inserts a gemm stage into the chain: with side=left anywhere; with side=right, which removes channels, at
/// the end. Then appends up to two stages.
void insert_gemm(std::mt19937_64& random, PropertyCase& c) {
  const bool left = random() % 2 == 0;
  const auto at = left ? between(random, 0, std::ssize(c.stages)) : std::ssize(c.stages);
  PropertyCase prefix = c;
  prefix.stages.resize(static_cast<std::size_t>(at));
  const ImageSpec spec = chain_of(prefix).result_spec(c.spec);
  const std::int64_t count = pick<std::int64_t>(random, {1, 2, 7, 16, 33, 70});
  c.matrix.extent = left ? Extent{count, spec.extent.rows} : Extent{spec.extent.cols * spec.channels, count};
  c.matrix.type = pick(random, {PixelType::f32, PixelType::f64});
  c.matrix_seed = random() % 1000;
  c.stages.insert(c.stages.begin() + at,
                  fmt::format("gemm:file={}{}", kMatrixFile, left ? ",side=left" : ""));
  for (std::int64_t remaining = between(random, 0, 2); remaining > 0; --remaining)
    c.stages.push_back(random() % 3 == 0 ? "transpose" : random_stage(random));
}

/// Inserts a stage with a second image into the chain.
void insert_second(std::mt19937_64& random, PropertyCase& c) {
  PropertyCase prefix = c;
  prefix.stages.resize(static_cast<std::size_t>(between(random, 0, std::ssize(c.stages))));
  const auto at = std::ssize(prefix.stages);
  c.second = chain_of(prefix).result_spec(c.spec);
  c.second.type = kPixelTypes[random() % std::size(kPixelTypes)];
  if (random() % 4 == 0) c.second.extent.rows = 1;
  if (random() % 4 == 0) c.second.extent.cols = 1;
  if (random() % 4 == 0) c.second.channels = 1;
  c.second_seed = random() % 1000;
  c.stages.insert(c.stages.begin() + at, random_binary_stage(random, fmt::format("file={}", kSecondFile)));
}

void make_volume(std::mt19937_64& random, PropertyCase& c) {
  c.depth = between(random, 1, 20);
  c.planes = between(random, 1, 2);
  c.spec.extent = {between(random, 1, 30), between(random, 1, 30)};
  c.stages.insert(c.stages.begin() + between(random, 0, std::ssize(c.stages)), random_volume_stage(random));
}

std::int64_t random_side(std::mt19937_64& random) {
  return pick<std::int64_t>(random,
                            {1, 2, 3, 5, 7, 13, 15, 16, 17, 31, 33, 61, 64, 65, 97, 127, 128, 129, 211});
}

/// Adds holes and declares them as missing, possibly with another value in the result, or leaves them to the
/// stages' keys.
void add_holes(std::mt19937_64& random, PropertyCase& c) {
  c.holes = true;
  if (c.spec.channels > 1 && random() % 3 == 0) c.missing.alpha = c.spec.channels - 1 - random() % 2;
  if (c.missing.alpha && random() % 2 == 0) {
    if (random() % 3 == 0) c.missing.alpha_rule = AlphaRule::mask;
    return;
  }
  const bool nan = is_floating(c.spec.type);
  if (random() % 3 > 0) c.missing.value = nan && random() % 2 == 0 ? std::nan("") : kHole;
  if (!c.missing.value) return;
  const PixelType result = chain_of(c).result_spec(image_spec(c)).type;
  if (random() % 2 == 0 || !is_floating(result)) c.missing.result = pick(random, {0.0, 9.0, 255.0});
}

/// The case's image. Holes are single pixels and a rectangle of an eighth of each side.
Image source_of(const PropertyCase& c) {
  const ImageSpec spec = image_spec(c);
  Image image = Image::of_pattern(spec, Pattern::noise, c.image_seed);
  if (!c.holes) return image;
  std::mt19937_64 random(c.image_seed);
  const double hole = c.missing.alpha && !c.missing.value                       ? 0
                      : is_floating(c.spec.type) && !(c.missing.value == kHole) ? std::nan("")
                                                                                : kHole;
  const auto [rows, cols] = spec.extent;
  const Rect hole_rect = Rect{between(random, 0, rows - 1), between(random, 0, cols - 1), rows / 8, cols / 8};
  fill_pixels(image.view().crop(hole_rect.intersect(Rect::whole(spec.extent))), hole);
  const std::int64_t divisor = pick<std::int64_t>(random, {3, 50, 1000});
  for (std::int64_t i = spec.extent.area() / divisor; i > 0; --i)
    fill_pixels(image.view().crop({between(random, 0, rows - 1), between(random, 0, cols - 1), 1, 1}), hole);
  return image;
}

/// The chain with a random delay before each stage.
Chain with_delays(const Chain& chain, const PropertyCase& c) {
  Chain delayed_chain;
  for (const StagePtr& stage : chain.stages()) {
    delayed_chain.then(
        std::make_shared<HookedStage>(stage, random_delay(c.image_seed + delayed_chain.size(), c.delay_us)));
  }
  return delayed_chain;
}

}  // namespace

std::uint64_t from_environment(const char* name, std::uint64_t fallback) {
  const char* const value = std::getenv(name);
  return value == nullptr ? fallback : std::stoull(value);
}

PropertyCase random_case(std::mt19937_64& random) {
  PropertyCase c;
  c.spec.extent = {random_side(random), random_side(random)};
  if (random() % 12 == 0) c.spec.extent = {1 + static_cast<std::int64_t>(random() % 3), 3001};
  if (random() % 12 == 0) c.spec.extent = {3001, 1 + static_cast<std::int64_t>(random() % 3)};
  c.spec.channels = between(random, 1, 5);
  c.spec.type = kPixelTypes[random() % std::size(kPixelTypes)];
  std::int64_t channels = c.spec.channels;
  for (std::int64_t stages = between(random, 0, 4); stages > 0; --stages) {
    c.stages.push_back(random() % 8 == 0   ? random_matrix(random, channels)
                       : random() % 8 == 0 ? random_chain_stage(random)
                                           : random_stage(random));
    if (random() % 4 == 0)
      c.stages.insert(c.stages.begin() + between(random, 0, std::ssize(c.stages)), "transpose");
  }
  if (random() % 5 == 0) {
    make_volume(random, c);
  } else if (random() % 4 == 0) {
    insert_gemm(random, c);
  }
  if (c.depth == 0 && random() % 3 == 0) insert_second(random, c);
  const bool transposed = std::ranges::count(c.stages, "transpose") % 2 == 1;
  c.image_seed = random() % 1000;
  c.slots = static_cast<int>(between(random, 1, 4));
  c.threads = static_cast<int>(between(random, 1, 4));
  c.band_rows = pick<std::int64_t>(random, {1, 2, 3, 7, 16, 33, 1000});
  const auto [rows, cols] = chain_of(c).result_spec(image_spec(c)).extent;
  if (rows > 1000) c.band_rows = std::max<std::int64_t>(c.band_rows, 16);
  // For a transposed result the planner chooses both sides, so both are given.
  if (transposed || random() % 3 == 0)
    c.band_cols = std::max<std::int64_t>(pick<std::int64_t>(random, {1, 5, 16, 31, 64}), cols / 64);
  if (random() % 2 == 0) c.tile = {between(random, 1, 40), between(random, 1, 40)};
  c.delay_us = static_cast<int>(pick(random, {0, 0, 50, 200}));
  if (random() % 2 == 0) add_holes(random, c);
  return c;
}

namespace {

PlanOptions options_of(const PropertyCase& c, const std::vector<int>& devices) {
  PlanOptions options{.max_memory_bytes = std::int64_t{1} << 30,
                      .threads = c.threads,
                      .slots = c.slots,
                      .band_rows = c.band_rows,
                      .band_cols = c.band_cols,
                      .tile = c.tile,
                      .max_device_memory_bytes = std::int64_t{1} << 30,
                      .missing = c.missing};
  use_devices(options, devices);
  return options;
}

Rect random_region(std::mt19937_64& random, Extent extent) {
  if (random() % 8 == 0) return {};
  Rect region;
  region.rows = between(random, 1, random() % 4 == 0 ? extent.rows : (extent.rows + 2) / 3);
  region.cols = between(random, 1, random() % 4 == 0 ? extent.cols : (extent.cols + 2) / 3);
  region.row = between(random, 0, extent.rows - region.rows);
  region.col = between(random, 0, extent.cols - region.cols);
  return region;
}

/// All bands, split into up to four ranges in random order.
std::vector<BandRange> random_ranges(std::mt19937_64& random, std::int64_t bands) {
  std::vector<BandRange> ranges;
  for (std::int64_t first = 0; first < bands; first = ranges.back().end)
    ranges.push_back({first, ranges.size() == 3 ? bands : between(random, first + 1, bands)});
  std::ranges::shuffle(ranges, random);
  return ranges;
}

}  // namespace

namespace {

/// The requested devices, or none if a stage of the chain runs only on the host.
std::vector<int> devices_for(const Chain& chain, const std::vector<int>& requested) {
  return chain.why_not_on_device().empty() ? requested : std::vector<int>{};
}

/// Equal bytes, except for NaN payloads, which may differ between devices (docs/maths.md).
bool are_same(const Image& a, const Image& b) {
  if (a == b) return true;
  if (!is_floating(a.spec().type)) return false;
  const auto canonical = [](const Image& image) {
    Image copy(image.spec());
    const auto elements = static_cast<std::size_t>(image.spec().bytes() / size_of(image.spec().type));
    visit_pixel_type(image.spec().type, [&]<class T>(std::type_identity<T>) {
      const T* const from = reinterpret_cast<const T*>(image.view().data);
      T* const to = reinterpret_cast<T*>(copy.view().data);
      for (std::size_t i = 0; i < elements; ++i)
        to[i] = from[i] != from[i] ? std::numeric_limits<T>::quiet_NaN() : from[i];
    });
    return copy;
  };
  return canonical(a) == canonical(b);
}

}  // namespace

bool holds(const PropertyCase& c, const std::vector<int>& requested) {
  const Image source = source_of(c);
  const Chain chain = chain_of(c);
  const std::vector<int> devices = devices_for(chain, requested);
  const Image expected(chain.result_spec(image_spec(c)));
  run_whole_image(*source.reader(), *expected.writer(), chain, std::nullopt, c.missing);

  const Image streamed(expected.spec());
  const auto reader = source.reader();
  const auto writer = streamed.writer();
  HookedReader slow_reader(*reader, random_delay(c.image_seed + 10, c.delay_us));
  HookedWriter slow_writer(*writer, random_delay(c.image_seed + 20, c.delay_us));
  // A hook prevents fusing a stage with its neighbours, so without delays the chain runs without hooks.
  const Chain& chain_to_run = c.delay_us > 0 || devices.empty() ? with_delays(chain, c) : chain;
  const RunReport report = run(slow_reader, slow_writer, chain_to_run, {options_of(c, devices), {}});

  // Checks that the streaming runner ran with the case's bands, slots, threads and devices.
  const Extent image = expected.spec().extent;
  const std::int64_t rows = std::min(c.band_rows, image.rows);
  const std::int64_t cols = c.band_cols == 0 ? image.cols : std::min(c.band_cols, image.cols);
  if (report.plan.band != Extent{rows, cols} || report.plan.slots != c.slots ||
      report.plan.threads != c.threads || !uses(report.plan, devices)) {
    throw std::logic_error("the plan differs from the requested one");
  }
  return are_same(streamed, expected);
}

bool holds_in_parts(const PropertyCase& c, std::mt19937_64& random, const std::vector<int>& requested) {
  const Image source = source_of(c);
  const Chain chain = chain_of(c);
  const std::vector<int> devices = devices_for(chain, requested);
  const Image expected(chain.result_spec(image_spec(c)));
  run_whole_image(*source.reader(), *expected.writer(), chain, std::nullopt, c.missing);

  PlanOptions options = options_of(c, devices);
  options.region = random_region(random, expected.spec().extent);
  const Image actual(region_spec(expected.spec(), options.region));
  const auto reader = source.reader();
  const auto writer = actual.writer();
  const Plan planned = plan(*reader, *writer, chain, options);
  const std::string text = to_json(planned);
  // The JSON of a volume's plan has a file's axes, so it is not read back.
  const Plan read = c.depth == 0 ? plan(*reader, *writer, parse_plan(text)) : planned;
  if (to_json(read) != text) throw std::logic_error("the JSON of the plan differs after reading it back");
  std::int64_t pixels = 0;
  for (const BandRange& bands : random_ranges(random, read.band_count())) {
    const RunReport report = run(*reader, *writer, read, {.bands = bands});
    if (!uses(report.plan, devices) || report.bands != bands) throw std::logic_error("other bands were run");
    pixels += report.pixels;
  }
  const Image expected_part(actual.spec());
  copy_pixels(expected.view().crop(read.region), expected_part.view());
  return pixels == actual.spec().extent.area() && are_same(actual, expected_part);
}

PropertyCase shrunk(PropertyCase failing, const std::function<bool(const PropertyCase&)>& fails) {
  using Change = std::function<void(PropertyCase&)>;
  std::vector<Change> changes{
      [](PropertyCase& c) { c.delay_us = 0; },
      [](PropertyCase& c) { c.holes = false, c.missing = {}; },
      [](PropertyCase& c) { c.missing.result.reset(); },
      [](PropertyCase& c) { c.missing.alpha.reset(), c.missing.alpha_rule.reset(); },
      [](PropertyCase& c) { c.threads = 1; },
      [](PropertyCase& c) { c.slots = 1; },
      [](PropertyCase& c) { c.tile = {}; },
      [](PropertyCase& c) { c.band_cols = 0; },
      [](PropertyCase& c) { c.band_rows = c.spec.extent.rows; },
      [](PropertyCase& c) { c.depth = std::max(c.depth - 1, std::min<std::int64_t>(c.depth, 1)); },
      [](PropertyCase& c) { c.planes = 1; },
      [](PropertyCase& c) { c.spec.channels = 1; },
      [](PropertyCase& c) { c.spec.type = PixelType::u8; },
      [](PropertyCase& c) { c.spec.extent.rows = (c.spec.extent.rows + 1) / 2; },
      [](PropertyCase& c) { c.spec.extent.cols = (c.spec.extent.cols + 1) / 2; },
      [](PropertyCase& c) { c.spec.extent.rows = std::max<std::int64_t>(1, c.spec.extent.rows - 1); },
      [](PropertyCase& c) { c.spec.extent.cols = std::max<std::int64_t>(1, c.spec.extent.cols - 1); },
  };
  for (std::size_t stage = 0; stage < failing.stages.size(); ++stage) {
    changes.push_back([stage](PropertyCase& c) {
      if (stage < c.stages.size()) c.stages.erase(c.stages.begin() + static_cast<std::ptrdiff_t>(stage));
    });
  }
  const auto still_fails = [&fails](const PropertyCase& c) {
    try {
      return fails(c);
    } catch (const std::exception&) {
      return false;  // dropping a stage or a row may leave a matrix that does not fit
    }
  };
  for (bool progress = true; progress;) {
    progress = false;
    for (const Change& change : changes) {
      PropertyCase smaller = failing;
      change(smaller);
      if (command_line(smaller) == command_line(failing) || !still_fails(smaller)) continue;
      failing = smaller;
      progress = true;
    }
  }
  return failing;
}

std::string command_line(const PropertyCase& c) {
  const std::string run = fmt::format("in.npy {{}} {}", fmt::join(c.stages, " "));
  std::string text = fmt::format(
      "sepconv generate in.npy --size {}x{} --channels {} --type {} --pattern noise --seed {}\n",
      c.spec.extent.cols, c.spec.extent.rows, c.spec.channels, name_of(c.spec.type), c.image_seed);
  if (!c.matrix.extent.empty()) {
    text += fmt::format("sepconv generate {} --size {}x{} --type {} --pattern noise --seed {}\n", kMatrixFile,
                        c.matrix.extent.cols, c.matrix.extent.rows, name_of(c.matrix.type), c.matrix_seed);
  }
  if (!c.second.extent.empty()) {
    text += fmt::format(
        "sepconv generate {} --size {}x{} --channels {} --type {} --pattern noise --seed {}\n", kSecondFile,
        c.second.extent.cols, c.second.extent.rows, c.second.channels, name_of(c.second.type), c.second_seed);
  }
  text += fmt::format("sepconv run {} --reference\n", fmt::format(fmt::runtime(run), "whole.npy"));
  text += fmt::format("sepconv run {} --threads {} --slots {} --band-rows {}",
                      fmt::format(fmt::runtime(run), "streamed.npy"), c.threads, c.slots, c.band_rows);
  if (c.band_cols > 0) text += fmt::format(" --band-cols {}", c.band_cols);
  text += "\nsepconv compare whole.npy streamed.npy\n";
  if (!c.tile.empty())
    text += fmt::format("# with compute tiles of {} x {} (RunOptions::tile)\n", c.tile.rows, c.tile.cols);
  if (c.holes)
    text += fmt::format("# with holes (source_of()), --nodata {} --dst-nodata {}, alpha {}\n",
                        c.missing.value ? fmt::format("{}", *c.missing.value) : "as it is",
                        c.missing.result ? fmt::format("{}", *c.missing.result) : "the same",
                        c.missing.alpha.value_or(-1));
  if (c.depth > 0) text += fmt::format("# as each of {} x {} planes of a volume\n", c.depth, c.planes);
  if (c.delay_us > 0) text += fmt::format("# with delays of up to {} us\n", c.delay_us);
  return text;
}

}  // namespace sepconv::test
