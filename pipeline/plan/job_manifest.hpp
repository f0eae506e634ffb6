// What a partial result is made of, as its journal has it.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "pipeline/plan/file_job.hpp"

namespace sepconv {

struct JobManifest {
  std::filesystem::path input{};  ///< absolute
  PlanRecord plan{};
  FileOptions files{};
  bool in_parts = false;                           ///< by processes that make a part each
  std::string fingerprint{};                       ///< of the source
  std::map<std::string, std::string> of_stages{};  ///< fingerprints of the files of stages
};

/// On one line. `fingerprint_of` is asked for those of the stages' files.
std::string job_manifest_text(const JobManifest& made, const Plan& plan, const FingerprintOf& fingerprint_of);
/// Throws InvalidArgument for what is none, or another version's.
JobManifest parse_job_manifest(const std::string& text);

/// `now` may be planned for other memory, threads and devices; throws InvalidArgument, which says what is
/// another, unless it makes the same result in the same bands. `partial` begins the sentence.
void check_same_result(const std::string& then, const std::string& now, const std::filesystem::path& partial);

}  // namespace sepconv
