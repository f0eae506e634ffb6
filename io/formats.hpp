// Opens image files by their content and creates them by their name: the interface of io/ for other folders.
// A format is a value of struct Format. docs/adding-a-format.md explains how to add one, inside or outside of
// the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/background.hpp"
#include "io/file_layout.hpp"
#include "io/reader.hpp"
#include "io/writer.hpp"

namespace sepconv {

class InputFile;
class Checkpoint;
class RasterSet;
class RasterSetWriter;
struct RasterSetSpec;

/// Pixels of missing chunks of a Zarr array.
enum class MissingChunks : std::uint8_t {
  error,
  fill  ///< the fill value, or 0 if it is null
};

struct OpenOptions {
  /// TIFF directory, counted from 0. Unset: all images of the file; open_reader() then requires a single one,
  /// so that no other image is ignored silently.
  std::optional<int> page{};
  std::string select{};  ///< part of a set of images, see parse_selection(); pages are counted as `page`
  int level = 0;         ///< pyramid level: 0 is the full image, 1 the next smaller one
  std::string axes{};    ///< a letter for each axis of an array: y rows, x columns, a last c channels, and
                         ///< the names of others ("tzyx"); empty: guessed from the shape if it is
                         ///< unambiguous. For the pages of a TIFF it overrides the description
  std::optional<ImageSpec>
      raw{};  ///< shape and type of a file without a header (.raw, .bin); then any name is read as raw
  std::int64_t raw_offset = 0;  ///< bytes before the first pixel of a raw file
  bool raw_big_endian = false;
  bool masks = true;  ///< pixels that a mask of the file hides are missing; if false, masks are ignored
  /// A pixel is missing if all its channels except alpha have the nodata value, which is `nodata` or that of
  /// the file.
  bool nodata_of_all = false;
  std::optional<double> nodata{};
  /// Unset: as `fill`, with a warning if the fill value is null and an error if no chunk exists.
  std::optional<MissingChunks> missing_chunks{};
};

/// How alpha, a channel of the written pixels, is stored in the file.
enum class AlphaInFile : std::uint8_t {
  channel,
  channel_and_mask,  ///< and a mask that hides pixels with alpha 0, for readers that do not support alpha
  mask,              ///< the last channel is stored as a mask
  nothing,           ///< the last channel is dropped; pixels with alpha 0 have the nodata value
};

struct CreateOptions {
  FileLayout layout{};
  AlphaInFile alpha = AlphaInFile::channel;
  /// Element type in the file. Pixels have the spec's type and contain values of this type. Unset: the spec's
  /// type. See Format::holds.
  std::optional<SampleType> stored{};
  Metadata metadata{};
  bool overwrite = false;                      ///< if false, an existing target is an error
  bool durable = false;                        ///< fsync file and folder before and after the rename
  std::shared_ptr<Checkpoint> checkpoint{};    ///< checkpoint in which the result is written
  std::vector<std::string> layout_warnings{};  ///< warnings about `layout`, for formats that use it
  std::vector<std::string> warnings{};  ///< warnings about the options; returned in SinkLayout::warnings
  std::optional<bool> big_tiff{};       ///< unset: decided from the planned size before the first byte
  /// Background for pictures with alpha. Also used by formats that support alpha.
  std::optional<Background> background{};
  /// Background if `background` is unset and the format does not support alpha.
  std::optional<Background> background_without_alpha{};
};

/// Facts about a file for `sepconv info`, in the order to print them.
struct FileInfo {
  std::string format;  ///< "BigTIFF", "NPY 1.0", ...
  struct Page {
    ImageSpec spec;
    SourceLayout layout;
    std::vector<std::pair<std::string, std::string>>
        facts;  ///< compression, predictor, resolution, ICC profile and so on; long texts are shortened
    Metadata metadata{};
    std::int64_t stored_bytes = 0;
  };
  std::vector<Page> pages;
  std::int64_t page_count =
      1;  ///< may exceed pages.size(), as only the first 64 or the selected page are listed
  std::int64_t images =
      1;  ///< number of pages that are neither overviews nor masks; with several, open_reader() requires a
          ///< page
  std::int64_t file_bytes = 0;  ///< of all files of a folder; 0: unknown
  RasterAxes axes{};            ///< axes of the images as a set
  std::string no_set{};         ///< why the images are not a set
  std::vector<std::string>
      series{};                  ///< images of OME-XML with different shapes, selected by s=0, s=1 and so on
  std::vector<Extent> levels{};  ///< smaller levels of the first image: OpenOptions::level from 1 on
  std::vector<std::pair<std::int64_t, std::string>>
      others{};  ///< pages that do not belong to the set: "overview", "mask", "label"
};

/// How viewers interpret the values of a file. For pictures display_chain() stretches values of fewer bits to
/// the full range of the type.
enum class Seen : std::uint8_t {
  as_data,
  as_either,   ///< as a picture, unless the metadata state that it is data
  as_picture,  ///< as a picture in every viewer
};

/// A file format: its detection and its functions. The functions throw IoError that names the file, or
/// InvalidArgument if the format does not support what the caller requests.
struct Format {
  std::string_view name{};             ///< "PNG"
  std::string_view endings{};          ///< file name extensions in lower case, the preferred one first: ".jpg
                                       ///< .jpeg"
  std::string_view reads{}, writes{};  ///< supported variants, for help texts
  bool has_pages = false;              ///< OpenOptions::page selects an image; else only page 0 exists
  bool has_levels = false;             ///< OpenOptions::level is supported
  bool has_axes = false;               ///< OpenOptions::axes names the axes of an array
  bool renames_axes = false;           ///< OpenOptions::axes may rename the axes of a set
  bool has_layout = false;             ///< CreateOptions::layout is used, and SourceLayout::file is set
  /// Results are folders. matches_path() detects folders; archive files with a path inside are supported, too.
  bool is_folder = false;
  Seen seen = Seen::as_data;
  bool is_u8_only = false;     ///< supports only u8
  std::int64_t tile_unit = 1;  ///< tile sides are multiples of it
  /// The fixed compression of the format, if it has one.
  std::optional<Compression> compression{};

