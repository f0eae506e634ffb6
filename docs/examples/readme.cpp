// The examples of the README and of the headers' comments, compiled and run: tests/structure/test_examples.py
// sees that each stands here, word for word. What needs a GPU is run where there is one.
//
//   example_readme      in an empty folder; makes its own files there
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "sepconv/sepconv.hpp"

namespace {

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("does not hold: " + what);
}

/// A GeoTIFF in compressed tiles, as satellites' are.
void make_scan() {
  const auto pattern =
      sepconv::make_pattern_reader({{300, 400}, 1, sepconv::PixelType::u16}, sepconv::Pattern::natural, 1);
  sepconv::CreateOptions options;
  options.overwrite = true;
  options.layout.tiled = true;
  options.layout.tile = {64, 64};
  options.layout.compression = sepconv::Compression::deflate;
  options.metadata.resolution = sepconv::Resolution{300, 300};
  options.metadata.description = "a satellite's";
  constexpr std::uint16_t kDouble = 12;
  options.metadata.geo_tags = {{33550, kDouble, 3, std::vector<std::byte>(24, std::byte{1})}};
  const auto scan = sepconv::create_writer("scan.tif", pattern->spec(), options);
  sepconv::run(*pattern, *scan, sepconv::Chain());
}

/// Its out.tif stays: tests/cli/test_library_example.py holds it against that of the program.
void file_to_file() {
  std::filesystem::remove("out.tif");
  sepconv::RunOptions options;
  options.max_memory_bytes = 256 << 20;
  options.choose_device = true;
  const auto chain = sepconv::Chain::parse({"gaussian:sigma=2.5"});
  const sepconv::RunReport report = sepconv::run_file("scan.tif", "out.tif", chain, options);
  for (const std::string& warning : report.plan.warnings) std::cerr << warning << '\n';

  const auto in = sepconv::open_reader("scan.tif");
  const auto made = sepconv::open_reader("out.tif");
  require(made->metadata().geo_tags == in->metadata().geo_tags &&
              made->metadata().resolution == in->metadata().resolution &&
              made->metadata().description == in->metadata().description,
          "the metadata of a GeoTIFF go along");
  require(
      made->layout().block == in->layout().block && made->layout().description == in->layout().description,
      "so does its layout");
  require(report.plan.warnings.empty(), "nothing was lost");
}

void header_of_run() {
  auto in = sepconv::open_reader("scan.tif");
  auto chain = sepconv::Chain::parse({"gaussian:sigma=2.5"});
  auto out =
      sepconv::create_writer("out.tif", chain.result_spec(in->spec()), sepconv::output_like(*in, chain));
  auto plan = sepconv::plan(*in, *out, chain, {.max_memory_bytes = 256 << 20});
  auto report = sepconv::run(*in, *out, plan);
  require(report.plan.max_memory_bytes == 256 << 20, "the ceiling is the one that was given");
}

void axes_of_a_file() {
  sepconv::permute_file("scan.tif", "turned.tif", {{1, 0, 2}}, {{.max_memory_bytes = 256 << 20}});

  const sepconv::Extent turned = sepconv::open_reader("turned.tif")->spec().extent;
  require(turned == sepconv::Extent{400, 300}, "rows are columns");
}

void images_of_a_file() {
  const sepconv::ImageSpec plane{{20, 30}, 1, sepconv::PixelType::u8};
  const std::vector<std::uint8_t> pixels(600, 7);
  const auto made = sepconv::create_set("cells.ome.tif", {plane, {{"c", 2}, {"z", 3}}}, {.overwrite = true});
  for (int i = 0; i < 6; ++i) {
    const auto sink = made->next({});
    sepconv::run(*sepconv::make_memory_reader(sepconv::view_of(pixels.data(), plane.extent)), *sink,
                 sepconv::Chain());
  }
  made->finish();

  std::int64_t planes = 0;
  const auto use = [&](const sepconv::Reader& reader) { planes += reader.spec() == plane ? 1 : 0; };
  auto set = sepconv::open_set("cells.ome.tif", {.select = "c=1"});
  for (std::int64_t i = 0; i < set->count(); ++i) use(*set->raster(i));
  require(planes == 3, "one channel has all slices");
}

