// A program's own format: portable float maps, https://www.pauldebevec.com/Research/HDR/PFM/ .
// docs/adding-a-format.md explains it.
//
//   example_pfm_format
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "sepconv/format.hpp"
#include "sepconv/sepconv.hpp"

using namespace sepconv;

namespace {

/// What stands before the pixels: "Pf" (grey) or "PF" (RGB), columns and rows, and a number that is negative
/// for values in little-endian order. The pixels are f32, the last row first.
struct PfmHeader {
  ImageSpec spec;
  std::int64_t pixels_offset = 0;
  bool swap = false;

  std::int64_t offset_of(std::int64_t row, std::int64_t col) const {
    return pixels_offset + (spec.extent.rows - 1 - row) * spec.row_bytes() + col * spec.pixel_bytes();
  }
};

bool is_pfm(std::span<const std::byte> head) {
  return begins_with(head, "Pf\n") || begins_with(head, "PF\n");
}

PfmHeader read_pfm_header(const InputFile& file) {
  std::array<char, 128> text{};
  const std::int64_t bytes = file.read_some_at(0, std::as_writable_bytes(std::span(text)));
  std::istringstream words(std::string(text.data(), static_cast<std::size_t>(bytes)));
  std::string kind;
  PfmHeader header{.spec = {{}, 1, PixelType::f32}};
  double scale = 0;
  words >> kind >> header.spec.extent.cols >> header.spec.extent.rows >> scale;
  header.spec.channels = kind == "PF" ? 3 : 1;
  header.pixels_offset = std::int64_t{words.tellg()} + 1;
  header.swap = (scale < 0) != (std::endian::native == std::endian::little);
  const auto [rows, cols] = header.spec.extent;
  if (!words || rows < 1 || cols < 1 || rows > kMaxSide || cols > kMaxSide || scale == 0)
    throw IoError(
        fmt::format("cannot read {}: its header is not a PFM's; copy it again", file.path().native()));
  if (rows > (file.size() - header.pixels_offset) / header.spec.row_bytes())
    throw IoError(
        fmt::format("cannot read {}: it ends before its pixels do; copy it again", file.path().native()));
  return header;
}

class PfmReader final : public Reader {
 public:
  explicit PfmReader(InputFile file) : file_(std::move(file)), header_(read_pfm_header(file_)) {
    layout_.description = "PFM, uncompressed";
  }

  const ImageSpec& spec() const noexcept override { return header_.spec; }
  const SourceLayout& layout() const noexcept override { return layout_; }
  const Metadata& metadata() const noexcept override { return metadata_; }
  std::int64_t buffer_bytes(int) const override { return 0; }

  void read(const Rect& rect, const PixelView& out, Executor& executor) override {
    executor.for_each(rect.rows, [&](std::int64_t row, int) {
      const auto bytes = static_cast<std::size_t>(out.row_bytes());
      file_.read_at(header_.offset_of(rect.row + row, rect.col), {out.row_data(row), bytes});
      if (header_.swap) swap(out.row<float>(row), out.row_elements());
    });
  }

 private:
  static void swap(float* values, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
      values[i] = std::bit_cast<float>(__builtin_bswap32(std::bit_cast<std::uint32_t>(values[i])));
  }

  InputFile file_;
  PfmHeader header_;
  SourceLayout layout_;
  Metadata metadata_;
};

class PfmWriter final : public Writer {
 public:
  PfmWriter(const std::filesystem::path& path, const ImageSpec& spec, const CreateOptions& options)
      : file_(path, {options.overwrite, options.durable}) {
    text_ = fmt::format("{}\n{} {}\n{}\n", spec.channels == 3 ? "PF" : "Pf", spec.extent.cols,
                        spec.extent.rows, std::endian::native == std::endian::little ? -1 : 1);
    header_ = {spec, std::ssize(text_)};
    layout_.description = "PFM, uncompressed";
    layout_.warnings = options.warnings;
    if (const std::string lost = dropped_metadata_warning(options.metadata, 0, "PFM"); !lost.empty())
      layout_.warnings.push_back(lost);
    file_.expect(header_.pixels_offset + spec.bytes());
    layout_.max_write_threads = file_.max_write_threads();
    file_.add_warnings(layout_.warnings);
  }

  const ImageSpec& spec() const noexcept override { return header_.spec; }
  const SinkLayout& layout() const noexcept override { return layout_; }
  std::int64_t buffer_bytes(int concurrency) const override { return file_.memory_bytes(concurrency); }

  void write(const Rect& rect, const ConstPixelView& in, Executor& executor) override {
    const int threads = write_threads(layout_, spec(), {1, rect.cols}, executor.concurrency());
    LimitedExecutor writers(executor, file_.begin_writes(threads));
    writers.for_each(rect.rows, [&](std::int64_t row, int) {
      const auto bytes = static_cast<std::size_t>(in.row_bytes());
      file_.write_pixels_at(header_.offset_of(rect.row + row, rect.col), {in.row_data(row), bytes});
    });
  }

