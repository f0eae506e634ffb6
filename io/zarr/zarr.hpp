// Zarr, an array as a folder of chunks: https://zarr.dev. Versions 2 and 3; a folder, or a zip file of one,
// which is only read.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "io/formats.hpp"
#include "io/raster_set.hpp"

namespace sepconv {

/// Whether it is a folder with the metadata of an array or a group, or with the mark of one that was begun.
bool is_zarr_folder(const std::filesystem::path& path, const OpenOptions& options);

/// Whether a file with these first bytes is a zip file, which may hold one.
bool is_zip(std::span<const std::byte> head) noexcept;

/// An array, or a group that holds one.
std::unique_ptr<RasterSet> open_zarr_set(InputFile file, const OpenOptions& options = {});
std::unique_ptr<Reader> open_zarr(InputFile file, const OpenOptions& options = {});
FileInfo describe_zarr(InputFile file, const OpenOptions& options);

/// An array of one image, or of several. Nothing has the target's name before all of it is there.
std::unique_ptr<Writer> create_zarr(const std::filesystem::path& path, const ImageSpec& spec,
                                    const CreateOptions& options);
std::unique_ptr<RasterSetWriter> create_zarr_set(const std::filesystem::path& path, const RasterSetSpec& spec,
                                                 const CreateOptions& options);

/// Compression::zstd of level 1 for single bytes. Larger elements are blosc's, by lz4 behind a shuffle of
/// bits: of a photograph 9 % (u16) to 22 % (f32) smaller than by zstd, and no slower.
void set_usual_zarr_layout(FileLayout& layout, SampleType type);

/// All but packed ones.
bool zarr_holds(SampleType type) noexcept;

}  // namespace sepconv
