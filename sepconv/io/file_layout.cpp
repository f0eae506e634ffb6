#include "sepconv/io/file_layout.hpp"

#include <algorithm>

namespace sepconv {
namespace {

constexpr std::string_view kCompressionNames[] = {"none", "lzw", "deflate", "zstd", "jpeg", "packbits"};

}  // namespace

std::string_view name_of(Compression compression) noexcept {
  return kCompressionNames[static_cast<std::size_t>(compression)];
}

std::optional<Compression> parse_compression(std::string_view name) noexcept {
  const auto* const found = std::find(std::begin(kCompressionNames), std::end(kCompressionNames), name);
  if (found == std::end(kCompressionNames)) return std::nullopt;
  return static_cast<Compression>(found - std::begin(kCompressionNames));
}

}  // namespace sepconv
