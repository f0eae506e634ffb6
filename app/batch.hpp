// run IN... --output-dir DIR STAGE...: filters several images into a folder and keeps their names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "job.hpp"

namespace sepconv::app {

struct BatchOptions {
  std::filesystem::path folder;        ///< empty: a single image, from IN to OUT
  std::size_t inputs = 0;              ///< number of arguments before --output-dir; those after it are stages
  std::vector<std::string> arguments;  ///< IN, OUT and STAGE as typed
};
/// The last component of the path; a trailing slash is ignored.
std::filesystem::path name_of_file(const std::filesystem::path& path);

/// Adds --output-dir. Arguments before it are inputs. `arguments` are IN, OUT and STAGE; OUT is not required if
/// --output-dir is given.
CLI::Option* add_into_option(CLI::App& command, BatchOptions& request,
                             const std::vector<CLI::Option*>& arguments);

/// Runs the job for each image with the settings in `job`. Checks all names for clashes before it reads an
/// image. A failure is reported immediately and does not stop the other images. Prints a table at the end, or
/// an array of reports to standard output if `as_json`. Returns kFailed if an image failed. Throws Cancelled
/// when stopped; context.describe_partial_results() then returns the number of completed images.
int run_into_folder(const BatchOptions& request, const RunArguments& job, bool as_json,
                    const Verbosity& reporting, Context& context);

}  // namespace sepconv::app
