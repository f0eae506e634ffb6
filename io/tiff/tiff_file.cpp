#include "io/tiff/tiff_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string_view>

#include "core/error.hpp"
#include "io/gdal_tags.hpp"
#include "io/stack/imagej_items.hpp"
#include "io/stack/stack.hpp"
#include "io/tiff/dropped_tags.hpp"
#include "io/tiff/tiff.hpp"
#include "io/tiff/tiff_photograph.hpp"
#include "io/tiff/tiff_tags.hpp"
#include "io/world_file.hpp"

namespace sepconv {
namespace {

/// The file as if the page were its first: libtiff would walk the chain from its beginning for each page. Not
/// memory-mapped: a file that shrinks would kill the process, and mapped pages count as its memory.
class PageBytes final : public TiffBytes {
 public:
  PageBytes(const InputFile& file, std::uint64_t first_directory) : file_(file) {
    file.read_some_at(0, header_);
    const bool big_endian = header_[0] == std::byte{'M'};
    const bool big_tiff = header_[big_endian ? 3 : 2] == std::byte{43};
    bytes_ = big_tiff ? 16 : 8;
    const int width = big_tiff ? 8 : 4;
    for (int i = 0; first_directory != 0 && i < width; ++i) {
      const int shift = 8 * (big_endian ? width - 1 - i : i);
      header_[static_cast<std::size_t>(bytes_ - width + i)] =
          static_cast<std::byte>(first_directory >> shift);
    }
  }
  std::int64_t read_some(std::int64_t offset, std::span<std::byte> bytes) override {
    const std::int64_t count = file_.read_some_at(offset, bytes);
    for (std::int64_t i = 0; i < count && offset + i < bytes_; ++i)
      bytes[static_cast<std::size_t>(i)] = header_[static_cast<std::size_t>(offset + i)];
    return count;
  }
  void write(std::int64_t, std::span<const std::byte>) override {
    throw std::logic_error("an input file is not written");
  }
  std::int64_t size() override { return file_.size(); }

