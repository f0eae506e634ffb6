#include "job.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "sepconv/core/error.hpp"

namespace sepconv::app {

namespace {

/// Strips of a source are kept up to this size. Beyond, an encoder would hold that much per thread.
constexpr std::int64_t kLargestKeptStrip = std::int64_t{4} << 20;
/// Likewise for tiles.
constexpr std::int64_t kLargestKeptTile = std::int64_t{64} << 20;
constexpr Extent kUsualTile{512, 512};

bool jpeg_can_hold(const ImageSpec& spec) {
  return spec.type == PixelType::u8 && (spec.channels == 1 || spec.channels == 3);
}

/// Tiles of so many bytes: as they are, the usual ones, or of half their sides, and so on, down to the least that TIFF has. What is then
/// still too large goes in strips.
void shrink_tiles(FileLayout& layout, std::int64_t pixel_bytes, std::int64_t most_bytes) {
  constexpr std::int64_t least = 16;
  if (layout.tile.area() * pixel_bytes > most_bytes && layout.tile.area() > kUsualTile.area()) layout.tile = kUsualTile;
  while (layout.tile.area() * pixel_bytes > most_bytes && std::max(layout.tile.rows, layout.tile.cols) > least) {
    layout.tile.rows = std::max(least, round_up(layout.tile.rows / 2, least));
    layout.tile.cols = std::max(least, round_up(layout.tile.cols / 2, least));
  }
  layout.tiled = layout.tile.area() * pixel_bytes <= most_bytes;
}

/// The layout of a source as far as a result of this spec can and should have it.
FileLayout inherited_layout(const Reader& source, const ImageSpec& spec, Kept kept) {
  const auto from = file_layout(source);
  if (!from) return {};
  FileLayout layout = *from;
  // What is only moved loses nothing.
  if (layout.compression == Compression::jpeg && (kept != Kept::in_place || !jpeg_can_hold(spec))) {
    layout.compression = Compression::deflate;
    layout.level = 0;
    layout.predictor = true;
  }
  if (kept != Kept::in_place) {
    std::swap(layout.tile.rows, layout.tile.cols);
    layout.rows_per_strip = 0;
  }
  if (layout.tiled) shrink_tiles(layout, spec.pixel_bytes(), kept == Kept::rearranged ? kLargestKeptStrip : kLargestKeptTile);
  if (!layout.tiled && layout.rows_per_strip * spec.row_bytes() > kLargestKeptStrip)
    layout.rows_per_strip = 0;
  layout.planar = layout.planar && spec.channels > 1;
  return layout;
}

FileLayout chosen_layout(const Reader* source, const ImageSpec& spec, const LayoutRequest& request, Kept kept) {
  FileLayout layout = source != nullptr ? inherited_layout(*source, spec, kept) : FileLayout{};
  if (request.compression) {
    layout.compression = *request.compression;
    layout.level = request.level;
  }
  if (request.tile) {
    layout.tiled = !request.tile->empty();
    if (layout.tiled) layout.tile = *request.tile;
    layout.rows_per_strip = 0;
  }
  if (request.planar) layout.planar = true;
  if (request.no_predictor) layout.predictor = false;
  return layout;
}

/// The format that the name's ending stands for, as format_table() names it; empty if there is none.
std::string_view format_of_name(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  if (ending.empty()) return {};
  for (const FormatEntry& format : format_table()) {
    if (fmt::format(" {} ", format.endings).find(" " + ending + " ") != std::string::npos) return format.name;
  }
  return {};
}

/// The layout options that the user typed.
std::vector<std::string> typed_layout_options(const LayoutRequest& request) {
  std::vector<std::string> options;
  if (request.compression) options.push_back(fmt::format("--compress {}", name_of(*request.compression)));
  if (request.tile) options.emplace_back("--tile");
  if (request.planar) options.emplace_back("--planar");
  if (request.no_predictor) options.emplace_back("--no-predictor");
  if (request.big_tiff) options.emplace_back(*request.big_tiff ? "--big-tiff" : "--classic-tiff");
  return options;
}

/// Whether a format stores everything as this option says, whatever else it lacks.
bool is_own_way(std::string_view format, std::string_view option) {
  return ((format == "NPY" || format == "raw") && option == "--compress none") ||
         (format == "JPEG" && option == "--compress jpeg");
}

/// An option that would be ignored is refused.
void check_layout_options(const std::filesystem::path& path, const LayoutRequest& request) {
  const std::string_view format = format_of_name(path);
  if (format.empty() || is_tiff_name(path)) return;
  for (const std::string& option : typed_layout_options(request)) {
    if (is_own_way(format, option)) continue;
    throw InvalidArgument(
        fmt::format("{} is for TIFF, and {} becomes {}; leave it out or end the name in .tif", option,
                    path.string(), format));
  }
}

/// What a name could not be that of.
void check_output_name(const std::filesystem::path& path) {
  if (path.empty()) throw InvalidArgument("the name of the output image is empty; give one, like out.tif");
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw IoError(fmt::format("cannot write {}: it is a folder; add the name of a file, like {}",
                              path.string(), (path / "out.tif").string()));
  }
}

void plan_with_sink(Job& job, const JobRequest& request) {
  const ImageSpec spec = job.chain.result_spec(job.source->spec());
  const Kept kept = job.chain.turns() ? Kept::turned : Kept::in_place;
  const Geometries geometries = geometries_of(request.output, request.layout, spec.pixel_bytes(), [&](const LayoutRequest& layout) {
    return create_options(request.output, spec, job.source.get(), layout, kept);
  });
  const std::string note = plan_in_either(geometries, [&](const CreateOptions& options) {
    job.sink = create_writer(request.output, spec, options);
    job.plan = make_plan(job.chain, *job.source, *job.sink, job.options);
  });
  if (note.empty()) return;
  job.plan.notes.push_back(note);
  if (request.options.logger) request.options.logger->info(note);
}

}  // namespace

