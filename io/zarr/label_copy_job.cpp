#include "io/zarr/label_copy_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "core/memory.hpp"
#include "io/file_errors.hpp"
#include "io/stack/ngff.hpp"
#include "io/zarr/zarr_codecs.hpp"
#include "io/zarr/zarr_json.hpp"
#include "io/zarr/zarr_source.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kCopyBytes = 1 << 20;

/// Whether a folder is the result itself or another incomplete result, and not part of a label image.
bool is_incomplete_result(const fs::path& folder, const fs::path& target) {
  std::error_code ignored;
  return is_incomplete_output(folder) || fs::equivalent(folder, target, ignored);
}

void copy_object(const ZarrObject& from, StagingDirectory& to, const std::string& name,
                 const Buffer& buffer) {
  for (std::int64_t at = 0; at == 0 || at < from.size(); at += kCopyBytes) {
    const auto part = buffer.bytes().first(static_cast<std::size_t>(std::min(kCopyBytes, from.size() - at)));
    from.read_at(at, part);
    to.write_part(name, at == 0, at, part);
  }
  to.complete_part(name, from.size());
}

/// Copies all files below `below`, a key of the store, except those of these names.
void copy_files(const ZarrStore& store, const std::string& folder_key, StagingDirectory& to,
                const std::string& key, const MetadataFiles& excluded) {
  const Buffer buffer(kCopyBytes);
  for (fs::recursive_directory_iterator at(store.name_of(folder_key)), end; at != end; ++at) {
    const fs::directory_entry& entry = *at;
    if (entry.is_directory() && !entry.is_symlink()) {
      if (is_incomplete_result(entry.path(), to.target())) at.disable_recursion_pending();
      continue;
    }
    const std::string name = entry.path().lexically_relative(store.path()).native();
    if (std::ranges::find(excluded, name, &MetadataFiles::value_type::first) != excluded.end()) continue;
    const auto object = store.open(name);
    if (!object)
      throw_read_error(entry.path(), "it is not a file, and label images go along as files; take it away");
    copy_object(*object, to, joined_key(key, name), buffer);
  }
}

ZarrNode group_at(const ZarrStore& store, const std::string& key) {
  auto node = read_zarr_node(store, key);
  if (!node || node->array) throw_read_error(store.name_of(key), "it is not a Zarr group");
  return *std::move(node);
}

/// Whether the version has no suffix ("0.5-dev-NAME"), which a result does not keep. True for other nodes,
/// which are copied unchanged.
bool has_plain_version(const ZarrStore& store, const std::string& key) {
  try {
    const NgffGroup metadata = read_ngff(group_at(store, key).attributes, store.name_of(key).native());
    return metadata.full_version == metadata.version;
  } catch (const IoError&) {
    return true;
  }
}

/// The array without shards, which Zarr 2 does not support, and with axis names, which OME-Zarr 0.5 requires.
ZarrArray convert_to_version(const ZarrArray& array, int zarr, const OmeImage& image, const fs::path& name) {
  ZarrArray result = array;
  if (image.axes.size() != array.shape.size()) throw_read_error(name, "its axes are not the label image's");
  result.names = axis_names(image);
  result.version = zarr;
  result.chunk = array.block();
  result.shards.clear();
  result.v2_chunk_keys = zarr == 2;
  result.separator = '/';
  std::vector<std::string> ignored_warnings;  // difference() reports them
  fit_to_version(result, ignored_warnings);
  if (zarr == 2 && !std::ranges::is_sorted(result.order) &&
      !std::ranges::is_sorted(result.order, std::greater<>()))
    throw_read_error(name, "its elements lie in an order that Zarr 2 does not support");
  return result;
}

/// Calls `visit` for every position of the grid of blocks.
void for_each_block(const ZarrArray& array, const std::function<void(const ZarrShape&)>& visit) {
  ZarrShape position(array.shape.size());
  if (std::ranges::find(array.shape, 0) != array.shape.end()) return;
  for (std::size_t axis = 0; axis < position.size();) {
    visit(position);
    for (axis = 0; axis < position.size(); ++axis) {
      if (++position[axis] * array.block()[axis] < array.shape[axis]) break;
      position[axis] = 0;
    }
  }
}

