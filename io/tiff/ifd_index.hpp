// All directories of a TIFF, looked at once when the file is opened: what each is and where it lies, so that
// none is searched for again.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/geometry.hpp"
#include "io/tiff/ifd.hpp"
#include "io/tiff/tiff_page.hpp"

namespace sepconv {

/// What must be equal for pages to be rasters of one set.
struct TiffForm {
  Extent extent;
  std::int64_t channels = 1;
  std::uint64_t bits = 1, sample_format = 1;
  bool tiled = false;
  /// But for how they are stored.
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
    std::vector<std::uint64_t> levels{};  ///< sub-directories
  };

  const InputFile& file() const noexcept { return *file_; }
  const std::shared_ptr<const InputFile>& shared_file() const noexcept { return file_; }
  const std::vector<Page>& pages() const noexcept { return pages_; }
  const Page& page(std::int64_t index) const { return pages_.at(static_cast<std::size_t>(index)); }
  bool big_tiff() const noexcept { return chain_.big_tiff(); }
  /// Whether the chain leads nowhere behind the last page that is known.
  bool broken() const noexcept { return chain_.broken(); }
  /// Pages that are neither overviews nor masks.
  const std::vector<std::int64_t>& images() const noexcept { return images_; }
  /// Empty where there is none, and where it is too large to hold.
  std::string description(std::int64_t index) const;

  /// Where the smaller levels of this page lie: its sub-directories, then the overviews behind it; in a scan
  /// of Aperio's all tiled pages of its proportions.
  std::vector<std::uint64_t> levels(std::int64_t index) const;
  std::vector<TiffForm> level_forms(std::int64_t index) const;
  /// Aperio's files have other images as plain pages: what each page is that is not a level, "label", "macro" or
  /// "thumbnail"; empty for levels and the scan itself.
  bool is_aperio() const noexcept { return aperio_; }
  std::string aperio_name(std::int64_t index) const;

  /// For its own size.
  bool has_mask(std::int64_t index) const { return mask_of(index, page(index).form.extent).has_value(); }

  /// To be opened; without entries where there is no such page.
  TiffPage open_page(std::int64_t index) const;
  /// The same for one of the page's levels, from 1. Throws IoError where it has no such level.
  TiffPage open_level(std::int64_t index, int level) const;
  /// To be opened, of a page that has one.
  TiffPage open_mask(const TiffPage& page) const { return make_page(page.index, page.mask.value()); }
  /// Either: level 0 is the page itself.
  TiffPage open(std::int64_t index, int level) const {
    return level == 0 ? open_page(index) : open_level(index, level);
  }

 private:
  /// For the page itself or of a level of it, which is of this extent.
  std::optional<std::uint64_t> mask_of(std::int64_t index, Extent extent) const;
  std::string beginning(std::int64_t index) const;
  TiffPage make_page(std::int64_t index, std::uint64_t offset) const;
  Page look_at(const TiffEntries& entries, std::uint64_t offset) const;

  std::shared_ptr<const InputFile> file_;
  TiffChain chain_;
  std::vector<Page> pages_;
  std::vector<std::int64_t> images_;
  bool aperio_ = false, has_luts_ = false;
};

}  // namespace sepconv
