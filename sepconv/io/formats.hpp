// Opening image files by what is in them and making them by their name: the door to io/ for everything else.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sepconv/io/reader.hpp"
#include "sepconv/io/writer.hpp"

namespace sepconv {

enum class Compression : std::uint8_t { none, lzw, deflate, zstd, jpeg, packbits };
std::string_view name_of(Compression compression) noexcept;
std::optional<Compression> parse_compression(std::string_view name) noexcept;

struct OpenOptions {
  /// TIFF directory, from 0. Unset: the only one; a file with several images in it must not be taken for its
  /// first.
  std::optional<int> page{};
  std::string axes{};  ///< of an NPY array: "yx" or "yxc" (rows, columns, channels); empty: what its shape
                       ///< leaves no doubt about
  std::optional<ImageSpec>
      raw{};  ///< shape and type of a file without a header (.raw, .bin); then any name is read as raw
  std::int64_t raw_offset = 0;  ///< bytes before the first pixel of a raw file
  bool raw_big_endian = false;
};

/// Opens a file by its first bytes: TIFF and BigTIFF, NPY, PNG, JPEG, PPM/PGM, BMP; raw when options.raw is
/// set, or when the name says it: `name_COLSxROWS[xCHANNELS]_TYPE.raw`. Reads headers only. Throws IoError
/// naming the file.
std::unique_ptr<Reader> open_reader(const std::filesystem::path& path, const OpenOptions& options = {});

/// How a file is laid out, for those who make another like it.
struct FileLayout {
  bool tiled = false;
  Extent tile{512, 512};            ///< tile size, when tiled
  std::int64_t rows_per_strip = 0;  ///< when not tiled; 0: chosen
  Compression compression = Compression::none;
  int level = 0;          ///< deflate, zstd: 0 is the codec's default; JPEG: quality, 0 is 90
  bool predictor = true;  ///< horizontal (integers) or floating-point predictor with lzw, deflate, zstd
  bool planar = false;    ///< channels in planes of their own instead of interleaved
};

/// The layout of an opened TIFF, to make the result like its source; nothing for other formats.
std::optional<FileLayout> file_layout(const Reader& reader);

struct CreateOptions {
  FileLayout layout{};
  Metadata metadata{};
  bool overwrite = false;                      ///< else an existing target is an error
  bool durable = false;                        ///< fsync file and folder before and after the rename
  std::vector<std::string> layout_warnings{};  ///< likewise of `layout`, of which only TIFF makes use
  std::vector<std::string>
      warnings{};  ///< what is to be said of the choices above; comes back in SinkLayout::warnings
  std::optional<bool> big_tiff{};  ///< unset: decided from the planned size before the first byte
};

/// Makes a writer for the format that the name's ending says: .tif .tiff .btf .npy .raw .bin .png .jpg .jpeg
/// .ppm .pgm .bmp . Checks everything that can be checked (folder, rights, existing target, type and channels
/// the format can hold) before anything is made. Throws IoError or InvalidArgument.
std::unique_ptr<Writer> create_writer(const std::filesystem::path& path, const ImageSpec& spec,
                                      const CreateOptions& options);

/// Facts about a file for `sepconv info`, in the order to print them.
struct FileInfo {
  std::string format;  ///< "BigTIFF", "NPY 1.0", ...
  struct Page {
    ImageSpec spec;
    SourceLayout layout;
    std::vector<std::pair<std::string, std::string>>
        facts;  ///< compression, predictor, resolution, ICC profile, ...
  };
  std::vector<Page> pages;
  std::int64_t page_count = 1;  ///< may exceed pages.size(): only the first 64 are listed
  std::int64_t images =
      1;  ///< of the pages those that are neither overviews nor masks: with several, open_reader wants a page
  std::int64_t file_bytes = 0;
};
FileInfo file_info(const std::filesystem::path& path, const OpenOptions& options = {});

/// The formats for help texts and docs/formats.md.
struct FormatEntry {
  std::string_view name, endings, reads, writes;
};
const std::vector<FormatEntry>& format_table();

}  // namespace sepconv
