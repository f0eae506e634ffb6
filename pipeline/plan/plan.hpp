// The plan of a run: how an image is cut into bands and tiles, and the memory for them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/reader.hpp"
#include "io/writer.hpp"
#include "pipeline/chain/graph.hpp"
#include "pipeline/machine/machine_model.hpp"
#include "pipeline/plan/missing.hpp"

namespace sepconv {

/// The largest values of PlanOptions::threads and PlanOptions::slots.
inline constexpr int kMaxThreads = 1024;
inline constexpr int kMaxSlots = 64;

/// Requests of the caller; 0 or empty means "choose".
struct PlanOptions {
  std::int64_t max_memory_bytes = 0;  ///< ceiling for all memory of the run; 0: a quarter of the free memory
  int threads = 0;                    ///< 0: all processors this process may use
  int slots = 0;  ///< bands in flight: 1 no overlap, 2 double buffering; 0: 3, or fewer if memory is short
  std::int64_t band_rows = 0;  ///< result rows per band; rounded up to the sink's block unit
  std::int64_t band_cols = 0;  ///< result columns per band; less than the width forces column tiles
  Extent tile{};               ///< result pixels computed by one thread at a time; for tests
  std::optional<Arithmetic> arithmetic{};
  /// Indices among list_devices() of the GPUs to use, each once; empty: the CPU. open_devices() checks
  /// whether they can be used.
  std::vector<int> devices{};
  /// With devices named: the CPU computes bands, too. The GPUs begin while it computes; one that fails is an
  /// error.
  bool with_cpu = false;
  /// With no devices named: use the CPU, the first GPU, or the CPU and GPUs, whichever is predicted to finish
  /// first. The plan's notes give the reason. A GPU that is chosen alone becomes the calling thread's current
  /// device. One that fails when it computes together with the CPU is only a warning.
  bool choose_device = false;
  std::int64_t max_device_memory_bytes =
      0;  ///< ceiling for the run's memory on each GPU; 0: nine tenths of the free memory of the fullest GPU.
          ///< Excludes CUDA's context, some hundred MiB, and its rounding of allocations
  MachineModel machine{};  ///< cost model to rank tilings and predict run times
  /// The region of the result to compute; the sink has its extent. Only the source pixels needed for it are
  /// read. Empty: the whole result.
  Rect region{};
  MissingOptions missing{};  ///< affects pixel values, as the chain does
};

/// Use of host memory, in bytes.
struct MemoryUse {
  std::int64_t slots = 0;     ///< band buffers, input, second images and output, all slots
  std::int64_t scratch = 0;   ///< arenas of all threads
  std::int64_t source = 0;    ///< readers and decoders, including second images
  std::int64_t sink = 0;      ///< writer and encoder
  std::int64_t resident = 0;  ///< matrices of the chain's stages
  std::int64_t total() const noexcept { return slots + scratch + source + sink + resident; }
};

/// Use of each GPU's memory, in bytes.
struct DeviceMemoryUse {
  std::int64_t slots = 0;     ///< bands of source, second images and result, all slots
  std::int64_t scratch = 0;   ///< intermediate results of the chain for a band
  std::int64_t codecs = 0;    ///< encoded blocks and scratch of codecs
  std::int64_t resident = 0;  ///< matrices of the chain's stages
  std::int64_t total() const noexcept { return slots + scratch + codecs + resident; }
};

/// How the run reads a second image of a stage.
struct SecondaryRead {
  std::string stage;   ///< text of the stage
  std::string layout;  ///< description of the image's file
  std::int64_t slot_bytes = 0;
  std::int64_t bytes_read = 0;  ///< decoded bytes, including repeated rows and columns; estimated if there
                                ///< are very many bands
};

/// Predicted seconds of a run by PlanOptions::machine: each step alone, and the total.
struct Prediction {
  double start = 0;  ///< GPU start: its context if the process has none yet, and page-locked memory
  double read = 0, upload = 0, decode = 0, compute = 0, download = 0,
         write = 0;  ///< `decode`: on a GPU, whose encoding is part of `compute`; the CPU codes during read
                     ///< and write
  double total = 0;
  double cpu_band = 0;     ///< of a band on the CPU
  double device_band = 0;  ///< of a band on one GPU

