#include "side_files.hpp"

#include <fmt/format.h>

#include <sstream>

#include "job.hpp"
#include "sepconv/core/error.hpp"

namespace sepconv::app {

namespace {

std::unique_ptr<OutputFile> checked(const std::filesystem::path& path,
                                    const std::vector<std::filesystem::path>& images) {
  if (path.empty()) return nullptr;
  for (const auto& image : images) {
    if (is_same_file(path, image) || path.lexically_normal() == image.lexically_normal()) {
      throw InvalidArgument(fmt::format(
          "{} is asked for as an image and as a log; give one of them another name", path.string()));
    }
  }
  return std::make_unique<OutputFile>(path, OutputFile::Options{.overwrite = true});
}

void write_whole(OutputFile& file, const std::string& text) {
  file.write_at(0, std::as_bytes(std::span(text)));
  file.commit();
}

}  // namespace

void add_side_file_options(CLI::App& command, SideFileRequest& request) {
  command.add_option("--trace", request.trace, "when each step worked on each band, as Chrome trace JSON")
      ->type_name("FILE");
  command.add_option("--report", request.report, "the closing summary, as text")->type_name("FILE");
  command.add_option("--stats", request.stats, "the closing summary and the plan, as JSON")
      ->type_name("FILE");
}

SideFiles::SideFiles(const SideFileRequest& request, const std::vector<std::filesystem::path>& images)
    : trace_(checked(request.trace, images)),
      report_(checked(request.report, images)),
      stats_(checked(request.stats, images)) {}

void SideFiles::write(const RunReport& report, const HostLimits& limits) {
  if (trace_) {
    std::ostringstream text;
    write_chrome_trace(text, report.timeline.spans());
    write_whole(*trace_, text.str());
  }
  if (report_) write_whole(*report_, summary(report, limits));
  if (stats_) write_whole(*stats_, to_json(report, limits));
}

}  // namespace sepconv::app
