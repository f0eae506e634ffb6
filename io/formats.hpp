// Opening image files by what is in them and making them by their name: the door to io/ for everything else.
// A format is a value of this page; docs/adding-a-format.md shows how one is added, inside or outside of the
// library.
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

/// What an image is where its file lacks a chunk of a Zarr array.
enum class MissingChunks : std::uint8_t {
  error,
  fill  ///< its fill value, 0 where that is null
};

struct OpenOptions {
  /// TIFF directory, from 0. Unset: all images of the file, which open_reader() takes only where it is one:
  /// a file with several must not be taken for its first.
  std::optional<int> page{};
  std::string select{};  ///< part of a set of images: see parse_selection(). Pages are counted as `page` is
  int level = 0;         ///< of a pyramid: 0 is the full image, 1 the next smaller one, and so on
  std::string axes{};    ///< of an array, a letter for each: y rows, x columns, a last c channels, others
                         ///< as they are called ("tzyx"); empty: what its shape leaves no doubt about. Of the
                         ///< pages of a TIFF: what they are, whatever its description says
  std::optional<ImageSpec>
      raw{};  ///< shape and type of a file without a header (.raw, .bin); then any name is read as raw
  std::int64_t raw_offset = 0;  ///< bytes before the first pixel of a raw file
  bool raw_big_endian = false;
  bool masks = true;  ///< pixels that a mask of the file hides are missing; else it is left out
  /// Pixels are missing of whose channels all but alpha have the nodata value: this one, or the file's.
  bool nodata_of_all = false;
  std::optional<double> nodata{};
  /// Unset: as `fill`, with a warning where the fill value is null, and an error where no chunk is there.
  std::optional<MissingChunks> missing_chunks{};
};

/// What a file gets of alpha, a channel of the pixels that are written.
enum class AlphaInFile : std::uint8_t {
  channel,
  channel_and_mask,  ///< and a mask that hides pixels where it is 0, for readers who do not know it
  mask,              ///< the last channel becomes one
  nothing,           ///< the last channel falls: pixels where it is 0 have the nodata value
};

struct CreateOptions {
  FileLayout layout{};
  AlphaInFile alpha = AlphaInFile::channel;
  /// What the pixels become in the file, which holds the values of such elements in pixels of the spec's
  /// type; unset: they stay as they are. See Format::holds.
  std::optional<SampleType> stored{};
  Metadata metadata{};
  bool overwrite = false;                      ///< else an existing target is an error
  bool durable = false;                        ///< fsync file and folder before and after the rename
  std::shared_ptr<Checkpoint> partial{};       ///< of this target: the result grows in it
  std::vector<std::string> layout_warnings{};  ///< likewise of `layout`, for formats that make use of it
  std::vector<std::string>
      warnings{};  ///< what is to be said of the choices above; comes back in SinkLayout::warnings
  std::optional<bool> big_tiff{};  ///< unset: decided from the planned size before the first byte
  /// What pictures with alpha are laid on in a format that has none; also in one that has.
  std::optional<Background> background{};
  /// Where that is left out, the same in a format that has none.
  std::optional<Background> background_without_alpha{};
};

/// Facts about a file for `sepconv info`, in the order to print them.
struct FileInfo {
  std::string format;  ///< "BigTIFF", "NPY 1.0", ...
  struct Page {
    ImageSpec spec;
    SourceLayout layout;
    std::vector<std::pair<std::string, std::string>>
        facts;  ///< compression, predictor, resolution, ICC profile, ...; long texts are cut
    Metadata metadata{};
    std::int64_t stored_bytes = 0;
  };
  std::vector<Page> pages;
  std::int64_t page_count =
      1;  ///< may exceed pages.size(): only the first 64 are listed, or the one asked for
  std::int64_t images =
      1;  ///< of the pages those that are neither overviews nor masks: with several, open_reader wants a page
  std::int64_t file_bytes = 0;  ///< of all files of a folder; 0: not known
  RasterAxes axes{};            ///< along which the images are a set
  std::string no_set{};         ///< why they are none
  std::vector<std::string>
      series{};                  ///< images of OME-XML that are not alike, each read by s=0, s=1 and so on
  std::vector<Extent> levels{};  ///< the smaller ones of the first image: OpenOptions::level from 1 on
  std::vector<std::pair<std::int64_t, std::string>>
      others{};  ///< pages that are not images of the set: "overview", "mask", "label"
};

/// What its values are to whoever looks at a file: shown_chain() makes the whole range of the type of those
/// that have fewer bits.
enum class Seen : std::uint8_t {
  as_data,
  as_either,   ///< a picture, unless its metadata say that it is data
  as_picture,  ///< by any viewer
};

