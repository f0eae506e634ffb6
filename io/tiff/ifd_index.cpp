#include "io/tiff/ifd_index.hpp"

#include <fmt/format.h>
#include <tiff.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "io/stack/stack.hpp"

namespace sepconv {
namespace {

using Kind = TiffEntries::Kind;

/// More levels than any pyramid has.
constexpr std::uint64_t kMaxLevels = 64;
/// Limit of the tags of a page, without block tables; libtiff and Metadata each store them once. The
/// description of a microscope's thousand planes takes some MiB, an ICC profile at most two.
constexpr std::int64_t kMaxTagBytes = std::int64_t{16} << 20;

bool is_block_table(std::uint32_t tag) {
  return tag == TIFFTAG_STRIPOFFSETS || tag == TIFFTAG_STRIPBYTECOUNTS || tag == TIFFTAG_TILEOFFSETS ||
         tag == TIFFTAG_TILEBYTECOUNTS;
}

/// Whether both sides are smaller by the same factor, up to rounding. A side of 1 stays 1.
bool is_level_of(const TiffForm& level, const TiffForm& image) {
  const auto [rows, cols] = level.extent;
  const Extent full = image.extent;
  const bool shrinks = (rows < full.rows || full.rows == 1) && (cols < full.cols || full.cols == 1);
  if (!level.is_like_pixels(image) || level.extent.empty() || !shrinks || level.extent == full) return false;
  const auto scaled = [](std::int64_t from, std::int64_t to, std::int64_t side) {
    return std::max(1.0, static_cast<double>(side) * static_cast<double>(to) / static_cast<double>(from));
  };
  const double difference = full.rows > full.cols
                                ? scaled(full.rows, rows, full.cols) - static_cast<double>(cols)
                                : scaled(full.cols, cols, full.rows) - static_cast<double>(rows);
  return std::abs(difference) <= 3;
}

}  // namespace

/// Leaves out the largest tags until the others fit.
void bound_tags(TiffPage& page) {
  std::vector<TiffEntry> tags;
  std::int64_t sum = 0;
  for (const TiffEntry& entry : page.entries.list) {
    if (is_block_table(entry.tag)) continue;
    tags.push_back(entry);
    sum += std::min(entry.bytes(), kMaxTagBytes + 1);
  }
  std::ranges::sort(tags, std::greater{}, &TiffEntry::bytes);
  page.max_tag_bytes = kMaxTagBytes;
  for (const TiffEntry& entry : tags) {
    if (sum <= kMaxTagBytes) break;
    sum -= std::min(entry.bytes(), kMaxTagBytes + 1);
    page.max_tag_bytes = std::min(kMaxTagBytes, entry.bytes() - 1);
  }
  for (const TiffEntry& entry : tags) {
    if (entry.bytes() > page.max_tag_bytes) page.too_large.push_back(entry.tag);
  }
  page.tag_bytes = std::min(sum, kMaxTagBytes);
}

std::string read_description(const InputFile& file, const TiffEntries& entries, std::int64_t max_bytes) {
  const TiffEntry* const entry = entries.find(TIFFTAG_IMAGEDESCRIPTION);
  if (entry == nullptr || entry->type != TIFF_ASCII || entry->bytes() > kMaxTagBytes) return "";
  std::string text(static_cast<std::size_t>(std::min(entry->bytes(), max_bytes)), '\0');
  const std::int64_t read = file.read_some_at(entry->value_offset, std::as_writable_bytes(std::span(text)));
  text.resize(static_cast<std::size_t>(read));
  return text.substr(0, text.find('\0'));
}

TiffCatalog::TiffCatalog(InputFile file)
    : file_(std::make_shared<const InputFile>(std::move(file))), chain_(*file_) {
  for (std::uint64_t offset = chain_.next_offset(); const auto entries = chain_.next();
       offset = chain_.next_offset()) {
    pages_.push_back(summarize(*entries, offset));
    if (pages_.back().kind == Kind::image) images_.push_back(std::ssize(pages_) - 1);
  }
  constexpr std::size_t kMaxSlidePages = 256;  // each page's description is read
  aperio_ = pages_.size() > 1 && pages_.size() <= kMaxSlidePages && sepconv::is_aperio(description_start(0));
  const std::string text = images_.empty() ? "" : description_start(images_.front());
  has_luts_ = is_imagej(text) || is_ome(text);
}

TiffCatalog::Page TiffCatalog::summarize(const TiffEntries& entries, std::uint64_t offset) const {
  const auto number = [&](std::uint32_t tag, std::uint64_t default_value) {
    const TiffEntry* const entry = entries.find(tag);
    return entry == nullptr ? default_value : chain_.number(*entry).value_or(default_value);
  };
  const auto side = [&](std::uint32_t tag) {
    return static_cast<std::int64_t>(std::min<std::uint64_t>(number(tag, 0), 1u << 31));
  };
  Page page{offset, entries.kind, {}, {}};
  page.form.extent = {side(TIFFTAG_IMAGELENGTH), side(TIFFTAG_IMAGEWIDTH)};
  page.form.channels = static_cast<std::int64_t>(number(TIFFTAG_SAMPLESPERPIXEL, 1) & 0xffff);
  page.form.bits = number(TIFFTAG_BITSPERSAMPLE, 1);
  page.form.sample_format = number(TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  page.form.tiled = entries.find(TIFFTAG_TILEWIDTH) != nullptr;
  if (const TiffEntry* const levels = entries.find(TIFFTAG_SUBIFD)) {
    for (std::uint64_t i = 0; i < std::min(levels->count, kMaxLevels); ++i)
      if (const auto at = chain_.number(*levels, i)) page.levels.push_back(*at);
  }
  return page;
}

std::string TiffCatalog::description(std::int64_t index) const {
  const auto entries = chain_.at(page(index).offset);
  return entries ? read_description(*file_, *entries, kMaxTagBytes) : "";
}

std::string TiffCatalog::description_start(std::int64_t index) const {
  constexpr std::int64_t kBytes = 4096;
  const auto entries = chain_.at(page(index).offset);
  return entries ? read_description(*file_, *entries, kBytes) : "";
}

std::string TiffCatalog::aperio_name(std::int64_t index) const {
  const Page& page_info = page(index);
  if (!aperio_ || index == 0) return "";
  const std::string text = description_start(index);
  const std::string line = text.substr(std::min(text.size(), text.find('\n')));
  for (const char* const name : {"label", "macro"}) {
    if (line.find(name) != line.npos) return name;
  }
  return page_info.form.tiled && is_level_of(page_info.form, page(0).form) ? "" : "thumbnail";
}

std::vector<std::uint64_t> TiffCatalog::levels(std::int64_t index) const {
  const Page& page_info = page(index);
  std::vector<std::uint64_t> levels = page_info.levels;
  for (std::int64_t i = index + 1; i < std::ssize(pages_); ++i) {
    if (aperio_ ? index != 0 : page(i).kind == Kind::image) break;
    const bool is_level = aperio_ ? aperio_name(i).empty() : page(i).kind == Kind::reduced;
    if (is_level && is_level_of(page(i).form, page_info.form)) levels.push_back(page(i).offset);
  }
  return levels;
}

std::vector<TiffForm> TiffCatalog::level_forms(std::int64_t index) const {
  std::vector<TiffForm> forms;
  for (const std::uint64_t offset : levels(index)) {
    const auto entries = chain_.at(offset);
    forms.push_back(entries ? summarize(*entries, offset).form : TiffForm{});
  }
  return forms;
}

std::optional<std::uint64_t> TiffCatalog::mask_of(std::int64_t index, Extent extent) const {
  for (std::int64_t i = index + 1; i < std::ssize(pages_) && page(i).kind != Kind::image; ++i)
    if (page(i).kind == Kind::mask && page(i).form.extent == extent) return page(i).offset;
  return std::nullopt;
}

TiffPage TiffCatalog::make_page(std::int64_t index, std::uint64_t offset) const {
  TiffPage opened{.index = index, .pages = std::ssize(pages_), .images = std::ssize(images_)};
  opened.catalog_bytes = static_cast<std::int64_t>(pages_.size() * (sizeof(Page) + sizeof(std::int64_t)));
  opened.offset = offset;
  opened.has_luts = has_luts_;
  opened.entries = chain_.at(offset).value_or(TiffEntries{});
  bound_tags(opened);
  return opened;
}

TiffPage TiffCatalog::open_page(std::int64_t index) const {
  if (index < 0 || index >= std::ssize(pages_))
    return {.index = index, .pages = std::ssize(pages_), .images = std::ssize(images_)};
  TiffPage opened = make_page(index, page(index).offset);
  opened.levels = std::ssize(levels(index));
  if (page(index).kind != Kind::image) return opened;  // its image reports masks
  opened.mask = mask_of(index, page(index).form.extent);
  std::vector<Extent> unmasked{page(index).form.extent};
  for (const TiffForm& level : level_forms(index)) unmasked.push_back(level.extent);
  const std::vector<Extent> all = unmasked;
  const bool is_first = index == images_.front();
  for (std::int64_t i = is_first ? 0 : index + 1; i < opened.pages; ++i) {
    if (i > index && page(i).kind == Kind::image) break;
    if (page(i).kind != Kind::mask) continue;
    const Extent extent = page(i).form.extent;
    if (const auto found = std::ranges::find(unmasked, extent); i > index && found != unmasked.end()) {
      unmasked.erase(found);
    } else {
      const bool is_known_size = i < index || std::ranges::find(all, extent) != all.end();
      ++(is_known_size ? opened.unused_masks : opened.mismatched_masks);
    }
  }
  return opened;
}

TiffPage TiffCatalog::open_level(std::int64_t index, int level) const {
  const std::vector<std::uint64_t> offsets = levels(index);
  if (level < 1 || level > std::ssize(offsets))
    throw IoError(fmt::format("{}: has no level {}; {}", file_->path().native(), level,
                              offsets.empty() ? "it has the full image only, which is level 0"
                                              : fmt::format("its levels are 0 to {}", offsets.size())));
  const std::uint64_t offset = offsets[static_cast<std::size_t>(level - 1)];
  TiffPage opened = make_page(index, offset);
  opened.mask = mask_of(index, summarize(opened.entries, offset).form.extent);
  if (!opened.mask && mask_of(index, page(index).form.extent)) opened.mismatched_masks = 1;
  return opened;
}

}  // namespace sepconv
