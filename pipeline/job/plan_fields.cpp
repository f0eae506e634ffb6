#include "pipeline/job/plan_fields.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "io/foreign_json.hpp"
#include "io/json_text.hpp"
#include "pipeline/job/option_values.hpp"

namespace sepconv::stored_plan {

using nlohmann::json;

namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMaxInt = std::numeric_limits<int>::max();
constexpr int kMaxDepth = 8;  // printing and comparing are recursive

std::int64_t whole_number(const json& value, const char* what, std::int64_t max_value) {
  const bool fits =
      value.is_number_unsigned() && value.get<std::uint64_t>() <= static_cast<std::uint64_t>(max_value);
  if (!fits)
    fail(fmt::format("its {} is {}, which is not a whole number from 0 to {}", what, excerpt_of(value),
                     max_value));
  return value.get<std::int64_t>();
}

std::int64_t whole_number_at(const json& object, const char* key, std::int64_t max_value) {
  return whole_number(field(object, key), key, max_value);
}

Extent extent_at(const json& object, const char* key) {
  const json& extent = field(object, key);
  return {whole_number_at(extent, "rows", kMaxSide), whole_number_at(extent, "cols", kMaxSide)};
}

Rect rect_at(const json& object, const char* key) {
  const json& rect = field(object, key);
  const Extent extent = extent_at(object, key);
  return {whole_number_at(rect, "row", kMaxSide), whole_number_at(rect, "col", kMaxSide), extent.rows,
          extent.cols};
}

/// The region; empty if it is the whole result.
Rect region_at(const json& all) {
  const json& specs = list_at(all, "specs");
  if (specs.empty()) fail("it has no specs");
  const Rect region = rect_at(all, "region");
  const Extent result{whole_number_at(specs.back(), "rows", kMaxSide),
                      whole_number_at(specs.back(), "cols", kMaxSide)};
  return region == Rect::whole(result) ? Rect{} : region;
}

std::optional<Arithmetic> arithmetic_at(const json& object) {
  const json& value = field(object, "arithmetic");
  if (value.is_null()) return std::nullopt;
  for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64}) {
    if (string_in(value, "arithmetic") == name_of(arithmetic)) return arithmetic;
  }
  fail(fmt::format("its arithmetic is {}, which is neither f32 nor f64", excerpt_of(value)));
}

NamedDevices devices_at(const json& object) {
  return parse_devices(string_in(field(object, "device"), "device"));
}

std::optional<double> value_at(const json& object, const char* key) {
  const json& value = field(object, key);
  if (value.is_null()) return std::nullopt;
  const std::string text = string_in(value, key);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    fail(fmt::format("its {} is {}, which is not a number", key, excerpt_of(value)));
  return number;
}

bool flag_at(const json& object, const char* key) {
  const json& value = field(object, key);
  if (!value.is_boolean())
    fail(fmt::format("its {} is {}, which is neither true nor false", key, excerpt_of(value)));
  return value.get<bool>();
}

std::optional<AlphaRule> alpha_rule_at(const json& missing) {
  const auto value = missing.find("alpha_rule");
  if (value == missing.end()) return std::nullopt;
  const auto rule = alpha_rule_named(string_in(*value, "alpha_rule"));
  if (!rule) fail(fmt::format("its alpha_rule is {}, which is neither weight nor mask", excerpt_of(*value)));
  return rule;
}

MissingOptions missing_at(const json& object) {
  const json& missing = field(object, "missing");
  const json& alpha = field(missing, "alpha");
  return {flag_at(missing, "none"),
          value_at(missing, "value"),
          value_at(missing, "result"),
          alpha.is_null() ? std::nullopt : std::optional(whole_number(alpha, "alpha", kMaxInt)),
          flag_at(missing, "all_channels"),
          alpha_rule_at(missing)};
}

/// Maximum characters of a value in a message; visible characters of a difference, and characters before it.
constexpr std::size_t kMaxLength = 80, kVisible = 20, kBefore = 30;

/// UTC date and time of nanoseconds since 1970.
std::string date_of(std::int64_t changed_ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t seconds = changed_ns / kSecond - (changed_ns % kSecond < 0 ? 1 : 0);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:09} UTC", fmt::gmtime(static_cast<std::time_t>(seconds)),
                     changed_ns - seconds * kSecond);
}

/// A fingerprint() with a readable date.
std::string with_date(const std::string& fingerprint) {
  constexpr std::string_view kChanged = "changed ";
  const std::size_t at = fingerprint.find(kChanged);
  if (at == fingerprint.npos) return fingerprint;
  const char* const begin = fingerprint.data() + at + kChanged.size();
  std::int64_t changed_ns = 0;
  const auto [end, error] = std::from_chars(begin, fingerprint.data() + fingerprint.size(), changed_ns);
  if (error != std::errc()) return fingerprint;
  return std::string(fingerprint.data(), begin) + date_of(changed_ns) + end;
}

