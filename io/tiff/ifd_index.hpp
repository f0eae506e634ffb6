// Index of all directories of a TIFF, built when the file is opened: kind and offset of each, so that none is
// searched for again.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/geometry.hpp"
#include "io/tiff/ifd.hpp"
#include "io/tiff/tiff_page.hpp"

namespace sepconv {

/// Properties that must be equal for pages to be rasters of one set.
struct TiffForm {
  Extent extent;
  std::int64_t channels = 1;
  std::uint64_t bits = 1, sample_format = 1;
  bool tiled = false;
  /// Whether they are equal except for their storage.
  bool is_like(const TiffForm& other) const noexcept {
    return extent == other.extent && is_like_pixels(other);
  }
  bool is_like_pixels(const TiffForm& other) const noexcept {
    return channels == other.channels && bits == other.bits && sample_format == other.sample_format;
  }
};

class TiffCatalog {
 public:
  explicit TiffCatalog(InputFile file);

  struct Page {
    std::uint64_t offset = 0;
    TiffEntries::Kind kind{};
    TiffForm form{};
    std::vector<std::uint64_t> levels{};  ///< offsets of sub-directories
  };

  const InputFile& file() const noexcept { return *file_; }
  const std::shared_ptr<const InputFile>& shared_file() const noexcept { return file_; }
  const std::vector<Page>& pages() const noexcept { return pages_; }
  const Page& page(std::int64_t index) const { return pages_.at(static_cast<std::size_t>(index)); }
  bool big_tiff() const noexcept { return chain_.big_tiff(); }
  /// Whether the chain is broken after the last known page.
  bool broken() const noexcept { return chain_.broken(); }
  /// Pages that are neither overviews nor masks.
  const std::vector<std::int64_t>& images() const noexcept { return images_; }
  /// Description of a page; empty if it is missing or too large.
  std::string description(std::int64_t index) const;

  /// Offsets of the smaller levels of this page: its sub-directories, then the overviews after it; in a scan
  /// of Aperio's all tiled pages of its proportions.
  std::vector<std::uint64_t> levels(std::int64_t index) const;
  std::vector<TiffForm> level_forms(std::int64_t index) const;
  /// Aperio's files have other images as plain pages. aperio_name() returns "label", "macro" or "thumbnail"
  /// for pages that are not levels; empty for levels and the scan itself.
  bool is_aperio() const noexcept { return aperio_; }
  std::string aperio_name(std::int64_t index) const;

  /// Whether the page has a mask of its size.
  bool has_mask(std::int64_t index) const { return mask_of(index, page(index).form.extent).has_value(); }

  /// Returns the page, to be opened; without entries if it does not exist.
  TiffPage open_page(std::int64_t index) const;
  /// Returns a level of the page, from 1, to be opened. Throws IoError if the level does not exist.
  TiffPage open_level(std::int64_t index, int level) const;
  /// Returns the mask of a page that has one, to be opened.
  TiffPage open_mask(const TiffPage& page) const { return make_page(page.index, page.mask.value()); }
  /// Returns a level of the page, to be opened; level 0 is the page itself.
  TiffPage open(std::int64_t index, int level) const {
    return level == 0 ? open_page(index) : open_level(index, level);
  }

 private:
  /// Offset of the mask of the page or of its level that has this extent.
  std::optional<std::uint64_t> mask_of(std::int64_t index, Extent extent) const;
  std::string description_start(std::int64_t index) const;
  TiffPage make_page(std::int64_t index, std::uint64_t offset) const;
  Page summarize(const TiffEntries& entries, std::uint64_t offset) const;

  std::shared_ptr<const InputFile> file_;
  TiffChain chain_;
  std::vector<Page> pages_;
  std::vector<std::int64_t> images_;
  bool aperio_ = false, has_luts_ = false;
};

}  // namespace sepconv
