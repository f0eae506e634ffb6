#include "job.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <span>
#include <utility>

#include "console.hpp"
#include "core/error.hpp"
#include "io/byte_file.hpp"
#include "pipeline/job/option.hpp"
#include "resume_options.hpp"

namespace sepconv::app {

namespace {

bool is_stream(const std::filesystem::path& path) { return path == kStandardStream; }

void add_format_option(CLI::App& command, RunArguments& request) {
  std::vector<std::string> names;
  for (const Format& format : built_in_formats()) {
    if (format.create != nullptr) names.emplace_back(format.endings.substr(1, format.endings.find(' ') - 1));
  }
  add_choices(
      command.add_option("--format", request.format,
                         "format of standard output (npy, raw or ppm; default: that of standard input, else "
                         "npy), and of results in a folder (default: that of their inputs)"),
      names);
}

/// Whether a layout option is set that only files support.
bool has_layout(const OutputOptions& request) {
  using enum OptionScope;
  return !given_options(request, {layout, tiff, zarr}).empty();
}

StreamFormat stream_format(const std::string& name) {
  for (const StreamFormat format : {StreamFormat::npy, StreamFormat::raw, StreamFormat::ppm}) {
    if (name_of(format) == name) return format;
  }
  throw InvalidArgument(fmt::format(
      "--format {} is for files: standard output is npy, raw or ppm; choose one, or name a file", name));
}

JobEndpoints make_endpoints(const RunArguments& request) {
  JobEndpoints endpoints{.input = request.input, .output = request.output};
  StreamFormat format = StreamFormat::npy;
  if (is_stream(request.input)) {
    InputStream in = open_stdin(request.files.open, request.options.stop);
    format = in.format;
    endpoints.sources = std::move(in.rasters);
  }
  if (!is_stream(request.output)) return endpoints;
  if (!request.format.empty()) format = stream_format(request.format);
  endpoints.is_picture = format == StreamFormat::ppm;
  endpoints.make_sinks = [format, stop = request.options.stop](const RasterSetSpec& spec,
                                                               const CreateOptions& options) {
    return create_stdout(format, spec, options, stop);
  };
  return endpoints;
}

void check_stdin_no_terminal() {
  if (stdin_is_terminal())
    throw InvalidArgument("standard input is a terminal, not an image; redirect it with | or <");
}

}  // namespace

CLI::Option* add_input(CLI::App& command, const std::string& name, std::filesystem::path& path,
                       const std::string& help) {
  return command.add_option(name, path, help + "; - is standard input: NPY, PGM, PPM, or raw by --raw")
      ->type_name(kFileType);
}

std::unique_ptr<RasterSet> open_input(const std::filesystem::path& path, const OpenOptions& options,
                                      std::stop_token stop) {
  if (!is_stream(path)) return open_set(path, options);
  check_stdin_no_terminal();
  return open_stdin(options, std::move(stop)).rasters;
}

std::string read_small_text(const std::filesystem::path& path, std::string_view kind,
                            std::string_view source) {
  constexpr std::int64_t kMaxLength = 16 << 20;
  const InputFile file(path);
  if (file.size() > kMaxLength)
    throw InvalidArgument(fmt::format("{} is not {}: it has more than {} bytes; name what {}", path.string(),
                                      kind, kMaxLength, source));
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  file.read_at(0, std::as_writable_bytes(std::span(text)));
  return text;
}

void add_file_options(CLI::App& command, RunArguments& request) {
  add_input(command, "IN", request.input, "image to read: " + format_names())->required();
  command
      .add_option(
          "OUT", request.output,
          "image to make; its ending says the format; - is standard output, in the format of --format")
      ->type_name(kFileType)
      ->required();
}

void add_job_settings(CLI::App& command, RunArguments& request) {
  add_input_options(command, request.files.open);
  add_layout_options(command, request.files.output);
  add_device_options(command, request.options);
  add_limit_options(command, request.options);
}

void add_job_options(CLI::App& command, RunArguments& request) {
  add_file_options(command, request);
  command.add_option("STAGE", request.stages, "filters, in this order; none copies")
      ->type_name(kStageTextType);
  add_format_option(command, request);
  add_job_settings(command, request);
  add_picture_options(command, request.files);
  add_region_option(command, request.options);
  add_missing_options(command, request.options.missing);
}

void check_streams(const RunArguments& request) {
  const bool to_stream = is_stream(request.output);
  if (!to_stream && !request.format.empty())
    throw InvalidArgument(fmt::format(
        "--format is for standard output (-) and for --output-dir; the ending of OUT, {}, says the "
        "format: leave it out",
        request.output.string()));
  if (to_stream && has_layout(request.files.output))
    throw InvalidArgument(
        "--compress, --tile and other layout options need an output file; leave them out, or name a file");
}

void check_no_terminal(const RunArguments& request) {
  if (is_stream(request.input)) check_stdin_no_terminal();
  if (is_stream(request.output) && stdout_is_terminal())
    throw InvalidArgument(
        "refusing to write binary data to a terminal; redirect standard output with | or >");
}

ImageJob prepare(const RunArguments& request) {
  check_streams(request);
  return request.plan ? plan_job(make_endpoints(request), request.chain, *request.plan, request.files)
                      : plan_job(make_endpoints(request), request.chain, request.options, request.files);
}

void print_plan(RunArguments& request, bool as_json, const std::function<ImageJob()>& prepare_job,
                std::int64_t parts) {
  const bool overwrite = std::exchange(request.files.output.overwrite, true);
  const ImageJob job = prepare_job();
  print_lines(as_json ? to_json(job.plan) : describe(job.plan, *job.source, *job.sink));
  if (parts > 0) print_lines(describe_parts(job, parts));
  if (!is_stream(request.output)) check_writable(request.output, overwrite);
}

PathsInUse files_read_by(const RunArguments& request) {
  PathsInUse paths =
      is_stream(request.input) ? files_read_by(request.chain) : files_read_by(request.input, request.chain);
  if (!request.plan_file.empty()) paths.emplace_back(request.plan_file, "the plan");
  return paths;
}

}  // namespace sepconv::app
