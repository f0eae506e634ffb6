// Images as streams of bytes, in pipes and sockets: rows come once, in order, and take no more memory than a
// few of them. NPY (C order, any axes), raw, and PPM or PGM (binary). Nothing of a stream can be taken back:
// who takes it sees rows before the last is made, and one that ends early is an error of whoever reads.
// A stream is a set of rasters as a file is: JobEndpoints takes it for either end of a job.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "io/byte_stream.hpp"
#include "io/raster_set.hpp"

namespace sepconv {

enum class StreamFormat : std::uint8_t { npy, raw, ppm };
/// "npy", "raw", "ppm".
std::string_view name_of(StreamFormat format) noexcept;

struct InputStream {
  StreamFormat format;
  /// Their readers are Access::sequential and share the stream: rasters are opened and read in ascending
  /// order, those between are passed over.
  std::unique_ptr<RasterSet> rasters;
};

/// Reads a header. It is raw if OpenOptions::raw says so, else what its first bytes say; `name` begins
/// errors. Bytes behind the last row are an error when that is read. Throws IoError, also for what cannot be
/// read in order (Fortran order, PNM as text), and InvalidArgument for options that mean nothing to it.
InputStream open_stream(const std::string& name, ReadBytes read, const OpenOptions& options = {});

/// Writers that are Access::sequential, one after another; `write` gets nothing before the first row. PPM is
/// PGM for one channel, and holds one image. Of `options` what is stored, metadata and warnings count. Throws
/// InvalidArgument for what the format cannot hold.
std::unique_ptr<RasterSetWriter> create_stream(const std::string& name, WriteBytes write, StreamFormat format,
                                               const RasterSetSpec& spec, const CreateOptions& options);

/// The bytes of a descriptor, which stays the caller's and is to block. A stop ends the waiting for them with
/// Cancelled. Throws IoError; its error() is EPIPE where who reads has gone.
ReadBytes bytes_from(int descriptor, const std::string& name, std::stop_token stop = {});
WriteBytes bytes_to(int descriptor, const std::string& name, std::stop_token stop = {});

}  // namespace sepconv
