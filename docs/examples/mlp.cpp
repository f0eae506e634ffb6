// Learns to read handwritten digits: a multilayer perceptron trained with the library's matrix products on
// the CPU or on a GPU.
//
//   docs/examples/digits_to_idx.py digits      (or a folder with the four files of MNIST)
//   example_mlp digits --device cuda
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mlp_data.hpp"
#include "mlp_network.hpp"
#include "sepconv/sepconv.hpp"

namespace {

constexpr const char* kUsage = R"(usage: example_mlp FOLDER [OPTION VALUE]...
  FOLDER            train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte
  --device cpu      or cuda: where the products are computed
  --type f32        or f64
  --epochs 15       how often every image is shown
  --batch 32        images a step
  --width 64        of the layers
  --skips 1         layers with a skip connection
  --rate 0.05       of learning, and --momentum 0.9
  --seed 1          of the first weights and of the images' order
  --threads 0       of the CPU; 0: all
  --expect 0        fails if less than this part of the images held out is read right
)";

struct Options {
  std::string folder;
  std::string device = "cpu";
  std::string type = "f32";
  std::int64_t epochs = 15;
  std::int64_t batch = 32;
  mlp::Shape shape;
  double rate = 0.05;
  double momentum = 0.9;
  std::uint64_t seed = 1;
  int threads = 0;
  double expect = 0;
};

[[noreturn]] void refuse(std::string_view option, std::string_view text, std::string_view wanted) {
  throw sepconv::InvalidArgument(std::string(option) + " is " + std::string(text) + "; give " +
                                 std::string(wanted));
}

template <class T>
T number(std::string_view option, std::string_view text, std::int64_t minimum, std::int64_t maximum) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  if (!whole || !(value >= static_cast<T>(minimum) && value <= static_cast<T>(maximum)))  // refuses NaN, too
    refuse(option, text, "a number from " + std::to_string(minimum) + " to " + std::to_string(maximum));
  return value;
}

std::string one_of(std::string_view option, std::string_view text, std::string_view first,
                   std::string_view second) {
  if (text != first && text != second)
    refuse(option, text, std::string(first) + " or " + std::string(second));
  return std::string(text);
}

void set(Options& options, std::string_view option, std::string_view text) {
  const auto integer = [&](std::int64_t minimum, std::int64_t maximum) {
    return number<std::int64_t>(option, text, minimum, maximum);
  };
  const auto real = [&](std::int64_t maximum) { return number<double>(option, text, 0, maximum); };
  if (option == "--device")
    options.device = one_of(option, text, "cpu", "cuda");
  else if (option == "--type")
    options.type = one_of(option, text, "f32", "f64");
  else if (option == "--epochs")
    options.epochs = integer(1, 1'000'000);
  else if (option == "--batch")
    options.batch = integer(1, 1 << 20);
  else if (option == "--width")
    options.shape.width = integer(1, 1 << 16);
  else if (option == "--skips")
    options.shape.skips = integer(0, 1000);
  else if (option == "--rate")
    options.rate = real(1000);
  else if (option == "--momentum")
    options.momentum = real(1);
  else if (option == "--seed")
    options.seed = static_cast<std::uint64_t>(integer(0, INT64_MAX));
  else if (option == "--threads")
    options.threads = static_cast<int>(integer(0, 1 << 16));
  else if (option == "--expect")
    options.expect = real(1);
  else
    throw sepconv::InvalidArgument("there is no option " + std::string(option) + "; --help lists them");
}

Options parse(const std::vector<std::string_view>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].starts_with("--")) {
      if (!options.folder.empty()) throw sepconv::InvalidArgument("there are two folders; give one");
      options.folder = arguments[i];
    } else {
      if (i + 1 == arguments.size())
        throw sepconv::InvalidArgument(std::string(arguments[i]) + " needs a value");
      set(options, arguments[i], arguments[i + 1]);
      ++i;
    }
  }
  if (options.folder.empty()) throw sepconv::InvalidArgument("no folder is given; --help says what it holds");
  return options;
}

