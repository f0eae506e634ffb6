#include "sepconv/io/tiff/tiff_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>

#include "sepconv/core/error.hpp"
#include "sepconv/io/tiff/tiff.hpp"
#include "sepconv/io/tiff/tiff_tags.hpp"
#include "sepconv/io/tiff/tiff_unread.hpp"

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

InputFile checked(InputFile file) {
  std::array<std::byte, 4> head{};
  const std::int64_t count = file.read_some_at(0, head);
  if (count < 4 || !is_tiff(head))
    throw IoError(fmt::format("{}: is no TIFF; check the name or the file's type", file.path().native()));
  return file;
}

/// What libtiff may allocate at once for this page: the largest tag that is read, or one of the two tables of
/// blocks, which grow by doubling.
std::int64_t max_allocation_bytes(const TiffPage& page, const std::string& name) {
  constexpr std::int64_t kLeast = std::int64_t{1} << 20;
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
  return page.too_large.empty() ? std::max({kLeast, page.max_tag_bytes, tables}) : page.max_tag_bytes;
}

/// Of a handle that reads no directory.
constexpr std::int64_t kMaxHeaderAllocation = std::int64_t{1} << 26;

[[noreturn]] void refuse_empty(const std::string& name) {
  throw IoError(fmt::format("{}: holds no image: it is cut off or was never completed; make it anew", name));
}

/// ImageJ above 4 GB, and others who write a stack in one piece, give only its first image a directory.
[[noreturn]] void refuse_hidden(const std::string& name) {
  throw IoError(
      fmt::format("{}: its description counts several images and there is a directory for one only; "
                  "OpenOptions::page 0 reads that one, the others "
                  "cannot be read yet: store each as a page of its own",
                  name));
}

}  // namespace

// Mode: h opens the header only, O loads the tables of blocks in parts and on demand.
TiffFile::TiffFile(InputFile file, std::optional<int> page)
    : file_(checked(std::move(file))),
      page_(find_page(file_, page)),
      source_(std::make_unique<FileBytes>(file_)),
      handle_(*source_, file_.path().native(), "rhO", max_allocation_bytes(page_, file_.path().native())) {
  select_page();
  handle_.clear_messages();  // of tags that are left out, which explain nothing that comes later
  directory_ = read_directory(handle_, file_.size());
  check_tables();
  metadata_ = read_metadata(handle_, page_.entries);
  const ImageSpec& spec = directory_.spec;
  const bool is_one = describes_one(metadata_.description, spec);
  metadata_.description_of_several = !is_one || (page_.images > 1 && is_ome(metadata_.description));
  if (!page && !is_one && !is_ome(metadata_.description)) refuse_hidden(name());
}

TiffFile::~TiffFile() = default;

void TiffFile::select_page() {
  const int page = page_.index;
  if (page >= 0 && TIFFSetDirectory(handle_.get(), static_cast<tdir_t>(page)) != 0) {
    if (!page_.entries.list.empty()) return;
    throw IoError(fmt::format("{}: its directory of page {} is damaged", name(), page));
  }
  const std::string message = handle_.message();
  if (!page_.too_large.empty() && message.find("defined in open options") != std::string::npos) {
    throw IoError(
        fmt::format("{}: page {} cannot be read without its tag{} {}, too large to hold; the file is damaged",
                    name(), page, page_.too_large.size() == 1 ? "" : "s", fmt::join(page_.too_large, ", ")));
  }
  const std::int64_t pages = TIFFNumberOfDirectories(handle_.get());
  if (pages == 0) refuse_empty(name());
  if (page < 0 || page >= pages) {
    throw IoError(fmt::format("{}: has no page {}; it has {}, counted from 0", name(), page,
                              pages == 1 ? std::string("one page") : fmt::format("{} pages", pages)));
  }
  throw IoError(fmt::format("{}: its directory of page {} is damaged{}{}", name(), page,
                            message.empty() ? "" : ": ", message));
}

// Libtiff takes what a table lacks for blocks that were left out, which are black, and the tables of strips
// for those of tiles where there are no others.
void TiffFile::check_tables() const {
  const auto check = [&](std::uint32_t tag, const char* what) {
    const TiffEntry* const table = page_.entries.find(tag);
    if (table == nullptr || table->count >= static_cast<std::uint64_t>(directory_.block_count())) return;
    throw IoError(fmt::format("{}: its table of {} has {} entries for {} blocks; the file is damaged", name(),
                              what, table->count, directory_.block_count()));
  };
  for (const std::uint32_t tag : {TIFFTAG_STRIPOFFSETS, TIFFTAG_TILEOFFSETS}) check(tag, "offsets");
  for (const std::uint32_t tag : {TIFFTAG_STRIPBYTECOUNTS, TIFFTAG_TILEBYTECOUNTS}) check(tag, "byte counts");
}

std::vector<std::string> TiffFile::warnings() const {
  std::vector<std::string> all;
  if (const TiffEntry* const levels = page_.entries.find(TIFFTAG_SUBIFD)) {
    all.push_back(fmt::format("{} smaller level{} of the image (in sub-directories) {} not read",
                              levels->count, levels->count == 1 ? "" : "s",
                              levels->count == 1 ? "is" : "are"));
  }
  if (page_.reduced > 0)
    all.push_back(fmt::format("{} overview{} of the image {} not read", page_.reduced,
                              page_.reduced == 1 ? "" : "s", page_.reduced == 1 ? "is" : "are"));
  if (page_.masks > 0)
    all.emplace_back(
        "the image's mask is not read: what it hides is computed with as if it were valid, and the result "
        "has no mask");
  if (metadata_.photometric == Photometric::cielab && directory_.spec.type != PixelType::f32)
    all.emplace_back(
        "a* and b* of CIE L*a*b* are signed and are read as unsigned: what is computed of them is wrong "
        "where they are negative");
  if (metadata_.photometric == Photometric::other)
    all.push_back(
        fmt::format("photometric interpretation {} is not carried along: values are taken for intensities, "
                    "or for RGB where there are three",
                    directory_.block.photometric));
  if (!page_.too_large.empty()) {
    all.push_back(fmt::format("left out because too large to hold: tag{} {}",
                              page_.too_large.size() == 1 ? "" : "s", fmt::join(page_.too_large, ", ")));
  }
  std::ranges::move(tags_left_out(handle_, file_, page_, metadata_), std::back_inserter(all));
  if (metadata_.description_of_several && page_.images <= 1)
    all.emplace_back("the description counts several images; those beside this page's are not read");
  return all;
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
  if (!has_short_tables()) return file_.size();
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
  return kHandle + 32 * directory_.block_count() + page_.tag_bytes + sepconv::memory_bytes(metadata_);
}

TiffPages count_tiff_pages(const InputFile& file) {
  FileBytes source(file);
  const TiffHandle handle(source, file.path().native(), "rh", kMaxHeaderAllocation);
  const auto pages = TIFFNumberOfDirectories(handle.get());
  if (pages == 0) refuse_empty(file.path().native());
  std::int64_t images = 0;
  for (TiffChain chain(file); const auto entries = chain.next();)
    images += entries->kind == TiffEntries::Kind::image ? 1 : 0;
  return {pages, images, file.size(), TIFFIsBigTIFF(handle.get()) != 0};
}

}  // namespace sepconv
