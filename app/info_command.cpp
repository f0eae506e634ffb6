// sepconv info FILE: what a file says of itself, from its headers alone.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "options.hpp"
#include "sepconv/pipeline/report.hpp"

namespace sepconv::app {

namespace {

void print_text(const std::filesystem::path& path, const FileInfo& info) {
  fmt::print("{}: {}, {}, {} page{}\n", path.string(), info.format,
             format_bytes(static_cast<double>(info.file_bytes)), info.page_count,
             info.page_count == 1 ? "" : "s");
  for (std::size_t i = 0; i < info.pages.size(); ++i) {
    const auto& [spec, layout, facts] = info.pages[i];
    fmt::print("page {}: {} x {} pixels (columns x rows), {} channel{}, {}, {} of pixels\n", i,
               spec.extent.cols, spec.extent.rows, spec.channels, spec.channels == 1 ? "" : "s",
               name_of(spec.type), format_bytes(static_cast<double>(spec.bytes())));
    fmt::print("  {:<20} {}\n", "layout", layout.description);
    fmt::print("  {:<20} {}\n", "streams", layout.streams ? "yes" : "no: decoded as a whole");
    for (const auto& [name, value] : facts) fmt::print("  {:<20} {}\n", name, value);
  }
  const auto listed = static_cast<std::int64_t>(info.pages.size());
  if (info.page_count > listed) fmt::print("and {} more pages\n", info.page_count - listed);
}

void print_json(const std::filesystem::path& path, const FileInfo& info) {
  using nlohmann::ordered_json;
  ordered_json pages = ordered_json::array();
  for (const auto& [spec, layout, facts] : info.pages) {
    ordered_json named = ordered_json::object();
    for (const auto& [name, value] : facts) named[name] = value;
    pages.push_back({{"rows", spec.extent.rows},
                     {"cols", spec.extent.cols},
                     {"channels", spec.channels},
                     {"type", name_of(spec.type)},
                     {"bytes", spec.bytes()},
                     {"layout", layout.description},
                     {"block", {{"rows", layout.block.rows}, {"cols", layout.block.cols}}},
                     {"streams", layout.streams},
                     {"facts", std::move(named)}});
  }
  const ordered_json all = {{"file", path.string()},
                            {"format", info.format},
                            {"file_bytes", info.file_bytes},
                            {"page_count", info.page_count},
                            {"pages", std::move(pages)}};
  fmt::print("{}\n", all.dump(2, ' ', false, ordered_json::error_handler_t::replace));
}

}  // namespace

void add_info_command(CLI::App& program, Context& context) {
  struct Request {
    std::filesystem::path path;
    OpenOptions open;
    bool json = false;
  };
  CLI::App* command = program.add_subcommand("info", "Say what a file holds, from its headers alone.");
  const auto request = std::make_shared<Request>();
  command->add_option("FILE", request->path, "image file")->required()->type_name("FILE");
  add_input_options(*command, request->open);
  command->add_flag("--json", request->json, "as JSON");
  command->footer("Example:  sepconv info scan.tif");
  command->callback([&context, request] {
    context.action = [request] {
      const FileInfo info = file_info(request->path, request->open);
      (request->json ? print_json : print_text)(request->path, info);
      return static_cast<int>(kDone);
    };
  });
}

}  // namespace sepconv::app
