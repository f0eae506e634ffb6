#include "io/raster_axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "core/error.hpp"

namespace sepconv {
namespace {

std::string join_axes(const RasterAxes& axes, char separator, const std::vector<std::int64_t>& values) {
  std::string text;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].size > 1)
      text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", axes[i].name, separator, values[i]);
  }
  return text;
}

std::optional<std::int64_t> parse_position(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 ||
      value > std::numeric_limits<int>::max())
    return std::nullopt;
  return value;
}

/// Parses "c=1", "2-5" or "3".
std::optional<AxisRange> parse_range(std::string_view text) {
  AxisRange range;
  if (const std::size_t equals = text.find('='); equals != text.npos) {
    range.axis = text.substr(0, equals);
    if (range.axis.empty()) return std::nullopt;
    text.remove_prefix(equals + 1);
  }
  const std::size_t dash = text.find('-');
  const auto first = parse_position(text.substr(0, dash));
  const auto last = dash == text.npos ? first : parse_position(text.substr(dash + 1));
  if (!first || !last || *first > *last) return std::nullopt;
  range.first = *first;
  range.last = *last;
  return range;
}

/// Checks the letters and returns those before rows and columns.
std::string_view outer_letters(std::string_view letters, std::int64_t channels, const std::string& what) {
  const auto throw_invalid = [&](std::string_view reason) {
    throw InvalidArgument(
        fmt::format("{}: OpenOptions::axes {} is invalid: {}; write a letter for each axis, like zyx or tzyx",
                    what, letters, reason));
  };
  for (const char letter : letters) {
    if (letter < 'a' || letter > 'z') throw_invalid("its letters are not from a to z");
    if (std::ranges::count(letters, letter) > 1) throw_invalid(fmt::format("{} is repeated", letter));
  }
  std::string_view outer = letters;
  if (outer.ends_with("yxc") || outer.ends_with("yxs")) {
    if (channels == 1) throw_invalid("its pixels have one channel");
    outer.remove_suffix(1);
  }
  if (!outer.ends_with("yx")) throw_invalid("y and x must be the last axes except channels");
  outer.remove_suffix(2);
  return outer;
}

}  // namespace

RasterAxes named_axes(const RasterAxes& axes, std::string_view letters, std::int64_t channels,
                      const std::string& what) {
  const std::string_view outer = outer_letters(letters, channels, what);
  RasterAxes renamed = axes;
  if (renamed.size() != outer.size())
    std::erase_if(renamed, [](const RasterAxis& axis) { return axis.size == 1; });
  if (renamed.empty() && outer.size() == 1) renamed.push_back({});
  if (renamed.size() != outer.size())
    throw IoError(fmt::format(
        "{}: OpenOptions::axes {} has {} before yx, and its images lie along {} ({}); write a letter for "
        "each",
        what, letters,
        outer.size() == 1 ? std::string("one letter") : fmt::format("{} letters", outer.size()),
        renamed.size() == 1 ? std::string("one axis") : fmt::format("{} axes", renamed.size()),
        to_string(axes)));
  for (std::size_t i = 0; i < renamed.size(); ++i) renamed[i].name = std::string(1, outer[i]);
  return renamed;
}

std::int64_t raster_count(const RasterAxes& axes) noexcept {
  std::int64_t count = 1;
  for (const RasterAxis& axis : axes) count *= axis.size;
  return count;
}

const RasterAxis* find_axis(const RasterAxes& axes, std::string_view name) noexcept {
  const auto found = std::ranges::find(axes, name, &RasterAxis::name);
  return found == axes.end() ? nullptr : &*found;
}

std::vector<std::int64_t> position_of(const RasterAxes& axes, std::int64_t index) {
  std::vector<std::int64_t> position(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    position[i] = axes[i].first + index % axes[i].size;
    index /= axes[i].size;
  }
  return position;
}

std::string to_string(const RasterAxes& axes) {
  std::vector<std::int64_t> sizes;
  for (const RasterAxis& axis : axes) sizes.push_back(axis.size);
  const std::string text = join_axes(axes, ' ', sizes);
  return text.empty() ? "1" : text;
}

std::string position_text(const RasterAxes& axes, std::int64_t index) {
  return join_axes(axes, '=', position_of(axes, index));
}

std::vector<AxisRange> parse_selection(std::string_view text) {
  std::vector<AxisRange> ranges;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    const auto range = parse_range(rest.substr(0, comma));
    const bool repeated = range && std::ranges::find(ranges, range->axis, &AxisRange::axis) != ranges.end();
    const bool mixed = range && !ranges.empty() && (range->axis.empty() || ranges.front().axis.empty());
    if (!range || repeated || mixed) {
      throw InvalidArgument(fmt::format(
          "OpenOptions::select {} is not a page; give a page (3), a range of them (0-9), or positions of named "
          "axes (c=1, z=2-5,t=0)",
          text.substr(0, 60)));
    }
    ranges.push_back(*range);
    if (comma == rest.npos) return ranges;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace sepconv
