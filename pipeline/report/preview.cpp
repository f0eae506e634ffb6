#include "pipeline/report/preview.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.hpp"
#include "core/memory.hpp"
#include "io/full_scale.hpp"
#include "io/raster_set.hpp"
#include "io/rows.hpp"
#include "pipeline/job/display_range.hpp"
#include "pipeline/report/preview_colours.hpp"
#include "pipeline/report/scaled_chain.hpp"
#include "pipeline/run/run.hpp"
#include "pipeline/stages/stages.hpp"

namespace sepconv {
namespace {

/// Maximum bytes of source or result that are read and filtered without a noticeable delay on most machines.
constexpr std::int64_t kQuickBytes = std::int64_t{32} << 20;

/// A pyramid level and the shown area of the chain's result on it.
struct View {
  int level = 0;
  double scale = 1;
  Rect area{};
  bool whole = true;
};

std::int64_t longer_side(Extent extent) { return std::max(extent.rows, extent.cols); }

/// A file's pyramid levels and the chain's result on each.
class FileLevels {
 public:
  FileLevels(const std::filesystem::path& input, const Chain& chain, const OpenOptions& open, Formats formats)
      : chain_(chain), spec_(open_set(input, open, formats)->spec()), extents_{spec_.extent} {
    OpenOptions file_options = open;
    file_options.select.clear();  // file_info() describes the file; all its images have the same levels
    const std::vector<Extent> smaller = file_info(input, file_options, formats).levels;
    extents_.insert(extents_.end(), smaller.begin(), smaller.end());
  }

  int count() const { return static_cast<int>(extents_.size()); }
  double scale(int level) const {
    return static_cast<double>(longer_side(extents_.front())) /
           static_cast<double>(longer_side(extent_of(level)));
  }
  ImageSpec result(int level) const {
    return scaled_chain(chain_, scale(level))
        .chain.result_spec({extent_of(level), spec_.channels, spec_.type});
  }
  /// Whether this much of the level's result is computed quickly.
  bool is_quick(int level, Extent shown) const {
    const ImageSpec result_image = result(level);
    const double fraction =
        static_cast<double>(shown.area()) / static_cast<double>(result_image.extent.area());
    const double read = fraction * static_cast<double>(extent_of(level).area() * spec_.pixel_bytes());
    return std::max(read, static_cast<double>(shown.area() * result_image.pixel_bytes())) <= kQuickBytes;
  }
  /// Whether the chain reads a second image. Its levels need not match the source's.
  bool has_secondary() const {
    return std::ranges::any_of(chain_.stages(),
                               [](const StagePtr& stage) { return stage->properties().has_secondary; });
  }
  /// Pixels along the longer side of `area`, on the level or in the result, whichever are fewer.
  std::int64_t pixels_of(const Rect& area, int level) const {
    const Extent result_extent = result(level).extent;
    const double fraction =
        static_cast<double>(longer_side(area.extent())) / static_cast<double>(longer_side(result_extent));
    return std::min(longer_side(area.extent()),
                    static_cast<std::int64_t>(fraction * static_cast<double>(longer_side(extent_of(level)))));
  }
  /// The area of the level's result that corresponds to `region` of the full result.
  Rect part(const Rect& region, int level) const {
    return proportional_part(result(level).extent, region, result(0).extent);
  }

 private:
  Extent extent_of(int level) const { return extents_[static_cast<std::size_t>(level)]; }

  const Chain& chain_;
  ImageSpec spec_;
  std::vector<Extent> extents_;
};

/// A centred rectangle of at most side x side pixels.
Rect middle_of(Extent image, std::int64_t side) {
  const Extent part{std::min(image.rows, side), std::min(image.cols, side)};
  return {(image.rows - part.rows) / 2, (image.cols - part.cols) / 2, part.rows, part.cols};
}

View view_on(const FileLevels& levels, int level, Rect area) {
  return {level, levels.scale(level), area, area == Rect::whole(levels.result(level).extent)};
}

/// The smallest level with at least the picture's pixels, or the largest quick one; otherwise a detail.
View chosen_view(const FileLevels& levels, const PreviewOptions& options) {
  const int finest = options.level.value_or(0);
  const int coarsest = options.level.value_or(levels.has_secondary() ? 0 : levels.count() - 1);
  const Rect full = Rect::whole(levels.result(0).extent);
  const Rect region = options.region.empty() ? full : options.region;
  if (!options.region.empty() && levels.is_quick(finest, levels.part(region, finest).extent()))
    return view_on(levels, finest, levels.part(region, finest));
  std::optional<View> best;
  for (int level = coarsest; level >= finest; --level) {
    const Rect area = levels.part(region, level);
    if (!levels.is_quick(level, area.extent())) break;
    best = view_on(levels, level, area);
    if (levels.pixels_of(area, level) >= options.size) break;
  }
  if (best) return *best;
  if (!options.region.empty()) return view_on(levels, finest, levels.part(region, finest));
  return view_on(levels, finest, middle_of(levels.result(finest).extent, options.size));
}

/// Collects the rows of a result and converts them to a Preview.
class Picture {
 public:
  /// If `table` is set, it maps values to colours.
  Picture(const ImageSpec& shown_spec, const MissingPixels& missing, std::optional<ColourTable> table)
      : colours_(shown_spec, Rect::whole(shown_spec.extent), shown_spec.extent.area()),
        missing_(missing),
        table_(std::move(table)),
        alpha_(static_cast<std::size_t>(shown_spec.extent.area())) {}