void add_texts(const MetadataFiles& texts, StagingDirectory& to, const std::string& key) {
  for (const auto& [name, text] : texts) to.add(joined_key(key, name), std::as_bytes(std::span(text)));
}

}  // namespace

LabelCopyJob::LabelCopyJob(const LabelImages& labels, int zarr, std::int64_t levels)
    : store_(open_folder_store(InputFile(labels.folder, InputFile::Folders::taken))), zarr_(zarr) {
  const ZarrNode list = group_at(*store_, "");
  is_same_version_ = list.version == zarr;
  has_all_levels_ = levels == labels.levels;
  const std::vector<std::string> names = read_ngff(list.attributes, labels.folder.native()).labels;
  can_copy_all_ =
      is_same_version_ && has_all_levels_ &&
      std::ranges::all_of(names, [&](const std::string& name) { return has_plain_version(*store_, name); });
  const std::string attributes = convert_label_attributes(list.attributes, zarr, levels);
  // ome-zarr-py leaves out the version, which 0.5 requires.
  if (!can_copy_all_ || Json::parse(attributes) != Json::parse(list.attributes))
    groups_.push_back({"", zarr_group_files(zarr, attributes)});
  if (can_copy_all_) return;
  for (const std::string& name : names) add_image(name, levels);
}

void LabelCopyJob::add_image(const std::string& key, std::int64_t levels) {
  const ZarrNode group = group_at(*store_, key);
  const NgffGroup metadata = read_ngff(group.attributes, store_->name_of(key).native());
  if (metadata.images.size() != 1) throw_read_error(store_->name_of(key), "it is not a label image");
  groups_.push_back(
      {key, zarr_group_files(zarr_, convert_label_attributes(group.attributes, zarr_, levels))});
  for (const NgffLevel& level : metadata.images.front().levels) {
    if (levels-- == 0) break;
    const std::string at = joined_key(key, level.path);
    const auto node = read_zarr_node(*store_, at);
    if (!node || !node->array) throw_read_error(store_->name_of(at), "it is not a Zarr array");
    levels_.push_back(
        {at, *node->array,
         convert_to_version(*node->array, zarr_, metadata.images.front().image, store_->name_of(at))});
  }
}

std::string LabelCopyJob::difference() const {
  if (is_same_version_ && has_all_levels_) return {};
  if (is_same_version_) return "label images are copied with their first levels only, as the image has";
  return fmt::format(
      "label images are re-encoded for Zarr {}, each chunk in a separate file and by codecs that it has",
      zarr_);
}

std::int64_t LabelCopyJob::memory_bytes() const {
  std::int64_t max_bytes = kCopyBytes;
  for (const Level& level : is_same_version_ ? std::vector<Level>() : levels_)
    max_bytes = std::max(max_bytes, ZarrSource(store_, level.key, level.source).memory_bytes(1) +
                                        ZarrCoder::encoder_bytes(level.result) + level.result.block_bytes());
  return max_bytes;
}

void LabelCopyJob::write(StagingDirectory& to, const std::string& key) const {
  if (can_copy_all_)
    copy_files(*store_, "", to, key, groups_.empty() ? MetadataFiles{} : groups_.front().texts);
  for (const Level& level : levels_) {
    if (is_same_version_)
      copy_files(*store_, level.key, to, key, {});
    else
      write_level(level, to, joined_key(key, level.key));
  }
  for (const Group& group : groups_) add_texts(group.texts, to, joined_key(key, group.key));
}

void LabelCopyJob::write_level(const Level& level, StagingDirectory& to, const std::string& key) const {
  ZarrSource source(store_, level.key, level.source);
  ZarrCoder coder(level.result);
  const Buffer block(level.result.block_bytes());
  for_each_block(level.result, [&](const ZarrShape& position) {
    const auto found = source.block(position, false);
    if (!found) return;
    std::memcpy(block.data(), found->data(), static_cast<std::size_t>(block.size()));
    to.add(joined_key(key, level.result.chunk_key(position)), coder.encode(block.bytes(), to.target()));
  });
  add_texts(zarr_array_files(level.result), to, key);
}

}  // namespace sepconv