/// A kind of file: how it is known and what it can do. Its functions throw IoError that names the file, or
/// InvalidArgument for what the caller asks and the format cannot hold.
struct Format {
  std::string_view name{};             ///< "PNG"
  std::string_view endings{};          ///< of names, in lower case, the usual one first: ".jpg .jpeg"
  std::string_view reads{}, writes{};  ///< what of its kind, for help texts
  bool has_pages = false;              ///< OpenOptions::page says which image; else only 0 is one
  bool has_levels = false;             ///< OpenOptions::level means something
  bool has_axes = false;               ///< OpenOptions::axes names those of an array
  bool renames_axes = false;           ///< it may name those along which there are images
  bool has_layout = false;             ///< CreateOptions::layout is heeded, and SourceLayout::file is set
  /// A result is a folder; folders that are meant are opened, and names in files that begin like archives.
  bool is_folder = false;
  Seen seen = Seen::as_data;
  bool is_of_u8 = false;       ///< a picture of no other type
  std::int64_t tile_unit = 1;  ///< the sides of tiles are multiples of it
  /// How its pixels are stored in any case, where that has a name.
  std::optional<Compression> compression{};

  /// Whether the caller or the file's name says that it is this, whatever its bytes; null: neither can.
  bool (*is_meant)(const std::filesystem::path& path, const OpenOptions& options) = nullptr;
  /// Whether a file that begins with these bytes (16, or all it has) is one; null: any may be, and its ending
  /// decides where no other format knows it.
  bool (*begins)(std::span<const std::byte> head) = nullptr;
  /// Reads headers only. Null: the format is only written.
  std::unique_ptr<Reader> (*open)(InputFile file, const OpenOptions& options) = nullptr;
  /// The same for a format whose files may hold several images of one shape, with OpenOptions::select done.
  /// Null: there is one, by `open`.
  std::unique_ptr<RasterSet> (*open_set)(InputFile file, const OpenOptions& options) = nullptr;
  /// Null: describe_image() of what `open` makes is all there is to tell.
  FileInfo (*describe)(InputFile file, const OpenOptions& options) = nullptr;
  /// Checks everything that can be checked (folder, rights, existing target, type and channels) before
  /// anything is made. Null: the format is only read.
  std::unique_ptr<Writer> (*create)(const std::filesystem::path& path, const ImageSpec& spec,
                                    const CreateOptions& options) = nullptr;
  /// The same for several images, or for one that has axes. Null: a file holds one, by `create`.
  std::unique_ptr<RasterSetWriter> (*create_set)(const std::filesystem::path& path, const RasterSetSpec& spec,
                                                 const CreateOptions& options) = nullptr;
  /// How a result of such elements is stored whose source is of another format and whose caller decides
  /// nothing. Null: as the source is, and uncompressed.
  void (*usual_layout)(FileLayout& layout, SampleType type) = nullptr;
  /// Which elements that are not pixels a file of it may have: others never reach `create`. Null: none.
  bool (*holds)(SampleType type) = nullptr;
  /// Whether Metadata::mask_channel becomes a mask in a file of this name, and AlphaInFile is heeded. Null:
  /// masks stay channels.
  bool (*holds_mask)(const std::filesystem::path& path, const Metadata& metadata) = nullptr;
};

/// In the order in which they are asked. A program with a format of its own hands a longer list to the
/// functions below.
using Formats = std::span<const Format>;
/// TIFF, NPY, Zarr, raw, PNG, JPEG, PNM and BMP; stays as long as the program runs.
Formats built_in_formats() noexcept;

/// The ending of a name with its dot, in lower case.
std::string ending_of(const std::filesystem::path& path);
/// The format that the name's ending stands for; null if there is none.
const Format* format_of_name(const std::filesystem::path& path, Formats formats = built_in_formats());
/// By what the caller says, then by the file's first bytes, then by its name. Throws IoError if it is none of
/// them.
const Format& format_of_file(const InputFile& file, const OpenOptions& options,
                             Formats formats = built_in_formats());
/// An option that would be ignored is refused: throws InvalidArgument, IoError for a page that is not there.
void check_options(const OpenOptions& options, const Format& format, const std::filesystem::path& path,
                   Formats formats);
/// The endings of all formats that are `wanted`, with commas between.
std::string endings_of(Formats formats, bool (*wanted)(const Format&));
/// For Format::begins.
bool begins_with(std::span<const std::byte> head, std::string_view magic) noexcept;

/// Opens a file as format_of_file() says; a name `name_COLSxROWS[xCHANNELS]_TYPE.raw` makes it raw. Reads
/// headers only. Throws IoError naming the file, InvalidArgument for options that its format does not have.
std::unique_ptr<Reader> open_reader(const std::filesystem::path& path, const OpenOptions& options = {},
                                    Formats formats = built_in_formats());

/// Makes a writer for the format that the name's ending says. Checks everything that can be checked before
/// anything is made. Where the format does not hold CreateOptions::stored, small integers stay what they are
/// computed as, with a warning, and others are an error. Throws IoError or InvalidArgument.
std::unique_ptr<Writer> create_writer(const std::filesystem::path& path, const ImageSpec& spec,
                                      const CreateOptions& options, Formats formats = built_in_formats());

/// `options` with what is left of CreateOptions::stored in a file of this format: see create_writer.
CreateOptions storable(const std::filesystem::path& path, const Format& format, CreateOptions options,
                       Formats formats = built_in_formats());

/// For all pages, or of the one that the options name.
FileInfo file_info(const std::filesystem::path& path, const OpenOptions& options = {},
                   Formats formats = built_in_formats());
/// What a reader tells of a file of one image. Its format is how the layout's description begins, up to a
/// comma.
FileInfo describe_image(const Reader& reader, std::int64_t file_bytes);

}  // namespace sepconv
