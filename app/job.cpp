#include "job.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "sepconv/core/error.hpp"

namespace sepconv::app {

namespace {

/// The layout options that the user typed.
std::vector<std::string> typed_layout_options(const OutputRequest& request) {
  std::vector<std::string> options;
  if (request.compression) options.push_back(fmt::format("--compress {}", name_of(*request.compression)));
  if (request.tile) options.emplace_back("--tile");
  if (request.planar) options.emplace_back("--planar");
  if (request.no_predictor) options.emplace_back("--no-predictor");
  if (request.big_tiff) options.emplace_back(*request.big_tiff ? "--big-tiff" : "--classic-tiff");
  return options;
}

/// An option that would be ignored is refused, unless the format stores everything as it says in any case.
void check_layout_options(const std::filesystem::path& path, const OutputRequest& request) {
  const Format* const format = format_of_name(path);
  if (format == nullptr || format->has_layout) return;
  OutputRequest other = request;
  if (request.compression == format->compression) other.compression.reset();
  const std::vector<std::string> options = typed_layout_options(other);
  if (options.empty()) return;
  throw InvalidArgument(fmt::format("{} is for TIFF, and {} becomes {}; leave it out or end the name in .tif",
                                    options.front(), path.string(), format->name));
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

/// The one that the plan was made for; if none is, what differs is said later.
CreateOptions planned_geometry(const Geometries& geometries, const PlanRecord& plan,
                               const std::filesystem::path& output, const ImageSpec& spec) {
  if (!geometries.other) return geometries.first;
  const bool is_other =
      create_writer(output, spec, *geometries.other)->layout().description == plan.sink_layout;
  return is_other ? *geometries.other : geometries.first;
}

void plan_with_sink(Job& job, const JobRequest& request) {
  const ImageSpec result = job.chain.result_spec(job.source->spec());
  const ImageSpec spec = region_spec(result, request.options.region);
  OutputRequest asked = request.layout;
  asked.region = request.options.region;
  const Kept kept = job.chain.turns() ? Kept::turned : Kept::in_place;
  Geometries geometries =
      geometries_of(has_layout(request.output), asked, spec.pixel_bytes(), [&](const OutputRequest& layout) {
        return create_options(request.output, result, job.source.get(), layout, kept, job.chain.work());
      });
  if (request.plan) geometries = {planned_geometry(geometries, *request.plan, request.output, spec), {}};
  const std::string note = plan_in_either(geometries, [&](const CreateOptions& options) {
    job.sink = create_writer(request.output, spec, options);
    job.plan = request.plan ? sepconv::plan(*job.source, *job.sink, *request.plan)
                            : sepconv::plan(*job.source, *job.sink, job.chain, job.options);
  });
  if (note.empty()) return;
  job.plan.notes.push_back(note);
  if (request.options.logger) request.options.logger->info(note);
}

}  // namespace

bool has_layout(const std::filesystem::path& path) {
  const Format* const format = format_of_name(path);
  return format != nullptr && format->has_layout;
}

void add_file_options(CLI::App& command, JobRequest& request) {
  add_image_option(command, "IN", request.input, "image to read: " + format_names())->required();
  add_image_option(command, "OUT", request.output, "image to make; its ending says the format")->required();
}

void add_job_settings(CLI::App& command, JobRequest& request) {
  add_input_options(command, request.open);
  add_layout_options(command, request.layout);
  add_device_options(command, request.options);
  add_limit_options(command, request.options);
}

void add_job_options(CLI::App& command, JobRequest& request) {
  add_file_options(command, request);
  command.add_option("STAGE", request.stages, "filters, in this order; none copies")
      ->type_name(kStageTextType);
  add_job_settings(command, request);
  add_region_option(command, request.options);
}

Job prepare(const JobRequest& request) {
  check_not_read(request.output, files_read_by(request));
  Job job;
  job.chain = Chain::parse(request.stages);
  job.source = open_reader(request.input, request.open);
  job.options = request.options;
  plan_with_sink(job, request);
  return job;
}

CreateOptions create_options(const std::filesystem::path& path, const ImageSpec& spec, const Reader* source,
                             const OutputRequest& request, Kept kept, Work work) {
  check_output_name(path);
  check_layout_options(path, request);
  return output_options(spec, source, request, kept, work);
}

TakenFiles files_read_by(const JobRequest& request) {
  TakenFiles read = {{request.input, "the input image"}};
  for (const std::string& stage : request.stages) {
    const StageText text = StageText::split(stage);
    const auto entry = std::ranges::find(stage_table(), text.stage, &StageEntry::name);
    if (entry == stage_table().end()) continue;
    for (const auto& [name, value] : text.pairs) {
      const auto key = std::ranges::find(entry->keys, name, &StageKey::name);
      if (key != entry->keys.end() && key->type == StageKey::Type::path && !value.empty())
        read.emplace_back(std::filesystem::absolute(value), fmt::format("read by the stage {}", stage));
    }
  }
  if (!request.plan_file.empty()) read.emplace_back(request.plan_file, "the plan");
  return read;
}

}  // namespace sepconv::app