bool is_tiff_name(const std::filesystem::path& path) { return format_of_name(path).starts_with("TIFF"); }

Geometries geometries_of(const std::filesystem::path& path, const LayoutRequest& request, std::int64_t pixel_bytes,
                         const std::function<CreateOptions(const LayoutRequest&)>& create) {
  Geometries geometries{create(request), {}};
  if (!is_tiff_name(path) || request.tile) return geometries;
  FileLayout tiles;
  tiles.tile = kUsualTile;
  shrink_tiles(tiles, pixel_bytes, kLargestKeptStrip);
  LayoutRequest other = request;
  other.tile = geometries.first.layout.tiled ? Extent{} : tiles.tile;
  geometries.other = create(other);
  return geometries;
}

std::string plan_in_either(const Geometries& geometries, const std::function<void(const CreateOptions&)>& plan) {
  std::exception_ptr failure;
  try {
    plan(geometries.first);
    return "";
  } catch (const OutOfMemory&) {
    if (!geometries.other) throw;
    failure = std::current_exception();
  }
  const FileLayout& layout = geometries.other->layout;
  try {
    plan(*geometries.other);
  } catch (const OutOfMemory&) {
    if (layout.tiled) throw;
    std::rethrow_exception(failure);  // strips want the higher ceiling
  }
  if (!layout.tiled) return "tiles of so many channels do not fit the ceiling, so the result has strips";
  return fmt::format("strips of full width do not fit the ceiling, so the result has tiles of {} x {}", layout.tile.rows, layout.tile.cols);
}

void add_file_options(CLI::App& command, JobRequest& request) {
  command.add_option("IN", request.input, "image to read: TIFF, NPY, PNG, JPEG, PPM, BMP or raw")
      ->required()
      ->type_name("FILE");
  command.add_option("OUT", request.output, "image to make; its ending says the format")
      ->required()
      ->type_name("FILE");
}

void add_job_settings(CLI::App& command, JobRequest& request) {
  add_input_options(command, request.open);
  add_layout_options(command, request.layout);
  add_device_options(command, request.device, request.options);
  add_limit_options(command, request.options);
}

void add_job_options(CLI::App& command, JobRequest& request) {
  add_file_options(command, request);
  command.add_option("STAGE", request.stages, "filters, in this order; none copies")
      ->type_name("NAME[:KEY=VALUE,...]");
  add_job_settings(command, request);
}

Job prepare(const JobRequest& request) {
  Job job;
  job.chain = Chain::parse(request.stages);
  job.source = open_reader(request.input, request.open);
  check_not_same(request.input, request.output);
  plan_on_devices(job, request, [&] { plan_with_sink(job, request); });
  return job;
}

void plan_on_devices(Job& job, const JobRequest& request, const std::function<void()>& plan) {
  const DeviceChoice choice = choose_devices(request.device, &job.chain, job.source->spec());
  job.options = request.options;
  if (const std::string note = plan_on(choice, request.device, job.options, plan); !note.empty()) job.plan.notes.push_back(note);
}

CreateOptions create_options(const std::filesystem::path& path, const ImageSpec& spec, const Reader* source, const LayoutRequest& request,
                             Kept kept) {
  check_output_name(path);
  check_layout_options(path, request);
  CreateOptions options;
  options.layout = chosen_layout(source, spec, request, kept);
  if (source != nullptr) {
    const ImageSpec& from = source->spec();
    options.metadata = source->metadata().kept_for(kept == Kept::in_place && spec.extent == from.extent,
                                                   kept != Kept::rearranged && spec.channels == from.channels, spec.type == from.type);
    if (kept == Kept::turned) options.metadata.resolution = source->metadata().resolution;
    if (kept == Kept::turned && options.metadata.resolution) std::swap(options.metadata.resolution->x, options.metadata.resolution->y);
  }
  options.overwrite = request.overwrite;
  options.durable = request.durable;
  options.big_tiff = request.big_tiff;
  return options;
}

void check_not_same(const std::filesystem::path& input, const std::filesystem::path& output) {
  if (!is_same_file(input, output)) return;
  throw InvalidArgument(fmt::format("{} is both input and output; give the result another name", output.string()));
}

bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code error;  // one of them missing is the usual case, not an error
  return std::filesystem::equivalent(a, b, error);
}

}  // namespace sepconv::app
