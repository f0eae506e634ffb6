// Files of a folder that became others, of which a sample is known.
#include <catch2/catch.hpp>
#include <string>

#include "io/zarr/source_snapshot.hpp"

using namespace sepconv;

namespace {

struct stat status_of(std::int64_t bytes) {
  struct stat status {};
  status.st_size = bytes;
  return status;
}

/// Whether a change of the files [begin, end) is seen, of so many that were opened.
bool is_seen(std::int64_t count, std::int64_t begin, std::int64_t end) {
  OpenedFiles files;
  for (std::int64_t i = 0; i < count; ++i) {
    const struct stat status = status_of(i);
    files.add(std::to_string(i), i % 3 == 0 ? nullptr : &status);
  }
  return files.any_has_changed([&](const std::string& name, struct stat& into) -> const struct stat* {
    const std::int64_t i = std::stoll(name);
    const bool is_other = begin <= i && i < end;
    if (i % 3 == 0) return is_other ? &into : nullptr;  // one that was not there
    into = status_of(i + is_other);
    return &into;
  });
}

}  // namespace

TEST_CASE("Files that are others than when they were opened are seen, of many a hundredth of them") {
  for (const std::int64_t count : {1, 2, 1023, 1024, 1025, 4096, 100000}) {
    INFO(count);
    CHECK_FALSE(is_seen(count, 0, 0));
    CHECK(is_seen(count, 0, count));
    for (std::int64_t hundredth = 0; hundredth < 100; ++hundredth) {
      const std::int64_t begin = count * hundredth / 100;
      CHECK(is_seen(count, begin, std::max(begin + 1, count * (hundredth + 1) / 100)));
    }
  }
}
