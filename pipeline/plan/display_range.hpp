// What a chain ends with where its result is looked at: values of few bits become the whole range of the
// result's type, 0 that is white becomes the largest, and all becomes u8 where that is asked for.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/formats.hpp"
#include "pipeline/chain/chain.hpp"
#include "pipeline/plan/output.hpp"

namespace sepconv {

/// As a format has both.
struct HowSeen {
  Seen seen = Seen::as_data;
  bool is_of_u8 = false;
};

struct ShownChain {
  Chain chain;
  bool is_min_black = false;        ///< 0 is white in the source, and black in the result
  bool is_8bit = false;             ///< by OutputOptions::to_8bit
  std::vector<std::string> said{};  ///< sentences
};

/// The chain, with a stage `stretch` behind it if the result needs one. A chain that sets its range itself (a
/// cast, a scale, a threshold) is left as it is, and so is one that ends in that stage already.
ShownChain shown_chain(const Chain& chain, const Reader& source, const HowSeen& how,
                       const OutputOptions& request);

/// "0:4095" for OutputOptions::range_of_8bit. Throws InvalidArgument.
std::pair<double, double> parse_value_range(std::string_view text);

/// For the format that the name stands for.
HowSeen seen_of(const std::filesystem::path& path, Formats formats);

/// Adds the sentences, and makes the metadata true of the chain's result.
void tell_what_is_shown(const ShownChain& shown, CreateOptions& options);

/// The chain for a picture of u8 of what it makes of the source: of few bits the whole range.
Chain shown_in_preview(const Chain& chain, const Reader& source);

}  // namespace sepconv
