// Untrusted JSON: bounded, and parsed in linear time. Internal to the library.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace sepconv {

/// Limits of a document. A value needs some hundred bytes of memory while parsing. 100,000 label images with
/// their colours have fewer values.
inline constexpr std::int64_t kMaxJsonValues = 1'000'000;
inline constexpr int kMaxJsonDepth = 64;

/// Counts the events of nlohmann's parser, as its callback.
class JsonBounds {
 public:
  /// Returns false as soon as there are too many values or levels.
  bool take(int depth, nlohmann::json::parse_event_t event) noexcept;
  /// "has more than the 1000000 values that are read"; empty within the bounds.
  std::string problem() const;

 private:
  std::int64_t values_ = 0;
  bool is_too_deep_ = false;
};

/// Parses a text. If it is not JSON, sets `problem` and returns a discarded value (is_discarded()).
nlohmann::json parse_foreign(std::string_view text, std::string& problem);

/// The same with the order of members preserved. Of members with equal names the last value is kept, in the
/// position of the first. nlohmann's own parser needs quadratic time.
nlohmann::ordered_json parse_ordered(std::string_view text);

/// nlohmann's update() in linear time, for two objects.
void update_ordered(nlohmann::ordered_json& to, const nlohmann::ordered_json& from);

}  // namespace sepconv
