#include "options.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

#include "console.hpp"
#include "core/error.hpp"
#include "pipeline/chain/chain.hpp"

namespace sepconv::app {

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// Writes log lines to stderr through the console functions.
class ConsoleSink final : public spdlog::sinks::base_sink<std::mutex> {
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    write_to_stderr({line.data(), line.size()});
  }
  void flush_() override {}
};

/// A whole number in [min_value, max_value]; nullopt for other texts.
std::optional<std::int64_t> parse_integer(const std::string& text, std::int64_t min_value,
                                          std::int64_t max_value) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < min_value || value > max_value)
    return std::nullopt;
  return value;
}

/// Side lengths separated by 'x', each in [1, kMaxSide]. Returns nullopt if a length or their number is
/// wrong.
std::optional<std::vector<std::int64_t>> parse_sides(const std::string& text, std::size_t min_count,
                                                     std::size_t max_count) {
  std::vector<std::int64_t> sides;
  for (const std::string& part : split(text, 'x')) {
    const auto side = parse_integer(part, 1, kMaxSide);
    if (!side) return std::nullopt;
    sides.push_back(*side);
  }
  if (sides.size() < min_count || sides.size() > max_count) return std::nullopt;
  return sides;
}

/// Stores a page number in options.page, which all formats support, and any other selection of images in
/// options.select.
void parse_page(const std::string& option, const std::string& text, OpenOptions& options) {
  if (const auto page = parse_integer(text, 0, std::numeric_limits<int>::max())) {
    options.page = static_cast<int>(*page);
    return;
  }
  try {
    parse_selection(text);
  } catch (const InvalidArgument&) {
    throw InvalidArgument(fmt::format(
        "{} {} is not a page; give a page (3), a range of them (0-9), or positions of named axes (c=1, "
        "z=2-5,t=0)",
        option, shortened(text)));
  }
  options.select = text;
}

}  // namespace

std::int64_t parse_size(const std::string& option, const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string unit(end, text.data() + text.size());
  for (char& c : unit) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (unit.size() > 1 && unit.ends_with("IB")) {
    unit.resize(unit.size() - 2);
  } else if (unit.ends_with('B')) {
    unit.pop_back();
  }
  const std::size_t power = unit.empty() ? 0 : std::string("KMGT").find(unit) + 1;
  const double bytes = std::ldexp(value, 10 * static_cast<int>(power));
  const bool is_unit = unit.size() <= 1 && power <= 4 && (unit.empty() || power > 0);
  if (error != std::errc() || !is_unit || !(bytes >= 1) || bytes > 0x1p62) {
    throw InvalidArgument(fmt::format("{} {}: expected a size from 1 byte to 4 EiB, like 256M, 1.5G or 4GiB",
                                      option, shortened(text)));
  }
  return static_cast<std::int64_t>(bytes);
}

Extent parse_extent(const std::string& option, const std::string& text) {
  const auto sides = parse_sides(text, 2, 2);
  if (!sides)
    throw InvalidArgument(
        fmt::format("{} {} is not a size; write columns and rows like 4096x2048, each from 1 to {}", option,
                    shortened(text), kMaxSide));
  return {(*sides)[1], (*sides)[0]};
}

Rect parse_region(const std::string& option, const std::string& text) {
  const auto parts = split(text, '+');
  const auto sides = parse_sides(parts[0], 2, 2);
  const auto col = parse_integer(parts.size() > 1 ? parts[1] : "", 0, kMaxSide);
  const auto row = parse_integer(parts.size() > 2 ? parts[2] : "", 0, kMaxSide);
  if (!sides || !col || !row || parts.size() > 3)
    throw InvalidArgument(
        fmt::format("{} {} is not a region; write its columns and rows, then its first column and row, like "
                    "1024x768+4096+2048",
                    option, shortened(text)));
  return {*row, *col, (*sides)[1], (*sides)[0]};
}

void parse_raw(const std::string& option, const std::string& text, OpenOptions& options) {
  const auto parts = split(text, ':');
  const auto sides = parse_sides(parts[0], 2, 3);
  std::string type_name = parts.size() > 1 ? parts[1] : "";
  options.raw_big_endian = type_name.ends_with("be");
  if (options.raw_big_endian) type_name.resize(type_name.size() - 2);
  const auto type = parse_pixel_type(type_name);
  const auto offset = parts.size() > 2 ? parse_integer(parts[2], 0, std::int64_t{1} << 62) : std::int64_t{0};
  if (!sides || !type || !offset || parts.size() > 3) {
    throw InvalidArgument(fmt::format(
        "{} {} is not a raw layout; write COLSxROWS[xCHANNELS]:TYPE[:OFFSET] like 4096x2048x3:u16:512",
        option, shortened(text)));
  }
  options.raw = ImageSpec{{(*sides)[1], (*sides)[0]}, sides->size() > 2 ? (*sides)[2] : 1, *type};
  options.raw_offset = *offset;
}

