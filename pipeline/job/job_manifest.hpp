// Inputs and options of a partial result, as stored in its journal.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "pipeline/job/file_job.hpp"

namespace sepconv {

struct JobManifest {
  std::filesystem::path input{};  ///< absolute
  PlanRecord plan{};
  FileOptions files{};
  bool in_parts = false;                                    ///< made in parts by separate processes
  std::string fingerprint{};                                ///< fingerprint of the source
  std::map<std::string, std::string> stage_fingerprints{};  ///< path to fingerprint of the stages' files
};

/// The manifest as one line of JSON. `fingerprint_of` returns the fingerprints of the stages' files.
std::string job_manifest_text(const JobManifest& manifest, const Plan& plan,
                              const FingerprintOf& fingerprint_of);
/// Throws InvalidArgument for invalid text or another version.
JobManifest parse_job_manifest(const std::string& text);

/// Throws InvalidArgument with the first difference unless both manifests produce the same result in the same
/// bands. Memory, threads and devices may differ. `partial` begins the message.
void check_same_result(const std::string& saved_text, const std::string& current_text,
                       const std::filesystem::path& partial);

}  // namespace sepconv
