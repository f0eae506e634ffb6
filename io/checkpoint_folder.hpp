// What lies in the folder of a partial result, and whose it is. Internal to io/.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sepconv {

/// A name that begins with a word of partial_names and the digits of a run: nobody else's file has one.
bool is_name_of_run(std::string_view name);

struct PartialFolder {
  std::filesystem::path path{};
  bool has_journal = false;               ///< one that may_be_journal()
  bool has_files = false;                 ///< any that is_name_of_run()
  std::vector<std::string> beginnings{};  ///< journals of runs that have not begun
  std::vector<std::string> others{};      ///< names that are nobody's here

  /// Nothing in it where there is no such folder, or none that can be read.
  explicit PartialFolder(std::filesystem::path folder);
  bool is_empty() const noexcept { return !has_journal && !has_files && others.empty(); }
  /// Whether it is that of a partial result: a run's files, or a journal, which next to others alone has to
  /// have its first line.
  bool is_own() const;
  /// A run was killed before it has begun, and nobody has made more.
  bool is_not_begun() const noexcept { return !beginnings.empty() && !has_journal; }
  /// The fact and the way out, of one that is_own() not, and of one in which there are others.
  std::string why_not_own() const;
  std::string why_not_discarded() const;
};

}  // namespace sepconv
