// Chains on arrays in host memory.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <atomic>
#include <exception>
#include <memory_resource>
#include <thread>
#include <vector>

#include "bindings.hpp"
#include "images.hpp"
#include "interruptible.hpp"

namespace sepconv::python {
namespace {

using Input = nb::ndarray<nb::ro, nb::device::cpu>;
using Output = nb::ndarray<nb::device::cpu>;

constexpr std::int64_t kFewBytes = std::int64_t{1} << 20;
constexpr std::int64_t kManyBytes = std::int64_t{64} << 20;

template <class Given>
Array placed(const Given& given, void* data) {
  Array array{static_cast<std::byte*>(data), type_of(given.dtype()), {}, {}};
  for (std::size_t axis = 0; axis < given.ndim(); ++axis) {
    array.shape.push_back(static_cast<std::int64_t>(given.shape(axis)));
    array.strides.push_back(given.stride(axis) * size_of(array.type));
  }
  return array;
}

/// In this many threads, each computing image after image. The first failure is thrown when all have ended.
void compute_side_by_side(const Chain& chain, const Images& images, ApplyOptions options,
                          std::size_t threads) {
  options.threads = 1;
  std::atomic<std::size_t> next = 0;
  std::vector<std::exception_ptr> failed(threads);
  std::vector<std::jthread> others;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    others.emplace_back([&, thread] {
      try {
        for (std::size_t i = next++; i < images.count(); i = next++)
          apply(chain, images.source(i), images.sink(i), options);
      } catch (...) {
        failed[thread] = std::current_exception();
        next = images.count();
      }
    });
  }
  others.clear();
  for (const std::exception_ptr& one : failed)
    if (one) std::rethrow_exception(one);
}

/// Threads for images side by side: none for a few, or for small ones.
std::size_t threads_beside(const Images& images, int asked) {
  if (images.count() < 4 || images.bytes() < kFewBytes) return 1;
  const std::size_t threads =
      asked > 0 ? static_cast<std::size_t>(asked) : std::thread::hardware_concurrency();
  return images.count() >= 2 * threads ? threads : 1;
}

/// Many images side by side; else one after another, each in as many threads as are worth it.
void compute(const Chain& chain, const Images& images, const ApplyOptions& options) {
  if (const std::size_t threads = threads_beside(images, options.threads); threads > 1)
    return compute_side_by_side(chain, images, options, threads);
  for (std::size_t i = 0; i < images.count(); ++i) apply(chain, images.source(i), images.sink(i), options);
}

/// Every image of `in`, or part of one, through the chain to its place in `out`, without the GIL.
void apply_to_images(const Chain& chain, const Input& in, const Output& out, std::size_t axes,
                     std::optional<std::string_view> arithmetic, int threads, std::optional<Place> place) {
  const Images images(placed(in, const_cast<void*>(in.data())), placed(out, out.data()), axes, place);
  ApplyOptions options{.arithmetic = arithmetic_of(arithmetic), .threads = threads};
  // Pages of its own for a small image's scratch would take longer than the image.
  if (images.from.extent.rows * images.from.row_bytes() < kFewBytes)
    options.memory = std::pmr::new_delete_resource();
  if (images.bytes() >= kManyBytes) {
    return run_interruptible([&](const std::stop_token& stop) {
      options.stop = stop;
      compute(chain, images, options);
    });
  }
  const WithoutGil released;
  compute(chain, images, options);
}

}  // namespace

void bind_apply(nb::module_& module) {
  module.def("apply", apply_to_images, nb::arg("chain"), nb::arg("input").noconvert(),
             nb::arg("output").noconvert(), nb::arg("axes"), nb::arg("arithmetic").none(), nb::arg("threads"),
             nb::arg("place") = nb::none());
}

}  // namespace sepconv::python
