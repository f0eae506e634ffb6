#include "sepconv/io/tiff/tiff_sink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include "sepconv/io/tiff/tiff_plan.hpp"
#include "sepconv/io/tiff/tiff_tags.hpp"

namespace sepconv {

/// The file as libtiff sees it: a header, kept here, and then what this page adds to it. Blocks only move its
/// end.
class TiffSink::Books final : public TiffBytes {
 public:
  explicit Books(TiffOutput& output)
      : output_(output), header_bytes_(output.header_bytes()), end_(output.end()) {}

  void begin_directory() noexcept { placing_ = false; }
  /// Where libtiff goes on.
  void move_to(std::int64_t offset) noexcept { end_ = offset; }
  void align(std::int64_t bytes) noexcept { end_ = round_up(end_, bytes); }
  std::span<const std::byte> header() const {
    return std::span(header_).first(static_cast<std::size_t>(header_bytes_));
  }

  std::int64_t read_some(std::int64_t offset, std::span<std::byte> bytes) override {
    if (offset >= header_bytes_) return output_.file().read_some_at(offset, bytes);
    const std::int64_t count = std::min<std::int64_t>(std::ssize(bytes), header_bytes_ - offset);
    std::memcpy(bytes.data(), header_.data() + offset, static_cast<std::size_t>(count));
    return count;
  }

  void write(std::int64_t offset, std::span<const std::byte> bytes) override {
    if (offset + std::ssize(bytes) <= header_bytes_) {
      std::memcpy(header_.data() + offset, bytes.data(), bytes.size());
    } else if (!placing_) {
      output_.file().write_at(offset, bytes);
    }
    end_ = std::max(end_, offset + std::ssize(bytes));
  }

  std::int64_t size() override { return end_; }

 private:
  TiffOutput& output_;
  std::int64_t header_bytes_;
  std::array<std::byte, 16> header_{};
  std::int64_t end_;
  bool placing_ = true;
};

TiffSink::TiffSink(std::shared_ptr<TiffOutput> output, const TiffDirectory& directory,
                   const CreateOptions& options, bool one_of_several, std::optional<TiffPlace> place)
    : directory_(directory),
      metadata_bytes_(sepconv::memory_bytes(options.metadata)),
      warnings_(options.warnings),
      output_(std::move(output)),
      one_of_several_(one_of_several),
      place_(place),
      books_(std::make_unique<Books>(*output_)),
      handle_(*books_, name(), directory.big_tiff ? "w8" : "w", std::numeric_limits<std::int32_t>::max()) {
  warnings_.insert(warnings_.end(), options.layout_warnings.begin(), options.layout_warnings.end());
  write_layout(handle_, directory_, options.metadata);
  write_metadata(handle_, options.metadata);
  if (place_) books_->move_to(place_->pixels);
}

TiffSink::~TiffSink() = default;

std::int64_t TiffSink::next_offset() const noexcept { return books_->size(); }

void TiffSink::align(std::int64_t bytes) noexcept {
  if (!place_) books_->align(bytes);
}

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
  if (!is_listed()) return;
  const std::int64_t end_of_pixels = books_->size();
  books_->begin_directory();
  if (place_) books_->move_to(place_->directory);
  handle_.check(TIFFWriteDirectory(handle_.get()) != 0, "cannot write its directory");
  if (place_ && books_->size() > place_->directory + place_->directory_bytes)
    throw std::logic_error(name() + ": a directory takes more than was foreseen");
  output_->add(books_->header(), std::max(end_of_pixels, books_->size()));
  if (!one_of_several_) output_->commit();
}

std::int64_t TiffSink::memory_bytes() const {
  constexpr std::int64_t kHandle = 128 << 10;
  // Two tables of 8 bytes a block, and their copies while the directory is written.
  return kHandle + 48 * directory_.block_count() + 2 * metadata_bytes_;
}

}  // namespace sepconv
