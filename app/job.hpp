// What run and plan have in common: from the typed words to an opened source, a chain, a writer that has made
// nothing yet, and a plan.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "device_choice.hpp"
#include "options.hpp"
#include "sepconv/pipeline/chain.hpp"
#include "sepconv/pipeline/plan.hpp"

namespace sepconv::app {

struct JobRequest {
  std::filesystem::path input, output;
  std::vector<std::string> stages;
  OpenOptions open;
  LayoutRequest layout;
  DeviceRequest device;
  RunOptions options;  ///< but for the devices, which `device` stands for
};
/// IN, OUT, STAGE... and the options of input, layout and limits.
void add_job_options(CLI::App& command, JobRequest& request);

struct Job {
  Chain chain;
  std::unique_ptr<Reader> source;
  std::unique_ptr<Writer> sink;
  RunOptions options;  ///< the request's, with the devices that were found
  Plan plan;
};

/// Checks everything that can be checked before a pixel is read. Throws what is wrong.
Job prepare(const JobRequest& request);

/// A writer for `spec` as the request says, else like `source` where that makes sense for the result, else in
/// strips.
std::unique_ptr<Writer> make_sink(const std::filesystem::path& path, const ImageSpec& spec,
                                  const Reader& source, const LayoutRequest& request);

/// Whether both names lead to one existing file, through links too.
bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace sepconv::app
