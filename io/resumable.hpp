// What a writer tells of an unfinished file, so that another process can continue with it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/executor.hpp"

namespace sepconv {

/// What must be known of what was written, besides the bytes of the file.
struct WriterState {
  /// In numbers of the writer's own, of those blocks that were placed since the last state: where they lie.
  std::vector<std::int64_t> places{};
  /// For what it is made of, such as smaller levels, each since the last state.
  std::vector<WriterState> levels{};

  /// Makes it that of both, where `next` is the one that followed.
  void add(const WriterState& next) {
    places.insert(places.end(), next.places.begin(), next.places.end());
    levels.resize(next.levels.size());
    for (std::size_t i = 0; i < levels.size(); ++i) levels[i].add(next.levels[i]);
  }
};

/// Files next to the result that a state speaks of; empty: there is none.
struct StateFiles {
  std::filesystem::path segment{};  ///< has the blocks, which are copied; else they lie where the state says
  std::filesystem::path rows{};     ///< of smaller levels, which wait for others to be written with
};

/// For a Writer that was made with CreateOptions::partial.
class ResumableWriter {
 public:
  virtual ~ResumableWriter() = default;

  /// Between two writes.
  virtual WriterState take_state() = 0;
  /// Before the first write: this many pixels were written by another writer of the same file, which left this
  /// state, of several that follow each other added up; but of parts one after another, in their order.
  /// Throws IoError.
  virtual void restore(std::int64_t pixels, const WriterState& state, const StateFiles& files,
                       Executor& executor) = 0;

  /// Before the first write of a part that has these rows.
  virtual void begin_part(std::int64_t first_row, std::int64_t end_row) { (void)first_row, (void)end_row; }
  /// What was not written is other processes' part: finish() takes it for written.
  virtual void leave_rest() {}
  /// Upper bound of what waits to be written with others, and is kept with each state.
  virtual std::int64_t buffered_bytes() const { return 0; }
};

}  // namespace sepconv
