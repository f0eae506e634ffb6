#include <catch2/catch.hpp>

#include "io/tiff/ifd.hpp"
#include "temporary_folder.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kDirectoryBytes = 2 + 12 + 4;

void put(std::string& file, std::uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) file.push_back(static_cast<char>(value >> (8 * i)));
}

/// Directories of one entry, chained from the last in the file to the first, whose next offset is
/// `after_last`.
std::string descending_chain(int directories, std::uint32_t after_last) {
  const auto offset = [](int index) { return static_cast<std::uint32_t>(8 + index * kDirectoryBytes); };
  std::string file = {'I', 'I', 42, 0};
  put(file, offset(directories - 1), 4);
  for (int index = 0; index < directories; ++index) {
    put(file, 1, 2), put(file, 256, 2), put(file, 4, 2), put(file, 1, 4), put(file, 7, 4);
    put(file, index == 0 ? after_last : offset(index - 1), 4);
  }
  return file;
}

/// The number of directories until the chain ends.
int length_of(TiffChain& chain) {
  int count = 0;
  while (chain.next()) ++count;
  return count;
}

// With quadratic cost this many directories would take minutes.
TEST_CASE("TIFF: a long chain of directories with falling offsets is followed to its end") {
  const TemporaryFolder folder;
  constexpr int kDirectories = 400000;
  const InputFile file(folder.write("a.tif", descending_chain(kDirectories, 0)));
  TiffChain chain(file);
  CHECK(length_of(chain) == kDirectories);
  CHECK_FALSE(chain.broken());
}

TEST_CASE("TIFF: a chain of directories that comes back, or leads nowhere, is broken") {
  const TemporaryFolder folder;
  for (const std::uint32_t after_last : {8u, 8u + 18u, 8u + 9u * 18u, 5000u, 0xffffffffu}) {
    CAPTURE(after_last);
    const InputFile file(folder.write("a.tif", descending_chain(10, after_last)));
    TiffChain chain(file);
    CHECK(length_of(chain) == 10);
    CHECK(chain.broken());
    CHECK_FALSE(chain.next());
  }
}

}  // namespace
}  // namespace sepconv
