// Steps of a job between its images and at its end.
#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "io/fingerprint.hpp"
#include "pipeline/job/file_job.hpp"

namespace sepconv {

void ImageJob::check_unchanged() const {
  const auto fail = [](const std::string& what) {
    throw IoError(
        fmt::format("{} was written to while it was read, and the result may mix both versions; start again "
                    "when it is complete",
                    what));
  };
  for (const auto& [file, old_fingerprint] : read)
    if (file.has_changed() || (!old_fingerprint.empty() && fingerprint(file.path()) != old_fingerprint))
      fail(file.path().native());
  if (sources && sources->has_changed()) fail("the source");
}

void ImageJob::finish() {
  if (sinks) sinks->finish();
}

void append_unique(std::vector<std::string>& sentences, const std::vector<std::string>& more) {
  for (const std::string& sentence : more) {
    if (std::ranges::find(sentences, sentence) == sentences.end()) sentences.push_back(sentence);
  }
}

}  // namespace sepconv