void add_input_options(CLI::App& command, OpenOptions& options, const std::string& suffix) {
  command
      .add_option_function<std::string>(
          "--page" + suffix,
          [&options, name = "--page" + suffix](const std::string& text) { parse_page(name, text, options); },
          "images of a file with several: 3 or 0-9 (pages of a TIFF, from 0), or positions of named axes, "
          "c=1 or z=2-5,t=0; all by default")
      ->type_name("PAGES");
  command.add_option("--level" + suffix, options.level, "level of a pyramid: 0, the full image, by default")
      ->transform(whole_number(0, 64));
  command
      .add_option(
          "--axes" + suffix, options.axes,
          "axes of an NPY or Zarr array, or of the pages of a TIFF, a letter each: y rows, x columns, a last "
          "c channels, like tzyx")
      ->check([](const std::string& text) { return text.empty() ? "give a letter for each axis" : ""; })
      ->type_name("yx|yxc|zyx|...");
  add_choices(
      command.add_option_function<std::string>(
          "--missing-chunks" + suffix,
          [&options](const std::string& text) {
            options.missing_chunks = text == "error" ? MissingChunks::error : MissingChunks::fill;
          },
          "Zarr chunks that are not stored: an error, or the fill value. Default: the fill value; an error "
          "if no chunk is stored"),
      {"error", "fill"});
  command
      .add_option_function<std::string>(
          "--raw" + suffix,
          [&options, name = "--raw" + suffix](const std::string& text) { parse_raw(name, text, options); },
          "the input has no header: its shape and type; u8 u16 i16 f32 f64, with be at the end for "
          "big-endian")
      ->type_name("COLSxROWS[xCHANNELS]:TYPE[:OFFSET]");
}

void add_region_option(CLI::App& command, RunOptions& options) {
  command
      .add_option_function<std::string>(
          "--region",
          [&options](const std::string& text) { options.region = parse_region("--region", text); },
          "compute only this region of the result, and read only what it needs")
      ->type_name("COLSxROWS+COL+ROW");
}

void add_budget_options(CLI::App& command, RunOptions& options) {
  command
      .add_option_function<std::string>(
          "--max-memory",
          [&options](const std::string& text) {
            options.max_memory_bytes = parse_size("--max-memory", text);
          },
          "memory limit of the run, such as 256M or 1.5G. Default: a quarter of the free memory")
      ->type_name("SIZE");
  command.add_option("--threads", options.threads, "threads; all processors by default")
      ->transform(whole_number(1, kMaxThreads));
  command.add_option("--band-rows", options.band_rows, "rows of the result per band")
      ->transform(whole_number(1, kMaxSide));
}

void add_band_options(CLI::App& command, RunOptions& options) {
  add_budget_options(command, options);
  command.add_option("--slots", options.slots, "bands in flight: 1 no overlap, 2 double buffering, ...")
      ->transform(whole_number(1, kMaxSlots));
  command.add_option("--band-cols", options.band_cols, "columns of the result per band")
      ->transform(whole_number(1, kMaxSide));
}

void add_limit_options(CLI::App& command, RunOptions& options) {
  add_band_options(command, options);
  const auto set_arithmetic = [&options](const std::string& text) {
    options.arithmetic = text == "f64" ? Arithmetic::f64 : Arithmetic::f32;
  };
  add_choices(command.add_option_function<std::string>("--arithmetic", set_arithmetic,
                                                       "f32 by default, f64 for f64 images"),
              {"f32", "f64"});
}

void add_reporting_options(CLI::App& command, Verbosity& reporting) {
  command.add_flag("-q,--quiet", reporting.quiet, "no progress and no summary; warnings stay");
  command.add_flag("-v,--verbose", reporting.verbose,
                   "plan, retries, warnings and the whole summary on stderr");
}

CLI::Option* add_dry_run_option(CLI::App& command, bool& dry_run, const std::string& contents) {
  return command.add_flag("-n,--dry-run", dry_run, "print the plan and stop: " + contents + ", peak memory");
}

std::shared_ptr<spdlog::logger> make_logger(const Verbosity& reporting) {
  if (!reporting.verbose) return nullptr;
  auto logger = std::make_shared<spdlog::logger>("sepconv", std::make_shared<ConsoleSink>());
  logger->set_level(spdlog::level::debug);
  logger->set_pattern("[%H:%M:%S.%e] %l: %v");
  return logger;
}

std::string stage_list() {
  std::string text = "Stages (sepconv stages NAME says more):\n";
  for (const StageEntry& entry : stage_table()) text += fmt::format("  {:<17} {}\n", entry.name, entry.help);
  return text;
}

std::string format_names() {
  std::string names;
  for (const Format& format : built_in_formats())
    names += (names.empty() ? "" : ", ") + std::string(format.name);
  return names;
}

std::string format_list() {
  std::string list = "Formats:\n";
  for (const Format& format : built_in_formats())
    list += fmt::format("  {} {}\n    reads {}\n    writes {}\n", format.name, format.endings, format.reads,
                        format.writes);
  return list;
}

}  // namespace sepconv::app
