// Products of matrices in page-locked host memory, in one process: sepconv, cuBLAS on matrices in device
// memory, cuBLAS with copies before and after, and cuBLASXt.
//
//   peers_gemm [--size N] [--type f64|f32] [--runs R] [--no-xt]
//
// Prints medians after a warm-up. Some elements of every result are compared with sums in extended precision.
// Errors are in units of the unit roundoff times the square root of the number of terms; a result is wrong
// beyond four times that root. Exit code 0: all are correct; 1: one is wrong; 77: no GPU.
#include "pipeline/gemm/gemm.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "io/memory_image.hpp"
#include "kernels/device/buffer_pool.hpp"

namespace {

using namespace sepconv;

constexpr std::int64_t kSamples = 1000;
constexpr double kMaxError = 4;  // cuBLAS's maximum error was 0.7

struct Options {
  std::int64_t size = 20480;
  PixelType type = PixelType::f64;
  int runs = 5;
  bool with_xt = true;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto value = [&] { return std::string(i + 1 < argc ? argv[++i] : ""); };
    if (name == "--size") options.size = std::stoll(value());
    if (name == "--type") options.type = value() == "f32" ? PixelType::f32 : PixelType::f64;
    if (name == "--runs") options.runs = std::stoi(value());
    if (name == "--no-xt") options.with_xt = false;
  }
  return options;
}

/// cuBLASXt, loaded from the cuBLAS library.
class CuBlasXt {
 public:
  CuBlasXt() : library_(dlopen("libcublas.so.13", RTLD_NOW)) {
    if (library_ == nullptr) library_ = dlopen("libcublas.so.12", RTLD_NOW);
    int device = 0;
    if (library_ == nullptr || find<int(void**)>("cublasXtCreate")(&handle_) != 0) return;
    find<int(void*, int, int*)>("cublasXtDeviceSelect")(handle_, 1, &device);
  }
  bool is_available() const { return handle_ != nullptr; }
  /// The row-major product a b, by exchanging the operands. Returns whether it succeeded.
  bool multiply(const Options& options, int block, const std::byte* a, const std::byte* b,
                std::byte* out) const {
    find<int(void*, int)>("cublasXtSetBlockDim")(handle_, block);
    const auto n = static_cast<std::size_t>(options.size);
    return options.type == PixelType::f64 ? call<double>("cublasXtDgemm", n, b, a, out)
                                          : call<float>("cublasXtSgemm", n, b, a, out);
  }

 private:
  template <class Function>
  Function* find(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }
  template <class T>
  bool call(const char* name, std::size_t n, const std::byte* a, const std::byte* b, std::byte* out) const {
    const T one = 1, zero = 0;
    using Gemm = int(void*, int, int, std::size_t, std::size_t, std::size_t, const T*, const void*,
                     std::size_t, const void*, std::size_t, const T*, void*, std::size_t);
    return find<Gemm>(name)(handle_, 0, 0, n, n, n, &one, a, n, b, n, &zero, out, n) == 0;
  }
  void* library_;
  void* handle_ = nullptr;
};

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

class Comparison {
 public:
  explicit Comparison(const Options& options)
      : options_(options),
        spec_{{options.size, options.size}, 1, options.type},
        a_(spec_.bytes(), pinned_resource()),
        b_(spec_.bytes(), pinned_resource()),
        out_(spec_.bytes(), pinned_resource()) {
    std::mt19937_64 random(1);
    std::vector<double> values(65521);
    for (double& value : values) value = std::uniform_real_distribution<double>(-1, 1)(random);
    for (std::int64_t i = 0; i < spec_.extent.area(); ++i)
      set(a_, i, values[static_cast<std::size_t>(i % 65521)]),
          set(b_, i, values[static_cast<std::size_t>(i % 64901)]);
  }

  /// Times `multiply`, checks the result and prints a row. `fetch`, if any, copies the result to the host and
  /// is not timed.
  void time(const std::string& name, const std::function<void()>& multiply,
            const std::function<void()>& fetch = {}) {
    std::memset(out_.data(), 0xff, static_cast<std::size_t>(spec_.bytes()));
    std::vector<double> seconds;
    for (int run = 0; run <= options_.runs; ++run) {
      const double elapsed = seconds_of(multiply);
      if (run > 0) seconds.push_back(elapsed);
    }
    std::ranges::sort(seconds);
    const double median = seconds[seconds.size() / 2];
    if (resident_seconds_ == 0) resident_seconds_ = median;
    if (fetch) fetch();
    const double deviation = error();
    const bool agrees = deviation <= kMaxError * std::sqrt(static_cast<double>(options_.size));
    all_agree_ = all_agree_ && agrees;
    const double flops = 2 * std::pow(static_cast<double>(options_.size), 3);
    fmt::print("| {} | {:.1f} | {:.1f} to {:.1f} | {:.1f} | {:.3f} | {:.3g} |{}\n", name, median * 1e3,
               seconds.front() * 1e3, seconds.back() * 1e3, flops / median / 1e12, resident_seconds_ / median,
               deviation, agrees ? "" : " **wrong**");
    std::fflush(stdout);
  }

