#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "io/extra_samples.hpp"
#include "io/file_errors.hpp"
#include "io/join_names.hpp"
#include "io/zarr/resolved_array.hpp"
#include "io/zarr/staging_directory.hpp"
#include "io/zarr/stored_chunks.hpp"
#include "io/zarr/zarr.hpp"
#include "io/zarr/zarr_json.hpp"
#include "io/zarr/zarr_nodata.hpp"
#include "io/zarr/zarr_reader.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<const ZarrStore> open_store(InputFile file) {
  if (fs::exists(file.path() / kUnfinishedMark))
    throw_read_error(file.path(),
                     "it is a result that was begun and never finished; remove it, and create it again");
  return file.is_folder() ? open_folder_store(std::move(file)) : open_zip_store(std::move(file));
}

class ZarrSet final : public RasterSet {
 public:
  /// `is_folder`: the source is not a zip file.
  ZarrSet(const fs::path& path, std::shared_ptr<ZarrSource> source, ZarrAxes axes, ResolvedArray found,
          StoredChunks chunks, bool is_folder)
      : RasterSet(path.native(), zarr_image(source->array(), axes), axes.rasters),
        source_(std::move(source)),
        axes_(std::move(axes)),
        ome_(std::move(found.ome)),
        nodata_(found.nodata),
        warnings_(std::move(found.warnings)),
        chunks_(std::move(chunks)),
        is_consolidated_(found.is_consolidated),
        is_folder_(is_folder) {}

  const std::optional<OmeSource>& ome() const noexcept { return ome_; }
  const ZarrArray& array() const noexcept { return source_->array(); }
  const ZarrAxes& axes_of_array() const noexcept { return axes_; }
  const StoredChunks& chunks() const noexcept { return chunks_; }
  bool has_changed() const override { return source_->store().has_changed(); }

 private:
  std::unique_ptr<Reader> open_raster(std::int64_t index, bool is_first) override {
    RasterAxes all = axes_.rasters;
    std::vector<std::int64_t> position = position_of(all, index);
    SourceLayout layout = zarr_source_layout(array(), axes_);
    if (!chunks_.is_complete()) layout.description += fmt::format(", {} stored", chunks_.text());
    if (is_first) add_warnings(layout);
    Metadata metadata;
    if (array().attributes != "{}") metadata.attributes = array().attributes;
    if (nodata_) set_nodata(metadata, fmt::format("{}", *nodata_));
    layout.file->zarr.is_array = !ome_;
    layout.file->zarr.is_consolidated = is_consolidated_;
    if (ome_) {
      layout.file->nearest_levels = !ome_->image.label.empty();
      metadata.attributes = ome_->attributes;
      if (axes_.channel >= 0) metadata.photometric = Photometric::rgb;
      if (zarr_image(array(), axes_).channels == 4) metadata.extra_samples = {kUnassociatedAlpha};
      if (is_first) {
        metadata.description = ngff_text(ome_->image);
        metadata.axes = axes();
      }
      layout.description = fmt::format("OME-Zarr {}, {}", ome_->version, layout.description);
      if (!ome_->smaller_levels.empty()) layout.file->levels = Levels::inside;
      add_labels(layout);
    }
    return make_zarr_reader(source_, axes_, std::move(position), std::move(layout), std::move(metadata));
  }

  /// Adds label images, which apply to all positions except those of c.
  void add_labels(SourceLayout& layout) const {
    if (ome_->labels.empty()) return;
    RasterAxes selected = axes(), all = axes_.rasters;
    for (RasterAxes* const list : {&selected, &all})
      std::erase_if(*list, [](const RasterAxis& axis) { return axis.name == "c"; });
    LabelImages& labels = layout.file->zarr.labels;
    labels.left_out = ome_->labels_warning;
    labels.levels = std::ssize(ome_->smaller_levels) + 1;
    if (is_folder_ && ome_->is_full_size && selected == all)
      labels.folder = source_->store().name_of(ome_->labels_key);
  }

  void add_warnings(SourceLayout& layout) const {
    const auto warn = [&](const std::string& sentence) { layout.warnings.push_back(sentence); };
    layout.warnings = warnings_;
    if (ome_ && array().attributes != "{}")
      warn(fmt::format("attributes of the array are left out: {}",
                       join_names(member_names(array().attributes))));
    if (!ome_ && array().version == 2 && Json::parse(array().attributes).contains(kArrayDimensions))
      warn(fmt::format("the attribute {} is ignored: it does not name the axes of the array",
                       kArrayDimensions));
    if (!ome_ && !array().quoted_numbers.empty()) warn(quoted_numbers_warning(array().quoted_numbers));
    std::string written_letters;
    for (const int axis : axes_.others) written_letters += axes_.letters[static_cast<std::size_t>(axis)];
    written_letters += axes_.channel >= 0 ? "yxc" : "yx";
    if (!ome_ && written_letters != axes_.letters)
      warn(fmt::format("an array of {} is written as {}",
                       axes_.letters.empty() ? "no axes" : "the axes " + axes_.letters, written_letters));
    for (std::size_t i = 0; i < axes_.others.size(); ++i) {
      const auto axis = static_cast<std::size_t>(axes_.others[i]);
      const std::int64_t shared_positions = std::min(array().block()[axis], array().shape[axis]);
      if (shared_positions > 1)
        warn(
            fmt::format("chunks hold {} positions of axis {}, so that each is decoded more than once where "
                        "memory holds too few of them",
                        shared_positions, axes_.rasters[i].name));
    }
  }