  void finish() override {
    file_.write_at(0, std::as_bytes(std::span(text_)));
    file_.commit();
  }

 private:
  OutputFile file_;
  std::string text_;
  PfmHeader header_;
  SinkLayout layout_;
};

std::unique_ptr<Reader> open_pfm(InputFile file, const OpenOptions&) {
  return std::make_unique<PfmReader>(std::move(file));
}

std::unique_ptr<Writer> create_pfm(const std::filesystem::path& path, const ImageSpec& spec,
                                   const CreateOptions& options) {
  if (spec.type != PixelType::f32 || (spec.channels != 1 && spec.channels != 3))
    throw InvalidArgument(
        fmt::format("cannot write {}: PFM holds f32 with 1 or 3 channels and the image is {} with {}; cast "
                    "it or choose .tif",
                    path.native(), name_of(spec.type), spec.channels));
  return std::make_unique<PfmWriter>(path, spec, options);
}

constexpr Format kPfm{.name = "PFM",
                      .endings = ".pfm",
                      .reads = "grey and RGB of both byte orders",
                      .writes = "f32 with 1 or 3 channels",
                      .compression = Compression::none,
                      .begins = is_pfm,
                      .open = open_pfm,
                      .create = create_pfm};

/// All formats of the library, and PFM.
std::vector<Format> formats_with_pfm() {
  const Formats built_in = built_in_formats();
  std::vector<Format> formats(built_in.begin(), built_in.end());
  formats.push_back(kPfm);
  return formats;
}

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("does not hold: " + what);
}

std::vector<float> pixels_of(Reader& reader) {
  const ImageSpec& spec = reader.spec();
  std::vector<float> pixels(static_cast<std::size_t>(spec.extent.area() * spec.channels), -1);
  SerialExecutor executor;
  reader.read(Rect::whole(spec.extent), view_of(pixels.data(), spec.extent, spec.channels), executor);
  return pixels;
}

/// Filters a file to another file, in many small bands.
void filter(const std::string& from, const std::string& to, Formats formats) {
  const auto chain = Chain::parse({"gaussian:sigma=2", "transpose", "scale:factor=3"});
  const auto in = open_reader(from, {}, formats);
  CreateOptions options = output_like(*in, chain);
  options.overwrite = true;
  const auto out = create_writer(to, chain.result_spec(in->spec()), options, formats);
  RunOptions how;
  how.band_rows = 16;
  run(*in, *out, chain, how);
}

void pfm_to_pfm_is_npy_to_npy(Formats formats) {
  for (const std::int64_t channels : {1, 3}) {
    const auto pattern = make_pattern_reader({{201, 123}, channels, PixelType::f32}, Pattern::natural, 5);
    for (const char* const name : {"in.pfm", "in.npy"})
      run(*pattern, *create_writer(name, pattern->spec(), {.overwrite = true}, formats), Chain());
    filter("in.pfm", "out.pfm", formats);
    filter("in.npy", "out.npy", formats);
    const auto pfm = open_reader("out.pfm", {}, formats), npy = open_reader("out.npy");
    require(pfm->spec() == npy->spec() && pfm->spec().extent == Extent{123, 201}, "the result is turned");
    require(pixels_of(*pfm) == pixels_of(*npy), "the pixels are those of the same filter over NPY");
    require(file_info("out.pfm", {}, formats).format == "PFM", "a file says what it is");
  }
}

/// Two rows of one value in big-endian order, the lower row first.
void other_byte_order_is_read(Formats formats) {
  std::ofstream("big.pfm", std::ios::binary) << "Pf\n1 2\n1\n" << std::string("\x3F\x80\0\0\x40\0\0\0", 8);
  require(pixels_of(*open_reader("big.pfm", {}, formats)) == std::vector<float>{2, 1},
          "the first row comes last");
}

template <class Call>
void require_error(const Call& call, const std::string& text) {
  try {
    call();
  } catch (const Error& error) {
    return require(std::string(error.what()).find(text) != std::string::npos, error.what());
  }
  require(false, "an error that says: " + text);
}

void invalid_files_are_refused(Formats formats) {
  require_error([] { open_reader("in.pfm"); }, "no format that is read (TIFF, NPY");
  require_error([&] { create_writer("a.pfm", {{2, 2}, 1, PixelType::u8}, {}, formats); }, "PFM holds f32");
  require_error([&] { open_reader("in.pfm", {.page = 1}, formats); },
                "only TIFF, NPY, Zarr files have pages");
  std::ofstream("cut.pfm", std::ios::binary) << "Pf\n1 2\n1\nseven b";
  require_error([&] { open_reader("cut.pfm", {}, formats); }, "ends before its pixels do");
}

}  // namespace

int main() {
  try {
    const std::vector<Format> formats = formats_with_pfm();
    pfm_to_pfm_is_npy_to_npy(formats);
    other_byte_order_is_read(formats);
    invalid_files_are_refused(formats);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  std::cout << "filtered as NPY is\n";
  return 0;
}
