#include "resume_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <charconv>

#include "console.hpp"
#include "core/byte_text.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "io/checkpoint/checkpoint.hpp"

namespace sepconv::app {
namespace {

std::pair<std::int64_t, std::int64_t> parse_part(const std::string& text) {
  std::pair<std::int64_t, std::int64_t> part{};
  const char* const end = text.data() + text.size();
  const auto [slash, failed] = std::from_chars(text.data(), end, part.first);
  if (failed == std::errc() && slash != end && *slash == '/') {
    const auto [parsed_end, wrong] = std::from_chars(slash + 1, end, part.second);
    if (wrong == std::errc() && parsed_end == end && part.first >= 1 && part.first <= part.second)
      return part;
  }
  throw InvalidArgument(
      fmt::format("--part {} is not a part; write K/N, the first of sixteen as 1/16", shortened(text)));
}

void check_no_streams(const RunArguments& request) {
  if (request.output == kStandardStream || request.input == kStandardStream)
    throw InvalidArgument(
        "--resume, --discard, --create-only, --part and --parts need files, not standard input or output; "
        "name files, or leave them out");
}

/// Removes the checkpoint. Plans the new run first, so that the checkpoint survives if the run cannot start.
void discard(const RunArguments& job, const ResumeOptions& resume_options) try {
  if (resume_options.resume || resume_options.create_only) {
    discard_for_new_result(job.input, job.output, job.chain, job.options, job.files);
  } else if (!discard_completed(job.output)) {
    if (Checkpoint::look(job.output).exists) prepare(job);
    Checkpoint::discard(job.output);
  }
} catch (const IoError& error) {
  if (error.error() != ENOENT || !Checkpoint::look(job.output).exists) throw;
  throw IoError(fmt::format("{}; {} stays: name a source that exists, or remove that folder yourself",
                            error.what(), Checkpoint::checkpoint_folder_of(job.output).native()),
                ENOENT);
}

}  // namespace

void add_resume_options(CLI::App& command, ResumeOptions& request) {
  command.add_flag("--resume", request.resume, "checkpoint to OUT.partial, and resume from it");
  command.add_flag("--discard", request.discard, "remove OUT.partial and start over");
  command.add_flag("--create-only", request.create_only,
                   "create the output of a distributed run; reads no pixels");
  command
      .add_option_function<std::string>(
          "--part", [&request](const std::string& text) { request.part = parse_part(text); },
          "compute part K of N of an output made with --create-only; sepconv finish completes it")
      ->type_name("K/N");
}

ImageJob prepare_parts(const RunArguments& request) {
  check_no_streams(request);
  return plan_for_parts(request.input, request.output, request.chain, request.options, request.files);
}

ImageJob prepare(const RunArguments& request, const ResumeOptions& resume_options) {
  const RunArguments& job = request;
  const std::filesystem::path& output = request.output;
  if (resume_options.resume || resume_options.discard || resume_options.create_only ||
      resume_options.part.second > 0)
    check_no_streams(request);
  if (resume_options.discard) discard(request, resume_options);
  if (resume_options.resume) return plan_resumed(job.input, output, job.chain, job.options, job.files);
  if (resume_options.part.second > 0)
    return plan_part(job.input, output, job.chain, resume_options.part.first, resume_options.part.second,
                     job.options, job.files);
  if (resume_options.create_only)
    return create_in_parts(job.input, output, job.chain, job.options, job.files);
  ImageJob planned = prepare(request);
  if (output == kStandardStream) return planned;
  if (const std::string text = describe_checkpoint(output); !text.empty())
    planned.plan.warnings.push_back(text);
  return planned;
}

void report_checkpoint(const ImageJob& job, const Verbosity& reporting) {
  warn(job.plan.warnings);
  if (reporting.quiet) return;
  const std::int64_t part_limit = max_parts(job.plan, job.sink->layout(), job.count());
  write_to_stderr(fmt::format(
      "{} is created: {}, and finish completes it\n", printable(job.checkpoint->folder().native()),
      part_limit > 1 ? fmt::format("--part 1/N to N/N make it, of 1 to {} parts", part_limit)
                     : "--part 1/1 makes it"));
}

std::function<std::string()> describe_saved_work(const ImageJob& job, const std::filesystem::path& output) {
  if (job.part) return [] { return "the same command makes this part again"; };
  return [output]() -> std::string {
    if (Checkpoint::look(output).manifest.empty()) return "";
    return fmt::format("completed work is saved in {}, and the same command continues it",
                       Checkpoint::checkpoint_folder_of(output).string());
  };
}

void check_no_checkpoint(const std::filesystem::path& output) {
  const std::string text = describe_checkpoint(output);
  if (text.empty()) return;
  std::error_code ignored;
  if (std::filesystem::exists(output, ignored)) return warn({text});
  const bool was_committed = Checkpoint::look(output).is_committed;
  throw IoError(
      fmt::format("{} is not {}: {}", output.string(), was_committed ? "there any more" : "complete", text));
}

std::string describe_parts(const ImageJob& job, std::int64_t count) {
  const std::vector<BandRange> ranges = parts(job.plan, job.sink->layout(), count, job.count());
  const PartsCost cost = cost_of(job.plan, ranges, job.source->layout(), job.sink->layout());
  const std::int64_t bands = job.count() * job.plan.band_count();
  const double reread_fraction =
      static_cast<double>(cost.bytes_reread) / static_cast<double>(job.count() * job.plan.bytes_read);
  std::string text = fmt::format(
      "parts      {} of {} to {} bands: as many tasks, and one that finishes\n"
      "read twice {}, {:.2f} % of what is read: halos of parts\n"
      "requests   {} for the source, {} objects or bands to write\n",
      ranges.size(), bands / count, ceil_div(bands, count),
      format_bytes(static_cast<double>(cost.bytes_reread)), 100 * reread_fraction, cost.source_blocks,
      cost.sink_objects);
  if (!job.sink->layout().levels.empty())
    text += fmt::format("levels     {} in blocks of several parts, which finish writes\n",
                        format_bytes(static_cast<double>(cost.bytes_saved)));
  return text;
}

}  // namespace sepconv::app
