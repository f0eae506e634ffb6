// How a stage comes out of its text: the parsed arguments, and one definition per name.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sepconv/kernels/conv/border.hpp"
#include "sepconv/pipeline/chain/chain.hpp"

namespace sepconv {

/// The `key=value` pairs of one stage, with typed access. Every getter throws InvalidArgument, naming the
/// stage and the key, for a value that is not of its kind; getters without a default also when the key is
/// missing.
class StageArgs {
 public:
  /// Splits "name:key=value,key=value"; a word without '=' belongs to the value before it.
  explicit StageArgs(std::string_view text);

  const std::string& stage() const noexcept { return stage_; }
  const std::vector<std::pair<std::string, std::string>>& pairs() const noexcept { return pairs_; }
  bool has(std::string_view key) const noexcept { return find(key) != nullptr; }

  std::string text(std::string_view key) const;
  std::string text(std::string_view key, std::string_view fallback) const;
  double number(std::string_view key) const;  ///< finite
  double number(std::string_view key, double fallback) const;
  std::int64_t integer(std::string_view key) const;
  std::int64_t integer(std::string_view key, std::int64_t fallback) const;
  bool flag(std::string_view key) const;                    ///< true or false, false when missing
  std::vector<double> numbers(std::string_view key) const;  ///< finite, comma-separated
  /// One of `choices`; the first when missing.
  std::string choice(std::string_view key, const std::vector<std::string_view>& choices) const;
  /// `border` and `value`.
  Border border() const;

  [[noreturn]] void fail(std::string_view key, std::string_view why) const;

  /// A key that was given and that no getter was asked for; empty if there is none.
  std::string unread() const;

 private:
  const std::string* find(std::string_view key) const noexcept;

  std::string stage_;
  std::vector<std::pair<std::string, std::string>> pairs_;
  mutable std::vector<std::string> read_;
};

/// Whether one of the values is too large for f32, in which it would be an infinity.
inline bool any_beyond_f32(std::span<const double> values) noexcept {
  return std::ranges::any_of(values, [](double value) {
    return std::abs(value) > static_cast<double>(std::numeric_limits<float>::max());
  });
}

/// What sepconv/pipeline/stages/*.cpp contribute to the registry.
struct StageDefinition {
  StageEntry entry;
  StagePtr (*make)(const StageArgs& args);
};
using StageDefinitions = std::vector<StageDefinition>;

StageDefinitions gaussian_stages();
StageDefinitions box_stages();
StageDefinitions binomial_stages();
StageDefinitions derivative_stages();
StageDefinitions multi_scale_stages();
StageDefinitions taps_stages();
StageDefinitions matrix_stages();
StageDefinitions pointwise_stages();
StageDefinitions transpose_stages();
StageDefinitions gemm_stages();

/// `own` and, after them, the keys that every convolving stage takes: border, value, flip.
std::vector<StageEntry::Key> convolving_keys(std::vector<StageEntry::Key> own);

/// The word of `known` with the least edit distance from `word`, when it is near enough to be what was meant.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace sepconv
