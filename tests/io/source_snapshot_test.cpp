// Detection of changed files in a folder from a sample of their states.
#include "io/zarr/source_snapshot.hpp"

#include <catch2/catch.hpp>
#include <string>

using namespace sepconv;

namespace {

struct stat status_of(std::int64_t bytes) {
  struct stat status {};
  status.st_size = bytes;
  return status;
}

/// Whether a change of the files [begin, end) is detected if `count` files were opened.
bool is_detected(std::int64_t count, std::int64_t begin, std::int64_t end) {
  OpenedFiles files;
  for (std::int64_t i = 0; i < count; ++i) {
    const struct stat status = status_of(i);
    files.add(std::to_string(i), i % 3 == 0 ? nullptr : &status);
  }
  return files.any_has_changed([&](const std::string& name, struct stat& new_status) -> const struct stat* {
    const std::int64_t i = std::stoll(name);
    const bool is_changed = begin <= i && i < end;
    if (i % 3 == 0) return is_changed ? &new_status : nullptr;  // a file that did not exist
    new_status = status_of(i + is_changed);
    return &new_status;
  });
}

}  // namespace

TEST_CASE("Changed files are detected, even one hundredth of many") {
  for (const std::int64_t count : {1, 2, 1023, 1024, 1025, 4096, 100000}) {
    INFO(count);
    CHECK_FALSE(is_detected(count, 0, 0));
    CHECK(is_detected(count, 0, count));
    for (std::int64_t hundredth = 0; hundredth < 100; ++hundredth) {
      const std::int64_t begin = count * hundredth / 100;
      CHECK(is_detected(count, begin, std::max(begin + 1, count * (hundredth + 1) / 100)));
    }
  }
}
