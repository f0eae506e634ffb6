#include "run_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>

#include "batch.hpp"
#include "core/byte_text.hpp"
#include "core/error.hpp"
#include "job.hpp"

namespace sepconv::app {

namespace {

namespace fs = std::filesystem;

/// The word, quoted for a shell if necessary.
std::string shell_quoted(const std::string& word) {
  const auto is_plain = [](unsigned char letter) {
    return std::isalnum(letter) != 0 ||
           std::string_view("_-+=:,./@%").find(static_cast<char>(letter)) != std::string_view::npos;
  };
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return word;
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

/// The facts of the file's first image, as `info` prints them. A read error is returned as a fact, because
/// the run itself has succeeded.
RunFacts::Named file_facts(const fs::path& path, const OpenOptions& open) try {
  if (path == kStandardStream) return {{"name", "a stream"}};
  const FileInfo info = file_info(path, open);
  RunFacts::Named facts{{"name", path.string()}, {"format", info.format}};
  if (info.file_bytes > 0) facts.emplace_back("size", format_bytes(static_cast<double>(info.file_bytes)));
  if (info.pages.empty()) return facts;
  const FileInfo::Page& page = info.pages.front();
  facts.emplace_back(
      "pixels",
      fmt::format("{} x {}, channels: {}, {}", page.spec.extent.cols, page.spec.extent.rows,
                  page.spec.channels, describe(page.layout.stored.value_or(SampleType(page.spec.type)))));
  facts.emplace_back("layout", page.layout.description);
  for (const auto& fact : page.facts) {
    if (fact != facts.back()) facts.push_back(fact);
  }
  return facts;
} catch (const Error& error) {
  return {{"name", path.string()}, {"not read", error.what()}};
}

}  // namespace

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string arguments{std::istreambuf_iterator<char>(file), {}};
  std::string line = "sepconv";
  for (std::size_t at = arguments.find('\0'); at + 1 < arguments.size(); at = arguments.find('\0', at + 1)) {
    if (at == std::string::npos) break;
    line += " " + shell_quoted(arguments.c_str() + at + 1);
  }
  std::error_code ignored;
  return fmt::format("cd {}\n{}", shell_quoted(fs::current_path(ignored).string()), line);
}

RunFacts run_facts(const RunReport& report, const ImageJob& job, const fs::path& input,
                   const OpenOptions& open, const fs::path& output) {
  return {.source = name_of_file(input).string(),
          .result = name_of_file(output).string(),
          .plan = plan_facts(report.plan, *job.source, *job.sink),
          .of_source = file_facts(input, open),
          .of_result = file_facts(output, {}),
          .command = command_line()};
}

}  // namespace sepconv::app
