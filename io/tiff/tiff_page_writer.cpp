#include "io/tiff/tiff_page_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include "core/error.hpp"
#include "core/memory.hpp"
#include "io/photograph.hpp"
#include "io/tiff/tiff_layout.hpp"
#include "io/tiff/tiff_tags.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kCopyBytes = 4 << 20;

}  // namespace

/// The file as libtiff sees it: a header, kept here, and the data that pages append. Placing a block only
/// moves the file's end, or the end that this page sees.
class TiffSink::OffsetTables final : public TiffBytes {
 public:
  explicit OffsetTables(TiffOutput& output) : output_(output), header_bytes_(output.header_bytes()) {}

  void begin_directory() noexcept {
    is_placing_blocks_ = false;
    page_end_.reset();
  }
  /// Sets the offset at which libtiff continues.
  void move_to(std::int64_t offset) noexcept { page_end_ = offset; }
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
    } else if (!is_placing_blocks_) {
      // bytes that the directory does not cover yet, or never does
      if (output_.file().checkpoint()) clear(size(), offset);
      output_.file().write_at(offset, bytes);
    }
    const std::int64_t end = std::max(size(), offset + std::ssize(bytes));
    if (page_end_) page_end_ = end;
    output_.set_end(std::max(output_.end(), end));
  }

  std::int64_t size() override { return page_end_.value_or(output_.end()); }

 private:
  void clear(std::int64_t begin, std::int64_t end) {
    if (begin < end)
      output_.file().write_at(begin, std::vector<std::byte>(static_cast<std::size_t>(end - begin)));
  }

  TiffOutput& output_;
  std::int64_t header_bytes_;
  std::array<std::byte, 16> header_{};
  std::optional<std::int64_t> page_end_;
  bool is_placing_blocks_ = true;
};

TiffSink::TiffSink(std::shared_ptr<TiffOutput> output, const TiffDirectory& directory,
                   const CreateOptions& options, std::optional<TiffPagePosition> position)
    : directory_(directory),
      metadata_bytes_(sepconv::memory_bytes(options.metadata)),
      warnings_(options.warnings),
      exif_(options.metadata.exif),
      output_(std::move(output)),
      position_(position),
      offset_tables_(std::make_unique<OffsetTables>(*output_)),
      handle_(*offset_tables_, name(), directory.big_tiff ? "w8" : "w",
              std::numeric_limits<std::int32_t>::max()) {
  warnings_.insert(warnings_.end(), options.layout_warnings.begin(), options.layout_warnings.end());
  write_layout(handle_, directory_, options.metadata);
  Metadata metadata = options.metadata;
  metadata.xmp = updated_xmp(metadata, directory.spec.extent);
  write_metadata(handle_, metadata);
  const auto is_maker_note = [](const RawTag& raw) { return raw.tag == kMakerNote; };
  if (std::ranges::any_of(exif_.photo, is_maker_note))
    warnings_.emplace_back(
        "EXIF's maker note is not kept: it may contain offsets within the source's EXIF, and a TIFF "
        "stores EXIF elsewhere");
}

TiffSink::~TiffSink() = default;

std::int64_t TiffSink::reserve(std::int64_t bytes, std::int64_t alignment) {
  const bool has_position = position_ && position_->pixels;
  const std::int64_t begin = has_position ? *position_->pixels : round_up(output_->end(), alignment);
  if (!has_position) output_->add_gap(std::max(output_->end(), output_->header_bytes()), begin);
  output_->set_end(std::max(output_->end(), begin + bytes));
  offset_tables_->move_to(begin);
  return begin;
}

std::int64_t TiffSink::add_to_tables(std::int64_t block_index, std::int64_t bytes) {
  const std::int64_t offset = offset_tables_->size();
  const auto index = static_cast<std::uint32_t>(block_index);
  const tmsize_t placed = directory_.tiled ? TIFFWriteRawTile(handle_.get(), index, nullptr, bytes)
                                           : TIFFWriteRawStrip(handle_.get(), index, nullptr, bytes);
  handle_.check(
      placed == bytes,
      fmt::format("cannot place block {}; if the file exceeds 4 GiB, make it a BigTIFF", block_index));
  return offset;
}

std::int64_t TiffSink::place(std::int64_t block_index, std::int64_t bytes) {
  if (!is_deferred()) {
    const std::int64_t table_offset = add_to_tables(block_index, bytes);
    if (is_resumable() && directory_.compressed())
      placed_.insert(placed_.end(), {block_index, table_offset, bytes});
    return table_offset;
  }
  deferred_.resize(static_cast<std::size_t>(directory_.block_count()));
  const std::int64_t offset = output_->scratch_end();
  output_->set_scratch_end(offset + bytes);
  deferred_[static_cast<std::size_t>(block_index)] = {offset, bytes};
  return offset;
}