  using Named = std::pair<const char*, double>;
  std::array<Named, 8> named() const {
    return {{{"total", total},
             {"start", start},
             {"read", read},
             {"upload", upload},
             {"decode", decode},
             {"compute", compute},
             {"download", download},
             {"write", write}}};
  }
};
/// "1.24 s: read 0.11 s, compute 0.19 s, write 1.23 s"; steps that take no time are omitted.
std::string to_string(const Prediction& prediction);

/// Cuts one side of the result into `length / item` items (item divides length; usually there is one), and
/// each item into bands of at most `band`. A band larger than an item is a multiple of it.
struct BandTiling {
  std::int64_t length, item, band;

  std::int64_t count() const noexcept {
    return band < item ? length / item * per_item() : ceil_div(length, band);
  }
  std::int64_t begin(std::int64_t index) const noexcept {
    return band < item ? index / per_item() * item + index % per_item() * band : index * band;
  }
  std::int64_t size(std::int64_t index) const noexcept {
    return std::min(band, (band < item ? (index / per_item() + 1) * item : length) - begin(index));
  }

 private:
  std::int64_t per_item() const noexcept { return ceil_div(item, band); }
};

/// For a chain that filters along z: each row of source and result is one or more flattened planes.
struct FlattenedVolume {
  Chain given;            ///< the chain for planes, as given
  Extent source, result;  ///< extents of a plane
};

/// Bands [first, end) of a plan.
struct BandRange {
  std::int64_t first = 0;
  std::int64_t end = 0;
  std::int64_t count() const noexcept { return end - first; }
  friend bool operator==(const BandRange&, const BandRange&) = default;
};

/// A value that determines everything run() does. Returned by plan() for a source and a sink; valid for
/// others with the same properties.
struct Plan {
  PlanOptions asked;             ///< options given to plan()
  Chain given;                   ///< the chain as given
  MissingPixels missing{};       ///< of the source, stored as the sink stores them
  Chain chain;                   ///< the chain as run: after apply_nodata_policy(), with transposes last
  Graph graph;                   ///< of `chain`
  std::vector<ImageSpec> specs;  ///< source, between stages, result
  Arithmetic arithmetic = Arithmetic::f32;
  int threads = 1;
  int slots = 1;
  bool turned = false;  ///< transposed: rows of the source are columns of the result
  Rect region;          ///< region of the result that is computed; the whole result by default
  Extent item;    ///< extent in the result: a band is within one item or contains whole items. The region's
                  ///< extent unless many matrices are transposed together
  Extent band;    ///< in result pixels; bands at the right and lower edge may be smaller
  Extent tile{};  ///< in result pixels, inside a band
  std::int64_t slot_input_bytes = 0;
  std::int64_t slot_output_bytes = 0;
  std::vector<SecondaryRead> seconds;  ///< second images, in the order of the stages
  std::int64_t arena_bytes = 0;        ///< per thread
  MemoryUse memory;
  std::int64_t buffered_bytes =
      0;  ///< part of memory.source: cache of decoded blocks shared with other images
  std::int64_t max_memory_bytes = 0;
  std::vector<int> devices;             ///< GPUs that compute; empty: the CPU. Each has separate slots
  bool with_cpu = false;                ///< the CPU computes together with the GPUs, with its own slots
  std::string why_not_shared;           ///< why it does not, if PlanOptions::with_cpu
  DeviceMemoryUse device_memory;        ///< on each GPU
  std::optional<EncodedTiles> decoded;  ///< the source's blocks if devices decode them; they are uploaded
                                        ///< encoded
  std::optional<EncodedTiles> encoded;  ///< the sink's blocks if devices encode them
  Extent max_source_extent{};           ///< maximum source extent of a band
  std::int64_t max_device_memory_bytes = 0;
  std::int64_t bytes_read =
      0;  ///< decoded source pixels, including halos of column tiles and partly used blocks
  std::int64_t bytes_written = 0;  ///< bytes of result pixels
  double operations = 0;           ///< fused multiply-adds of the whole run, including recomputed halos
  double recomputed = 0;           ///< part of `operations` that is repeated because bands and tiles overlap
  bool kernel_stores_rows =
      false;  ///< a kernel instead of a copy engine stores results in page-locked memory, because their rows
              ///< are short
  bool streams = true;                     ///< source and sink are both streamed
  std::string source_layout, sink_layout;  ///< their descriptions
  std::int64_t stored_bytes = 0;           ///< size of the source's file
  std::int64_t changed_ns = 0;             ///< its modification time, as Reader::changed_ns()
  Prediction predicted;
  RasterAxes axes;  ///< axes of the set of rasters that use this plan sequentially; all other members are per
                    ///< raster
  std::optional<FlattenedVolume> planes{};  ///< nullopt: source and result are ordinary images
  std::vector<std::string> warnings;        ///< what the result loses or may get wrong, from source and sink
  std::vector<std::string> notes;           ///< reasons, one sentence each, for `sepconv plan`

