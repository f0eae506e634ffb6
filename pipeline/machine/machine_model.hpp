// What a machine takes for the parts of a run, as the planners assume: cuts are ranked by it and runs
// predicted.
//
// Unless machine_of() made it of what was measured, every figure is a default and stands with its origin: (E)
// an AMD EPYC of the Zen 4 kind and an Intel Xeon, 2 threads each, with AVX-512 and with AVX2; (H) an NVIDIA
// H200 on a host of 16 processors. docs/benchmarks.md has what was measured. Times are seconds, rates are
// bytes or multiply-adds a second, "bytes" without "a second" that a thing costs are this many bytes moved.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/encoded_tiles.hpp"
#include "kernels/cuda/device_rates.hpp"
#include "pipeline/machine/host_rates.hpp"

namespace sepconv {

/// Processors, their caches and memory.
struct HostModel {
  double fma_seconds = 30e-12;  ///< a thread's fused multiply-add in f32, vectors counted by their elements:
                                ///< 20 to 60 a nanosecond with AVX2 and AVX-512 (E), 25 on all processors (H)
  double row_seconds = 90e-9;   ///< starting a row of a tile: border, pointers, loop set-up (E)
  double tile_seconds = 3e-6;   ///< handing a tile to a thread (E)
  double band_seconds = 90e-6;  ///< handing a band from reader to computer to writer, and waking them (E)
  double moved_byte_seconds = 0.24e-9;  ///< a thread reading or writing a byte of a band (E)
  double packed_seconds =
      0.48e-9;  ///< an operand's element of a product: reading, converting and storing it (E)
  double straggler =
      0.25;  ///< of a tile: threads wait for the last one, which other work on the machine holds up (E)
  std::int64_t cache_bytes = 1 << 20;  ///< scratch that one core's L2 cache keeps
  double out_of_cache = 1.3;           ///< times as long with scratch beyond it (E)
  std::int64_t band_bytes =
      8 << 20;  ///< of a band's input or output: the outer caches hold them meanwhile (E, H)
  std::int64_t memory_gap_bytes = 256;  ///< a piece of a row copied within memory, besides its own bytes (E)
  double no_overlap = 1.6;              ///< one slot: reading, computing and writing wait for each other (E)
  double some_overlap = 1.05;           ///< two slots: one of the three waits at times (E)
  // For predictions alone.
  double wide = 2;          ///< times as long: arithmetic in f64, which has half the elements a vector
  double copy_rate = 12e9;  ///< of memory by a thread, read + written (E)
  double counted_byte_seconds = 1.4e-9;           ///< a thread counting a byte for statistics of integers (E)
  double counted_floating_byte_seconds = 2.1e-9;  ///< the same of floating types, both passes (E)
  double max_copy_rate = 90e9;                    ///< by all threads (H)
  double contention = 0.4;  ///< of the time of the host's other steps comes on top of the longest: they share
                            ///< processors, memory and a pool (H: 0.36 and 0.6, see decisions/0013)
};

/// Files in the page cache. All threads read, but the kernel lets one at a time write into a file.
struct FileModel {
  std::int64_t read_piece_bytes = 512;        ///< a piece of a file, besides its own bytes (E)
  std::int64_t written_piece_bytes = 8192;    ///< the same of one that is written (E)
  std::int64_t read_tile_bytes = 4096;        ///< a row of tiles, each of which lies elsewhere: 1 us (E)
  std::int64_t written_tile_bytes = 16384;    ///< the same of one that is written: 3 us (E)
  std::int64_t long_piece_bytes = 256 << 10;  ///< longer ones were not seen to be faster (E)
  // For predictions alone.
  double read_rate = 4.2e9;     ///< a thread (E)
  double max_read_rate = 40e9;  ///< all threads: half of what copies reach (H)
  double write_rate = 3.5e9;    ///< into a new file (H: 2.9e9 to 4.2e9)
  /// Pixels' bytes a second that a thread makes of a file's, and the other way round at the level that is the
  /// default, for names as SourceLayout::codec has them; others are as deflate, which makes 45e6 of what is
  /// smooth and 1.2e9 of a photograph, and from files 450e6 (u16 that was searched) to 1.1e9. `sepconv run`
  /// without a stage, less what a copy takes (E).
  struct Codec {
    std::string_view name;
    double decode_rate, encode_rate;
  };
  std::array<Codec, 10> codecs{{{"deflate", 600e6, 90e6},
                                {"deflate:fast", 600e6, 800e6},
                                {"zstd", 1.2e9, 450e6},
                                {"zstd:fast", 1.2e9, 800e6},
                                {"LZW", 148e6, 78e6},
                                {"JPEG", 122e6, 80e6},
                                {"PackBits", 1e9, 1e9},       ///< not measured: copies and counts
                                {"LZ4", 4e9, 2.5e9},          ///< of Zarr, and blosc's others
                                {"CRC-32C", 1.4e9, 1.4e9},    ///< of Zarr, alone
                                {"picture", 150e6, 700e6}}};  ///< PNG; the others are faster
  /// As many times as long as at the level that is the default an encoder searches at this one: tiles of
  /// photographs behind a predictor, libdeflate 1.14 and zstd 1.5.4 (E). 1 for others.
  static double times_of_level(std::string_view codec, int level) noexcept;
};

/// The bus between page-locked memory and a GPU: PCIe 5.0 x16 (H).
struct BusModel {
  double one_way_rate = 53e9;    ///< large copies while kernels run; `sepconv devices` shows 55.4e9 alone
  double both_ways_rate = 50e9;  ///< each way; `sepconv devices` shows 50.7e9
  double gap_seconds =
      0.12e-6;  ///< after a row that a gap follows, while kernels run now and then. In images of short
                ///< rows it is less, with the square of their length over gap_pitch_bytes
  double gap_pitch_bytes = 64 << 10;
  double long_gap_seconds = 0.058e-6;      ///< the same in uploads of rows of long_row_bytes and more
  std::int64_t long_row_bytes = 32 << 10;  ///< shorter ones are best copied by a kernel where one can run
  double kernel_byte = 0.18;               ///< a byte that a kernel stores over the bus takes so much longer,
  double kernel_row_bytes = 80;            ///< and a row of them besides its bytes
  double kernel_copy = 2.8;                ///< times as long: short rows by a kernel that products leave room
  double file_factor = 10;                 ///< times as many bytes go over the bus while a file moves one
  double page_lock_rate = 10e9;            ///< memory that is allocated and page-locked
  double staged = 1.05;                    ///< times as long: the host's memory moves the bytes twice more
  double staging_rate = 6e9;               ///< that a thread gathers
};

/// A GPU (H), and bands for it. With n bands the first upload and the last download, which nothing hides,
/// take 1/n of the bus's time, and every band costs band_seconds; the sum is least for bands of the root of
/// image_bytes * band_bytes().
struct DeviceModel {
  double fma_seconds = 1e-13;   ///< of filters
  double band_seconds = 26e-6;  ///< launches and events of a band
  double wide = 2;              ///< times as long: arithmetic in f64
  double copy_rate = 4.2e12;    ///< within its memory, read + written
  /// Bytes of pixels a second that a band's streams become, of u8 and of larger ones, and the way back: (H),
  /// and an H100 where it was measured alone.
  struct Codec {
    BlockCodec codec;
    std::string_view name;
    double decode_rate, wide_decode_rate, encode_rate;
  };
  std::array<Codec, 5> codecs{
      {{BlockCodec::zlib, "deflate", 6e9, 4.5e9, 40e9},  ///< u8 5.6e9 to 6.3e9, u16 3.4e9 to 4.5e9, f32 4.5e9
       {BlockCodec::gzip, "gzip", 6e9, 4.5e9, 40e9},     ///< as deflate
       {BlockCodec::zstd, "zstd", 3.6e9, 8.3e9, 15e9},   ///< level 1; `fast` 5.7e9 to 8.2e9
       {BlockCodec::lz4, "LZ4", 6e9, 4.5e9, 40e9},       ///< not measured: as deflate
       {BlockCodec::jpeg, "JPEG", 8e9, 8e9, 40e9}}};     ///< grey 5.4e9, RGB 10e9 to 13e9; never made
  const Codec& codec(BlockCodec of) const { return codecs[static_cast<std::size_t>(of)]; }
  std::int64_t coded_blocks = 256;     ///< at least in a band that is decoded, unless then there are fewer
  std::int64_t min_encoded_bands = 8;  ///< bands than this many
  double start_seconds = 0.34;         ///< making a process's context: 0.33 to 0.35
  std::int64_t min_band_bytes = 4 << 20;
  std::int64_t max_band_bytes = 128 << 20;
  std::int64_t max_staged_band_bytes =
      8 << 20;  ///< where rows pass through slots on the host: they stay in caches
  std::int64_t max_transposed_bytes = 1 << 30;  ///< of blocks of a turned result, memory to memory
  std::int64_t product_elements = 1 << 20;      ///< of a product that keep it busy: a sum is not shared out
  double band_bytes(const BusModel& bus) const { return band_seconds * bus.both_ways_rate; }
};

/// Products by OpenBLAS and cuBLAS.
struct GemmModel {
  double host_fma_f32_rate = 40e9;  ///< a thread (E)
  double host_fma_f64_rate = 20e9;
  double host_read_rate = 2e9;           ///< of all threads (E)
  double host_touch_rate = 20e9;         ///< bytes of a tile, read or written once more for every panel (E)
  double device_fma_f32_rate = 25.5e12;  ///< (H)
  double device_fma_f64_rate = 28.5e12;  ///< with tensor cores (H)
  double device_touch_f32_rate = 1.4e12;
  double device_touch_f64_rate = 3.2e12;
  double step_seconds = 40e-6;  ///< threads and streams waiting for each other (E, H)
  double edge = 16;             ///< a side costs as many elements more: the libraries work in blocks (E, H)
  double blocked_edge = 32;     ///< the same where cuBLAS uses no tensor cores (H)
  std::int64_t device_block = 128;  ///< side of what a multiprocessor sums there (H)
};

struct MachineModel {
  HostModel host;
  FileModel files;
  BusModel bus;
  DeviceModel device;
  GemmModel products;
};

/// What of a machine can be measured; 0 is what was not.
struct MachineLimits {
  int threads = 1;                ///< of the host, that measured
  HostRates host{};               ///< in f32
  double fma_f64_per_second = 0;  ///< of the host
  DeviceRates device{};
  std::vector<FileModel::Codec> codecs{};  ///< of one of its threads
};
/// Measures the host in about a tenth of a second, and the GPU `device`, if it is not negative, in a few
/// tenths of a second. `threads` 0: all processors. Throws CudaError and OutOfMemory.
MachineLimits measure_limits(int threads = 0, int device = -1);

/// The defaults, but for what follows from these limits: the host's copies, arithmetic and codecs, the bus,
/// the GPU's memory, arithmetic and, in proportion to its copies, codecs.
MachineModel machine_of(const MachineLimits& limits);

/// Both at once, for PlanOptions::machine.
inline MachineModel measure_machine(int threads = 0, int device = -1) {
  return machine_of(measure_limits(threads, device));
}

/// A figure of a model that machine_of() sets, by the name of its member: "host.copy_rate",
/// "files.zstd:fast.encode_rate".
struct MachineRate {
  std::string name;
  enum class Unit : std::uint8_t { bytes_per_second, seconds, times } unit;
  double value;
};
std::vector<MachineRate> host_figures(const MachineModel& model);
std::vector<MachineRate> device_figures(const MachineModel& model);  ///< of the bus, too

}  // namespace sepconv
