// Writes images to arrays in a folder. Private to io.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/writer.hpp"
#include "io/zarr/shard_writer.hpp"
#include "io/zarr/staging_directory.hpp"
#include "io/zarr/zarr_result.hpp"

namespace sepconv {

/// An array that is written. Each chunk or shard file appears under its name only when it is complete.
struct ZarrTarget {
  std::shared_ptr<StagingDirectory> folder;
  std::string key;  ///< of the array in the folder; "" for the folder itself
  ZarrArray array;  ///< from zarr_result_array()
  ZarrAxes axes;
  std::unique_ptr<ShardWriter> shards;  ///< null without shards; shared by all images of the array

  std::string chunk_key(const ZarrShape& chunk) const { return joined_key(key, array.chunk_key(chunk)); }
  /// Whether a name in the folder is the key of a chunk of this array.
  bool has_chunk(std::string_view name) const {
    if (key.empty()) return array.has_key(name);
    return name.starts_with(key + "/") && array.has_key(name.substr(key.size() + 1));
  }
  /// Writes the metadata after all images. Throws std::logic_error if a shard lacks a block.
  void finish() const;
};

/// A writer of the image at this position along the other axes. Its finish() calls `on_finish`.
std::unique_ptr<Writer> make_zarr_writer(std::shared_ptr<const ZarrTarget> target, const ImageSpec& spec,
                                         std::vector<std::int64_t> position, SinkLayout layout,
                                         std::function<void()> on_finish = {});

/// Rows and columns of a shard; empty if each chunk is a file.
Extent shard_of(const ZarrTarget& target);
/// The layout of the array as a sink.
SinkLayout zarr_sink_layout(const ZarrTarget& target, const CreateOptions& options);

}  // namespace sepconv
