#include "sepconv/io/tiff/tiff_sink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "sepconv/io/tiff/tiff_plan.hpp"
#include "sepconv/io/tiff/tiff_tags.hpp"

namespace sepconv {

/// The file as libtiff sees it. Blocks only move its end. The header is kept back until the directory is
/// written, so that no file without one can be taken for a TIFF, and so that nothing is made before the first
/// pixels come.
class TiffSink::Books final : public TiffBytes {
 public:
  Books(OutputFile& file, bool big_tiff) : file_(file), header_bytes_(big_tiff ? 16 : 8) {}

  void begin_directory() noexcept { placing_ = false; }
  void align(std::int64_t bytes) noexcept { end_ = round_up(end_, bytes); }
  void write_header() {
    file_.write_at(0, std::span(header_).first(static_cast<std::size_t>(header_bytes_)));
  }

  std::int64_t read_some(std::int64_t offset, std::span<std::byte> bytes) override {
    if (offset >= header_bytes_) return file_.read_some_at(offset, bytes);
    const std::int64_t count = std::min<std::int64_t>(std::ssize(bytes), header_bytes_ - offset);
    std::memcpy(bytes.data(), header_.data() + offset, static_cast<std::size_t>(count));
    return count;
  }

  void write(std::int64_t offset, std::span<const std::byte> bytes) override {
    if (offset + std::ssize(bytes) <= header_bytes_) {
      std::memcpy(header_.data() + offset, bytes.data(), bytes.size());
    } else if (!placing_) {
      file_.write_at(offset, bytes);
    }
    end_ = std::max(end_, offset + std::ssize(bytes));
  }

  std::int64_t size() override { return end_; }

 private:
  OutputFile& file_;
  std::int64_t header_bytes_;
  std::array<std::byte, 16> header_{};
  std::int64_t end_ = 0;
  bool placing_ = true;
};

TiffSink::TiffSink(const std::filesystem::path& path, const TiffDirectory& directory,
                   const CreateOptions& options)
    : directory_(directory),
      metadata_bytes_(sepconv::memory_bytes(options.metadata)),
      warnings_(options.warnings),
      file_(path, {.overwrite = options.overwrite, .durable = options.durable}),
      books_(std::make_unique<Books>(file_, directory.big_tiff)),
      handle_(*books_, path.native(), directory.big_tiff ? "w8" : "w",
              std::numeric_limits<std::int32_t>::max()) {
  if (!directory_.compressed()) file_.expect(directory_.spec.bytes());
  warnings_.insert(warnings_.end(), options.layout_warnings.begin(), options.layout_warnings.end());
  write_layout(handle_, directory_, options.metadata);
  write_metadata(handle_, options.metadata);
}

TiffSink::~TiffSink() = default;

std::int64_t TiffSink::next_offset() const noexcept { return books_->size(); }

void TiffSink::align(std::int64_t bytes) noexcept { books_->align(bytes); }

std::int64_t TiffSink::place(std::int64_t block_index, std::int64_t bytes) {
  const std::int64_t offset = next_offset();
  const auto index = static_cast<std::uint32_t>(block_index);
  const tmsize_t placed = directory_.tiled ? TIFFWriteRawTile(handle_.get(), index, nullptr, bytes)
                                           : TIFFWriteRawStrip(handle_.get(), index, nullptr, bytes);
  handle_.check(
      placed == bytes,
      fmt::format("cannot place block {}; if the file exceeds 4 GiB, make it a BigTIFF", block_index));
  return offset;
}

void TiffSink::finish() {
  books_->begin_directory();
  handle_.check(TIFFWriteDirectory(handle_.get()) != 0, "cannot write its directory");
  books_->write_header();
  file_.commit();
}

std::int64_t TiffSink::memory_bytes() const {
  constexpr std::int64_t kHandle = 128 << 10;
  // Two tables of 8 bytes a block, and their copies while the directory is written.
  return kHandle + 48 * directory_.block_count() + 2 * metadata_bytes_;
}

}  // namespace sepconv
