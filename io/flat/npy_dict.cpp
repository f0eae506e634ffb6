#include "io/flat/npy_dict.hpp"

#include <charconv>
#include <set>

namespace sepconv {
namespace {

/// Tokenizer. Each function skips leading space and returns whether it found the expected token.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  bool accept(std::string_view token) {
    skip_space();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  /// Reads a string in single or double quotes. Names of plain dtypes have no escapes.
  bool string(std::string& value) {
    const char quote = accept("'") ? '\'' : accept("\"") ? '"' : '\0';
    if (quote == '\0') return false;
    const std::size_t end = rest_.find(quote);
    if (end == std::string_view::npos) return false;
    value = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }

  bool boolean(bool& value) {
    value = accept("True");
    return value || accept("False");
  }

  bool integer(std::int64_t& value) {
    skip_space();
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) return false;
    const bool has_leading_zero = rest_.front() == '0' && end > rest_.data() + 1;
    if (has_leading_zero) return false;  // not a number in Python
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    accept("L");  // suffix of long integers in Python 2
    return true;
  }

  bool tuple(std::vector<std::int64_t>& values) {
    if (!accept("(")) return false;
    values.clear();
    while (!accept(")")) {
      if (!integer(values.emplace_back())) return false;
      if (!accept(","))
        return values.size() > 1 && accept(")");  // (6) is a number in Python, (6,) is a
                                                  // tuple
    }
    return true;
  }

  bool at_end() {
    skip_space();
    return rest_.empty();
  }

 private:
  void skip_space() {
    const std::size_t first = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(first == std::string_view::npos ? rest_.size() : first);
  }

  std::string_view rest_;
};

/// Parses one of the three known keys with its value. Repeated keys are an error.
bool parse_item(Cursor& cursor, NpyDict& dict, std::set<std::string>& seen) {
  std::string key;
  if (!cursor.string(key) || !cursor.accept(":") || !seen.insert(key).second) return false;
  if (key == "descr") return cursor.string(dict.descr);
  if (key == "fortran_order") return cursor.boolean(dict.fortran_order);
  return key == "shape" && cursor.tuple(dict.shape);
}

}  // namespace

std::optional<NpyDict> parse_npy_dict(std::string_view text) {
  Cursor cursor(text);
  NpyDict dict;
  std::set<std::string> seen;
  if (!cursor.accept("{")) return std::nullopt;
  while (!cursor.accept("}")) {
    if (!parse_item(cursor, dict, seen)) return std::nullopt;
    if (cursor.accept(",")) continue;
    if (!cursor.accept("}")) return std::nullopt;
    break;
  }
  if (seen.size() != 3 || !cursor.at_end()) return std::nullopt;
  return dict;
}

}  // namespace sepconv