  void add_rows(std::int64_t first_row, const ConstPixelView& rows) {
    const Extent extent = rows.extent;
    colours_.see({first_row, 0, extent.rows, extent.cols}, rows);
    visit_pixel_type(rows.type, [&]<class T>(std::type_identity<T>) {
      for (std::int64_t row = 0; row < extent.rows; ++row) {
        const T* pixel = rows.row<T>(row);
        std::uint8_t* alpha = alpha_.data() + (first_row + row) * extent.cols;
        for (std::int64_t col = 0; col < extent.cols; ++col, pixel += rows.channels)
          alpha[col] = alpha_of(pixel);
      }
    });
  }

  void write_to(Preview& output) const {
    const std::vector<float> values = colours_.values();
    if (table_) return write_with_table(values, output);
    const auto colours = static_cast<std::size_t>(colours_.channels());
    std::vector<float> visible;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (alpha_[i / colours] > 0) visible.push_back(values[i]);
    }
    const bool has_finite_values =
        std::ranges::any_of(visible, [](float value) { return std::isfinite(value); });
    output.stretch = stretch_of(colours_.type(), std::move(visible));
    if (!has_finite_values)
      output.notes.emplace_back("all values are missing or not finite: the preview is empty");
    else if (colours_.type() != PixelType::u8)
      output.notes.push_back(fmt::format(
          "{:.6g} is black and {:.6g} white: 0.5 % of the shown values are darker, 0.5 % brighter",
          output.stretch.low, output.stretch.high));
    const std::vector<std::uint8_t> shown_values = stretched(values, output.stretch);
    output.extent = colours_.grid();
    output.channels = has_transparency() ? 4 : colours_.channels();
    if (!has_transparency()) {
      output.pixels = shown_values;
      return;
    }
    for (std::size_t i = 0; i < alpha_.size(); ++i) {
      for (std::size_t k = 0; k < 3; ++k)
        output.pixels.push_back(shown_values[i * colours + (colours == 3 ? k : 0)]);
      output.pixels.push_back(alpha_[i]);
    }
    add_transparency_note(output);
  }

 private:
  bool has_transparency() const {
    return std::ranges::any_of(alpha_, [](std::uint8_t alpha) { return alpha < 255; });
  }
  void add_transparency_note(Preview& output) const {
    output.notes.emplace_back(missing_.alpha ? "pixels hidden by alpha are transparent"
                                             : "missing pixels are transparent");
  }

  void write_with_table(const std::vector<float>& values, Preview& output) const {
    output.extent = colours_.grid();
    output.channels = has_transparency() ? 4 : 3;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float value = std::isfinite(values[i]) ? std::max(values[i], 0.0F) : 0.0F;
      const auto colour = table_->shown(static_cast<std::size_t>(value));
      output.pixels.insert(output.pixels.end(), colour.begin(), colour.end());
      if (has_transparency()) output.pixels.push_back(alpha_[i]);
    }
    output.notes.push_back(fmt::format("colours are those of the image's table: {}", name_of(*table_)));
    if (has_transparency()) add_transparency_note(output);
  }

  template <class T>
  std::uint8_t alpha_of(const T* pixel) const {
    for (std::int64_t channel = 0; channel < colours_.channels(); ++channel) {
      const auto value = static_cast<double>(pixel[channel]);
      if (std::isnan(value) || (missing_.value && value == missing_.result)) return 0;
    }
    if (!missing_.alpha) return 255;
    const double full_alpha = full_scale(pixel_type_of<T>());
    return static_cast<std::uint8_t>(
        std::lround(255 * std::clamp(static_cast<double>(pixel[*missing_.alpha]) / full_alpha, 0.0, 1.0)));
  }

  SampledPixels colours_;
  MissingPixels missing_;
  std::optional<ColourTable> table_;
  std::vector<std::uint8_t> alpha_;
};

/// The chain with a resize stage that limits its result to `size`, and the view's area in that result.
std::pair<Chain, Rect> with_resize(const Chain& chain, const ImageSpec& source, const Rect& area,
                                   std::int64_t size, ResizeOptions::Filter filter) {
  if (longer_side(area.extent()) <= size) return {chain, area};
  const double factor = static_cast<double>(size) / static_cast<double>(longer_side(area.extent()));
  const auto scaled = [factor](std::int64_t length) {
    return std::max<std::int64_t>(1, std::lround(factor * static_cast<double>(length)));
  };
  const Extent whole = chain.result_spec(source).extent;
  const Extent scaled_extent{scaled(whole.rows), scaled(whole.cols)};
  const Extent part{std::min(scaled(area.rows), scaled_extent.rows),
                    std::min(scaled(area.cols), scaled_extent.cols)};
  const Rect shown_area{
      std::min(std::lround(factor * static_cast<double>(area.row)), scaled_extent.rows - part.rows),
      std::min(std::lround(factor * static_cast<double>(area.col)), scaled_extent.cols - part.cols),
      part.rows, part.cols};
  return {chain | resize({.size = scaled_extent, .filter = filter}), shown_area};
}

