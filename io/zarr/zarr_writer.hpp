// Images written into arrays of a folder. Private to io.
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

/// An array in the making: each chunk or shard becomes a file at once and as a whole.
struct ZarrTarget {
  std::shared_ptr<StagingDirectory> folder;
  std::string key;  ///< of the array in it; "" for the folder itself
  ZarrArray array;  ///< by zarr_result()
  ZarrAxes axes;
  std::unique_ptr<ShardWriter> shards;  ///< where the array has them: they may hold blocks of several images

  std::string key_of(const ZarrShape& chunk) const { return joined_key(key, array.key_of(chunk)); }
  /// Whether a name in the folder is that of one of its chunks.
  bool has_chunk(std::string_view name) const {
    if (key.empty()) return array.has_key(name);
    return name.starts_with(key + "/") && array.has_key(name.substr(key.size() + 1));
  }
  /// When all images are written. Throws std::logic_error if a shard lacks a block.
  void finish() const;
};

/// The sink of the image at this position along the other axes. Its finish() calls `then`.
std::unique_ptr<Writer> make_zarr_writer(std::shared_ptr<const ZarrTarget> target, const ImageSpec& spec,
                                         std::vector<std::int64_t> position, SinkLayout layout,
                                         std::function<void()> then = {});

/// Rows and columns of a shard; none: each chunk is a file.
Extent shard_of(const ZarrTarget& target);
/// What is said of such an array as a sink.
SinkLayout zarr_sink_layout(const ZarrTarget& target, const CreateOptions& options);

}  // namespace sepconv
