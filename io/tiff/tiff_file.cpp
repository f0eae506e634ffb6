#include "sepconv/io/tiff/tiff_file.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "sepconv/core/error.hpp"
#include "sepconv/io/tiff/tiff.hpp"
#include "sepconv/io/tiff/tiff_tags.hpp"

namespace sepconv {
namespace {

/// A handle reads by offset. No mapping: a file that shrinks would kill the process, and mapped pages count
/// as its memory.
class FileBytes final : public TiffBytes {
 public:
  explicit FileBytes(const InputFile& file) : file_(file) {}
  std::int64_t read_some(std::int64_t offset, std::span<std::byte> bytes) override {
    return file_.read_some_at(offset, bytes);
  }
  void write(std::int64_t, std::span<const std::byte>) override {
    throw std::logic_error("an input file is not written");
  }
  std::int64_t size() override { return file_.size(); }

 private:
  const InputFile& file_;
};

InputFile open_checked(const std::filesystem::path& path) {
  InputFile file(path);
  std::array<std::byte, 4> head{};
  const std::int64_t count = file.read_some_at(0, head);
  if (count < 4 || !is_tiff(head))
    throw IoError(fmt::format("{}: is no TIFF; check the name or the file's type", path.native()));
  return file;
}

/// The tables of the largest images that are reasonable; a directory of a small file cannot fill it.
constexpr std::int64_t kMaxDirectoryAllocation = std::int64_t{1} << 30;

[[noreturn]] void refuse_empty(const std::string& name) {
  throw IoError(fmt::format("{}: holds no image: it is cut off or was never completed; make it anew", name));
}

}  // namespace

// Mode: h opens the header only, O loads the tables of blocks in parts and on demand.
TiffFile::TiffFile(const std::filesystem::path& path, int page)
    : file_(open_checked(path)),
      source_(std::make_unique<FileBytes>(file_)),
      handle_(*source_, file_.path().native(), "rhO", kMaxDirectoryAllocation) {
  select_page(page);
  directory_ = read_directory(handle_, file_.size());
  metadata_ = read_metadata(handle_);
}

TiffFile::~TiffFile() = default;

void TiffFile::select_page(int page) {
  if (page >= 0 && TIFFSetDirectory(handle_.get(), static_cast<tdir_t>(page)) != 0) return;
  const std::string message = handle_.message();
  const std::int64_t pages = TIFFNumberOfDirectories(handle_.get());
  if (pages == 0) refuse_empty(name());
  if (page < 0 || page >= pages) {
    throw IoError(fmt::format("{}: has no page {}; it has {}, counted from 0", name(), page,
                              pages == 1 ? std::string("one page") : fmt::format("{} pages", pages)));
  }
  throw IoError(fmt::format("{}: its directory of page {} is damaged{}{}", name(), page,
                            message.empty() ? "" : ": ", message));
}

StoredBlock TiffFile::locate(std::int64_t block_index) {
  const std::lock_guard lock(mutex_);
  const auto index = static_cast<std::uint32_t>(block_index);
  int failed = 0;
  const std::uint64_t offset = TIFFGetStrileOffsetWithErr(handle_.get(), index, &failed);
  const std::uint64_t bytes = failed != 0 ? 0 : TIFFGetStrileByteCountWithErr(handle_.get(), index, &failed);
  handle_.check(failed == 0, fmt::format("cannot find block {}; the file is damaged", block_index));
  if (bytes == 0 && offset == 0) return {};
  const auto size = static_cast<std::uint64_t>(file_.size());
  if (bytes == 0 || offset > size || bytes > size - offset) {
    throw IoError(fmt::format(
        "{}: block {} should lie at bytes {} to {} of a file of {}; the file is truncated or damaged", name(),
        block_index, offset, offset + bytes, size));
  }
  return {static_cast<std::int64_t>(offset), static_cast<std::int64_t>(bytes)};
}

std::int64_t TiffFile::stored_bytes() {
  constexpr std::int64_t kQuick = 1 << 20;
  if (directory_.block_count() > kQuick) return file_.size();
  std::int64_t sum = 0;
  for (std::int64_t index = 0; index < directory_.block_count(); ++index) {
    const std::lock_guard lock(mutex_);
    sum += static_cast<std::int64_t>(
        std::min(TIFFGetStrileByteCount(handle_.get(), static_cast<std::uint32_t>(index)),
                 static_cast<std::uint64_t>(file_.size())));
  }
  return std::min(sum, file_.size());
}

std::int64_t TiffFile::memory_bytes() const {
  constexpr std::int64_t kHandle = 128 << 10;
  // Two tables of 8 bytes a block, which grow by doubling.
  return kHandle + 32 * directory_.block_count() + sepconv::memory_bytes(metadata_);
}

TiffPages count_tiff_pages(const std::filesystem::path& path) {
  const InputFile file = open_checked(path);
  FileBytes source(file);
  const TiffHandle handle(source, path.native(), "rh", kMaxDirectoryAllocation);
  const auto pages = TIFFNumberOfDirectories(handle.get());
  if (pages == 0) refuse_empty(path.native());
  return {pages, file.size(), TIFFIsBigTIFF(handle.get()) != 0};
}

}  // namespace sepconv
