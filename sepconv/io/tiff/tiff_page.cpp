// Which page of a TIFF is meant, what belongs to it, and which of its tags are too large to hold.
#include <fmt/format.h>
#include <tiff.h>

#include <algorithm>

#include "sepconv/core/error.hpp"
#include "sepconv/io/tiff/tiff_file.hpp"

namespace sepconv {
namespace {

/// What the tags of a page may take, its tables of blocks aside; libtiff and Metadata each hold them once.
/// The description of a microscope's thousand planes takes some MiB, a colour profile two at the most.
constexpr std::int64_t kMostTagBytes = std::int64_t{16} << 20;

using Kind = TiffEntries::Kind;

bool is_block_table(std::uint32_t tag) {
  return tag == TIFFTAG_STRIPOFFSETS || tag == TIFFTAG_STRIPBYTECOUNTS || tag == TIFFTAG_TILEOFFSETS ||
         tag == TIFFTAG_TILEBYTECOUNTS;
}

/// The largest tags are left out until the others fit.
void bound_tags(TiffPage& page) {
  std::vector<TiffEntry> tags;
  std::int64_t sum = 0;
  for (const TiffEntry& entry : page.entries.list) {
    if (is_block_table(entry.tag)) continue;
    tags.push_back(entry);
    sum += std::min(entry.bytes(), kMostTagBytes + 1);
  }
  std::ranges::sort(tags, std::greater{}, &TiffEntry::bytes);
  page.max_tag_bytes = kMostTagBytes;
  for (const TiffEntry& entry : tags) {
    if (sum <= kMostTagBytes) break;
    sum -= std::min(entry.bytes(), kMostTagBytes + 1);
    page.max_tag_bytes = std::min(kMostTagBytes, entry.bytes() - 1);
  }
  for (const TiffEntry& entry : tags) {
    if (entry.bytes() > page.max_tag_bytes) page.too_large.push_back(entry.tag);
  }
  page.tag_bytes = std::min(sum, kMostTagBytes);
}

[[noreturn]] void refuse_several(const InputFile& file, int images, int directories) {
  throw IoError(fmt::format(
      "{}: holds {} images, and one is read at a time; name it with OpenOptions::page, from 0 to {}",
      file.path().native(), images, directories - 1));
}

}  // namespace

TiffPage find_page(const InputFile& file, std::optional<int> asked) {
  TiffChain chain(file);
  TiffPage page;
  bool found = false;
  bool belongs = false;  // to the page: what comes between it and the next image
  int index = 0;
  for (; auto entries = chain.next(); ++index) {
    const Kind kind = entries->kind;
    const bool is_it = asked ? index == *asked : kind == Kind::image && !found;
    if (belongs && kind == Kind::image) belongs = false;
    if (belongs) ++(kind == Kind::mask ? page.masks : page.reduced);
    if (kind == Kind::image) ++page.images;
    if (is_it) {
      page.index = index;
      page.entries = std::move(*entries);
      found = belongs = true;
    } else if (index == 0 && !asked) {
      page.entries = std::move(*entries);  // unless there is an image behind it
    }
    if (asked && found && !belongs) break;
  }
  if (!found) page.index = asked.value_or(0);
  if (!asked && (page.images > 1 || (page.images == 0 && index > 1)))
    refuse_several(file, std::max(page.images, index), index);
  if (!asked && chain.broken() && index > 0) {
    throw IoError(
        fmt::format("{}: the chain of its pages is broken behind page {}; it is truncated or damaged, and "
                    "what it holds up to there is "
                    "read with OpenOptions::page",
                    file.path().native(), index - 1));
  }
  bound_tags(page);
  return page;
}

}  // namespace sepconv
