#include <catch2/catch.hpp>

#include "io/tiff/ifd.hpp"
#include "temporary_folder.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kDirectoryBytes = 2 + 12 + 4;

void put(std::string& file, std::uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) file.push_back(static_cast<char>(value >> (8 * i)));
}

/// Directories of one entry, of which each is followed by the one before it in the file; the one at the
/// file's beginning by `behind_last`.
std::string falling_chain(int directories, std::uint32_t behind_last) {
  const auto offset = [](int index) { return static_cast<std::uint32_t>(8 + index * kDirectoryBytes); };
  std::string file = {'I', 'I', 42, 0};
  put(file, offset(directories - 1), 4);
  for (int index = 0; index < directories; ++index) {
    put(file, 1, 2), put(file, 256, 2), put(file, 4, 2), put(file, 1, 4), put(file, 7, 4);
    put(file, index == 0 ? behind_last : offset(index - 1), 4);
  }
  return file;
}

/// Directories that are found until the chain ends.
int length_of(TiffChain& chain) {
  int found = 0;
  while (chain.next()) ++found;
  return found;
}

// With a cost that grew with the square of their number this many would take minutes.
TEST_CASE("TIFF: a long chain of directories with falling offsets is followed to its end") {
  const TemporaryFolder folder;
  constexpr int kDirectories = 400000;
  const InputFile file(folder.write("a.tif", falling_chain(kDirectories, 0)));
  TiffChain chain(file);
  CHECK(length_of(chain) == kDirectories);
  CHECK_FALSE(chain.broken());
}

TEST_CASE("TIFF: a chain of directories that comes back, or leads nowhere, is broken") {
  const TemporaryFolder folder;
  for (const std::uint32_t behind_last : {8u, 8u + 18u, 8u + 9u * 18u, 5000u, 0xffffffffu}) {
    CAPTURE(behind_last);
    const InputFile file(folder.write("a.tif", falling_chain(10, behind_last)));
    TiffChain chain(file);
    CHECK(length_of(chain) == 10);
    CHECK(chain.broken());
    CHECK_FALSE(chain.next());
  }
}

}  // namespace
}  // namespace sepconv