std::string describe_view(const View& view, Extent result) {
  const std::string source_text =
      view.level > 0 ? fmt::format("level {}, {:.4g} times smaller than the image", view.level, view.scale)
                     : std::string("full resolution");
  if (view.whole) return fmt::format("all of {} x {} pixels, at {}", result.cols, result.rows, source_text);
  return fmt::format("a detail, {}x{}+{}+{} of {} x {} pixels, at {}", view.area.cols, view.area.rows,
                     view.area.col, view.area.row, result.cols, result.rows, source_text);
}

void check_view(const PreviewOptions& options, const FileLevels& levels, const std::filesystem::path& input) {
  const Extent result = levels.result(0).extent;
  const Rect& region = options.region;
  if (!region.empty() && !Rect::whole(result).contains(region))
    throw InvalidArgument(
        fmt::format("the region {} x {} pixels from column {} and row {} on is not inside of the result of "
                    "{} x {}; give another",
                    region.cols, region.rows, region.col, region.row, result.cols, result.rows));
  if (options.level.value_or(0) >= levels.count())
    throw IoError(fmt::format("cannot read level {} of {}: its levels are 0 to {}; ask for one of them",
                              *options.level, input.native(), levels.count() - 1));
}

/// Runs the chain on the view and fills `preview` with pixels and notes.
void render(Reader& source, const ScaledChain& scaled, const PreviewOptions& options, Preview& output) {
  const Extent whole = scaled.chain.result_spec(source.spec()).extent;
  const View view{output.level, output.scale, output.area, output.whole};
  output.notes.push_back(describe_view(view, whole));
  if (!scaled.lengths.empty())
    output.notes.push_back(
        fmt::format("lengths of the chain are those of the level: {}", fmt::join(scaled.lengths, ", ")));
  output.notes.insert(output.notes.end(), scaled.notes.begin(), scaled.notes.end());
  const Chain preview_chain = shown_in_preview(scaled.chain, source);
  const std::optional<ColourTable> table = table_of(source, scaled.chain);
  const auto filter = table && table->classes ? ResizeOptions::Filter::nearest : ResizeOptions::Filter::area;
  const auto [chain, shown_area] = with_resize(preview_chain, source.spec(), view.area, options.size, filter);
  const ImageSpec result = chain.result_spec(source.spec());
  const ImageSpec part = region_spec(result, shown_area);
  const PictureColours colours = preview_colours(source, part);
  const MissingPixels missing = missing_pixels(source, chain, options.missing);
  Picture picture({part.extent, colours.channels, part.type}, missing.of_result(), table);
  const auto sink = make_rows_writer(part, [&](std::int64_t first, const ConstPixelView& rows) {
    if (!colours.converts) return picture.add_rows(first, rows);
    const ImageSpec rgb{rows.extent, colours.channels, rows.type};
    const Buffer painted(rgb.bytes());
    paint(colours, rows, dense_view(painted.data(), rgb));
    picture.add_rows(first, dense_view(painted.data(), rgb));
  });
  const PlanOptions plan_options{.max_memory_bytes = options.max_memory_bytes,
                                 .threads = options.threads,
                                 .region = shown_area,
                                 .missing = options.missing};
  run(source, *sink, plan(source, *sink, chain, missing, plan_options),
      {.stop = options.stop, .retry_smaller_plans = true});
  picture.write_to(output);
  if (result.channels > 4 || result.channels == 2)
    output.notes.push_back(fmt::format("channel 1 of {} is shown", result.channels));
}

}  // namespace

Preview preview(const std::filesystem::path& input, const Chain& chain, const PreviewOptions& options,
                Formats formats) {
  if (options.size < 1) throw InvalidArgument("a picture has at least one pixel; give a size of 1 or more");
  OpenOptions open = open_options(options.open, options.missing);
  open.level = 0;
  const FileLevels levels(input, chain, open, formats);
  check_view(options, levels, input);
  const View view = chosen_view(levels, options);
  open.level = view.level;
  const auto set = open_set(input, open, formats);
  Preview output{.level = view.level, .scale = view.scale, .area = view.area, .whole = view.whole};
  const std::unique_ptr<Reader> source = set->raster(0);
  render(*source, scaled_chain(chain, view.scale), options, output);
  if (!source->layout().streams && !output.whole)
    output.notes.emplace_back(
        "such a file is decoded as a whole for each preview; a tiled TIFF, which a run without stages "
        "writes, is decoded in parts");
  if (set->count() > 1)
    output.notes.push_back(fmt::format("the first of {} images ({}); OpenOptions::page chooses another",
                                       set->count(), to_string(set->axes())));
  return output;
}

}  // namespace sepconv
