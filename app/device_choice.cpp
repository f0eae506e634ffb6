#include "device_choice.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "core/error.hpp"
#include "options.hpp"

namespace sepconv::app {

namespace {

[[noreturn]] void fail_syntax(const std::string& text) {
  throw InvalidArgument(fmt::format(
      "--device {} is unknown; use auto, cpu, cuda, or GPUs by number like cuda:0,1", shortened(text)));
}

std::vector<int> parse_indices(const std::string& text, std::size_t begin) {
  std::vector<int> indices;
  const char* at = text.data() + begin;
  const char* const end = text.data() + text.size();
  for (;; ++at) {
    int index = -1;
    const auto [next, error] = std::from_chars(at, end, index);
    if (error != std::errc() || index < 0) fail_syntax(text);
    if (std::ranges::count(indices, index) > 0)
      throw InvalidArgument(fmt::format("--device {} names GPU {} twice", shortened(text), index));
    indices.push_back(index);
    if (next == end) return indices;
    if (*next != ',') fail_syntax(text);
    at = next;
  }
}

}  // namespace

void parse_device(const std::string& text, PlanOptions& options) {
  options.devices.clear();
  options.choose_device = text == "auto";
  if (options.choose_device || text == "cpu") return;
  constexpr std::string_view kPrefix = "cuda:";
  if (text != "cuda" && !text.starts_with(kPrefix)) fail_syntax(text);
  options.devices = text == "cuda" ? std::vector<int>{0} : parse_indices(text, kPrefix.size());
}

void add_device_options(CLI::App& command, RunOptions& options) {
  options.choose_device = true;
  command
      .add_option_function<std::string>(
          "--device", [&options](const std::string& text) { parse_device(text, options); },
          "auto (default): the CPU or the first GPU, whichever is predicted to be faster; cpu; cuda: the "
          "first GPU; cuda:0,1: these GPUs")
      ->type_name("auto|cpu|cuda|cuda:0[,1]");
  command
      .add_option_function<std::string>(
          "--max-device-memory",
          [&options](const std::string& text) {
            options.max_device_memory_bytes = parse_size("--max-device-memory", text);
          },
          "memory limit on each GPU. Default: nine tenths of its free memory")
      ->type_name("SIZE");
}

}  // namespace sepconv::app
