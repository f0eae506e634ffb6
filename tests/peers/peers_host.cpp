// sepconv on the CPU for Python's ctypes: the shared library that tests/peers/conv.py and transpose.py load.
#include <exception>
#include <string>

#include "core/error.hpp"
#include "kernels/simd/targets.hpp"
#include "kernels/transpose/permutation.hpp"
#include "pipeline/machine/thread_pool.hpp"
#include "pipeline/run/apply.hpp"

#define PEERS_HOST extern "C" __attribute__((visibility("default")))

namespace {

thread_local std::string last_error;

/// Returns 0, or 1 if `work` threw; peers_host_error() then returns the message.
template <class Work>
int status_of(const Work& work) {
  try {
    work();
    return 0;
  } catch (const std::exception& error) {
    last_error = error.what();
    return 1;
  }
}

}  // namespace

PEERS_HOST const char* peers_host_error() { return last_error.c_str(); }

/// The instruction set of the kernels, such as "AVX3".
PEERS_HOST const char* peers_host_target() {
  static const std::string target(sepconv::simd_target());
  return target.c_str();
}

PEERS_HOST sepconv::ThreadPool* peers_host_threads_create(int threads) {
  return new sepconv::ThreadPool(threads);
}
PEERS_HOST void peers_host_threads_destroy(sepconv::ThreadPool* threads) { delete threads; }

/// Applies one stage in command line syntax ("convolve:row=1,2,1,border=replicate") to a dense image of rows
/// x cols x channels elements of `type` ("u8", ...) in memory. `target` has the same shape and type and must
/// not overlap. Returns 0, or 1 after a failure; peers_host_error() then returns the message.
PEERS_HOST int peers_host_apply(const char* stage, const char* type, const std::int64_t* shape,
                                const void* source, void* target, int threads) {
  return status_of([&] {
    const std::optional<sepconv::PixelType> pixel_type = sepconv::parse_pixel_type(type);
    if (!pixel_type) throw sepconv::InvalidArgument("there is no pixel type " + std::string(type));
    const sepconv::ImageSpec spec{{shape[0], shape[1]}, shape[2], *pixel_type};
    // The const_cast is safe: the result becomes a view of const bytes.
    const sepconv::ConstPixelView in =
        sepconv::dense_view(static_cast<std::byte*>(const_cast<void*>(source)), spec);
    sepconv::apply(sepconv::Chain({sepconv::parse_stage(stage)}), in,
                   sepconv::dense_view(static_cast<std::byte*>(target), spec), {.threads = threads});
  });
}

/// numpy.transpose of dense arrays of three axes that do not overlap, on `threads`. Returns 0, or 1 after a
/// failure; peers_host_error() then returns the message.
PEERS_HOST int peers_host_permute(const std::int64_t* shape, const int* axes, std::int64_t element_bytes,
                                  const void* source, void* target, sepconv::ThreadPool* threads) {
  return status_of([&] {
    sepconv::permute_host({shape[0], shape[1], shape[2]}, {{axes[0], axes[1], axes[2]}}, element_bytes,
                          static_cast<const std::byte*>(source), static_cast<std::byte*>(target), *threads);
  });
}