  /// Whether the options or the file's name select this format, independent of its bytes. Null: they never
  /// do.
  bool (*matches_path)(const std::filesystem::path& path, const OpenOptions& options) = nullptr;
  /// Whether a file that begins with these bytes (16, or the whole file) has this format. Null: not
  /// detectable; the extension decides if no other format matches.
  bool (*begins)(std::span<const std::byte> head) = nullptr;
  /// Opens a file; reads only headers. Null: the format is write-only.
  std::unique_ptr<Reader> (*open)(InputFile file, const OpenOptions& options) = nullptr;
  /// The same for a file of several images of one shape; applies OpenOptions::select. Null: the file has one
  /// image, see `open`.
  std::unique_ptr<RasterSet> (*open_set)(InputFile file, const OpenOptions& options) = nullptr;
  /// Describes a file. Null: describe_image() of the reader is used.
  FileInfo (*describe)(InputFile file, const OpenOptions& options) = nullptr;
  /// Creates a writer. Checks everything that can be checked (folder, permissions, existing target, type and
  /// channels) before creating anything. Null: the format is read-only.
  std::unique_ptr<Writer> (*create)(const std::filesystem::path& path, const ImageSpec& spec,
                                    const CreateOptions& options) = nullptr;
  /// The same for several images, or for one image with axes. Null: files contain one image, see `create`.
  std::unique_ptr<RasterSetWriter> (*create_set)(const std::filesystem::path& path, const RasterSetSpec& spec,
                                                 const CreateOptions& options) = nullptr;
  /// Sets the default layout for results of this type whose source has another format. Null: the layout of
  /// the source, uncompressed.
  void (*set_default_layout)(FileLayout& layout, SampleType type) = nullptr;
  /// Whether a file can store element types that are not pixel types. Only supported types are passed to
  /// `create`. Null: none.
  bool (*holds)(SampleType type) = nullptr;
  /// Whether Metadata::mask_channel is stored as a mask in a file of this name and AlphaInFile is used. Null:
  /// masks remain channels.
  bool (*holds_mask)(const std::filesystem::path& path, const Metadata& metadata) = nullptr;
};

/// Formats in the order of detection. A program that adds a format passes a longer list to the functions
/// below.
using Formats = std::span<const Format>;
/// TIFF, NPY, Zarr, raw, PNG, JPEG, PNM and BMP; has static storage duration.
Formats built_in_formats() noexcept;

/// The extension of a name with its dot, in lower case.
std::string ending_of(const std::filesystem::path& path);
/// The format of the name's extension; null if unknown.
const Format* format_of_name(const std::filesystem::path& path, Formats formats = built_in_formats());
/// Detects the format by the options, then by the first bytes of the file, then by its name. Throws IoError
/// if it is unknown.
const Format& format_of_file(const InputFile& file, const OpenOptions& options,
                             Formats formats = built_in_formats());
/// Rejects options that would be ignored: throws InvalidArgument, or IoError for a page that does not exist.
void check_options(const OpenOptions& options, const Format& format, const std::filesystem::path& path,
                   Formats formats);
/// The extensions of the formats that satisfy `predicate`, joined by commas.
std::string endings_of(Formats formats, bool (*predicate)(const Format&));
/// Whether the bytes begin with `magic`. For Format::begins.
bool begins_with(std::span<const std::byte> head, std::string_view magic) noexcept;

/// Opens a file of the format that format_of_file() detects. A name `name_COLSxROWS[xCHANNELS]_TYPE.raw`
/// selects raw. Reads only headers. Throws IoError that names the file, InvalidArgument for unsupported
/// options.
std::unique_ptr<Reader> open_reader(const std::filesystem::path& path, const OpenOptions& options = {},
                                    Formats formats = built_in_formats());

/// Creates a writer for the format of the name's extension. Checks everything that can be checked before
/// creating anything. If the format does not support CreateOptions::stored, small integers are written as the
/// pixel type, with a warning, and other types are an error. Throws IoError or InvalidArgument.
std::unique_ptr<Writer> create_writer(const std::filesystem::path& path, const ImageSpec& spec,
                                      const CreateOptions& options, Formats formats = built_in_formats());

/// Returns `options` adapted to the format's support of CreateOptions::stored, see create_writer().
CreateOptions adapt_stored_type(const std::filesystem::path& path, const Format& format,
                                CreateOptions options, Formats formats = built_in_formats());

/// Describes all pages, or the one that the options select.
FileInfo file_info(const std::filesystem::path& path, const OpenOptions& options = {},
                   Formats formats = built_in_formats());
/// Describes a file of one image. Its format is the beginning of the layout's description, up to a comma.
FileInfo describe_image(const Reader& reader, std::int64_t file_bytes);

}  // namespace sepconv
