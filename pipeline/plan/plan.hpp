// The plan of a run: how an image is cut into bands and tiles, and the memory that takes.
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
#include "pipeline/chain/chain.hpp"
#include "pipeline/machine/machine_model.hpp"
#include "pipeline/plan/missing.hpp"

namespace sepconv {

/// What the caller asks for; 0 or nothing means "choose".
struct PlanOptions {
  std::int64_t max_memory_bytes =
      0;            ///< ceiling for everything the run holds; 0: a quarter of the memory that is free
  int threads = 0;  ///< 0: all processors this process may use
  int slots = 0;    ///< bands in flight: 1 no overlap, 2 double buffering; 0: 3, fewer when memory is short
  std::int64_t band_rows = 0;  ///< rows of the result per band; rounded up to what the sink's blocks need
  std::int64_t band_cols = 0;  ///< columns of the result per band; less than the width forces column tiles
  Extent tile{};               ///< pixels of the result computed at once by one thread; for tests
  std::optional<Arithmetic> arithmetic{};
  /// GPUs to compute on, by their index among cuda_devices(), each once; empty: the CPU. check_devices() says
  /// whether they can be used.
  std::vector<int> devices{};
  /// With no devices named: the CPU or the first GPU, whichever is predicted to be done first. The plan's
  /// notes say why. A GPU that is chosen becomes the calling thread's current device.
  bool choose_device = false;
  std::int64_t max_device_memory_bytes =
      0;  ///< ceiling for what the run holds on each GPU; 0: nine tenths of what is free on the fullest of
          ///< them. CUDA's own context, some hundred MiB, and its rounding of allocations come on top
  MachineModel machine{};  ///< what cuts are ranked and runs predicted by
  /// The part of the result that is made, which the sink has the extent of; only what it needs of the source
  /// is read. Empty: all of the result.
  Rect region{};
  MissingOptions missing{};  ///< changes pixels, as the chain does
};

/// Where the ceiling's bytes go.
struct MemoryUse {
  std::int64_t slots = 0;     ///< band buffers, input, second images and output, all slots
  std::int64_t scratch = 0;   ///< arenas of all threads
  std::int64_t source = 0;    ///< readers and decoders, of second images too
  std::int64_t sink = 0;      ///< writer and encoder
  std::int64_t resident = 0;  ///< what the chain's stages hold: matrices
  std::int64_t total() const noexcept { return slots + scratch + source + sink + resident; }
};

/// Where the bytes on each GPU go.
struct DeviceMemoryUse {
  std::int64_t slots = 0;     ///< bands of source, second images and result, all slots
  std::int64_t scratch = 0;   ///< what the chain takes between source and result of a band
  std::int64_t codecs = 0;    ///< blocks as they are stored, and what coding them takes
  std::int64_t resident = 0;  ///< what the chain's stages hold
  std::int64_t total() const noexcept { return slots + scratch + codecs + resident; }
};

/// A second image of a stage, as the run reads it.
struct SecondaryRead {
  std::string stage;   ///< its text
  std::string layout;  ///< of the image's file
  std::int64_t slot_bytes = 0;
  std::int64_t bytes_read = 0;  ///< of pixels, decoded, repeated rows and columns included; an estimate where
                                ///< bands are very many
};

/// Seconds that a run should take by PlanOptions::machine: each step alone, and all of it.
struct Prediction {
  double start = 0;  ///< of a GPU: its context if the process has none yet, and page-locked memory
  double read = 0, upload = 0, decode = 0, compute = 0, download = 0,
         write = 0;  ///< `decode`: by a GPU, which encodes in `compute`; the CPU codes as it reads and writes
  double total = 0;

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
/// "1.24 s: read 0.11 s, compute 0.19 s, write 1.23 s"; steps that take no time are left out.
std::string to_string(const Prediction& prediction);

/// How one side of the result is cut: into `length / item` items (item divides length; one item is the usual
/// case), and each of them into bands of at most `band`; a band beyond an item is a multiple of it.
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

/// For a chain that filters along z: rows of source and result are planes, which lie one behind the other.
struct FlattenedVolume {
  Chain given;            ///< for planes, as it was given
  Extent source, result;  ///< of a plane
};

/// Bands [first, end) of a plan.
struct BandRange {
  std::int64_t first = 0;
  std::int64_t end = 0;
  std::int64_t count() const noexcept { return end - first; }
  friend bool operator==(const BandRange&, const BandRange&) = default;
};

/// A value: what run() does is in it, and nothing is planned again. Made by plan() for a source and a sink,
/// and for those that look like them.
struct Plan {
  PlanOptions asked;  ///< that it was made with
  Chain given;        ///< as it was given
  Chain chain;        ///< as it is run: that one honouring() missing pixels, with its transposes_last()
  std::vector<ImageSpec> specs;  ///< of the source, between stages, of the result
  Arithmetic arithmetic = Arithmetic::f32;
  int threads = 1;
  int slots = 1;
  bool turned = false;  ///< rows of the source are columns of the result
  Rect region;          ///< of the result, what is made: all of it, unless a part was asked for
  Extent item;    ///< of the result: bands keep to one of these or hold whole ones; the region's extent but
                  ///< for many matrices transposed at once
  Extent band;    ///< of the result; bands at the right and lower edge may be smaller
  Extent tile{};  ///< of the result, inside a band
  std::int64_t slot_input_bytes = 0;
  std::int64_t slot_output_bytes = 0;
  std::vector<SecondaryRead> seconds;  ///< in the order of the stages
  std::int64_t arena_bytes = 0;        ///< per thread
  MemoryUse memory;
  std::int64_t buffered_bytes =
      0;  ///< of memory.source: decoded blocks that other images have pixels of, too
  std::int64_t max_memory_bytes = 0;
  std::vector<int>
      devices;  ///< GPUs that compute; empty: the CPU. Each has its own slots and a run of whole bands
  DeviceMemoryUse device_memory;        ///< on each of them
  std::optional<EncodedTiles> decoded;  ///< the source's blocks, if devices decode them: they get them as
                                        ///< they are in its file
  std::optional<EncodedTiles> encoded;  ///< the sink's blocks, if devices encode them
  Extent max_source_extent{};           ///< of the source, what a band holds at most
  std::int64_t max_device_memory_bytes = 0;
  std::int64_t bytes_read =
      0;  ///< of source pixels, decoded, halos of column tiles and partly used blocks included
  std::int64_t bytes_written = 0;  ///< of result pixels
  double operations = 0;           ///< fused multiply-adds of the whole run, recomputed halos included
  double recomputed = 0;  ///< part of `operations` that is done again because bands and tiles overlap
  bool stores_rows =
      false;  ///< a kernel, not a copy engine, brings results to page-locked memory: their rows are short
  bool streams = true;                     ///< source and sink both do
  std::string source_layout, sink_layout;  ///< their descriptions
  std::int64_t stored_bytes = 0;           ///< of the source's file, and
  std::int64_t changed_ns = 0;             ///< when it was last changed, as Reader has them
  Prediction predicted;
  RasterAxes axes;  ///< of the set of rasters that are run by this plan, one after another; everything else
                    ///< that it says is of one
  std::optional<FlattenedVolume> planes{};  ///< nothing: source and result are images as they are
  std::vector<std::string>
      warnings;  ///< what the result will not have or may get wrong: the source's and the sink's
  std::vector<std::string> notes;  ///< why it is so, one sentence each, for `sepconv plan`