void TiffSink::restore(std::span<const std::int64_t> locations, const std::filesystem::path& segment) {
  const std::optional<InputFile> file = segment.empty() ? std::nullopt : std::optional<InputFile>(segment);
  for (; locations.size() >= 3; locations = locations.subspan(3)) {
    const std::int64_t index = locations[0], offset = locations[1], bytes = locations[2];
    if (index < 0 || index >= directory_.block_count() || offset < 0 || bytes < 0)
      throw IoError(name() + ": its partial result names a block that it cannot have; discard it");
    if (file) {
      copy_from(*file, offset, add_to_tables(index, bytes), bytes);
      continue;
    }
    const std::int64_t end = output_->end();
    output_->set_end(offset);
    add_to_tables(index, bytes);
    output_->set_end(std::max(end, output_->end()));
  }
}

void TiffSink::copy_from(const InputFile& file, std::int64_t from, std::int64_t to, std::int64_t bytes) {
  std::vector<std::byte> buffer(static_cast<std::size_t>(std::min(bytes, kCopyBytes)));
  for (std::int64_t done = 0; done < bytes; done += std::ssize(buffer)) {
    const auto part =
        std::span(buffer).first(static_cast<std::size_t>(std::min(std::ssize(buffer), bytes - done)));
    file.read_at(from + done, part);
    output_->file().write_at(to + done, part);
  }
}

void TiffSink::copy_deferred() {
  if (!is_deferred()) return;
  const Buffer buffer(kCopyBytes);
  for (std::int64_t index = 0; index < std::ssize(deferred_); ++index) {
    const DeferredBlock& block = deferred_[static_cast<std::size_t>(index)];
    const std::int64_t offset = add_to_tables(index, block.bytes);
    for (std::int64_t done = 0; done < block.bytes; done += buffer.size()) {
      const auto part =
          buffer.bytes().first(static_cast<std::size_t>(std::min(buffer.size(), block.bytes - done)));
      if (output_->scratch().read_some_at(block.offset + done, part) != std::ssize(part))
        throw IoError(fmt::format("{}: its scratch file ends before what was written to it", name()));
      output_->file().write_at(offset + done, part);
    }
  }
}

void TiffSink::write_directory() {
  offset_tables_->begin_directory();
  if (position_) offset_tables_->move_to(position_->directory);
  handle_.check(TIFFWriteDirectory(handle_.get()) != 0, "cannot write its directory");
  if (position_ && offset_tables_->size() > position_->directory + position_->directory_bytes)
    throw std::logic_error(name() + ": a directory is larger than planned");
  if (position_) output_->add_gap(offset_tables_->size(), position_->directory + position_->directory_bytes);
}

void TiffSink::write_exif() {
  if (exif_.photo.empty() && exif_.place.empty()) return;
  const std::int64_t begin = round_up(std::max(output_->end(), output_->header_bytes()), 2);
  const ExifInTiff exif = encode_exif_for_tiff(exif_, directory_.spec.extent,
                                               static_cast<std::uint64_t>(begin), directory_.big_tiff);
  output_->file().write_at(begin, exif.bytes);
  output_->set_end(begin + std::ssize(exif.bytes));
  const auto set_pointer = [this](std::uint32_t tag, std::uint64_t offset) {
    handle_.check(offset == 0 || TIFFSetField(handle_.get(), tag, offset) != 0, "cannot store its EXIF");
  };
  set_pointer(TIFFTAG_EXIFIFD, exif.photo);
  set_pointer(TIFFTAG_GPSIFD, exif.place);
}

void TiffSink::finish(std::span<const std::uint64_t> sub_directories) {
  if (!has_directory()) return;
  if (!sub_directories.empty())
    handle_.check(TIFFSetField(handle_.get(), TIFFTAG_SUBIFD, static_cast<int>(sub_directories.size()),
                               sub_directories.data()) != 0,
                  "cannot name its levels");
  write_exif();
  write_directory();
  output_->add(offset_tables_->header());
}

std::uint64_t TiffSink::finish_inside() {
  write_directory();
  return static_cast<std::uint64_t>(output_->directory_offset(offset_tables_->header()));
}

std::int64_t TiffSink::memory_bytes() const {
  constexpr std::int64_t kHandle = 128 << 10;
  // Two tables of 8 bytes a block, and their copies while the directory is written.
  const std::int64_t deferred_bytes =
      is_deferred() ? kCopyBytes + directory_.block_count() * std::int64_t{sizeof(DeferredBlock)} : 0;
  const std::int64_t placed_bytes =
      is_resumable() ? 6 * 8 * directory_.block_count() : 0;  // and those of an earlier run
  return kHandle + 48 * directory_.block_count() + 2 * metadata_bytes_ + deferred_bytes + placed_bytes;
}

}  // namespace sepconv
