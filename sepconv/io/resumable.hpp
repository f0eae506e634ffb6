// What a writer tells of an unfinished file, so that another process can go on with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace sepconv {

/// What must be known of what was written, beside the bytes of the file.
struct WriterState {
  /// Where blocks lie, in numbers of the writer's own, of those that were placed since the last state.
  std::vector<std::int64_t> places{};
  /// Of the smaller levels, each since the last state.
  std::vector<WriterState> levels{};
  std::vector<std::byte> held{};  ///< pixels that wait for others to be written with: all of them

  /// Makes it that of both, where `next` is the one that followed.
  void add(const WriterState& next) {
    places.insert(places.end(), next.places.begin(), next.places.end());
    levels.resize(next.levels.size());
    for (std::size_t i = 0; i < levels.size(); ++i) levels[i].add(next.levels[i]);
    held = next.held;
  }
};

/// Of a Writer that was made with CreateOptions::partial.
class ResumableWriter {
 public:
  virtual ~ResumableWriter() = default;

  /// Between two writes.
  virtual WriterState take_state() = 0;
  /// Before the first write: so many pixels were written by another writer of the same file, which left this
  /// state, of several that follow each other added up. `segment`: the file that has the blocks of this one,
  /// which are copied; empty: they lie where the state says. Throws IoError.
  virtual void restore(std::int64_t pixels, const WriterState& state,
                       const std::filesystem::path& segment) = 0;
  /// Upper bound of WriterState::held.
  virtual std::int64_t held_bytes() const { return 0; }
};

}  // namespace sepconv
