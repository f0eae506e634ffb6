#include "mlp_network.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "../support/gpu.hpp"

namespace {

using Indices = std::vector<std::int64_t>;

constexpr std::int64_t kBatch = 8;  // more than the images: every batch is a partial one

mlp::Shape small_shape(std::int64_t skips) { return {.inputs = 6, .width = 9, .skips = skips, .classes = 4}; }

/// Seven images of 3 x 2 pixels.
mlp::Digits some_digits() {
  mlp::Digits digits{3, 2, {}, {0, 3, 1, 2, 2, 0, 1}};
  for (int i = 0; i < 7 * 6; ++i)
    digits.pixels.push_back(static_cast<std::uint8_t>((i * i * 37 + i * 89) % 251));
  return digits;
}
const Indices kBatchIndices{6, 0, 3, 4, 1};

/// Biases are set to values other than 0: a unit without input would be at ReLU's kink, which has no
/// derivative.
template <class T>
mlp::Network<T> some_network(std::int64_t skips, mlp::Products& products) {
  mlp::Network<T> network(small_shape(skips), kBatch, 1, products);
  T bias = T{0.125};
  for (const auto& layer : network.layers()) {
    for (T& value : layer.weights.row(layer.weights.extent().rows - 1)) value = bias = -bias * T{0.9375};
  }
  return network;
}

/// The gradients of the summed loss of these images, of all layers in order.
template <class T>
std::vector<double> gradients(mlp::Network<T>& network) {
  network.forward(some_digits(), kBatchIndices);
  network.backward(1, 0);
  std::vector<double> all;
  for (const auto& layer : network.layers())
    all.insert(all.end(), layer.change.values().begin(), layer.change.values().end());
  return all;
}

std::vector<double> gradients_by_differences(mlp::Network<double>& network) {
  constexpr double kStep = 1e-6;
  const mlp::Digits digits = some_digits();
  std::vector<double> all;
  for (const auto& layer : network.layers()) {
    for (double& weight : layer.weights.values()) {
      const double before = weight;
      weight = before + kStep;
      const double above = network.forward(digits, kBatchIndices).loss;
      weight = before - kStep;
      const double below = network.forward(digits, kBatchIndices).loss;
      weight = before;
      all.push_back((above - below) / (2 * kStep));
    }
  }
  return all;
}

double max_difference(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double maximum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) maximum = std::max(maximum, std::abs(a[i] - b[i]));
  return maximum;
}

}  // namespace

TEST_CASE("the perceptron's gradients are those of finite differences") {
  const std::int64_t skips = GENERATE(0, 1, 3);
  mlp::Products products({});
  auto network = some_network<double>(skips, products);
  CAPTURE(skips);
  REQUIRE(network.layers().size() == static_cast<std::size_t>(skips) + 2);
  const std::vector<double> found = gradients(network);
  CHECK(max_difference(found, gradients_by_differences(network)) < 1e-7);
  const auto large = std::ranges::count_if(found, [](double value) { return std::abs(value) > 1e-3; });
  CHECK(large > std::ssize(found) / 3);  // ReLU sets the others to 0
  CHECK(products.seconds() > 0);

  auto single = some_network<float>(skips, products);
  CHECK(max_difference(found, gradients(single)) < 1e-5);
}

TEST_CASE("changes gather with momentum, and a step follows the mean loss") {
  mlp::Products products({});
  mlp::Network<double> network(small_shape(1), kBatch, 2, products);
  const mlp::Digits digits = some_digits();
  const std::vector<double> once = gradients(network);
  network.forward(digits, kBatchIndices);
  network.backward(-2, 0.5);
  std::size_t at = 0;
  for (const auto& layer : network.layers()) {
    for (const double change : layer.change.values())
      CHECK(change == Approx(-1.5 * once[at++]).margin(1e-12));
  }

  mlp::Network<double> learning(small_shape(1), kBatch, 2, products);
  const double before = learning.forward(digits, kBatchIndices).loss;
  const double rate = 1e-4;
  learning.learn(rate, 0.9);
  double squares = 0;
  for (const double value : once) squares += value * value;
  const auto images = static_cast<double>(kBatchIndices.size());
  CHECK(before - learning.forward(digits, kBatchIndices).loss ==
        Approx(rate / images * squares).epsilon(0.01));
}

TEST_CASE("a seed makes the perceptron's weights and its scores, whatever the batch") {
  mlp::Products products({});
  const mlp::Digits digits = some_digits();
  mlp::Network<double> base(small_shape(1), kBatch, 3, products), same_seed(small_shape(1), 5, 3, products),
      other_seed(small_shape(1), kBatch, 4, products);
  const auto weights = [](auto& network) { return network.layers()[1].weights.values(); };
  CHECK(std::ranges::equal(weights(base), weights(same_seed)));
  CHECK_FALSE(std::ranges::equal(weights(base), weights(other_seed)));

  const mlp::Score whole = base.forward(digits, kBatchIndices);
  mlp::Score parts;
  for (const std::int64_t index : kBatchIndices) parts += same_seed.forward(digits, Indices{index});
  CHECK(parts.loss == Approx(whole.loss).epsilon(1e-12));
  CHECK(parts.right == whole.right);
  CHECK(parts.images == 5);
}

TEST_CASE("the perceptron learns images by heart") {
  mlp::Products products({});
  mlp::Network<float> network(small_shape(1), kBatch, 1, products);
  const mlp::Digits digits = some_digits();
  const Indices all{0, 1, 2, 3, 4, 5, 6};
  for (int step = 0; step < 500; ++step) {
    network.forward(digits, all);
    network.learn(0.1, 0.9);
  }
  const mlp::Score score = network.forward(digits, all);
  CHECK(score.accuracy() == 1);
  CHECK(score.mean_loss() < 0.05);
}

TEST_CASE("a GPU finds the perceptron's gradients", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  mlp::Products products({0});
  auto network = some_network<double>(1, products);
  const std::vector<double> found = gradients(network);
  CHECK(max_difference(found, gradients_by_differences(network)) < 1e-7);
  auto single = some_network<float>(1, products);
  CHECK(max_difference(found, gradients(single)) < 1e-5);
}
