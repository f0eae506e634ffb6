// The text of a stage. A valid text must be printed as a text that parses to the same stage.
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "pipeline/chain/chain.hpp"

namespace {

/// Taps and matrices may name files: the fuzzer must not open random paths.
bool is_allowed_text(std::string_view text) { return text.size() <= 256 && text.find("file") == text.npos; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (!is_allowed_text(text)) return -1;
  try {
    const sepconv::StagePtr stage = sepconv::parse_stage(text);
    const std::string canonical = stage->text();
    if (sepconv::parse_stage(canonical)->text() != canonical) std::abort();
  } catch (const sepconv::Error&) {
  }
  return 0;
}