void stages_made_typed() {
  const sepconv::Chain chain = sepconv::gaussian({.sigma = 2.5}) | sepconv::sobel({.axis = sepconv::Axis::x});
  require(chain.text() == sepconv::Chain::parse({"gaussian:sigma=2.5", "sobel:axis=x"}).text(),
          "text makes the same stages");
}

void rows_to_rows() {
  const sepconv::ImageSpec spec{{300, 400}, 1, sepconv::PixelType::f32};
  const auto chain = sepconv::Chain::parse({"box:radius=2"});
  sepconv::RunOptions options;
  std::vector<float> results;
  const auto fill = [](std::int64_t row, float* pixels, std::int64_t cols) {
    std::fill_n(pixels, cols, static_cast<float>(row));
  };
  const auto take = [&](const float* pixels, std::int64_t cols) {
    results.insert(results.end(), pixels, pixels + cols);
  };

  const auto source =
      sepconv::make_rows_reader(spec, [&](std::int64_t first_row, const sepconv::PixelView& rows) {
        for (std::int64_t row = 0; row < rows.extent.rows; ++row)
          fill(first_row + row, rows.row<float>(row), rows.extent.cols);
      });
  const auto sink = sepconv::make_rows_writer(spec, [&](std::int64_t, const sepconv::ConstPixelView& rows) {
    for (std::int64_t row = 0; row < rows.extent.rows; ++row) take(rows.row<float>(row), rows.extent.cols);
  });
  sepconv::run(*source, *sink, chain, options);

  require(results.size() == 300 * 400 && results[150 * 400] == 150,
          "rows come out in order, and a ramp's mean is itself");
}

void own_buffers() {
  const std::int64_t rows = 20, cols = 30;
  const std::vector<float> in_pixels(600, 2);
  std::vector<float> out_pixels(600);
  const auto chain = sepconv::Chain::parse({"box:radius=2"});

  sepconv::apply(chain, sepconv::view_of(in_pixels.data(), {rows, cols}),
                 sepconv::view_of(out_pixels.data(), {rows, cols}));

  require(out_pixels == in_pixels, "the mean of equal values is that value");
}

void part_of_an_image() {
  const sepconv::Extent whole{100000, 100};
  const sepconv::Rect part{99990, 0, 10, 100};
  const auto chain = sepconv::Chain::parse({"box:radius=2"});
  const std::vector<float> available_pixels(1200, 3);
  std::vector<float> result_pixels(1000);
  const auto pixels = sepconv::view_of(available_pixels.data(), {12, 100});
  const auto result = sepconv::view_of(result_pixels.data(), {10, 100});

  const sepconv::Rect needed = chain.input_for(part, {whole, 1, sepconv::PixelType::f32});
  sepconv::apply(chain, {pixels, needed, whole}, {result, part, whole});

  require(needed == sepconv::Rect{99988, 0, 12, 100}, "a part needs its halo, where there is one");
  require(result_pixels == std::vector<float>(1000, 3), "the mean of equal values is that value");
}

void product_of_matrices() {
  const std::vector<double> a(6, 1), b(12, 2);
  std::vector<double> c(8, 1);
  const auto a_view = sepconv::view_of(a.data(), {2, 3});
  const auto b_view = sepconv::view_of(b.data(), {4, 3});
  const auto c_view = sepconv::view_of(c.data(), {2, 4});
  sepconv::RunOptions options;

  sepconv::gemm({.trans_b = true, .beta = 1}, a_view, b_view, c_view, options);

  require(c == std::vector<double>(8, 7), "3 times 1 x 2, and 1 that was there");
}

