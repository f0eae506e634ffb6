#include "io/byte_stream.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "core/error.hpp"
#include "temporary_folder.hpp"

namespace sepconv {
namespace {

std::string random_bytes(std::size_t count) {
  std::mt19937 engine(3);
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(engine());
  return bytes;
}

TEST_CASE("Reading a file in pieces of any size, with skips, returns the file's bytes") {
  const TemporaryFolder folder;
  const std::string content = random_bytes(10'000);
  const InputFile file(folder.write("a", content));
  for (const std::int64_t buffer_bytes : {1, 7, 100, 9'999, 20'000}) {
    CAPTURE(buffer_bytes);
    InputBytes bytes(file, 10, buffer_bytes);
    std::int64_t at = 10;
    std::mt19937 engine(4);
    while (at < 9'000) {
      REQUIRE(bytes.position() == at);
      std::vector<std::byte> piece(1 + engine() % 300);
      bytes.read(piece);
      REQUIRE(std::memcmp(piece.data(), content.data() + at, piece.size()) == 0);
      at += std::ssize(piece);
      REQUIRE(bytes.get() == static_cast<unsigned char>(content[static_cast<std::size_t>(at)]));
      const auto gap = static_cast<std::int64_t>(engine() % 300);
      bytes.skip(gap);
      at += 1 + gap;
    }
    const auto next = bytes.next();
    REQUIRE_FALSE(next.empty());
    CHECK(std::memcmp(next.data(), content.data() + at, next.size()) == 0);
    CHECK(bytes.position() == at + std::ssize(next));
  }
}

TEST_CASE("get() returns -1 at the end of a file; read() beyond it throws") {
  const TemporaryFolder folder;
  const InputFile file(folder.write("a", "ab"));
  InputBytes bytes(file);
  std::byte three_bytes[3];
  CHECK_THROWS_AS(bytes.read(three_bytes), IoError);
  InputBytes last_byte(file, 1);
  CHECK(last_byte.get() == 'b');
  CHECK(last_byte.get() == -1);
  CHECK(last_byte.next().empty());
}

TEST_CASE("What is written in pieces of any size is in the file") {
  const TemporaryFolder folder;
  const std::string content = random_bytes(3 * kStreamBytes);
  OutputFile file(folder.path() / "a", {});
  OutputBytes bytes(file);
  std::mt19937 engine(5);
  for (std::size_t at = 0; at < content.size();) {
    const std::size_t count = std::min<std::size_t>(engine() % (at == 0 ? 10 : 90'000), content.size() - at);
    bytes.write(std::as_bytes(std::span(content).subspan(at, count)));
    at += count;
  }
  bytes.flush();
  file.commit();
  CHECK(folder.read("a") == content);
}

}  // namespace
}  // namespace sepconv