  /// Times the product on matrices in device memory, and with copies to the device before and to the host
  /// after it.
  void time_cublas() {
    const Buffer a(spec_.bytes(), device_resource()), b(spec_.bytes(), device_resource()),
        out(spec_.bytes(), device_resource());
    const Stream stream;
    const auto copy = [&](std::byte* to, const std::byte* from) {
      copy_rows(to, 0, from, 0, spec_.bytes(), 1, stream.get());
    };
    const auto multiply = [&] {
      gemm_device({}, dense_view(a.data(), spec_), dense_view(b.data(), spec_), dense_view(out.data(), spec_),
                  stream.get());
    };
    copy(a.data(), a_.data()), copy(b.data(), b_.data());
    compute_expected();
    time(
        "cuBLAS, resident", [&] { multiply(), stream.synchronize(); },
        [&] { copy(out_.data(), out.data()), stream.synchronize(); });
    time("copy, cuBLAS, copy", [&] {
      copy(a.data(), a_.data()), copy(b.data(), b_.data()), multiply(), copy(out_.data(), out.data()),
          stream.synchronize();
    });
  }

  void time_xt() {
    const CuBlasXt xt;
    if (!xt.is_available()) return;
    for (const int block : {1024, 2048, 4096, 8192})
      time(fmt::format("cuBLASXt, blocks of {}", block),
           [&] { xt.multiply(options_, block, a_.data(), b_.data(), out_.data()); });
  }

  void time_sepconv(const char* name, std::int64_t device_bytes, int slots) {
    RunOptions options;
    options.devices = {0};
    options.slots = slots;
    options.max_device_memory_bytes = device_bytes;
    BufferPool memory(device_resource()), pinned(pinned_resource());
    options.device_memory = &memory;
    options.pinned_memory = &pinned;
    time(name, [&] {
      gemm({}, dense_view(a_.data(), spec_), dense_view(b_.data(), spec_), dense_view(out_.data(), spec_),
           options, HostMemory::page_locked);
    });
  }

  std::int64_t bytes() const { return spec_.bytes(); }
  bool all_agree() const { return all_agree_; }

 private:
  void set(const Buffer& memory, std::int64_t index, double value) const {
    if (options_.type == PixelType::f64) reinterpret_cast<double*>(memory.data())[index] = value;
    if (options_.type == PixelType::f32)
      reinterpret_cast<float*>(memory.data())[index] = static_cast<float>(value);
  }
  std::int64_t sample(std::int64_t i) const { return i * 104729 * 641 % spec_.extent.area(); }
  static double value(const Buffer& memory, std::int64_t index, PixelType type) {
    return type == PixelType::f64 ? reinterpret_cast<const double*>(memory.data())[index]
                                  : static_cast<double>(reinterpret_cast<const float*>(memory.data())[index]);
  }
  /// Computes the sampled elements in extended precision.
  void compute_expected() {
    for (std::int64_t i = 0; i < kSamples; ++i) {
      const std::int64_t row = sample(i) / options_.size, col = sample(i) % options_.size;
      long double sum = 0;
      for (std::int64_t k = 0; k < options_.size; ++k)
        sum += static_cast<long double>(value(a_, row * options_.size + k, options_.type)) *
               value(b_, k * options_.size + col, options_.type);
      expected_.push_back(static_cast<double>(sum));
    }
  }
  /// The maximum error of the sampled elements, in units of the type's unit roundoff times the square root of
  /// the number of terms: the terms are random from -1 to 1, and each may be off by one unit.
  double error() const {
    const double rounding =
        (options_.type == PixelType::f64 ? 0x1p-53 : 0x1p-24) * std::sqrt(static_cast<double>(options_.size));
    double max_error = 0;
    for (std::int64_t i = 0; i < kSamples; ++i) {
      const double deviation =
          std::abs(value(out_, sample(i), options_.type) - expected_[static_cast<std::size_t>(i)]) / rounding;
      if (std::isnan(deviation)) return deviation;  // the element was not written
      max_error = std::max(max_error, deviation);
    }
    return max_error;
  }

  Options options_;
  ImageSpec spec_;
  Buffer a_, b_, out_;
  std::vector<double> expected_;
  double resident_seconds_ = 0;
  bool all_agree_ = true;
};

}  // namespace

int main(int argc, char** argv) {
  if (list_devices().empty()) {
    fmt::print("skipped: no GPU\n");
    return 77;
  }
  const Options options = parse(argc, argv);
  Comparison comparison(options);
  fmt::print("{} x {} x {} {}, page-locked, {}, {}\n\n", options.size, options.size, options.size,
             name_of(options.type), list_devices().front().name, gemm_device_library());
  fmt::print("| | ms | from, to | TFLOP/s | of resident | error |\n|---|---|---|---|---|---|\n");
  comparison.time_cublas();
  if (options.with_xt) comparison.time_xt();
  comparison.time_sepconv("sepconv", 0, 0);
  comparison.time_sepconv("sepconv, device memory a tenth of A, B and C", 3 * comparison.bytes() / 10, 0);
  comparison.time_sepconv("sepconv, a tenth of A and B", 2 * comparison.bytes() / 10, 0);
  comparison.time_sepconv("sepconv, one slot", 0, 1);
  return comparison.all_agree() ? 0 : 1;
}
