// Text form of checkpoint records, one line each. Internal to io/.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/checkpoint.hpp"
#include "io/checkpoint_samples.hpp"

namespace sepconv {

std::string record_text(const CompletedBands& record);
std::string samples_text(const std::vector<Sample>& samples);
/// Returns null for other text. File names are relative to the checkpoint folder.
std::optional<CompletedBands> parse_record(std::string_view text);
std::optional<std::vector<Sample>> parse_samples(std::string_view text);

}  // namespace sepconv
