#include "io/zarr/zarr_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "io/file_errors.hpp"
#include "io/foreign_json.hpp"
#include "io/join_names.hpp"
#include "io/zarr/zarr_array.hpp"

namespace sepconv {
namespace {

bool is_longer_than_64_bits(std::string_view token) {
  const std::string_view digits = token.substr(token.starts_with('-') ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of("0123456789") != digits.npos) return false;
  std::int64_t number = 0;
  std::uint64_t natural = 0;
  const char* const end = token.data() + token.size();
  return std::from_chars(token.data(), end, number).ec != std::errc() &&
         std::from_chars(token.data(), end, natural).ec != std::errc();
}

bool needs_quotes(std::string_view token) {
  return token == "NaN" || token == "Infinity" || token == "-Infinity" || is_longer_than_64_bits(token);
}

/// The JSON string at the beginning of `from`, with its quotes.
std::string_view string_at(std::string_view from) {
  std::size_t end = 1;
  while (end < from.size() && from[end] != '"') end += from[end] == '\\' ? 2 : 1;
  return from.substr(0, end + 1);
}

/// Quotes the numbers that need it, and collects them in `quoted`.
std::string with_quotes(std::string_view text, std::set<std::string>& quoted) {
  std::string result;
  while (!text.empty()) {
    const std::string_view token =
        text.front() == '"' ? string_at(text)
                            : text.substr(0, std::max<std::size_t>(1, text.find_first_of(" \t\r\n,:]}[{\"")));
    const std::string_view quote = needs_quotes(token) ? "\"" : "";
    if (!quote.empty()) quoted.emplace(token);
    (result += quote) += token;
    result += quote;
    text.remove_prefix(token.size());
  }
  return result;
}

}  // namespace

Json JsonFile::parse(const std::string& text, std::string_view skipped, std::string* quoted_numbers,
                     bool* has_skipped) const {
  std::set<std::string> quoted;
  JsonBounds bounds;
  bool found_skipped = false, inside_skipped = false;  // of the skipped member
  const auto callback = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth == 1 && event == Json::parse_event_t::key) {
      inside_skipped = !skipped.empty() && value.get_ref<const std::string&>() == skipped;
      found_skipped |= inside_skipped;
      return !inside_skipped;
    }
    return inside_skipped || bounds.take(depth, event);
  };
  Json result = Json::parse(with_quotes(text, quoted), callback, false);
  if (const std::string problem = bounds.problem(); !problem.empty())
    throw_read_error(name_, "it " + problem);
  if (!result.is_object())
    throw_read_error(name_,
                     "it is not a JSON object that an array or a group is described by; copy it again");
  if (has_skipped != nullptr) *has_skipped = found_skipped;
  if (quoted_numbers != nullptr) *quoted_numbers = join_names({quoted.begin(), quoted.end()});
  return result;
}

void JsonFile::throw_damaged(std::string_view subject) const {
  throw_read_error(name_, fmt::format("its {} is missing or damaged; copy it again", subject));
}

void JsonFile::throw_unsupported(const std::string& subject) const {
  throw_read_error(name_, fmt::format("it has {}, which is not read here; convert the array", subject));
}

const Json& JsonFile::member(const Json& object, const char* key) const {
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (!object.is_object() || found == object.end()) throw_damaged(key);
  return *found;
}

std::string JsonFile::text(const Json& object, const char* key) const {
  const Json& value = member(object, key);
  if (!value.is_string()) throw_damaged(key);
  return value.get<std::string>();
}

std::string JsonFile::text(const Json& object, const char* key, const std::string& default_value) const {
  return object.is_object() && object.contains(key) ? text(object, key) : default_value;
}

std::int64_t JsonFile::integer(const Json& value, std::string_view subject, std::int64_t min,
                               std::int64_t max) const {
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() &&
       value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())))
    throw_damaged(subject);
  const auto number = value.get<std::int64_t>();
  if (number < min || number > max) throw_damaged(subject);
  return number;
}

std::int64_t JsonFile::integer(const Json& object, const char* key, std::int64_t min, std::int64_t max,
                               std::int64_t default_value) const {
  return object.is_object() && object.contains(key) ? integer(object[key], key, min, max) : default_value;
}

std::vector<std::int64_t> JsonFile::integers(const Json& object, const char* key, std::int64_t min) const {
  const Json& list = member(object, key);
  if (!list.is_array()) throw_damaged(key);
  if (std::ssize(list) > kMaxZarrAxes)
    throw_unsupported(fmt::format("{} axes by its {}, more than {}", list.size(), key, kMaxZarrAxes));
  std::vector<std::int64_t> numbers;
  for (const Json& value : list) numbers.push_back(integer(value, key, min));
  return numbers;
}

NamedJson JsonFile::named(const Json& value, std::string_view subject) const {
  if (value.is_string()) return {value.get<std::string>(), Json::object()};
  if (!value.is_object() || !value.contains("name") || !value["name"].is_string()) throw_damaged(subject);
  NamedJson named{value["name"].get<std::string>(), value.value("configuration", Json::object())};
  if (!named.configuration.is_object()) throw_damaged(subject);
  return named;
}

void JsonFile::check_members(const Json& object, std::initializer_list<std::string_view> known) const {
  for (const auto& [key, value] : object.items()) {
    const bool optional =
        value.is_object() && value.contains("must_understand") && value["must_understand"] == false;
    if (!optional && std::ranges::find(known, key) == known.end())
      throw_unsupported(fmt::format("the member {}", key.substr(0, 60)));
  }
}

}  // namespace sepconv
