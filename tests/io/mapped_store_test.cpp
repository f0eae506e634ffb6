#include "io/mapped_store.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <random>
#include <thread>
#include <vector>

#include "core/error.hpp"
#include "io/byte_file.hpp"
#include "io/file_errors.hpp"
#include "io/writer.hpp"
#include "temporary_folder.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;

/// An open file that is removed in the end.
class ScratchFile {
 public:
  explicit ScratchFile(const fs::path& folder)
      : path_(folder / ("sepconv-test-" + std::to_string(getpid()))),
        descriptor_(open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    REQUIRE(descriptor_ >= 0);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() {
    close(descriptor_);
    fs::remove(path_);
  }
  int descriptor() const noexcept { return descriptor_; }

 private:
  fs::path path_;
  int descriptor_;
};

/// The folders on different file systems that tests may write to.
std::vector<fs::path> folders(const TemporaryFolder& folder) {
  std::vector<fs::path> result{folder.path()};
  if (access("/dev/shm", W_OK) == 0) result.emplace_back("/dev/shm");
  return result;
}

/// Whether the kernel has all calls that a store needs.
bool stores(const fs::path& folder) {
  const ScratchFile file(folder);
  MappedStore store(folder, 4096);
  store.begin(file.descriptor());
  const std::vector<std::byte> bytes(10);
  return store.store(0, bytes);
}

std::byte value_at(std::int64_t offset) { return static_cast<std::byte>(offset * 2654435761 >> 11); }

std::vector<std::byte> values(std::int64_t offset, std::int64_t count) {
  std::vector<std::byte> bytes;
  for (std::int64_t i = 0; i < count; ++i) bytes.push_back(value_at(offset + i));
  return bytes;
}

TEST_CASE("pieces of any size, stored by several threads, are in the file, and the rest is zero") {
  const TemporaryFolder temporary;
  constexpr std::int64_t kBytes = (std::int64_t{130} << 20) + 4567;  // more than two windows
  for (const fs::path& folder : folders(temporary)) {
    if (!stores(folder)) {
      WARN("skipped: the kernel cannot store to mapped files in " << folder);
      continue;
    }
    const ScratchFile file(folder);
    struct Piece {
      std::int64_t offset, bytes;
      bool is_stored;
    };
    std::vector<Piece> pieces;
    std::mt19937 random(7);
    for (std::int64_t offset = 0; offset < kBytes;) {
      const auto size = static_cast<std::int64_t>(1 + random() % (3 << 20));
      pieces.push_back({offset, std::min(size, kBytes - offset), random() % 7 != 0});
      offset += size;
    }
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> all_stored = true;
    {
      MappedStore store(folder, kBytes);
      store.begin(file.descriptor());
      std::vector<std::jthread> threads;
      for (int i = 0; i < 6; ++i) {
        threads.emplace_back([&] {
          for (std::size_t at = next++; at < pieces.size(); at = next++) {
            const Piece& piece = pieces[at];
            if (piece.is_stored && !store.store(piece.offset, values(piece.offset, piece.bytes)))
              all_stored = false;
          }
        });
      }
    }
    CHECK(all_stored);
    struct stat status {};
    REQUIRE(fstat(file.descriptor(), &status) == 0);
    CHECK(status.st_size == kBytes);
    bool equal = true;
    for (const Piece& piece : pieces) {
      std::vector<std::byte> found(static_cast<std::size_t>(piece.bytes));
      REQUIRE(read_fully(file.descriptor(), piece.offset, found) == piece.bytes);
      equal &= found == (piece.is_stored ? values(piece.offset, piece.bytes)
                                         : std::vector<std::byte>(static_cast<std::size_t>(piece.bytes)));
    }
    CHECK(equal);
  }
}

TEST_CASE("a store beyond the announced size, or to a file that was cut, fails without a signal") {
  const TemporaryFolder temporary;
  for (const fs::path& folder : folders(temporary)) {
    if (!stores(folder)) continue;
    const ScratchFile file(folder);
    constexpr std::int64_t kBytes = std::int64_t{8} << 20;
    MappedStore store(folder, kBytes);
    store.begin(file.descriptor());
    const std::vector<std::byte> bytes(1 << 20);
    CHECK(store.store(0, bytes));
    CHECK_FALSE(store.store(kBytes - 100, bytes));
    MappedStore again(folder, kBytes);
    again.begin(file.descriptor());
    CHECK(again.store(0, bytes));
    REQUIRE(ftruncate(file.descriptor(), 5000) == 0);
    CHECK_FALSE(again.store(1 << 20, bytes));
    CHECK_FALSE(again.store(0, bytes));
  }
}

TEST_CASE("a store to a full file system fails without a signal, and a write says why") {
  const TemporaryFolder temporary;
  if (mount("tmpfs", temporary.path().c_str(), "tmpfs", 0, "size=6m") != 0) {
    WARN("skipped: mounting a file system is not permitted");
    return;
  }
  {
    const ScratchFile file(temporary.path());
    constexpr std::int64_t kBytes = std::int64_t{16} << 20;
    MappedStore store(temporary.path(), kBytes);
    store.begin(file.descriptor());
    const std::vector<std::byte> bytes(1 << 20);
    std::int64_t offset = 0;
    while (offset < kBytes && store.store(offset, bytes)) offset += std::ssize(bytes);
    CHECK(offset < kBytes);
    int failed = 0;
    for (; failed == 0 && offset < kBytes; offset += std::ssize(bytes))
      failed = write_fully(file.descriptor(), offset, bytes);
    CHECK(failed == ENOSPC);
  }
  umount2(temporary.path().c_str(), MNT_DETACH);
}

TEST_CASE("Several threads write only pieces that are stored in the mapped file") {
  const ImageSpec image{{4096, 4096}, 1, PixelType::u8};
  const SinkLayout tiles{.block = {512, 512}, .max_write_threads = 6}, rows{.max_write_threads = 6};
  CHECK(write_threads(tiles, image, {128, 4096}, 16) == 6);  // parts of tiles of 64 KiB
  CHECK(write_threads(tiles, image, {64, 4096}, 16) == 1);
  CHECK(write_threads(tiles, image, {512, 4096}, 3) == 1);  // few threads
  CHECK(write_threads(rows, image, {16, 4096}, 4) == 4);
  CHECK(write_threads(rows, image, {15, 4096}, 4) == 1);
  CHECK(write_threads(rows, image, {4096, 2048}, 4) == 1);  // parts of rows
  CHECK(write_threads({.file_per_block = true}, image, {1, 1}, 16) == 16);
}

TEST_CASE("OutputFile writes the same from one thread and from several") {
  const TemporaryFolder temporary;
  constexpr std::int64_t kPiece = 700'001, kPieces = 60;
  static_assert(kPiece * kPieces > MappedStore::kMinFileBytes);
  for (const fs::path& folder : folders(temporary)) {
    const fs::path target = folder / ("sepconv-test-" + std::to_string(getpid()) + ".bin");
    OutputFile file(target, {});
    file.expect(kPiece * kPieces);
    const int count = file.begin_writes(file.max_write_threads());
    CHECK(count >= 1);
    CHECK(count <= MappedStore::kMaxThreads);
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < count; ++i) {
        threads.emplace_back([&, i] {
          for (std::int64_t piece = i; piece < kPieces; piece += count)
            file.write_pixels_at(piece * kPiece, values(piece * kPiece, kPiece));
        });
      }
    }
    const std::vector<std::byte> tail = values(kPiece * kPieces, 99);
    file.write_at(kPiece * kPieces, tail);  // as a directory after the pixels
    file.commit();
    const InputFile written(target);
    CHECK(written.size() == kPiece * kPieces + 99);
    std::vector<std::byte> found(static_cast<std::size_t>(written.size()));
    written.read_at(0, found);
    CHECK(found == values(0, written.size()));
    fs::remove(target);
  }
}

}  // namespace
}  // namespace sepconv
