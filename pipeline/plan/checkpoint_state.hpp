// What there is of a result that is made in several runs, for who only looks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sepconv {

struct CheckpointState {
  enum class Kind : std::uint8_t {
    not_begun,  ///< no band was done when its run was killed, or is yet
    alone,      ///< made in one run after another
    in_parts,
    committed,  ///< its result was given its name: what is left is a killed run's
    foreign,    ///< another version's, of which no more is known
    damaged,    ///< nor is of one whose journal has lost its first line
  };
  std::filesystem::path folder{}, input{};
  std::vector<std::string> stages{};
  Kind kind = Kind::not_begun;
};

/// Nothing where there is none.
std::optional<CheckpointState> partial_state(const std::filesystem::path& output);

/// What it is, and what continues with it or removes it.
std::string describe(const CheckpointState& state);

}  // namespace sepconv
