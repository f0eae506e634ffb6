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

constexpr std::int64_t kMinParallelBytes = std::int64_t{1} << 20;
constexpr std::int64_t kMinInterruptibleBytes = std::int64_t{64} << 20;

template <class NdArray>
Array to_array(const NdArray& ndarray_in, void* data) {
  Array array{static_cast<std::byte*>(data), type_of(ndarray_in.dtype()), {}, {}};
  for (std::size_t axis = 0; axis < ndarray_in.ndim(); ++axis) {
    array.shape.push_back(static_cast<std::int64_t>(ndarray_in.shape(axis)));
    array.strides.push_back(ndarray_in.stride(axis) * size_of(array.type));
  }
  return array;
}

/// Processes the images on `threads` threads, one image per thread at a time. Throws the first failure after
/// all threads have ended.
void compute_in_parallel(const Chain& chain, const Images& images, ApplyOptions options,
                         std::size_t threads) {
  options.threads = 1;
  std::atomic<std::size_t> next = 0;
  std::vector<std::exception_ptr> failures(threads);
  std::vector<std::jthread> workers;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    workers.emplace_back([&, thread] {
      try {
        for (std::size_t i = next++; i < images.count(); i = next++)
          apply(chain, images.source(i), images.sink(i), options);
      } catch (...) {
        failures[thread] = std::current_exception();
        next = images.count();
      }
    });
  }
  workers.clear();
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

/// Number of threads that process different images; 1 for few or small images.
std::size_t image_threads(const Images& images, int requested) {
  if (images.count() < 4 || images.bytes() < kMinParallelBytes) return 1;
  const std::size_t threads =
      requested > 0 ? static_cast<std::size_t>(requested) : std::thread::hardware_concurrency();
  return images.count() >= 2 * threads ? threads : 1;
}

/// Processes many images in parallel, or few images in sequence with several threads each.
void compute(const Chain& chain, const Images& images, const ApplyOptions& options) {
  if (const std::size_t threads = image_threads(images, options.threads); threads > 1)
    return compute_in_parallel(chain, images, options, threads);
  for (std::size_t i = 0; i < images.count(); ++i) apply(chain, images.source(i), images.sink(i), options);
}

/// Applies the chain to every image of `in`, or to a part of it, and writes to `out`, without the GIL.
void apply_to_images(const Chain& chain, const Input& in, const Output& out, std::size_t axes,
                     std::optional<std::string_view> arithmetic, int threads,
                     std::optional<PartPosition> part_position) {
  const Images images(to_array(in, const_cast<void*>(in.data())), to_array(out, out.data()), axes,
                      part_position);
  ApplyOptions options{.arithmetic = arithmetic_of(arithmetic), .threads = threads};
  // For a small image, mapping pages for scratch would take longer than the filter.
  if (images.first_source.extent.rows * images.first_source.row_bytes() < kMinParallelBytes)
    options.memory = std::pmr::new_delete_resource();
  if (images.bytes() >= kMinInterruptibleBytes) {
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
