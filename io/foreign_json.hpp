// JSON that is not believed: bounded, and read in linear time. Internal to the library.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace sepconv {

/// For a text; each takes some hundred bytes while it is looked at. Lists of 100,000 label images with their
/// colours have less.
inline constexpr std::int64_t kMaxJsonValues = 1'000'000;
inline constexpr int kMaxJsonDepth = 64;

/// Counts what a parser of nlohmann's meets, as its callback.
class JsonBounds {
 public:
  /// False from the first value on that is too many or too deep.
  bool take(int depth, nlohmann::json::parse_event_t event) noexcept;
  /// "has more than the 1000000 values that are read"; empty where it is within the bounds.
  std::string problem() const;

 private:
  std::int64_t values_ = 0;
  bool is_too_deep_ = false;
};

/// Discarded (nlohmann's is_discarded()) where it is not JSON, with the `problem`.
nlohmann::json parse_foreign(std::string_view text, std::string& problem);

/// The same with members in their order; of two of one name the value of the later, in the place of the
/// first. nlohmann's own parser takes time that grows as the square of the members.
nlohmann::ordered_json parse_ordered(std::string_view text);

/// nlohmann's update(), in linear time. Both are objects.
void update_ordered(nlohmann::ordered_json& to, const nlohmann::ordered_json& from);

}  // namespace sepconv
