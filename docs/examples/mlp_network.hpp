// A multilayer perceptron. Its expensive operations are three matrix products: A B forward, A^T B for the
// gradients of the weights, and A B^T + C for those of the activations.
//
// Each row of an activation matrix is an image. Its last column is 1, so that the last row of the weights is
// the bias. With relu(x) = max(x, 0) and p = softmax of each row:
//
//   H1 = relu([X 1] W0)      H2 = H1 + relu([H1 1] W1)      ...      P = p([Hn 1] Wn)
//
// All layers between the first and the last have skip connections. Hence A B^T + C: the gradient for H1 is
// the gradient through W1 plus the gradient for H2, which the skip connection passes unchanged.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "mlp_data.hpp"
#include "sepconv/sepconv.hpp"

namespace mlp {

/// Matrix products in host memory, computed by the CPU or a GPU, and their total time.
class Products {
 public:
  /// `devices` empty: the CPU, on `threads` threads (0: all).
  explicit Products(std::vector<int> devices, int threads = 0);
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;

  /// out = alpha op(a) op(b) + beta out
  void operator()(const sepconv::GemmOp& op, const sepconv::PixelView& a, const sepconv::PixelView& b,
                  const sepconv::PixelView& out);
  double seconds() const noexcept { return seconds_; }

  /// Memory for matrices: page-locked for a GPU, so that it copies from them directly.
  std::pmr::memory_resource* memory() const noexcept;

 private:
  sepconv::BufferPool pinned_{sepconv::pinned_resource()};  // reused from product to product
  sepconv::BufferPool device_{sepconv::device_resource()};
  sepconv::RunOptions options_;
  double seconds_ = 0;
};

/// A matrix, initialized with zeros.
template <class T>
class Matrix {
 public:
  Matrix(sepconv::Extent extent, std::pmr::memory_resource* memory)
      : buffer_(extent.area() * static_cast<std::int64_t>(sizeof(T)), memory), extent_(extent) {
    std::ranges::fill(values(), T{0});
  }

  std::span<T> values() const noexcept {
    return {reinterpret_cast<T*>(buffer_.data()), static_cast<std::size_t>(extent_.area())};
  }
  std::span<T> row(std::int64_t index) const noexcept {
    return values().subspan(static_cast<std::size_t>(index * extent_.cols),
                            static_cast<std::size_t>(extent_.cols));
  }
  const sepconv::Extent& extent() const noexcept { return extent_; }
  /// The first `rows` rows, for products.
  sepconv::PixelView top(std::int64_t rows) const {
    return sepconv::view_of(values().data(), {rows, extent_.cols});
  }

 private:
  sepconv::Buffer buffer_;
  sepconv::Extent extent_;
};

struct Shape {
  std::int64_t inputs = 0;  ///< pixels of an image
  std::int64_t width = 64;  ///< of every layer but the last
  std::int64_t skips = 1;   ///< layers with a skip connection
  std::int64_t classes = 10;
};

/// Sums over images.
struct Score {
  double loss = 0;  ///< cross-entropy: -log of the probability of the correct digit
  std::int64_t right = 0;
  std::int64_t images = 0;

  Score& operator+=(const Score& other) noexcept;
  double mean_loss() const noexcept { return loss / static_cast<double>(images); }
  double accuracy() const noexcept { return static_cast<double>(right) / static_cast<double>(images); }
};

template <class T>
class Network {
 public:
  /// The weights of a layer, inputs + 1 rows by outputs columns, and their change in each step.
  struct Layer {
    Matrix<T> weights;
    Matrix<T> change;
  };

  /// For batches of at most `batch` images; `products` must outlive it. The same seed gives the same weights
  /// on every system.
  Network(const Shape& shape, std::int64_t batch, std::uint64_t seed, Products& products);

  /// Computes the outputs and the score for the images with these indices.
  Score forward(const Digits& digits, std::span<const std::int64_t> indices);
  /// To be called once after each forward(): the change of each layer becomes `beta` times itself plus
  /// `alpha` times the gradient of the summed loss.
  void backward(double alpha, double beta);
  /// To be called once after each forward(): a step of gradient descent with momentum, on the mean loss.
  void learn(double rate, double momentum);

  std::vector<Layer>& layers() noexcept { return layers_; }

 private:
  void load(const Digits& digits, std::span<const std::int64_t> indices);
  Score score(const Digits& digits, std::span<const std::int64_t> indices);

  Products& products_;
  std::vector<Layer> layers_;
  std::vector<Matrix<T>> activations_;  // the input of each layer, with the column of ones
  std::vector<Matrix<T>> hidden_;       // the output of relu in each layer but the last; in backward() its
                                        // gradient
  Matrix<T> outputs_;        // output of the last layer; after forward() its gradient, P - (1 at the label)
  Matrix<T> gradient_;       // of the activations, in backward()
  std::int64_t images_ = 0;  // of the current batch
};

extern template class Network<float>;
extern template class Network<double>;

}  // namespace mlp
