// The benchmark variants' launchers on the simulated GPU (sums in the guaranteed order, on the stream's
// thread), and the listener that installs the backend in a test program.
#define CATCH_CONFIG_EXTERNAL_INTERFACES  // for the listener below
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "bench/backend.hpp"
#include "core/pixel_type.hpp"
#include "simulated_gpu.hpp"

namespace sepconv::simulated {
namespace {

template <class T>
void multiply(const GemmShape& shape, const GemmOperands& operands, const PixelView& out) {
  const auto at = [](const ConstPixelView& matrix, bool transposed, std::int64_t row, std::int64_t col) {
    return transposed ? matrix.row<T>(col)[row] : matrix.row<T>(row)[col];
  };
  for (std::int64_t i = 0; i < shape.m; ++i) {
    for (std::int64_t j = 0; j < shape.n; ++j) {
      T sum = 0;
      for (std::int64_t k = 0; k < shape.k; ++k)
        sum = std::fma(at(operands.a, operands.trans_a, i, k), at(operands.b, operands.trans_b, k, j), sum);
      out.row<T>(i)[j] = operands.added ? sum + operands.added->row<T>(i)[j] : sum;
    }
  }
}

void multiply_variant(GemmVariant, const GemmShape& shape, const GemmOperands& operands, const PixelView& out,
                      DeviceStream stream) {
  enqueue(stream, [=] {
    out.type == PixelType::f32 ? multiply<float>(shape, operands, out)
                               : multiply<double>(shape, operands, out);
  });
}

void multiply_zero_copy(ZeroCopyVariant, const GemmOperands& operands, const TileCache& cache,
                        const PixelView& out, DeviceStream stream) {
  multiply_variant(GemmVariant::thread_per_element, cache.shape(), operands, out, stream);
}

void conv_pass(ConvVariant, ConvPass pass, const VariantTaps& taps, const ConstPixelView& in,
               const PixelView& out, DeviceStream stream) {
  enqueue(stream, [=, &taps] {
    visit_arithmetic(
        taps.type() == PixelType::f64 ? Arithmetic::f64 : Arithmetic::f32,
        [&]<class A>(std::type_identity<A>) {
          for (std::int64_t row = 0; row < out.extent.rows; ++row) {
            for (std::int64_t col = 0; col < out.extent.cols; ++col) {
              A sum = 0;
              for (std::int64_t k = 0; k < taps.count(); ++k) {
                const A value = pass == ConvPass::rows ? in.row<A>(row)[col + k] : in.row<A>(row + k)[col];
                sum = std::fma(static_cast<A>(taps.host()[static_cast<std::size_t>(k)]), value, sum);
              }
              out.row<A>(row)[col] = sum;
            }
          }
        });
  });
}

void fill(std::byte* memory, int value, std::int64_t bytes, DeviceStream stream) {
  enqueue(stream, [=] { std::memset(memory, value, static_cast<std::size_t>(bytes)); });
}

void transpose_variant(TransposeVariant variant, const TransposeShape& shape, ConstMatrices in, Matrices out,
                       DeviceStream stream) {
  if (!only_copies(variant)) return transpose_device(shape, in, out, stream);
  for (std::int64_t item = 0; item < shape.items; ++item) {
    copy_rows(out.data + item * out.item_bytes, out.pitch_bytes, in.data + item * in.item_bytes,
              in.pitch_bytes, shape.cols * shape.element_bytes, shape.rows, stream);
  }
}

void permute_variant(PermuteVariant variant, const TensorExtent& extent, const Permutation& permutation,
                     std::int64_t element_bytes, const TileExtent&, const std::byte* in, std::byte* out,
                     DeviceStream stream) {
  permute_device(extent, only_copies(variant) ? Permutation() : permutation, element_bytes, in, out, stream);
}

KernelFacts facts(GemmVariant, PixelType, bool, bool) { return {}; }
KernelFacts zero_copy_facts(ZeroCopyVariant, PixelType, int) { return {}; }

const BenchBackend simulated_bench{.conv_pass = conv_pass,
                                   .fill = fill,
                                   .gemm = multiply_variant,
                                   .gemm_zero_copy = multiply_zero_copy,
                                   .gemm_facts = facts,
                                   .zero_copy_facts = zero_copy_facts,
                                   .transpose = transpose_variant,
                                   .permute = permute_variant};

/// Installs the backends before the first test of a program that links this file.
struct Installer : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;
  void testRunStarting(const Catch::TestRunInfo&) override {
    install_device_backend(gpu_with_codecs);
    install_bench_backend(simulated_bench);
  }
};
CATCH_REGISTER_LISTENER(Installer)

TEST_CASE("the GPU made of threads is the backend of these tests") {
  CHECK(find_device_backend() == &gpu_with_codecs);
  CHECK(backend_has(DeviceKernels::all));
  CHECK(list_devices().size() == 2);
  CHECK(&bench_backend() == &simulated_bench);
}

}  // namespace
}  // namespace sepconv::simulated
