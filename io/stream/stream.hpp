// Images in pipes and sockets. Rows are transferred once and in order, so that only a few rows are in memory.
// Formats: NPY (C order, any axes), raw, and PPM or PGM (binary). The receiver gets rows before the last is
// computed, and must treat an early end as an error. A stream is a set of rasters like a file and can be
// either end of a job (JobEndpoints).
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "io/byte_stream.hpp"
#include "io/raster_set.hpp"

namespace sepconv {

enum class StreamFormat : std::uint8_t { npy, raw, ppm };
/// Returns "npy", "raw" or "ppm".
std::string_view name_of(StreamFormat format) noexcept;

struct InputStream {
  StreamFormat format;
  /// The readers are Access::sequential and share the stream. Rasters must be opened and read in ascending
  /// order; those between are skipped.
  std::unique_ptr<RasterSet> rasters;
};

/// Reads the header of a stream. The format is raw if OpenOptions::raw is set, else it is detected by the
/// first bytes. Error messages begin with `name`. Bytes after the last row are an error when that row is
/// read. Throws IoError, also for data that cannot be read in order (Fortran order, PNM as text), and
/// InvalidArgument for unsupported options.
InputStream open_stream(const std::string& name, ReadBytes read, const OpenOptions& options = {});

/// Creates writers that are Access::sequential, one after another. `write` is not called before the first
/// row. PPM is PGM for one channel, and stores one image. Only the stored type, metadata and warnings of
/// `options` are used. Throws InvalidArgument if the format cannot store the image.
std::unique_ptr<RasterSetWriter> create_stream(const std::string& name, WriteBytes write, StreamFormat format,
                                               const RasterSetSpec& spec, const CreateOptions& options);

/// Byte functions of a blocking descriptor, which the caller owns. A stop ends waiting with Cancelled. Throws
/// IoError; its error() is EPIPE if the reader has closed the pipe.
ReadBytes bytes_from(int descriptor, const std::string& name, std::stop_token stop = {});
WriteBytes bytes_to(int descriptor, const std::string& name, std::stop_token stop = {});

}  // namespace sepconv