  bool uses_cpu() const noexcept { return devices.empty() || with_cpu; }
  /// The devices that compute, the CPU first; nullopt is the CPU.
  std::vector<std::optional<int>> lanes() const;
  bool decodes_on_devices() const noexcept { return decoded.has_value(); }
  bool encodes_on_devices() const noexcept { return encoded.has_value(); }
  /// Whether source and sink have the blocks that devices are to code.
  bool matches_layouts(const SourceLayout& from, const SinkLayout& to) const noexcept {
    return (!decoded || from.coded == decoded) && (!encoded || to.coded == encoded);
  }

  const ImageSpec& source() const noexcept { return specs.front(); }
  const ImageSpec& result() const noexcept { return specs.back(); }
  /// Spec of the sink: the result, or its region.
  ImageSpec sink() const noexcept { return {region.extent(), result().channels, result().type}; }

  /// Bands are ordered down one column of bands of the source, then down the next; in a transposed result
  /// along its rows.
  std::int64_t band_count() const noexcept;
  /// Totals of all second images.
  std::int64_t secondary_bytes_read() const noexcept;
  std::int64_t slot_secondary_bytes() const noexcept;
  BandRange all_bands() const noexcept { return {0, band_count()}; }
  /// Rectangle of band `index` in the result.
  Rect band_rect(std::int64_t index) const noexcept;
  /// The same in the sink, whose first pixel is the region's.
  Rect sink_rect(std::int64_t index) const noexcept;
  /// Number of result pixels in these bands.
  std::int64_t pixels_of(BandRange bands) const noexcept;

 private:
  BandTiling row_cut() const noexcept;
  BandTiling col_cut() const noexcept;
};

/// Source band buffers per GPU: at least two, because rows shared with the previous band are copied from
/// buffer to buffer.
constexpr int device_inputs(int slots) noexcept { return slots > 2 ? slots : 2; }

/// "cuda:1", or "cpu" for nullopt.
std::string device_name(std::optional<int> device);
/// The devices as an option's value: "cpu", "cuda:0,1", "cpu+cuda:0".
std::string devices_text(const std::vector<int>& devices, bool with_cpu);

/// Spec of a sink for this region of a result; an empty region means the whole result. Throws InvalidArgument
/// if the region is not inside.
ImageSpec region_spec(const ImageSpec& result, const Rect& region);

/// Plans the chain from source to sink, with missing_pixels() of the source. sink.spec() must equal
/// chain.result_spec(source.spec()), or its region_spec() for options.region. Reads no pixels. Throws
/// InvalidArgument for invalid options, and OutOfMemory with the minimum sufficient ceiling if no tiling fits.
Plan plan(const Reader& source, const Writer& sink, const Chain& chain, const MissingPixels& missing,
          const PlanOptions& options);

/// "300 x 200 pixels", or if rows are planes "12 planes along z of 300 x 200 pixels".
std::string pixels_text(Extent extent, const std::optional<Extent>& plane);
/// The same for the plan's source, sink and band.
std::string source_text(const Plan& plan);
std::string sink_text(const Plan& plan);
std::string band_text(const Plan& plan);

/// The plan as (name, text) pairs for users. An empty name continues the previous one.
std::vector<std::pair<std::string, std::string>> plan_facts(const Plan& plan, const Reader& source,
                                                            const Writer& sink);
/// These pairs as lines, with the limiting resource; the output of `sepconv plan`.
std::string describe(const Plan& plan, const Reader& source, const Writer& sink);

/// Ceiling in bytes of host memory: the option, else a quarter of the free memory.
std::int64_t memory_ceiling(const PlanOptions& options);
/// Ceiling in bytes of memory of each GPU: the option, else most of the free memory of the fullest GPU.
/// Unlimited without GPUs. Throws DeviceError.
std::int64_t device_memory_ceiling(const std::vector<int>& devices, const PlanOptions& options);
/// The requested number of threads, else all usable processors.
int threads_of(const PlanOptions& options);

}  // namespace sepconv