void product_of_files() {
  for (const char* name : {"a.npy", "b.npy"}) {
    const std::vector<double> ones(4, 1);
    const auto matrix = sepconv::make_memory_reader(sepconv::view_of(ones.data(), {2, 2}));
    sepconv::CreateOptions options;
    options.overwrite = true;
    const auto file = sepconv::create_writer(name, matrix->spec(), options);
    sepconv::run(*matrix, *file, sepconv::Chain());
  }
  const auto a = sepconv::open_reader("a.npy"), b = sepconv::open_reader("b.npy");
  const auto out = sepconv::create_writer("c.npy", sepconv::gemm_result_spec({}, a->spec(), b->spec()), {});
  const sepconv::GemmReport report =
      sepconv::run_gemm({}, *a, *b, nullptr, *out, {{.max_memory_bytes = 1 << 30}});
  require(report.plan.bytes_written == 32, "a product of 2 x 2");
}

void several_runs() {
  const auto chain = sepconv::Chain::parse({"gaussian:sigma=2.5"});
  sepconv::resume_file("scan.tif", "resumed.tif", chain);

  sepconv::create_in_parts("scan.tif", "parts.tif", chain, {.band_rows = 64});
  for (int part = 1; part <= 3; ++part)
    sepconv::run_part("scan.tif", "parts.tif", chain, part, 3);  // each in a process of its own
  sepconv::finish_file("parts.tif");
  require(std::filesystem::exists("resumed.tif") && std::filesystem::exists("parts.tif"),
          "several runs make a file");
}

void on_gpus() {
  struct Job {
    std::unique_ptr<sepconv::Reader> source;
    std::unique_ptr<sepconv::Writer> sink;
  };
  const auto chain = sepconv::Chain::parse({"gaussian:sigma=2.5"});
  std::vector<Job> jobs(1);
  jobs[0].source = sepconv::open_reader("scan.tif");
  jobs[0].sink = sepconv::create_writer("gpu.tif", chain.result_spec(jobs[0].source->spec()),
                                        sepconv::output_like(*jobs[0].source, chain));
  using namespace sepconv;
  {
    BufferPool pinned(pinned_resource()), memory(device_resource());
    RunOptions options;
    options.devices = {0};
    options.pinned_memory = &pinned;
    options.device_memory = &memory;
    for (const Job& job : jobs) run(*job.source, *job.sink, chain, options);
  }
  const std::int64_t rows = 300, cols = 400;
  const sepconv::Buffer frame_memory(rows * cols * 4, sepconv::device_resource()),
      blurred_memory(rows * cols * 4, sepconv::device_resource());
  auto* frame = reinterpret_cast<float*>(frame_memory.data());
  auto* blurred = reinterpret_cast<float*>(blurred_memory.data());
  const sepconv::Stream own_stream;
  const sepconv::DeviceStream stream = own_stream.get();

  const sepconv::DeviceFilter blur(chain, {{rows, cols}, 1, sepconv::PixelType::f32});
  blur.enqueue(sepconv::view_of(frame, {rows, cols}), sepconv::view_of(blurred, {rows, cols}), stream);

  own_stream.synchronize();
  require(std::filesystem::exists("gpu.tif"), "a run on a GPU makes its file");
}

}  // namespace

int main() {
  try {
    for (const char* name : {"scan.tif", "out.tif", "turned.tif", "gpu.tif", "c.npy", "cells.ome.tif",
                             "resumed.tif", "parts.tif"})
      std::filesystem::remove_all(name);
    make_scan();
    header_of_run();
    file_to_file();
    axes_of_a_file();
    images_of_a_file();
    stages_made_typed();
    rows_to_rows();
    own_buffers();
    part_of_an_image();
    product_of_matrices();
    product_of_files();
    several_runs();
    if (sepconv::list_devices().empty()) {
      std::cout << "no GPU: its examples were compiled only\n";
    } else {
      on_gpus();
    }
  } catch (const std::exception& error) {
    std::cerr << "example_readme: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
