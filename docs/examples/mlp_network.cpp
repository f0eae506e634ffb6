#include "mlp_network.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <utility>

namespace mlp {
namespace {

/// Fills with uniform values of variance 2 / inputs, which preserves the size of activations from layer to
/// layer. Uses the generator's bits, because the standard's distributions differ between libraries.
template <class T>
void fill_randomly(std::span<T> values, std::int64_t inputs, std::mt19937_64& random) {
  const double limit = std::sqrt(6.0 / static_cast<double>(inputs));
  for (T& value : values)
    value = static_cast<T>((std::ldexp(static_cast<double>(random() >> 11), -52) - 1) * limit);
}

}  // namespace

Products::Products(std::vector<int> devices, int threads) {
  options_.threads = threads;
  options_.threads = sepconv::threads_of(options_);  // determined once, not for every product
  options_.devices = std::move(devices);
  options_.pinned_memory = &pinned_;
  options_.device_memory = &device_;
}

void Products::operator()(const sepconv::GemmOp& op, const sepconv::PixelView& a, const sepconv::PixelView& b,
                          const sepconv::PixelView& out) {
  const auto begin = std::chrono::steady_clock::now();
  const bool on_cpu = options_.devices.empty();
  sepconv::gemm(op, a, b, out, options_,
                on_cpu ? sepconv::HostMemory::pageable : sepconv::HostMemory::page_locked);
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::pmr::memory_resource* Products::memory() const noexcept {
  return options_.devices.empty() ? sepconv::page_resource() : sepconv::pinned_resource();
}

Score& Score::operator+=(const Score& other) noexcept {
  loss += other.loss;
  right += other.right;
  images += other.images;
  return *this;
}

template <class T>
Network<T>::Network(const Shape& shape, std::int64_t batch, std::uint64_t seed, Products& products)
    : products_(products),
      outputs_({batch, shape.classes}, products.memory()),
      gradient_({batch, shape.width}, products.memory()) {
  std::mt19937_64 random(seed);
  std::int64_t inputs = shape.inputs;
  for (std::int64_t i = 0; i < shape.skips + 2; ++i) {
    const bool last = i == shape.skips + 1;
    const sepconv::Extent extent{inputs + 1, last ? shape.classes : shape.width};
    layers_.push_back({{extent, products.memory()}, {extent, products.memory()}});
    const Matrix<T>& weights = layers_.back().weights;
    fill_randomly(weights.values().first(static_cast<std::size_t>(inputs * extent.cols)), inputs, random);

    activations_.emplace_back(sepconv::Extent{batch, inputs + 1}, products.memory());
    for (std::int64_t row = 0; row < batch; ++row) activations_.back().row(row).back() = 1;
    if (!last) hidden_.emplace_back(sepconv::Extent{batch, shape.width}, products.memory());
    inputs = shape.width;
  }
}

template <class T>
Score Network<T>::forward(const Digits& digits, std::span<const std::int64_t> indices) {
  load(digits, indices);
  for (std::size_t i = 0; i < hidden_.size(); ++i) {
    products_({}, activations_[i].top(images_), layers_[i].weights.top(activations_[i].extent().cols),
              hidden_[i].top(images_));
    for (std::int64_t row = 0; row < images_; ++row) {
      const auto hidden = hidden_[i].row(row);
      const auto from = activations_[i].row(row);
      const auto to = activations_[i + 1].row(row);
      for (std::size_t col = 0; col < hidden.size(); ++col) {
        hidden[col] = std::max(hidden[col], T{0});
        to[col] = i == 0 ? hidden[col] : from[col] + hidden[col];
      }
    }
  }
  const Matrix<T>& last = activations_.back();
  products_({}, last.top(images_), layers_.back().weights.top(last.extent().cols), outputs_.top(images_));
  return score(digits, indices);
}

template <class T>
void Network<T>::backward(double alpha, double beta) {
  const sepconv::GemmOp to_weights{.trans_a = true, .alpha = alpha, .beta = beta};
  const auto all = [](const Matrix<T>& matrix) { return matrix.top(matrix.extent().rows); };
  const auto without_bias = [](const Matrix<T>& weights) { return weights.top(weights.extent().rows - 1); };

  products_(to_weights, activations_.back().top(images_), outputs_.top(images_), all(layers_.back().change));
  products_({.trans_b = true}, outputs_.top(images_), without_bias(layers_.back().weights),
            gradient_.top(images_));
  for (std::size_t i = hidden_.size(); i-- > 0;) {
    for (std::int64_t row = 0; row < images_; ++row) {
      const auto hidden = hidden_[i].row(row);
      const auto gradient = gradient_.row(row);
      for (std::size_t col = 0; col < hidden.size(); ++col)
        hidden[col] = hidden[col] > 0 ? gradient[col] : T{0};
    }
    products_(to_weights, activations_[i].top(images_), hidden_[i].top(images_), all(layers_[i].change));
    if (i > 0) {  // beta 1: the gradient already contains the skip connection's part
      products_({.trans_b = true, .beta = 1}, hidden_[i].top(images_), without_bias(layers_[i].weights),
                gradient_.top(images_));
    }
  }
}

template <class T>
void Network<T>::learn(double rate, double momentum) {
  backward(-rate / static_cast<double>(images_), momentum);
  for (const Layer& layer : layers_) {
    const auto weights = layer.weights.values();
    const auto change = layer.change.values();
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] += change[i];
  }
}

template <class T>
void Network<T>::load(const Digits& digits, std::span<const std::int64_t> indices) {
  images_ = std::ssize(indices);
  for (std::int64_t row = 0; row < images_; ++row) {
    const std::uint8_t* const pixels = digits.image(indices[static_cast<std::size_t>(row)]);
    std::transform(pixels, pixels + digits.image_pixels(), activations_[0].row(row).begin(),
                   [](std::uint8_t pixel) { return static_cast<T>(pixel) / 255; });
  }
}

/// Converts the outputs to probabilities and then to the gradient of the loss. Returns the score.
template <class T>
Score Network<T>::score(const Digits& digits, std::span<const std::int64_t> indices) {
  Score sums{.images = images_};
  for (std::int64_t row = 0; row < images_; ++row) {
    const auto outputs = outputs_.row(row);
    const std::size_t label = digits.labels[static_cast<std::size_t>(indices[static_cast<std::size_t>(row)])];
    const auto max_output = std::ranges::max_element(outputs);
    sums.right += max_output - outputs.begin() == static_cast<std::ptrdiff_t>(label);

    const T shift = *max_output;  // exp of what is at most 0 cannot overflow
    const T right = outputs[label] - shift;
    T sum = 0;
    for (T& output : outputs) sum += output = std::exp(output - shift);
    for (T& output : outputs) output /= sum;
    sums.loss += std::log(static_cast<double>(sum)) - static_cast<double>(right);
    outputs[label] -= 1;
  }
  return sums;
}

template class Network<float>;
template class Network<double>;

}  // namespace mlp
