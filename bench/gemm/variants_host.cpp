// Triple loops on the host.
#include <algorithm>
#include <type_traits>

#include "bench/gemm/variants.hpp"

namespace sepconv {
namespace {

/// A matrix as it is multiplied: element (row, col) of op(x).
template <class T, bool kTransposed>
struct Operand {
  const T* data;
  std::int64_t pitch;  // in elements

  const T& operator()(std::int64_t row, std::int64_t col) const {
    return kTransposed ? data[col * pitch + row] : data[row * pitch + col];
  }
};

template <class T, class A, class B>
void row_as_dot_products(const A& a, const B& b, const GemmShape& shape, std::int64_t i, const T* added,
                         T* out) {
  for (std::int64_t j = 0; j < shape.n; ++j) {
    T sum = 0;
    for (std::int64_t k = 0; k < shape.k; ++k) sum += a(i, k) * b(k, j);
    out[j] = added != nullptr ? sum + added[j] : sum;
  }
}

template <class T, class A, class B>
void row_as_sum_of_rows(const A& a, const B& b, const GemmShape& shape, std::int64_t i, const T* added,
                        T* __restrict__ out) {
  std::fill(out, out + shape.n, T{0});
  for (std::int64_t k = 0; k < shape.k; ++k) {
    const T factor = a(i, k);
    for (std::int64_t j = 0; j < shape.n; ++j) out[j] += factor * b(k, j);
  }
  if (added != nullptr) {
    for (std::int64_t j = 0; j < shape.n; ++j) out[j] += added[j];
  }
}

template <class T, bool kTransA, bool kTransB>
void multiply(GemmLoops loops, const GemmOperands& operands, const GemmShape& shape, const PixelView& out,
              Executor& executor) {
  const auto element_bytes = static_cast<std::int64_t>(sizeof(T));
  const Operand<T, kTransA> a{reinterpret_cast<const T*>(operands.a.data),
                              operands.a.pitch_bytes / element_bytes};
  const Operand<T, kTransB> b{reinterpret_cast<const T*>(operands.b.data),
                              operands.b.pitch_bytes / element_bytes};
  const int threads = executor.concurrency();
  const std::int64_t chunks = threads == 1 ? 1 : std::min<std::int64_t>(shape.m, std::int64_t{4} * threads);
  executor.for_each(chunks, [&](std::int64_t chunk, int) {
    for (std::int64_t i = shape.m * chunk / chunks; i < shape.m * (chunk + 1) / chunks; ++i) {
      const T* const added = operands.added ? operands.added->row<T>(i) : nullptr;
      loops == GemmLoops::ijk ? row_as_dot_products<T>(a, b, shape, i, added, out.row<T>(i))
                              : row_as_sum_of_rows<T>(a, b, shape, i, added, out.row<T>(i));
    }
  });
}

template <class T>
void multiply(GemmLoops loops, const GemmOperands& operands, const GemmShape& shape, const PixelView& out,
              Executor& executor) {
  if (operands.trans_a) {
    operands.trans_b ? multiply<T, true, true>(loops, operands, shape, out, executor)
                     : multiply<T, true, false>(loops, operands, shape, out, executor);
  } else {
    operands.trans_b ? multiply<T, false, true>(loops, operands, shape, out, executor)
                     : multiply<T, false, false>(loops, operands, shape, out, executor);
  }
}

}  // namespace

void gemm_loops(GemmLoops loops, const GemmOperands& operands, const PixelView& out, Executor& executor) {
  const GemmShape shape = check_gemm_operands(operands, out);
  out.type == PixelType::f32 ? multiply<float>(loops, operands, shape, out, executor)
                             : multiply<double>(loops, operands, shape, out, executor);
}

}  // namespace sepconv
