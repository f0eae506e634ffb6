// Final conversion of a chain whose result is viewed: values of few bits are scaled to the full range of the
// result's type, white 0 becomes the maximum, and all becomes u8 if requested.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/formats.hpp"
#include "pipeline/chain/chain.hpp"
#include "pipeline/job/output.hpp"

namespace sepconv {

/// The members of Format of the same names.
struct DisplayFormat {
  Seen seen = Seen::as_data;
  bool is_u8_only = false;
};

struct DisplayChain {
  Chain chain;
  bool is_min_black = false;            ///< 0 is white in the source, and black in the result
  bool is_8bit = false;                 ///< set by OutputOptions::to_8bit
  std::vector<std::string> warnings{};  ///< sentences for the user
};

/// The chain, followed by a stage `stretch` if the result needs it. A chain that sets its range itself (a
/// cast, a scale, a threshold) or already ends in `stretch` is unchanged, unless
/// OutputOptions::to_8bit asks for u8 and the chain ends in another type.
DisplayChain display_chain(const Chain& chain, const Reader& source, const DisplayFormat& format,
                           const OutputOptions& request);

/// Parses "0:4095" for OutputOptions::range_of_8bit. Throws InvalidArgument.
std::pair<double, double> parse_value_range(std::string_view text);

/// For the format of the file name.
DisplayFormat display_format_of(const std::filesystem::path& path, Formats formats);

/// Adds the sentences to the warnings and adapts the metadata to the chain's result.
void apply_display_chain(const DisplayChain& shown, CreateOptions& options);

/// The chain for a u8 preview: source values of few bits are scaled to the full range.
Chain shown_in_preview(const Chain& chain, const Reader& source);

}  // namespace sepconv
