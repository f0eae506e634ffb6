// State of a partial result, for inspection.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sepconv {

struct CheckpointState {
  enum class Kind : std::uint8_t {
    not_begun,  ///< no band is complete
    alone,      ///< made in sequential runs
    in_parts,
    committed,  ///< the result has its final name; leftovers of a killed run
    foreign,    ///< made by another version; nothing else is known
    damaged,    ///< the first line of its journal is damaged; nothing else is known
  };
  std::filesystem::path folder{}, input{};
  std::vector<std::string> stages{};
  Kind kind = Kind::not_begun;
};

/// State of the partial result of `output`; nullopt if none exists.
std::optional<CheckpointState> read_checkpoint_state(const std::filesystem::path& output);

/// What it is, and what continues or removes it.
std::string describe(const CheckpointState& state);

}  // namespace sepconv