 private:
  const InputFile& file_;
  std::array<std::byte, 16> header_{};
  std::int64_t bytes_ = 0;
};

/// Limit of a single allocation of libtiff for this page: the largest tag that is read, or one of the two
/// block tables, which grow by doubling.
std::int64_t max_allocation_bytes(const TiffPage& page, const std::string& name) {
  constexpr std::int64_t kMin = std::int64_t{1} << 20;
  std::uint64_t blocks = 0;
  for (const std::uint32_t tag : {TIFFTAG_STRIPOFFSETS, TIFFTAG_TILEOFFSETS}) {
    if (const TiffEntry* const table = page.entries.find(tag))
      blocks = std::max(blocks, std::min<std::uint64_t>(table->count, 1u << 31));
  }
  const auto tables = static_cast<std::int64_t>(16 * blocks);
  if (!page.too_large.empty() && tables > page.max_tag_bytes)
    throw IoError(fmt::format(
        "{}: its tags are too large to hold beside the tables of {} blocks; store it without them", name,
        blocks));
  return page.too_large.empty() ? std::max({kMin, page.max_tag_bytes, tables}) : page.max_tag_bytes;
}

[[noreturn]] void refuse_missing(const std::string& name, std::int64_t page, std::int64_t pages) {
  if (pages == 0)
    throw IoError(
        fmt::format("{}: holds no image: it is truncated or was never completed; create it again", name));
  throw IoError(fmt::format("{}: has no page {}; it has {}, counted from 0", name, page,
                            pages == 1 ? std::string("one page") : fmt::format("{} pages", pages)));
}

std::string name_of(const InputFile& file, const TiffPage& page) {
  const std::string name = file.path().native();
  return page.images > 1 ? fmt::format("{}, page {}", name, page.index) : name;
}

}  // namespace

// Mode: h opens the header only, O loads the tables of blocks in parts and on demand.
TiffFile::TiffFile(std::shared_ptr<const InputFile> file, TiffPage page)
    : file_(std::move(file)),
      page_(std::move(page)),
      source_(std::make_unique<PageBytes>(*file_, page_.offset)),
      handle_(*source_, name_of(*file_, page_), "rhO", max_allocation_bytes(page_, file_->path().native())) {
  select_page();
  handle_.clear_messages();  // messages about omitted tags do not explain later errors
  directory_ = read_directory(handle_, file_->size());
  metadata_ = read_metadata(handle_, page_);
  const bool has_maker_note = read_photograph(*file_, page_.entries, metadata_);
  tags_left_out_ = tags_left_out(handle_, *file_, page_, metadata_);
  check_tables();
  if (has_maker_note)
    tags_left_out_.emplace_back("EXIF's maker note is left out: it may contain offsets within the file");
  read_slide();
  resolve_description();
  find_plane();
}

TiffFile::~TiffFile() = default;

void TiffFile::select_page() {
  if (page_.offset != 0 && TIFFSetDirectory(handle_.get(), 0) != 0) return;
  const std::int64_t page = page_.index;
  const std::string message = handle_.message();
  if (!page_.too_large.empty() && message.find("defined in open options") != std::string::npos) {
    throw IoError(
        fmt::format("{}: page {} cannot be read without its tag{} {}, too large to hold; the file is damaged",
                    file_->path().native(), page, page_.too_large.size() == 1 ? "" : "s",
                    fmt::join(page_.too_large, ", ")));
  }
  if (page_.offset == 0) refuse_missing(file_->path().native(), page, page_.pages);
  throw IoError(fmt::format("{}: its directory of page {} is damaged{}{}", file_->path().native(), page,
                            message.empty() ? "" : ": ", message));
}

// The description of a set is that of its first raster, whichever page contains it.
void TiffFile::resolve_description() {
  const bool describes_this = describes_single_image(metadata_.description, directory_.stored_spec());
  if (page_.set_facts && (!page_.set_facts->description.empty() || !describes_this)) {
    if (page_.set_facts->description.empty()) metadata_.resolution = resolution_of(metadata_);
    metadata_.description = page_.set_facts->description;
    metadata_.axes = page_.set_facts->axes;
    if (!page_.set_facts->imagej_items.empty()) metadata_.imagej_items = page_.set_facts->imagej_items;
    if (const RasterAxis* const c = find_axis(metadata_.axes, "c"))
      select_imagej_channels(metadata_.imagej_items, c->first, c->size);
  } else if (page_.in_set) {
    if (!describes_this) metadata_.description.clear();
  } else {
    metadata_.describes_several_images =
        !describes_this || (page_.images > 1 && is_ome(metadata_.description));
  }
}

// SVS files have no resolution, or one that no program reads.
void TiffFile::read_slide() {
  if (!is_aperio(metadata_.description)) return;
  const std::string_view lines =
      std::string_view(metadata_.description).substr(0, metadata_.description.find('|'));
  const auto contains = [&](std::string_view word) { return lines.find(word) != lines.npos; };
  const std::optional<double> mpp = slide_mpp(metadata_.description);
  if (!mpp) return;
  if (page_.index > 0 && (contains("->") || contains("label") || contains("macro"))) {
    metadata_.description = remove_slide_mpp(metadata_.description);
    tags_left_out_.emplace_back("MPP and AppMag of the page's description are left out: they are the scan's");
    return;
  }
  constexpr double kMicrometresPerCentimetre = 10000;
  const double per_centimetre = kMicrometresPerCentimetre / *mpp;
  metadata_.resolution = {per_centimetre, per_centimetre, Resolution::Unit::centimetre};
}

void TiffFile::inherit(const TiffFile& image) {
  const auto ratio = [](std::int64_t whole, std::int64_t level) {
    return static_cast<double>(whole) / static_cast<double>(level);
  };
  const Extent whole = image.directory().spec.extent;
  const Extent own_extent = directory_.spec.extent;
  Metadata inherited = image.metadata();
  if (is_stack_description(inherited.description)) inherited.description.clear();
  inherited.describes_several_images = false;
  if (is_aperio(
          inherited.description)) {  // a level's own description has little, and some have the scan's sizes
    metadata_.description.clear();
    metadata_.resolution.reset();
  }
  const PixelTransform map{.rows = ratio(whole.rows, own_extent.rows),
                           .cols = ratio(whole.cols, own_extent.cols)};
  inherited = inherited.derive_for({.map = map, .part = Rect::whole(own_extent)}, tags_left_out_);

  for (const auto member : {&Metadata::description, &Metadata::software, &Metadata::date_time,
                            &Metadata::artist, &Metadata::copyright}) {
    if ((metadata_.*member).empty()) metadata_.*member = inherited.*member;
  }
  if (metadata_.icc_profile.empty()) metadata_.icc_profile = inherited.icc_profile;
  if (metadata_.exif.empty()) metadata_.exif = inherited.exif;
  if (metadata_.xmp.empty()) metadata_.xmp = inherited.xmp;
  if (metadata_.iptc.empty()) metadata_.iptc = inherited.iptc;
  if (!metadata_.resolution) metadata_.resolution = inherited.resolution;
  if (metadata_.orientation == Metadata{}.orientation) metadata_.orientation = inherited.orientation;
  const auto is_nodata = [](const RawTag& raw) { return raw.tag == kGdalNodata; };
  const bool has_nodata = std::ranges::any_of(metadata_.geo_tags, is_nodata);
  const bool has_georeference = !std::ranges::all_of(metadata_.geo_tags, is_nodata);
  for (const RawTag& raw : inherited.geo_tags) {
    if (!(is_nodata(raw) ? has_nodata : has_georeference)) metadata_.geo_tags.push_back(raw);
  }
}

void TiffFile::apply_world_file() { read_world_file(file_->path(), metadata_, tags_left_out_); }

// ImageJ above 4 GB, and other writers of contiguous stacks, write a directory for the first image only.
void TiffFile::find_plane() {
  if (page_.plane == 0) return;
  const StoredBlock first = locate(0);
  const std::int64_t rows = directory_.block.extent.rows;
  bool is_contiguous = !directory_.compressed() && !directory_.tiled && !first.sparse();
  for (std::int64_t i = 1; is_contiguous && i < directory_.block_count(); ++i) {
    const std::int64_t rows_before =
        i / directory_.grid().rows * directory_.spec.extent.rows + i % directory_.grid().rows * rows;
    is_contiguous = locate(i).offset == first.offset + rows_before * directory_.block.row_bytes();
  }
  const std::int64_t plane_bytes = directory_.stored_bytes();
  const std::int64_t available_bytes = file_->size() - first.offset;
  if (!is_contiguous || page_.plane >= available_bytes / plane_bytes)
    throw IoError(
        fmt::format("{}: its description counts several images, there is a directory for one only, and their "
                    "pixels do not follow its own; OpenOptions::page 0 reads that one",
                    name()));
  plane_offset_ = page_.plane * plane_bytes;
}

// libtiff treats missing table entries as omitted blocks, which are black, and uses strip tables for tiles if
// tile tables are missing.
void TiffFile::check_tables() {
  const auto check = [&](std::uint32_t tag, const char* table_name) {
    const TiffEntry* const table = page_.entries.find(tag);
    const auto blocks = static_cast<std::uint64_t>(directory_.block_count());
    if (table == nullptr || table->count == blocks) return;
    const std::string counts =
        fmt::format("its table of {} has {} entries for {} blocks", table_name, table->count, blocks);
    if (table->count < blocks) throw IoError(fmt::format("{}: {}; the file is damaged", name(), counts));
    tags_left_out_.push_back(counts + ": the last are not read, and the file may be damaged");
  };
  for (const std::uint32_t tag : {TIFFTAG_STRIPOFFSETS, TIFFTAG_TILEOFFSETS}) check(tag, "offsets");
  for (const std::uint32_t tag : {TIFFTAG_STRIPBYTECOUNTS, TIFFTAG_TILEBYTECOUNTS}) check(tag, "byte counts");
}

Levels TiffFile::levels() const {
  if (page_.levels == 0) return Levels::none;
  if (page_.entries.find(TIFFTAG_SUBIFD) != nullptr) return Levels::inside;
  // GDAL's "header ghost area" (documentation of the COG driver), after the header of a TIFF or a BigTIFF.
  std::array<char, 128> begin{};
  const auto size = file_->read_some_at(0, std::as_writable_bytes(std::span(begin)));
  const std::string_view head(begin.data(), static_cast<std::size_t>(size));
  const bool is_cog = head.find("GDAL_STRUCTURAL_METADATA_SIZE=") != head.npos &&
                      head.find("LAYOUT=IFDS_BEFORE_DATA") != head.npos;
  return is_cog ? Levels::cloud : Levels::behind;
}

std::vector<std::string> TiffFile::warnings() const {
  std::vector<std::string> all;
  if (page_.set_facts) all = page_.set_facts->warnings;
  std::ranges::move(unreadable_numbers(metadata_.description), std::back_inserter(all));
  if (page_.ignores_mask)
    all.emplace_back(
        "the image's mask is left out: hidden pixels are processed as valid ones, and the result "
        "has no mask");
  if (page_.mismatched_masks > 0)
    all.emplace_back("a mask of another size than the image is not read, and the result has none");
  if (page_.unused_masks > 0)
    all.push_back(
        fmt::format("{} not read: the second of an image, or before the first image",
                    page_.unused_masks == 1 ? "a mask is" : fmt::format("{} masks are", page_.unused_masks)));
  if (directory_.block.has_signed_ab())
    all.push_back(
        fmt::format("a* and b* of CIE L*a*b* are signed, and are computed with {} added: in a TIFF of the "
                    "same type they are signed again, elsewhere they have that added",
                    directory_.spec.type == PixelType::u8 ? 128 : 32768));
  if (metadata_.photometric == Photometric::other)
    all.push_back(
        fmt::format("photometric interpretation {} is not carried along: values are taken for intensities, "
                    "or for RGB where there are three",
                    directory_.block.photometric));
  if (!page_.too_large.empty()) {
    all.push_back(fmt::format("left out because too large to hold: tag{} {}",
                              page_.too_large.size() == 1 ? "" : "s", fmt::join(page_.too_large, ", ")));
  }
  std::ranges::copy(tags_left_out_, std::back_inserter(all));
  return all;
}

StoredBlock TiffFile::locate(std::int64_t block_index) {
  const std::lock_guard lock(mutex_);
  const auto index = static_cast<std::uint32_t>(block_index);
  int failed = 0;
  const std::uint64_t offset =
      TIFFGetStrileOffsetWithErr(handle_.get(), index, &failed) + static_cast<std::uint64_t>(plane_offset_);
  const std::uint64_t bytes = failed != 0 ? 0 : TIFFGetStrileByteCountWithErr(handle_.get(), index, &failed);
  handle_.check(failed == 0, fmt::format("cannot find block {}; the file is damaged", block_index));
  if (bytes == 0 && offset == static_cast<std::uint64_t>(plane_offset_)) return {};
  const auto size = static_cast<std::uint64_t>(file_->size());
  if (bytes == 0 || offset > size || bytes > size - offset) {
    throw IoError(fmt::format(
        "{}: block {} should lie at bytes {} to {} of a file of {}; the file is truncated or damaged", name(),
        block_index, offset, offset + bytes, size));
  }
  return {static_cast<std::int64_t>(offset), static_cast<std::int64_t>(bytes)};
}

std::int64_t TiffFile::stored_bytes() {
  if (!has_short_tables()) return file_->size();
  std::int64_t sum = 0;
  for (std::int64_t index = 0; index < directory_.block_count(); ++index) {
    const std::lock_guard lock(mutex_);
    sum += static_cast<std::int64_t>(
        std::min(TIFFGetStrileByteCount(handle_.get(), static_cast<std::uint32_t>(index)),
                 static_cast<std::uint64_t>(file_->size())));
  }
  return std::min(sum, file_->size());
}

std::int64_t TiffFile::memory_bytes() const {
  constexpr std::int64_t kHandle = 128 << 10;
  // Two tables of 8 bytes a block, which grow by doubling.
  return kHandle + 32 * directory_.block_count() + page_.tag_bytes + page_.catalog_bytes +
         sepconv::memory_bytes(metadata_);
}

}  // namespace sepconv
