// sepconv report FILE: the HTML page of a run, from the JSON that the run wrote.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "console.hpp"
#include "core/error.hpp"
#include "io/byte_file.hpp"
#include "io/path_conflicts.hpp"
#include "job.hpp"
#include "pipeline/report/html_report.hpp"
#include "text.hpp"

namespace sepconv::app {

namespace {

struct ReportRequest {
  std::filesystem::path json, page;
  bool overwrite = false;
};

int write_page(ReportRequest& request) {
  if (request.page.empty()) request.page = std::filesystem::path(request.json).replace_extension(".html");
  const bool to_stdout = request.page == kStandardStream;
  if (!to_stdout) {
    check_not_read(request.page, {{request.json, "the JSON"}});
    check_writable(request.page, request.overwrite);
  }
  const std::string page =
      to_html(read_small_text(request.json, "the JSON of a run", "run --stats wrote"), request.json.native());
  if (to_stdout) {
    print_lines(page);
    return kDone;
  }
  OutputFile file(request.page, {.overwrite = request.overwrite});
  file.write_at(0, std::as_bytes(std::span(page)));
  file.commit();
  return kDone;
}

}  // namespace

void add_report_command(CLI::App& program, Context& context) {
  CLI::App* command =
      program.add_subcommand("report", "The page of a run, from the JSON that run --stats wrote.");
  const auto request = std::make_shared<ReportRequest>();
  command->add_option("FILE", request->json, "JSON of a run, of this version or an earlier one")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("-o,--output", request->page,
                   "page to make; FILE with the ending .html by default, - is standard output")
      ->type_name("FILE");
  command->add_flag("--force", request->overwrite, "replace a page that exists");
  command->footer(
      "The page has no pictures of the images: only run --report FILE.html has seen their pixels.\n\n" +
      examples({"sepconv run scan.tif out.tif gaussian:sigma=2.5 --stats run.json",
                "sepconv report run.json -o page.html"}));
  command->callback([&context, request] { context.action = [request] { return write_page(*request); }; });
}

}  // namespace sepconv::app
