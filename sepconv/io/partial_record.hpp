// Records of partial results as text, on one line. Internal to io/.
#pragma once

#include <optional>
#include <string>

#include "sepconv/io/partial.hpp"

namespace sepconv {

/// A file that a record names in the place of WriterState::held.
struct HeldFile {
  std::string name{};
  std::int64_t bytes = 0;
  std::uint32_t checksum = 0;
};

std::string record_text(const DoneRecord& record, const HeldFile& held);
/// Nothing for what is no record. The segment is a name in the partial result's folder.
std::optional<DoneRecord> parse_record(const std::string& text, HeldFile& held);

}  // namespace sepconv
