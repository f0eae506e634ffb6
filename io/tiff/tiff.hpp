// TIFF and BigTIFF through libtiff, which decodes and encodes on as many threads as the executor has.
// docs/formats.md lists what is read and written.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "io/formats.hpp"

namespace sepconv {

/// Whether a file that begins with these bytes (at least 4) is a TIFF or BigTIFF of either byte order.
bool is_tiff(std::span<const std::byte> head) noexcept;

/// Throws IoError where it is not.
void check_is_tiff(const InputFile& file);

/// Opens the directory that the options name, else the file's only image. Throws IoError: not a TIFF, no such
/// page, damaged, unsupported codec or pixel layout (and says which are supported).
std::unique_ptr<Reader> open_tiff(InputFile file, const OpenOptions& options = {});
/// The images of the file that the options name, else all that are of one shape and type.
std::unique_ptr<RasterSet> open_tiff_set(InputFile file, const OpenOptions& options);

/// See create_writer.
std::unique_ptr<Writer> create_tiff(const std::filesystem::path& path, const ImageSpec& spec,
                                    const CreateOptions& options);

/// See create_set. Rasters become pages; what they are along their axes is said by the description that comes
/// with the metadata, else by OME-XML (.ome.tif) or tifffile's JSON, unless all that is known is that they
/// are pages.
std::unique_ptr<RasterSetWriter> create_tiff_set(const std::filesystem::path& path, const RasterSetSpec& spec,
                                                 const CreateOptions& options);

/// Integers of 8, 16, 32 and 64 bits, f16 to f64, and complex numbers of two f32 or f64.
bool tiff_holds(SampleType type) noexcept;

/// Not OME-TIFF, which counts the pages of a file.
bool tiff_holds_mask(const std::filesystem::path& path, const Metadata& metadata);

/// Pages that cannot be read are listed with the reason, unless the options ask for one.
FileInfo describe_tiff(InputFile file, const OpenOptions& options);

}  // namespace sepconv
