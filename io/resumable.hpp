// State of a writer of an unfinished file, from which another process can continue.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/executor.hpp"

namespace sepconv {

/// State of the written data besides the bytes of the file.
struct WriterState {
  /// Positions of the blocks that were written since the last state, in numbers that only the writer
  /// interprets.
  std::vector<std::int64_t> block_positions{};
  /// States of its components, such as smaller levels, each since the last state.
  std::vector<WriterState> levels{};

  /// Adds the state `next`, which followed this one.
  void add(const WriterState& next) {
    block_positions.insert(block_positions.end(), next.block_positions.begin(), next.block_positions.end());
    levels.resize(next.levels.size());
    for (std::size_t i = 0; i < levels.size(); ++i) levels[i].add(next.levels[i]);
  }
};

/// Files next to the result that belong to a state; empty paths if they do not exist.
struct StateFiles {
  std::filesystem::path segment{};  ///< contains the blocks to be copied; if empty, blocks are in the result
                                    ///< at the positions of the state
  std::filesystem::path rows{};     ///< rows of smaller levels whose blocks are incomplete
};

/// Interface of a Writer that was created with CreateOptions::checkpoint.
class ResumableWriter {
 public:
  virtual ~ResumableWriter() = default;

  /// Returns the state since the last call. Call between two writes.
  virtual WriterState take_state() = 0;
  /// Restores `pixels` written pixels of another writer of the same file, before the first write. `state` is
  /// the sum of consecutive states, but parts are restored one by one, in their order. Throws IoError.
  virtual void restore(std::int64_t pixels, const WriterState& state, const StateFiles& files,
                       Executor& executor) = 0;

  /// Called before the first write of a part, with its rows.
  virtual void begin_part(std::int64_t first_row, std::int64_t end_row) { (void)first_row, (void)end_row; }
  /// Treats the pixels that were not written as written, because other processes write them.
  virtual void mark_rest_written() {}
  /// Upper bound of buffered bytes of incomplete blocks, which are saved with each state.
  virtual std::int64_t buffered_bytes() const { return 0; }
};

}  // namespace sepconv
