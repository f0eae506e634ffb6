// run IN... --output-dir DIR STAGE...: one image after another into a folder, each under its own name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "job.hpp"

namespace sepconv::app {

struct BatchOptions {
  std::filesystem::path folder;  ///< empty: there is one image, from IN to OUT
  std::size_t inputs = 0;        ///< words that stood before the option; those behind it are stages
  std::vector<std::string> words;
};
/// Without the slash that a folder's name may end in.
std::filesystem::path name_of_file(const std::filesystem::path& path);

/// --output-dir, which ends the inputs on the line. `arguments` are IN, OUT and STAGE; the second of them is not
/// needed where the option is given.
CLI::Option* add_into_option(CLI::App& command, BatchOptions& request,
                             const std::vector<CLI::Option*>& arguments);

/// Results are as `job` says for each. Refuses names that clash before anything is read; then one failure,
/// which is said at once, does not stop the others. Ends with a table, or on standard output an array of
/// reports if `as_json`. Returns kFailed if one failed. Throws Cancelled when stopped, with what was made in
/// context.kept().
int run_into_folder(const BatchOptions& request, const RunArguments& job, bool as_json,
                    const Verbosity& reporting, Context& context);

}  // namespace sepconv::app
