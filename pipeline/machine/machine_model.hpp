// Cost model of a machine. The planners rank tilings and predict run times with it.
//
// Every value is a default with its origin, unless model_from_limits() derived it from measurements: (E) an AMD EPYC
// of the Zen 4 kind and an Intel Xeon, 2 threads each, with AVX-512 and with AVX2; (H) an NVIDIA H200 on a
// host of 16 processors. docs/benchmarks.md contains the measurements. Times are in seconds; rates are bytes
// or multiply-adds per second. A cost in "bytes" equals the time to move that many bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/encoded_tiles.hpp"
#include "kernels/device/device_rates.hpp"
#include "pipeline/machine/host_rates.hpp"

namespace sepconv {

/// Processors, caches and memory.
struct HostModel {
  double fma_seconds = 30e-12;  ///< one f32 fused multiply-add of a thread, per vector element: 20 to 60 per
                                ///< nanosecond with AVX2 and AVX-512 (E), 25 on all processors (H)
  double row_seconds = 90e-9;   ///< start of a tile row: border, pointers, loop set-up (E)
  double tile_seconds = 3e-6;   ///< dispatch of a tile to a thread (E)
  double band_seconds = 90e-6;  ///< passing a band from reader to computer to writer, with wake-ups (E)
  double moved_byte_seconds = 0.24e-9;  ///< one byte of a band read or written by a thread (E)
  double packed_seconds = 0.48e-9;      ///< one element of a matrix operand read, converted and packed (E)
  double straggler =
      0.25;  ///< part of a tile's time that threads wait for the last one, delayed by other processes (E)
  std::int64_t cache_bytes = 1 << 20;  ///< scratch that fits one core's L2 cache
  double out_of_cache = 1.3;           ///< time factor if the scratch is larger than that (E)
  std::int64_t band_bytes =
      8 << 20;  ///< size of a band's input or output; the outer caches retain it between steps (E, H)
  std::int64_t memory_gap_bytes = 256;  ///< overhead per piece of a row copied within memory (E)
  double no_overlap = 1.6;              ///< time factor with one slot: no step overlaps another (E)
  double some_overlap = 1.05;           ///< time factor with two slots: one of the three sometimes waits (E)
  // For predictions alone.
  double start_seconds = 0.02;  ///< of the program, its threads and files: 0.012 (E) to 0.03 (H)
  double wide = 2;              ///< time factor of f64 arithmetic: a vector has half the elements
  double copy_rate = 12e9;      ///< memory copy by one thread, read + written (E)
  double max_copy_rate = 90e9;  ///< memory copy by all threads (H)
  double contention = 0.4;      ///< fraction of the other host steps' time that is added to the longest: they
                                ///< share processors, memory and a thread pool (H: 0.36 and 0.6, see
                                ///< decisions/0013)
};

/// Files in the page cache. All threads read. One thread writes with write(), or several store to mapped pages
/// (io/mapped_store.hpp).
struct FileModel {
  std::int64_t read_piece_bytes = 512;        ///< overhead of reading each contiguous piece of a file (E)
  std::int64_t written_piece_bytes = 8192;    ///< overhead of writing each piece (E)
  std::int64_t read_tile_bytes = 4096;        ///< overhead of reading a row of tiles, each at another offset:
                                              ///< 1 us (E)
  std::int64_t written_tile_bytes = 16384;    ///< the same for writing: 3 us (E)
  std::int64_t long_piece_bytes = 256 << 10;  ///< longer pieces were not measured to be faster (E)
  // For predictions alone.
  double read_rate = 4.2e9;        ///< a thread (E)
  double max_read_rate = 40e9;     ///< by all threads: half the rate of memory copies (H)
  double write_rate = 3.5e9;       ///< by one thread to a new file (H: 2.9e9 to 4.2e9)
  double mapped_write_rate = 5e9;  ///< by several to a mapped file, from file to file (H: 4.3e9 to 4.9e9)
  /// Uncompressed bytes per second of one thread, decoding and encoding at the default level. Names as in
  /// SourceLayout::codec; other codecs count as deflate. Deflate decodes 45e6 (smooth images) to 1.2e9
  /// (photographs), and from files 450e6 (u16 after a full match search) to 1.1e9. Measured by `sepconv run`
  /// without a stage, minus the time of a copy (E).
  struct Codec {
    std::string_view name;
    double decode_rate, encode_rate;
  };
  std::array<Codec, 10> codecs{{{"deflate", 450e6, 40e6},
                                {"deflate:fast", 450e6, 500e6},
                                {"zstd", 650e6, 250e6},
                                {"zstd:fast", 800e6, 500e6},
                                {"LZW", 148e6, 78e6},
                                {"JPEG", 122e6, 80e6},
                                {"PackBits", 1e9, 1e9},       ///< not measured: copies and counts
                                {"LZ4", 4e9, 2.5e9},          ///< Zarr; also the other codecs of blosc
                                {"CRC-32C", 1.4e9, 1.4e9},    ///< Zarr, the checksum alone
                                {"picture", 150e6, 700e6}}};  ///< PNG; the other picture formats are faster
  /// Encoding time at `level` relative to the default level: tiles of photographs after a predictor,
  /// libdeflate 1.14 and zstd 1.5.4 (E). 1 for other codecs.
  static double level_time_factor(std::string_view codec, int level) noexcept;
};

/// The bus between page-locked memory and a GPU: PCIe 5.0 x16 (H).
struct BusModel {
  double one_way_rate = 53e9;    ///< large copies while kernels run; `sepconv devices` measures 55.4e9
                                 ///< without kernels
  double both_ways_rate = 50e9;  ///< per direction; `sepconv devices` measures 50.7e9
  double gap_seconds =
      0.12e-6;  ///< per row that is followed by a gap, while kernels run now and then. For images with rows
                ///< shorter than gap_pitch_bytes it falls with the square of row length / gap_pitch_bytes
  double gap_pitch_bytes = 64 << 10;
  double long_gap_seconds = 0.058e-6;      ///< the same for uploads of rows of at least long_row_bytes
  std::int64_t long_row_bytes = 32 << 10;  ///< a kernel copies shorter rows faster where one can run
  double kernel_byte = 0.18;               ///< time of a byte that a kernel stores over the bus, relative to
                                           ///< a copied byte
  double kernel_row_bytes = 80;            ///< overhead of each row stored by a kernel, in bytes
  double kernel_copy = 2.8;                ///< time factor of short rows stored by a kernel along with matrix
                                           ///< products
  double file_factor = 10;                 ///< the bus moves as many times more bytes than a file in the same
                                           ///< time
  double page_lock_rate = 10e9;            ///< allocating and page-locking memory
  double staged = 1.05;                    ///< time factor of staging: host memory moves each byte twice more
  double staging_rate = 6e9;               ///< bytes gathered into a staging buffer by one thread
};

/// A GPU (H) and its band sizes. With n bands, the first upload and the last download cannot overlap and take
/// 1/n of the bus time; each band costs band_seconds. The sum is minimal for bands of sqrt(image_bytes *
/// band_bytes()).
struct DeviceModel {
  double fma_seconds = 4.5e-14;  ///< one f32 fused multiply-add of filters of radius 32 to 80 (H)
  double band_seconds = 26e-6;   ///< kernel launches and events per band
  double wide = 2;               ///< times as long: arithmetic in f64
  double copy_rate = 4.2e12;     ///< within device memory, read + written
  /// Uncompressed bytes per second of a band: decoding of u8, decoding of larger types, and encoding. From
  /// (H), and from an H100 where measured alone.
  struct Codec {
    BlockCodec codec;
    std::string_view name;
    double decode_rate, wide_decode_rate, encode_rate;
  };
  std::array<Codec, 5> codecs{
      {{BlockCodec::zlib, "deflate", 6e9, 4.5e9, 40e9},  ///< decoding u8 5.6e9 to 6.3e9, u16 3.4e9 to 4.5e9,
                                                         ///< f32 4.5e9
       {BlockCodec::gzip, "gzip", 6e9, 4.5e9, 40e9},     ///< as deflate
       {BlockCodec::zstd, "zstd", 3.6e9, 8.3e9, 15e9},   ///< level 1; `fast` 5.7e9 to 8.2e9
       {BlockCodec::lz4, "LZ4", 6e9, 4.5e9, 40e9},       ///< not measured: as deflate
       {BlockCodec::jpeg, "JPEG", 8e9, 8e9, 40e9}}};     ///< grey 5.4e9, RGB 10e9 to 13e9; never encoded
  const Codec& codec(BlockCodec block_codec) const { return codecs[static_cast<std::size_t>(block_codec)]; }
  std::int64_t coded_blocks = 256;     ///< minimum number of blocks in a decoded band, unless that leaves
                                       ///< fewer
  std::int64_t min_encoded_bands = 8;  ///< bands than this
  double start_seconds = 0.34;         ///< creating a process's CUDA context: 0.33 to 0.35
  double query_seconds = 0.15;         ///< part of it that a query for GPUs takes (H: 0.1 to 0.3)
  std::int64_t min_band_bytes = 4 << 20;
  std::int64_t max_band_bytes = 128 << 20;
  std::int64_t max_staged_band_bytes = 8 << 20;  ///< if rows pass through host slots: they stay in caches
  std::int64_t max_transposed_bytes = 1 << 30;   ///< bands of a transposed result, memory to memory
  std::int64_t product_elements = 1 << 20;       ///< elements of a matrix product that keep the GPU busy: one
                                                 ///< sum is not split
  double band_bytes(const BusModel& bus) const { return band_seconds * bus.both_ways_rate; }
};

/// Matrix products by OpenBLAS and cuBLAS.
struct GemmModel {
  double host_fma_f32_rate = 40e9;  ///< one thread (E)
  double host_fma_f64_rate = 20e9;
  double host_read_rate = 2e9;           ///< by all threads (E)
  double host_touch_rate = 20e9;         ///< bytes of a tile, re-read or re-written for every panel (E)
  double device_fma_f32_rate = 25.5e12;  ///< (H)
  double device_fma_f64_rate = 28.5e12;  ///< with tensor cores (H)
  double device_touch_f32_rate = 1.4e12;
  double device_touch_f64_rate = 3.2e12;
  double step_seconds = 40e-6;      ///< synchronisation of threads and streams (E, H)
  double edge = 16;                 ///< elements added to each side: the libraries work in blocks (E, H)
  double blocked_edge = 32;         ///< the same if cuBLAS uses no tensor cores (H)
  std::int64_t device_block = 128;  ///< side of a multiprocessor's tile in that case (H)
};

struct MachineModel {
  HostModel host;
  FileModel files;
  BusModel bus;
  DeviceModel device;
  GemmModel products;
};

/// Measured limits of a machine; 0 means not measured.
struct MachineLimits {
  int threads = 1;                ///< host threads used for the measurement
  HostRates host{};               ///< f32 rates
  double fma_f64_per_second = 0;  ///< rate of the host
  DeviceRates device{};
  std::vector<FileModel::Codec> codecs{};  ///< rates of one host thread
};
/// Measures the host in about a tenth of a second and, if `device` is not negative, that GPU in a few tenths
/// of a second. `threads` 0: all processors. Throws DeviceError and OutOfMemory.
MachineLimits measure_limits(int threads = 0, int device = -1);

/// The default model with these values from `limits`: host copies, arithmetic and codecs; bus rates; GPU
/// memory and arithmetic rates. GPU codec rates are scaled with the GPU's copy rate.
MachineModel model_from_limits(const MachineLimits& limits);

/// Both of the above, for PlanOptions::machine.
inline MachineModel measure_machine(int threads = 0, int device = -1) {
  return model_from_limits(measure_limits(threads, device));
}

/// A value of a model that model_from_limits() sets. Its name is that of the member: "host.copy_rate",
/// "files.zstd:fast.encode_rate".
struct MachineRate {
  std::string name;
  enum class Unit : std::uint8_t { bytes_per_second, seconds, times } unit;
  double value;
};
std::vector<MachineRate> host_model_values(const MachineModel& model);
std::vector<MachineRate> device_model_values(const MachineModel& model);  ///< includes the bus

}  // namespace sepconv
