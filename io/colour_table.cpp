#include "io/colour_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

namespace sepconv {
namespace {

constexpr int kWhite = 65535;

/// Allows errors of one step, but the ends must be in the dark and the bright half: some writers store 256 v,
/// or 4096 v for 4 bits.
bool is_ramp(const ColourTable& table, bool falls) {
  const auto last = static_cast<std::int64_t>(table.size()) - 1;
  if (last < 1 || table.of[0] != table.of[1] || table.of[0] != table.of[2]) return false;
  const auto at = [&](std::int64_t i) -> std::int64_t {
    return table.of[0][static_cast<std::size_t>(falls ? last - i : i)];
  };
  for (std::int64_t i = 0; i <= last; ++i) {
    if (std::abs(last * at(i) - kWhite * i) > kWhite) return false;
  }
  return 2 * at(0) < kWhite && 2 * at(last) >= kWhite;
}

std::size_t count_distinct(const ColourTable& table) {
  std::set<std::array<std::uint16_t, 3>> colours;
  for (std::size_t i = 0; i < table.size(); ++i)
    colours.insert({table.of[0][i], table.of[1][i], table.of[2][i]});
  return colours.size();
}

bool is_monotone(const ColourTable& table) {
  const auto all = [&](auto is_sorted) { return std::ranges::all_of(table.of, is_sorted); };
  return all([](const auto& channel) { return std::ranges::is_sorted(channel); }) ||
         all([](const auto& channel) { return std::ranges::is_sorted(channel, std::greater{}); });
}

/// A step of more than an eighth of the range is a jump. A few jumps are allowed, for under- and overexposed
/// values with special colours.
bool is_smooth(const ColourTable& table) {
  constexpr std::size_t kMinColours = 64;
  if (table.size() < kMinColours || count_distinct(table) < table.size() / 2) return false;
  std::size_t jumps = 0;
  for (std::size_t i = 1; i < table.size(); ++i) {
    jumps += std::ranges::any_of(table.of, [i](const auto& channel) {
      return std::abs(int{channel[i]} - int{channel[i - 1]}) > kWhite / 8;
    });
  }
  return jumps <= table.size() / kMinColours;
}

}  // namespace

std::array<std::uint8_t, 3> ColourTable::shown(std::size_t value) const {
  const std::size_t index = std::min(value, size() - 1);
  return {static_cast<std::uint8_t>(of[0][index] >> 8), static_cast<std::uint8_t>(of[1][index] >> 8),
          static_cast<std::uint8_t>(of[2][index] >> 8)};
}

bool is_grey_ramp(const ColourTable& table) { return is_ramp(table, false); }
bool is_inverted_ramp(const ColourTable& table) { return is_ramp(table, true); }

bool looks_like_intensities(const ColourTable& table) {
  return count_distinct(table) > 1 && (is_monotone(table) || is_smooth(table));
}

ColourTable resize_table(ColourTable table, std::size_t size) {
  for (auto& channel : table.of) channel.resize(size, table.classes || channel.empty() ? 0 : channel.back());
  return table;
}

std::string name_of(const ColourTable& table) {
  if (table.classes) return fmt::format("classes ({} colours)", count_distinct(table));
  return is_grey_ramp(table)       ? "grey ramp"
         : is_inverted_ramp(table) ? "inverted grey ramp"
                                   : fmt::format("LUT of intensities ({} colours)", count_distinct(table));
}

}  // namespace sepconv
