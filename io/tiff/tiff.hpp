// TIFF and BigTIFF by libtiff, decoded and encoded on all threads of the executor. docs/formats.md lists the
// supported features.
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

/// Throws IoError if the file is not a TIFF.
void check_is_tiff(const InputFile& file);

/// Opens the page that the options select, or the file's only image. Throws IoError if the file is not a TIFF
/// or is damaged, the page does not exist, or a codec or pixel layout is unsupported (and lists the supported
/// ones).
std::unique_ptr<Reader> open_tiff(InputFile file, const OpenOptions& options = {});
/// Opens the images that the options select, or all images if they have one shape and type.
std::unique_ptr<RasterSet> open_tiff_set(InputFile file, const OpenOptions& options);

/// See create_writer.
std::unique_ptr<Writer> create_tiff(const std::filesystem::path& path, const ImageSpec& spec,
                                    const CreateOptions& options);

/// See create_set. Rasters become pages. The description in the metadata describes their axes; if it does
/// not, OME-XML (.ome.tif) or tifffile's JSON does, unless the only axis is that of pages.
std::unique_ptr<RasterSetWriter> create_tiff_set(const std::filesystem::path& path, const RasterSetSpec& spec,
                                                 const CreateOptions& options);

/// Whether a TIFF can store this type: integers of 8, 16, 32 and 64 bits, f16 to f64, and complex numbers of
/// two f32 or f64.
bool tiff_can_store(SampleType type) noexcept;

/// Whether a mask can be a page of the file. It cannot in OME-TIFF, which counts the pages of a file.
bool tiff_can_store_mask(const std::filesystem::path& path, const Metadata& metadata);

/// Describes the file. Pages that cannot be read are listed with the reason, unless the options select one.
FileInfo describe_tiff(InputFile file, const OpenOptions& options);

}  // namespace sepconv