  std::shared_ptr<ZarrSource> source_;
  ZarrAxes axes_;
  std::optional<OmeSource> ome_;
  std::optional<double> nodata_;
  std::vector<std::string> warnings_;
  StoredChunks chunks_;
  bool is_consolidated_, is_folder_;
};

/// Converts images along c to the channels of a pixel.
void join_channels(ZarrAxes& axes) {
  const auto c = std::ranges::find(axes.rasters, "c", &RasterAxis::name);
  if (c == axes.rasters.end()) return;
  const auto at = axes.others.begin() + (c - axes.rasters.begin());
  axes.channel = *at;
  axes.others.erase(at);
  axes.rasters.erase(c);
}

std::unique_ptr<ZarrSet> make_zarr_set(InputFile file, const OpenOptions& options) {
  const std::string key = file.inner();
  const bool is_folder = file.is_folder();
  auto store = open_store(std::move(file));
  const fs::path path = store->name_of(key);
  ResolvedArray found = find_array(*store, key, options.level);
  if (found.ome && !options.axes.empty())
    throw InvalidArgument(fmt::format(
        "OpenOptions::axes {} is for arrays, and the OME-Zarr metadata of {} say what its axes are; leave it "
        "out",
        options.axes, path.native()));
  found.nodata = extract_nodata(found.array, found.ome.has_value(), found.warnings);
  StoredChunks chunks = count_stored(*store, found.key, found.array);
  if (const std::string warning =
          check_missing_chunks(chunks, found.array, store->name_of(found.key), options.missing_chunks);
      !warning.empty())
    found.warnings.push_back(warning);
  auto source = std::make_shared<ZarrSource>(std::move(store), found.key, std::move(found.array),
                                             options.missing_chunks == MissingChunks::error);
  ZarrAxes axes = zarr_axes(source->array(), options.axes, source->name());
  const bool picks_channels = options.select.find("c=") != options.select.npos;
  if (found.ome && is_picture(found.ome->image) && !picks_channels) join_channels(axes);
  auto set = std::make_unique<ZarrSet>(path, std::move(source), std::move(axes), std::move(found),
                                       std::move(chunks), is_folder);
  if (!options.select.empty()) set->select(parse_selection(options.select));
  if (options.page) set->select({{"", *options.page, *options.page}});
  return set;
}

/// The files in a folder.
struct Inventory {
  std::int64_t files = 0, bytes = 0;
  bool is_complete = true;
};

/// Counts at most `max_files` files.
Inventory inventory(const fs::path& folder, std::int64_t max_files) {
  Inventory found;
  std::error_code failed;
  for (fs::recursive_directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    std::error_code unknown;
    if (!fs::is_regular_file(entry->symlink_status(unknown))) continue;
    found.is_complete = found.files < max_files;
    if (!found.is_complete) return found;
    const std::uintmax_t bytes = entry->file_size(unknown);
    if (!unknown) ++found.files, found.bytes += static_cast<std::int64_t>(bytes);
  }
  found.is_complete = !failed;
  return found;
}

}  // namespace

bool is_zarr_folder(const fs::path& path, const OpenOptions&) { return has_zarr_metadata(path); }

bool is_zip(std::span<const std::byte> head) noexcept {
  return begins_with(head, "PK\3\4") || begins_with(head, "PK\5\6");
}

std::unique_ptr<RasterSet> open_zarr_set(InputFile file, const OpenOptions& options) {
  return make_zarr_set(std::move(file), options);
}

std::unique_ptr<Reader> open_zarr(InputFile file, const OpenOptions& options) {
  const fs::path path = file.path();
  return only_raster(*make_zarr_set(std::move(file), options), path);
}

FileInfo describe_zarr(InputFile file, const OpenOptions& options) {
  constexpr std::int64_t kMaxFiles = 100'000;
  const Inventory stored = file.is_folder() ? inventory(file.path(), kMaxFiles) : Inventory{1, file.size()};
  const std::int64_t file_bytes = stored.is_complete ? stored.bytes : 0;
  std::unique_ptr<ZarrSet> set;
  try {
    OpenOptions shown = options;  // an array without chunks is described, too
    if (!shown.missing_chunks) shown.missing_chunks = MissingChunks::fill;
    set = make_zarr_set(std::move(file), shown);
  } catch (const OmeChoice& several) {
    FileInfo info;
    info.format = "OME-Zarr";
    info.page_count = info.images = 0;
    info.file_bytes = file_bytes;
    info.no_set = several.what();
    return info;
  }
  FileInfo info = describe_image(*set->raster(0), file_bytes);
  info.page_count = info.images = set->count();
  info.axes = set->axes();
  auto& facts = info.pages.front().facts;
  if (set->ome()) {
    info.levels = set->ome()->smaller_levels;
    facts = ome_facts(*set->ome());
  }
  if (!stored.is_complete)
    facts.emplace_back("stored bytes",
                       fmt::format("at least {}, in {} files and more", stored.bytes, stored.files));
  const ZarrArray& array = set->array();
  if (!array.shape.empty()) facts.emplace_back("axes", set->axes_of_array().letters);
  facts.emplace_back("stored", set->chunks().text());
  if (!set->chunks().cause.empty()) facts.emplace_back("none stored", set->chunks().cause);
  facts.emplace_back("fill value",
                     array.has_fill ? format_zarr_fill(array.fill, array.type, array.version) : "null");
  if (array.attributes != "{}") facts.emplace_back("attributes", array.attributes);
  return info;
}

bool zarr_supports_type(SampleType type) noexcept { return !type.is_packed(); }

}  // namespace sepconv
