// sepconv's host kernels for Python's ctypes: the shared library that tests/peers/transpose.py loads.
#include <exception>
#include <string>

#include "sepconv/kernels/transpose/permutation.hpp"
#include "sepconv/pipeline/thread_pool.hpp"

#define PEERS_HOST extern "C" __attribute__((visibility("default")))

namespace {
thread_local std::string last_error;
}

PEERS_HOST const char* peers_host_error() { return last_error.c_str(); }

PEERS_HOST sepconv::ThreadPool* peers_host_threads_create(int threads) {
  return new sepconv::ThreadPool(threads);
}
PEERS_HOST void peers_host_threads_destroy(sepconv::ThreadPool* threads) { delete threads; }

/// numpy.transpose of dense arrays of three axes that do not overlap, by `threads`. Returns 0, or 1 after a
/// failure, whose sentence peers_host_error() gives.
PEERS_HOST int peers_host_permute(const std::int64_t* shape, const int* axes, std::int64_t element_bytes,
                                  const void* source, void* target, sepconv::ThreadPool* threads) {
  try {
    sepconv::permute_host({shape[0], shape[1], shape[2]}, {{axes[0], axes[1], axes[2]}}, element_bytes,
                          static_cast<const std::byte*>(source), static_cast<std::byte*>(target), *threads);
    return 0;
  } catch (const std::exception& error) {
    last_error = error.what();
    return 1;
  }
}
