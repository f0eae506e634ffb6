// sepconv info FILE: what a file says of itself, from its headers alone.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "console.hpp"
#include "json_text.hpp"
#include "options.hpp"
#include "sepconv/core/bytes_text.hpp"
#include "sepconv/pipeline/report/report.hpp"
#include "wording.hpp"

namespace sepconv::app {

namespace {

bool has_fact(const FileInfo::Page& page, const char* name) {
  return std::any_of(page.facts.begin(), page.facts.end(),
                     [name](const auto& fact) { return fact.first == name; });
}

/// What the facts of its format say is not said again.
void print_page(const FileInfo::Page& page, std::int64_t index) {
  const auto& [spec, layout, facts] = page;
  if (has_fact(page, "not read")) {
    print("page {}: not read: {}\n", index, facts.front().second);
    return;
  }
  print("page {}: {} x {} pixels (columns x rows), {}, {}, {} of pixels\n", index, spec.extent.cols,
        spec.extent.rows, count_text(spec.channels, "channel"), name_of(spec.type),
        format_bytes(static_cast<double>(spec.bytes())));
  if (!has_fact(page, "layout") && !has_fact(page, "blocks"))
    print("  {:<20} {}\n", "layout", layout.description);
  for (const auto& [name, value] : facts) print("  {:<20} {}\n", name, value);
  for (const std::string& warning : layout.warnings) print("  {:<20} {}\n", "warning", warning);
  if (!has_fact(page, "streams"))
    print("  {:<20} {}\n", "streams", layout.streams ? "yes" : "no: decoded as a whole");
}

/// `page` is the one that was asked for.
void print_text(const std::filesystem::path& path, const FileInfo& info, std::optional<int> page) {
  print("{}: {}, {}, {}\n", path.string(), info.format, format_bytes(static_cast<double>(info.file_bytes)),
        count_text(info.page_count, "page"));
  if (info.images > 1)
    print("  {} images: run, stats and compare take the one that --page names\n", info.images);
  std::int64_t index = page.value_or(0);
  for (const FileInfo::Page& listed : info.pages) print_page(listed, index++);
  if (!page && info.page_count > index) print("and {}\n", count_text(info.page_count - index, "more page"));
}

void print_json(const std::filesystem::path& path, const FileInfo& info, std::optional<int> page) {
  using nlohmann::ordered_json;
  ordered_json pages = ordered_json::array();
  std::int64_t index = page.value_or(0);
  for (const auto& [spec, layout, facts] : info.pages) {
    ordered_json named = ordered_json::object();
    for (const auto& [name, value] : facts) named[name] = value;
    pages.push_back({{"page", index++},
                     {"rows", spec.extent.rows},
                     {"cols", spec.extent.cols},
                     {"channels", spec.channels},
                     {"type", name_of(spec.type)},
                     {"bytes", spec.bytes()},
                     {"layout", layout.description},
                     {"block", {{"rows", layout.block.rows}, {"cols", layout.block.cols}}},
                     {"streams", layout.streams},
                     {"warnings", layout.warnings},
                     {"facts", std::move(named)}});
  }
  const ordered_json all = {{"file", path.string()},         {"format", info.format},
                            {"file_bytes", info.file_bytes}, {"page_count", info.page_count},
                            {"images", info.images},         {"pages", std::move(pages)}};
  print_lines(json_text(all));
}

}  // namespace

void add_info_command(CLI::App& program, Context& context) {
  struct InfoRequest {
    std::filesystem::path path;
    OpenOptions open;
    bool json = false;
  };
  CLI::App* command = program.add_subcommand("info", "Say what a file holds, from its headers alone.");
  const auto request = std::make_shared<InfoRequest>();
  add_image_option(*command, "FILE", request->path, "image file")->required();
  add_input_options(*command, request->open);
  command->add_flag("--json", request->json, "as JSON");
  command->footer(format_list() + "\nExample:  sepconv info scan.tif");
  command->callback([&context, request] {
    context.action = [request] {
      const FileInfo info = file_info(request->path, request->open);
      (request->json ? print_json : print_text)(request->path, info, request->open.page);
      return static_cast<int>(kDone);
    };
  });
}

}  // namespace sepconv::app
