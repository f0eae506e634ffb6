#include "pipeline/job/option_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "io/raster_axes.hpp"

namespace sepconv {
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

template <class Number>
bool parse(const std::string& text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// A whole number in [min_value, max_value]; nullopt for other texts.
std::optional<std::int64_t> parse_integer(const std::string& text, std::int64_t min_value,
                                          std::int64_t max_value) {
  std::int64_t value = 0;
  if (!parse(text, value) || value < min_value || value > max_value) return std::nullopt;
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

}  // namespace

std::int64_t parse_size(const std::string& text) {
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
  if (error != std::errc() || !is_unit || !(bytes >= 1) || bytes > 0x1p62)
    throw InvalidArgument(
        fmt::format("{} is not a size; write 1 byte to 4 EiB, like 256M, 1.5G or 4GiB", shortened(text)));
  return static_cast<std::int64_t>(bytes);
}

Extent parse_extent(const std::string& text) {
  const auto sides = parse_sides(text, 2, 2);
  if (!sides)
    throw InvalidArgument(
        fmt::format("{} is not a size; write columns and rows like 4096x2048, each from 1 to {}",
                    shortened(text), kMaxSide));
  return {(*sides)[1], (*sides)[0]};
}

Rect parse_region(const std::string& text) {
  const auto parts = split(text, '+');
  const auto sides = parse_sides(parts[0], 2, 2);
  const auto col = parse_integer(parts.size() > 1 ? parts[1] : "", 0, kMaxSide);
  const auto row = parse_integer(parts.size() > 2 ? parts[2] : "", 0, kMaxSide);
  if (!sides || !col || !row || parts.size() > 3)
    throw InvalidArgument(
        fmt::format("{} is not a region; write its columns and rows, then its first column and row, like "
                    "1024x768+4096+2048",
                    shortened(text)));
  return {*row, *col, (*sides)[1], (*sides)[0]};
}

void parse_raw(OpenOptions& options, const std::string& text) {
  const auto parts = split(text, ':');
  const auto sides = parse_sides(parts[0], 2, 3);
  std::string type_name = parts.size() > 1 ? parts[1] : "";
  options.raw_big_endian = type_name.ends_with("be");
  if (options.raw_big_endian) type_name.resize(type_name.size() - 2);
  const auto type = parse_pixel_type(type_name);
  const auto offset = parts.size() > 2 ? parse_integer(parts[2], 0, std::int64_t{1} << 62) : std::int64_t{0};
  if (!sides || !type || !offset || parts.size() > 3)
    throw InvalidArgument(fmt::format(
        "{} is not a raw layout; write COLSxROWS[xCHANNELS]:TYPE[:OFFSET] like 4096x2048x3:u16:512",
        shortened(text)));
  options.raw = ImageSpec{{(*sides)[1], (*sides)[0]}, sides->size() > 2 ? (*sides)[2] : 1, *type};
  options.raw_offset = *offset;
}

void parse_page(OpenOptions& options, const std::string& text) {
  if (const auto page = parse_integer(text, 0, std::numeric_limits<int>::max())) {
    options.page = static_cast<int>(*page);
    return;
  }
  try {
    parse_selection(text);
  } catch (const InvalidArgument&) {
    throw InvalidArgument(fmt::format(
        "{} is not a page; give a page (3), a range of them (0-9), or positions of named axes (c=1, "
        "z=2-5,t=0)",
        shortened(text)));
  }
  options.select = text;
}

double parse_value(const std::string& text) {
  double value = 0;
  if (!parse(text, value))
    throw InvalidArgument(
        fmt::format("{} is not a value; write a number, like -9999, or nan", shortened(text)));
  return value;
}

NamedDevices parse_devices(const std::string& text) {
  constexpr std::string_view kPrefix = "cuda:", kWithCpu = "cpu+";
  if (text == "cpu") return {};
  const bool with_cpu = text.starts_with(kWithCpu);
  const std::string gpus = with_cpu ? text.substr(kWithCpu.size()) : text;
  if (gpus == "cuda") return {{0}, with_cpu};
  std::vector<int> indices;
  for (const std::string& part : split(gpus.starts_with(kPrefix) ? gpus.substr(kPrefix.size()) : "", ',')) {
    const auto index = parse_integer(part, 0, std::numeric_limits<int>::max());
    if (!index)
      throw InvalidArgument(
          fmt::format("{} is unknown; use auto, cpu, cuda, GPUs by number like cuda:0,1, or cpu+cuda:0",
                      shortened(text)));
    if (std::ranges::count(indices, *index) > 0)
      throw InvalidArgument(fmt::format("{} names GPU {} twice", shortened(text), *index));
    indices.push_back(static_cast<int>(*index));
  }
  return {indices, with_cpu};
}

std::optional<std::int64_t> parse_whole_number(const std::string& text) {
  std::int64_t value = 0;
  const bool has_plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  return parse(text.substr(has_plus ? 1 : 0), value) ? std::optional(value) : std::nullopt;
}

}  // namespace sepconv