/// The name of the device, and of the library, that computes the products.
std::string engine(const Options& options) {
  const auto with = [](const std::string& library) { return library.empty() ? "" : ", " + library; };
  if (options.device == "cpu") return "the CPU" + with(sepconv::gemm_host_library());
  const auto devices = sepconv::list_devices();
  if (devices.empty()) throw sepconv::InvalidArgument("no GPU can be used; take --device cpu");
  return devices.front().name + with(sepconv::gemm_device_library());
}

using Indices = std::vector<std::int64_t>;

/// The sum of the scores visit(indices) over batches of `batch` images, in this order.
template <class Visit>
mlp::Score in_batches(const Indices& order, std::int64_t batch, Visit&& visit) {
  mlp::Score sums;
  for (std::size_t first = 0; first < order.size(); first += static_cast<std::size_t>(batch)) {
    const std::size_t images = std::min(order.size() - first, static_cast<std::size_t>(batch));
    sums += visit(std::span(order).subspan(first, images));
  }
  return sums;
}

/// The Fisher-Yates shuffle, because std::shuffle differs between libraries.
void shuffle(Indices& order, std::mt19937_64& random) {
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
}

Indices first_indices(std::int64_t count) {
  Indices indices(static_cast<std::size_t>(count));
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

/// Trains the network. Returns the fraction of the held-out images that are classified correctly after the
/// last epoch.
template <class T>
double train(const mlp::DataSet& data, const Options& options) {
  mlp::Products products(options.device == "cuda" ? std::vector<int>{0} : std::vector<int>{},
                         options.threads);
  mlp::Network<T> network(options.shape, options.batch, options.seed, products);
  std::mt19937_64 random(options.seed);
  Indices order = first_indices(data.train.count());
  const Indices held_out = first_indices(data.held_out.count());

  std::printf("epoch    loss   right  held out   seconds  in GEMM\n");
  double accuracy = 0;
  for (std::int64_t epoch = 1; epoch <= options.epochs; ++epoch) {
    const auto begin = std::chrono::steady_clock::now();
    const double gemm_before = products.seconds();
    shuffle(order, random);
    const mlp::Score train_score =
        in_batches(order, options.batch, [&](std::span<const std::int64_t> images) {
          const mlp::Score score = network.forward(data.train, images);
          network.learn(options.rate, options.momentum);
          return score;
        });
    const mlp::Score held_out_score = in_batches(
        held_out, options.batch,
        [&](std::span<const std::int64_t> images) { return network.forward(data.held_out, images); });
    accuracy = held_out_score.accuracy();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::printf("%5lld  %6.4f  %5.1f %%   %5.1f %%  %8.3f    %3.0f %%\n", static_cast<long long>(epoch),
                train_score.mean_loss(), 100 * train_score.accuracy(), 100 * accuracy, seconds,
                100 * (products.seconds() - gemm_before) / seconds);
    std::fflush(stdout);
  }
  return accuracy;
}

int learn_digits(Options options) {
  const mlp::DataSet data = mlp::read_data_set(options.folder);
  options.shape.inputs = data.train.image_pixels();
  std::printf("%lld images of %lld x %lld pixels to learn from, %lld held out; %s on %s\n",
              static_cast<long long>(data.train.count()), static_cast<long long>(data.train.rows),
              static_cast<long long>(data.train.cols), static_cast<long long>(data.held_out.count()),
              options.type.c_str(), engine(options).c_str());
  const double accuracy = options.type == "f64" ? train<double>(data, options) : train<float>(data, options);
  if (accuracy >= options.expect) return 0;
  std::fprintf(stderr,
               "example_mlp: %.1f %% of the images held out are read right, and %.1f %% were expected\n",
               100 * accuracy, 100 * options.expect);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  if (std::ranges::find(arguments, "--help") != arguments.end()) {
    std::cout << kUsage;
    return 0;
  }
  try {
    return learn_digits(parse(arguments));
  } catch (const sepconv::InvalidArgument& error) {
    std::cerr << "example_mlp: " << error.what() << '\n';
    return 2;
  } catch (const sepconv::Error& error) {
    std::cerr << "example_mlp: " << error.what() << '\n';
    return 1;
  }
}