  bool decodes_on_devices() const noexcept { return decoded.has_value(); }
  bool encodes_on_devices() const noexcept { return encoded.has_value(); }
  /// Whether devices find there what they are to code.
  bool finds_blocks(const SourceLayout& from, const SinkLayout& to) const noexcept {
    return (!decoded || from.coded == decoded) && (!encoded || to.coded == encoded);
  }

  const ImageSpec& source() const noexcept { return specs.front(); }
  const ImageSpec& result() const noexcept { return specs.back(); }
  /// What the sink is: the result, or its region.
  ImageSpec sink() const noexcept { return {region.extent(), result().channels, result().type}; }

  /// Bands run down one column of bands of the source, then down the next: so they do in the result, or along
  /// its rows if it is turned.
  std::int64_t band_count() const noexcept;
  /// For all second images.
  std::int64_t secondary_bytes_read() const noexcept;
  std::int64_t slot_secondary_bytes() const noexcept;
  BandRange all_bands() const noexcept { return {0, band_count()}; }
  /// Rectangle of the result of band `index`.
  Rect band_rect(std::int64_t index) const noexcept;
  /// The same of the sink, whose first pixel is the region's.
  Rect sink_rect(std::int64_t index) const noexcept;
  /// Pixels of the result in these bands.
  std::int64_t pixels_of(BandRange bands) const noexcept;

 private:
  BandTiling row_cut() const noexcept;
  BandTiling col_cut() const noexcept;
};

/// Buffers for bands of the source that a GPU holds: one more than the only slot, because the rows that a
/// band shares with the one before are copied from buffer to buffer.
constexpr int device_inputs(int slots) noexcept { return slots > 2 ? slots : 2; }

/// What a sink for this region of a result is to be; an empty one stands for all of it. Throws
/// InvalidArgument for one that does not lie in the result.
ImageSpec region_spec(const ImageSpec& result, const Rect& region);

/// Plans this chain from the source to the sink; sink.spec() must equal chain.result_spec(source.spec()), or
/// its region_spec() for options.region. Reads no pixel. Throws InvalidArgument for options that make no
/// sense, and OutOfMemory with the smallest sufficient ceiling if none fits.
Plan plan(const Reader& source, const Writer& sink, const Chain& chain, const PlanOptions& options = {});

/// "300 x 200 pixels", and of rows that are planes "12 planes along z of 300 x 200 pixels".
std::string pixels_text(Extent extent, const std::optional<Extent>& plane);
/// The same of the plan's source and sink, and of one of its bands.
std::string source_text(const Plan& plan);
std::string sink_text(const Plan& plan);
std::string band_text(const Plan& plan);

/// The plan for people: names and what is to be said of each. A name that is empty stands for the one before.
std::vector<std::pair<std::string, std::string>> plan_facts(const Plan& plan, const Reader& source,
                                                            const Writer& sink);
/// These as lines, and what the plan is limited by; what `sepconv plan` prints.
std::string describe(const Plan& plan, const Reader& source, const Writer& sink);

/// What a run with these options may hold on the host: what they say, else a quarter of what is free.
std::int64_t memory_ceiling(const PlanOptions& options);
/// What a run with these options may hold on each of these GPUs: what they say, else most of what is free on
/// the one that has the smallest. Without GPUs there is no ceiling. Throws CudaError.
std::int64_t device_memory_ceiling(const std::vector<int>& devices, const PlanOptions& options);
/// The threads that were asked for, else all of those.
int threads_of(const PlanOptions& options);

}  // namespace sepconv
