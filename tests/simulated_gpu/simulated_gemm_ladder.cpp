// The launchers of the gemm ladder on the simulated GPU: its sums in the promised order, on the stream's
// thread.
#include <cmath>

#include "bench/gemm/launch.hpp"
#include "sepconv/core/pixel_type.hpp"
#include "simulated_gpu.hpp"

namespace sepconv {
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

}  // namespace

void gemm_ladders::launch(GemmRung, const GemmShape& shape, const GemmOperands& operands,
                          const PixelView& out, DeviceStream stream) {
  simulated::enqueue(stream, [=] {
    out.type == PixelType::f32 ? multiply<float>(shape, operands, out)
                               : multiply<double>(shape, operands, out);
  });
}

void gemm_ladders::launch(ZeroCopyRung, const GemmOperands& operands, const TileCache& cache,
                          const PixelView& out, DeviceStream stream) {
  launch(GemmRung::thread_an_element, cache.shape(), operands, out, stream);
}

}  // namespace sepconv
