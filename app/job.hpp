// What run and plan have in common: from the typed words to an opened source, a chain, a writer that has made
// nothing yet, and a plan.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device_choice.hpp"
#include "options.hpp"
#include "sepconv/pipeline/chain/chain.hpp"
#include "sepconv/pipeline/plan/plan_json.hpp"
#include "taken_files.hpp"

namespace sepconv::app {

struct JobRequest {
  std::filesystem::path input, output;
  std::vector<std::string> stages;
  OpenOptions open;
  OutputRequest layout;
  RunOptions options{{}, {.smaller_plans = true}};
  std::filesystem::path plan_file;
  std::optional<PlanRecord> plan;  ///< of that file; the plan's stages, devices and region are set above
};
/// IN and OUT.
void add_file_options(CLI::App& command, JobRequest& request);
/// The options of input, layout, device and limits.
void add_job_settings(CLI::App& command, JobRequest& request);
/// IN, OUT, STAGE... and the options.
void add_job_options(CLI::App& command, JobRequest& request);

struct Job {
  Chain chain;
  std::unique_ptr<Reader> source;
  std::unique_ptr<Writer> sink;
  RunOptions options;  ///< the request's
  Plan plan;
};

/// Checks everything that can be checked before a pixel is read. Throws what is wrong.
Job prepare(const JobRequest& request);

/// output_options() for a file of this name, as the request says. Throws InvalidArgument for a name or an
/// option that cannot be.
CreateOptions create_options(const std::filesystem::path& path, const ImageSpec& spec, const Reader* source,
                             const OutputRequest& request, Kept kept, Work work);

/// Whether a file of this name is laid out as one asks: Format::has_layout.
bool has_layout(const std::filesystem::path& path);

/// IN, and the files that its stages read.
TakenFiles files_read_by(const JobRequest& request);

}  // namespace sepconv::app
