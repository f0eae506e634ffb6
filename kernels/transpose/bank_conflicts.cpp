#include "kernels/transpose/bank_conflicts.hpp"

#include <algorithm>
#include <vector>

#include "core/error.hpp"

namespace sepconv {
namespace {

constexpr int kBanks = 32;
constexpr int kBankBytes = 4;
constexpr int kWarp = 32;
constexpr int kMaxPadding = 32;  // one more element gives the same banks as no padding

std::size_t index(int axis) { return static_cast<std::size_t>(axis); }

/// Maximum number of distinct words in one bank, for threads that are served in one pass.
int max_words_per_bank(std::span<const std::int64_t> addresses, int access_bytes) {
  std::vector<std::int64_t> words;
  for (const std::int64_t address : addresses) {
    for (int byte = 0; byte < access_bytes; byte += kBankBytes)
      words.push_back((address + byte) / kBankBytes);
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  std::array<int, kBanks> count{};
  for (const std::int64_t word : words) ++count[static_cast<std::size_t>(word % kBanks)];
  return *std::max_element(count.begin(), count.end());
}

/// Number of threads that are served in one pass.
std::size_t group_size(int access_bytes) {
  return static_cast<std::size_t>(kWarp * kBankBytes / std::max(access_bytes, kBankBytes));
}

void check(const TileAccess& access, const TileExtent& padded) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (access.tile[axis] < 1) throw InvalidArgument("a tile must have 1 element or more along every axis");
    if (padded[axis] < access.tile[axis])
      throw InvalidArgument("a padded tile must not be smaller than the tile");
  }
  constexpr std::array kSizes{1, 2, 4, 8, 16};
  if (std::find(kSizes.begin(), kSizes.end(), access.element_bytes) == kSizes.end()) {
    throw InvalidArgument("the elements of a tile must have 1, 2, 4, 8 or 16 bytes");
  }
}

/// Average conflicts over the warps of a block of `extent`, whose thread (z, y, x) accesses element
/// address(index).
template <class Address>
double average_conflicts(const TileExtent& extent, int access_bytes, const Address& address) {
  const int threads = extent[0] * extent[1] * extent[2];
  int accesses = 0;
  int extra = 0;
  std::vector<std::int64_t> addresses;
  for (int first = 0; first < threads; first += kWarp) {
    addresses.clear();
    for (int thread = first; thread < std::min(first + kWarp, threads); ++thread) {
      const TileExtent at{thread / (extent[1] * extent[2]), thread / extent[2] % extent[1],
                          thread % extent[2]};
      addresses.push_back(address(at) * access_bytes);
    }
    const std::size_t group = group_size(access_bytes);
    extra += wavefronts(addresses, access_bytes) - static_cast<int>((addresses.size() + group - 1) / group);
    ++accesses;
  }
  return static_cast<double>(extra) / accesses;
}

std::int64_t element_in(const TileExtent& padded, const TileExtent& at) {
  return (static_cast<std::int64_t>(at[0]) * padded[1] + at[1]) * padded[2] + at[2];
}

}  // namespace

int wavefronts(std::span<const std::int64_t> addresses, int access_bytes) {
  const std::size_t group = group_size(access_bytes);
  int count = 0;
  for (std::size_t first = 0; first < addresses.size(); first += group) {
    count +=
        max_words_per_bank(addresses.subspan(first, std::min(group, addresses.size() - first)), access_bytes);
  }
  return count;
}

ConflictCount count_conflicts(const TileAccess& access, const TileExtent& padded) {
  check(access, padded);
  const std::array<int, 3>& axes = access.permutation.axes;
  const auto written = [&](const TileExtent& at) { return element_in(padded, at); };
  const auto read = [&](const TileExtent& at) {
    TileExtent from{};
    for (std::size_t k = 0; k < 3; ++k) from[index(axes[k])] = at[k];
    return element_in(padded, from);
  };
  TileExtent result{};
  for (std::size_t k = 0; k < 3; ++k) result[k] = access.tile[index(axes[k])];
  return {.write = average_conflicts(access.tile, access.element_bytes, written),
          .read = average_conflicts(result, access.element_bytes, read)};
}

std::optional<TileExtent> smallest_padding(const TileAccess& access, Conflicts without) {
  check(access, access.tile);
  std::vector<TileExtent> candidates;
  for (int y = 0; y <= kMaxPadding; ++y) {
    for (int x = 0; x <= kMaxPadding; ++x)
      candidates.push_back({access.tile[0], access.tile[1] + y, access.tile[2] + x});
  }
  const auto smaller = [](const TileExtent& a, const TileExtent& b) {
    const int size = a[1] * a[2] - b[1] * b[2];
    return size != 0 ? size < 0 : a[2] < b[2];
  };
  std::sort(candidates.begin(), candidates.end(), smaller);
  for (const TileExtent& padded : candidates) {
    const ConflictCount count = count_conflicts(access, padded);
    if (count.read == 0 && (without == Conflicts::read || count.write == 0)) return padded;
  }
  return std::nullopt;
}

}  // namespace sepconv