/// The value with all file times, also nested, as dates.
json with_dates(json value) {
  for (auto& [key, member] : value.items()) {
    if (key == "changed_ns" && member.is_number_integer())
      member = date_of(member.get<std::int64_t>());
    else if (key == "fingerprint" && member.is_string())
      member = with_date(member.get<std::string>());
    else if (member.is_structured())
      member = with_dates(member);
  }
  return value;
}

std::string excerpt(const std::string& text, std::size_t first) {
  return (first > 0 ? "..." : "") + text.substr(first, kMaxLength) +
         (text.size() - first > kMaxLength ? "..." : "");
}

}  // namespace

std::string excerpt_of(const json& value) { return excerpt(json_line(value), 0); }

Difference first_difference(const json& given_saved, const json& given_current) {
  const json saved = with_dates(given_saved), current = with_dates(given_current);
  const json change = json::diff(saved, current).front();
  const std::string kind = change.at("op"), path = change.at("path");
  const std::string before = kind == "add" ? "" : json_line(saved.at(json::json_pointer(path)));
  const std::string after = kind == "remove" ? "" : json_line(change.at("value"));
  const auto common_length =
      static_cast<std::size_t>(std::ranges::mismatch(before, after).in1 - before.begin());
  const std::size_t first = common_length + kVisible > kMaxLength ? common_length - kBefore : 0;
  return {excerpt_of(path), kind == "add" ? "not there" : excerpt(before, first),
          kind == "remove" ? "not there" : excerpt(after, first)};
}

void fail(std::string_view fact) {
  throw InvalidArgument(fmt::format("the plan cannot be read: {}; create it again", fact));
}

const json& field(const json& object, const char* key) {
  if (!object.is_object() || !object.contains(key)) fail(fmt::format("it has no {}", key));
  return object.at(key);
}

std::string string_in(const json& value, const char* what) {
  if (!value.is_string()) fail(fmt::format("its {} is {}, which is not text", what, excerpt_of(value)));
  return value.get<std::string>();
}

const json& list_at(const json& object, const char* key) {
  const json& list = field(object, key);
  if (!list.is_array()) fail(fmt::format("its {} is {}, which is not a list", key, excerpt_of(list)));
  return list;
}

PlanOptions requested_options(const json& all) {
  const json& asked = field(all, "asked");
  const NamedDevices named = devices_at(asked);
  return {.max_memory_bytes = whole_number_at(asked, "max_memory_bytes", kMax),
          .threads = static_cast<int>(whole_number_at(asked, "threads", kMaxInt)),
          .slots = static_cast<int>(whole_number_at(asked, "slots", kMaxInt)),
          .band_rows = whole_number_at(asked, "band_rows", kMaxSide),
          .band_cols = whole_number_at(asked, "band_cols", kMaxSide),
          .tile = extent_at(asked, "tile"),
          .arithmetic = arithmetic_at(asked),
          .devices = named.devices,
          .with_cpu = named.with_cpu,
          .max_device_memory_bytes = whole_number_at(asked, "max_device_memory_bytes", kMax),
          .region = region_at(all),
          .missing = missing_at(asked)};
}

PlanOptions tiling_options(const json& all, const PlanOptions& asked) {
  PlanOptions cut = asked;
  const Extent band = extent_at(all, "band");
  cut.band_rows = band.rows;
  cut.band_cols = band.cols;
  cut.tile = extent_at(all, "tile");
  cut.slots = static_cast<int>(whole_number_at(all, "slots", kMaxInt));
  cut.threads = static_cast<int>(whole_number_at(all, "threads", kMaxInt));
  cut.arithmetic = arithmetic_at(all);
  cut.devices.clear();
  if (all.contains("cuda")) cut.devices = devices_at(all.at("cuda")).devices;
  return cut;
}

RasterAxes axes_of(const json& all) {
  RasterAxes axes;
  for (const json& axis : list_at(all, "axes"))
    axes.push_back({string_in(field(axis, "name"), "name"), whole_number_at(axis, "size", kMax),
                    whole_number_at(axis, "first", kMax)});
  return axes;
}

json parse_json(std::string_view text) {
  try {
    JsonBounds bounds;
    json all = json::parse(text, [&](int depth, json::parse_event_t event, json&) {
      if (depth > kMaxDepth) fail("its values are nested");
      return bounds.take(depth, event);
    });
    if (const std::string problem = bounds.problem(); !problem.empty()) fail("it " + problem);
    return all;
  } catch (const json::parse_error& error) {
    fail(fmt::format("it is not JSON from byte {} on", error.byte));
  } catch (const json::out_of_range&) {
    fail("it has a number that is too large");
  }
}

}  // namespace sepconv::stored_plan
