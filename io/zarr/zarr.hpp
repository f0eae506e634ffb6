// Zarr 2 and 3, which store an array as a folder of chunks: https://zarr.dev. Zip files of such a folder are
// read, but not written.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "io/formats.hpp"
#include "io/raster_set.hpp"

namespace sepconv {

/// Whether a folder has the metadata of an array or a group, or the mark of an unfinished one.
bool is_zarr_folder(const std::filesystem::path& path, const OpenOptions& options);

/// Whether a file with these first bytes is a zip file, which may contain a Zarr.
bool is_zip(std::span<const std::byte> head) noexcept;

/// Opens an array, or a group that contains one.
std::unique_ptr<RasterSet> open_zarr_set(InputFile file, const OpenOptions& options = {});
std::unique_ptr<Reader> open_zarr(InputFile file, const OpenOptions& options = {});
FileInfo describe_zarr(InputFile file, const OpenOptions& options);

/// Creates an array of one image, or of several. The target's name appears only when the result is complete.
std::unique_ptr<Writer> create_zarr(const std::filesystem::path& path, const ImageSpec& spec,
                                    const CreateOptions& options);
std::unique_ptr<RasterSetWriter> create_zarr_set(const std::filesystem::path& path, const RasterSetSpec& spec,
                                                 const CreateOptions& options);

/// Sets Compression::zstd of level 1 for 8-bit elements, and Blosc with bit shuffle and lz4 for larger ones.
/// A photograph gets 9 % (u16) to 22 % (f32) smaller than with zstd, and encoding is not slower.
void set_default_zarr_layout(FileLayout& layout, SampleType type);

/// Whether Zarr supports the type: all types except packed ones.
bool zarr_supports_type(SampleType type) noexcept;

}  // namespace sepconv
