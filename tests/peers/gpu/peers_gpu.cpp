// sepconv's kernels for Python's ctypes: the shared library that conv.py and transpose.py in this folder
// load.
//
// Device memory and streams may come from other libraries (CuPy, PyTorch): all libraries of a process share a
// device's primary context. Functions that return int return 0, or 1 after a failure; peers_gpu_error() then
// returns the message. Functions that enqueue work return immediately. Only the error message is thread-safe.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/memory.hpp"
#include "kernels/conv/conv.hpp"
#include "kernels/device/device_rates.hpp"
#include "kernels/device/runtime.hpp"
#include "kernels/transpose/permutation.hpp"

namespace {

using namespace sepconv;

thread_local std::string last_error;

/// Runs `work`. Returns 0, or 1 after an exception, whose message is stored.
template <class Work>
int guarded(Work&& work) noexcept {
  try {
    work();
    return 0;
  } catch (const std::exception& error) {
    last_error = error.what();
  } catch (...) {
    last_error = "an unknown failure";
  }
  return 1;
}

PixelType pixel_type(const char* name) {
  if (const auto type = parse_pixel_type(name)) return *type;
  throw InvalidArgument("no pixel type is called " + std::string(name));
}

BorderMode border_mode(const char* name) {
  if (const auto mode = parse_border_mode(name)) return *mode;
  throw InvalidArgument("no border is called " + std::string(name));
}

/// 0, 1, 2: automatic, two passes, fused.
ConvolutionDesign cuda_design(int number) {
  if (number < 0 || number > static_cast<int>(ConvolutionDesign::fused)) {
    throw InvalidArgument("no design of a convolution has the number " + std::to_string(number));
  }
  return static_cast<ConvolutionDesign>(number);
}

/// A filter for images of one shape, with scratch on the device that was current at construction. Only one
/// stream may use the scratch.
struct Filter {
  SeparableTaps taps;
  Border border;
  ImageSpec image;
  ConvolutionDesign design;
  Arithmetic arithmetic;
  Arena arena;

  Filter(SeparableTaps separable_taps, Border image_border, const ImageSpec& spec,
         ConvolutionDesign cuda_kernel_design)
      : taps(std::move(separable_taps)),
        border(image_border),
        image(spec),
        design(cuda_kernel_design),
        arithmetic(spec.type == PixelType::f64 ? Arithmetic::f64 : Arithmetic::f32),
        // An empty arena would allocate nothing, which is an error on a device.
        arena(Buffer(std::max(kAlignment, convolve_device_bytes(taps, spec.extent, spec.channels, arithmetic,
                                                                spec.extent)),
                     device_resource())) {}

  void enqueue(const std::byte* source, std::byte* target, DeviceStream stream) {
    const ConstPixelView in{source, image.extent, image.channels, image.type, image.row_bytes()};
    convolve_device(design, taps, border, ConstRegion::whole(in), Region::whole(dense_view(target, image)),
                    arithmetic, arena, stream);
  }

  /// Computes the rectangle `part` of the result with the CPU's engine. `source` contains the needed pixels,
  /// those of the rectangle `source_rect`. Both are dense.
  void on_host(const std::byte* source, const Rect& source_rect, std::byte* target, const Rect& part) const {
    const ConstPixelView in{source, source_rect.extent(), image.channels, image.type,
                            source_rect.cols * image.pixel_bytes()};
    Worker scratch(
        Buffer(convolve_scratch_bytes(taps, part.extent(), image.channels, arithmetic, image.extent)));
    convolve_host(taps, border, {in, source_rect, image.extent},
                  {dense_view(target, image, part.extent()), part, image.extent}, arithmetic, scratch);
  }
};

}  // namespace

#define PEERS_GPU extern "C" __attribute__((visibility("default")))

PEERS_GPU const char* peers_gpu_error() { return last_error.c_str(); }

/// Number of usable devices; 0 without a driver or GPU.
PEERS_GPU int peers_gpu_devices() {
  int count = 0;
  return guarded([&] { count = static_cast<int>(list_devices().size()); }) == 0 ? count : 0;
}

/// Makes the device current. Returns its name, truncated to `name_bytes` including the final 0, and its
/// memory in bytes.
PEERS_GPU int peers_gpu_use(int device, char* name, std::int64_t name_bytes, std::int64_t* memory_bytes) {
  return guarded([&] {
    for (const DeviceInfo& info : list_devices()) {
      if (info.index != device) continue;
      set_current_device(device);
      const auto end =
          std::copy_n(info.name.begin(), std::min<std::int64_t>(std::ssize(info.name), name_bytes - 1), name);
      *end = '\0';
      *memory_bytes = info.memory_bytes;
      return;
    }
    throw InvalidArgument("there is no device " + std::to_string(device));
  });
}

/// The value of a cudaDeviceAttr, given by number.
PEERS_GPU int peers_gpu_attribute(int device, int attribute, int* value) {
  return guarded([&] {
    check_cuda(cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device),
               "asking for an attribute of the device");
  });
}

PEERS_GPU int peers_gpu_free_bytes(int device, std::int64_t* bytes) {
  return guarded([&] { *bytes = free_device_memory_bytes(device); });
}

/// Peak rates per second: bytes copied (read + written), f32 and f64 multiply-adds.
PEERS_GPU int peers_gpu_limits(int device, double* copy, double* fma_f32, double* fma_f64) {
  return guarded([&] {
    const DeviceRates limits = measure_device_limits(device);
    *copy = limits.copy_bytes_per_second;
    *fma_f32 = limits.fma_f32_per_second;
    *fma_f64 = limits.fma_f64_per_second;
  });
}

/// Allocates `bytes` > 0 of device memory; nullptr after a failure. Freed by peers_gpu_free.
PEERS_GPU void* peers_gpu_allocate(std::int64_t bytes) {
  void* memory = nullptr;
  guarded([&] {
    try {
      memory = device_resource()->allocate(static_cast<std::size_t>(bytes));
    } catch (const std::bad_alloc&) {
      throw OutOfMemory("no " + std::to_string(bytes) + " bytes of device memory are free");
    }
  });
  return memory;
}

PEERS_GPU void peers_gpu_free(void* memory) { device_resource()->deallocate(memory, 0); }

/// Copies rows between host and device or within either, in stream order. With pageable host memory the call
/// blocks.
PEERS_GPU int peers_gpu_copy(void* to, std::int64_t to_pitch_bytes, const void* from,
                             std::int64_t from_pitch_bytes, std::int64_t row_bytes, std::int64_t rows,
                             DeviceStream stream) {
  return guarded([&] { copy_rows(to, to_pitch_bytes, from, from_pitch_bytes, row_bytes, rows, stream); });
}

PEERS_GPU int peers_gpu_fill(void* to, int byte, std::int64_t bytes, DeviceStream stream) {
  return guarded([&] {
    check_cuda(cudaMemsetAsync(to, byte, static_cast<std::size_t>(bytes), stream), "filling device memory");
  });
}

/// Creates a stream that does not synchronize with the default stream; nullptr after a failure.
/// `peers_gpu_stream` returns its cudaStream_t.
PEERS_GPU Stream* peers_gpu_stream_create() {
  std::unique_ptr<Stream> created;
  guarded([&] { created = std::make_unique<Stream>(); });
  return created.release();
}
PEERS_GPU DeviceStream peers_gpu_stream(const Stream* stream) { return stream->get(); }
PEERS_GPU int peers_gpu_stream_wait(const Stream* stream) {
  return guarded([&] { stream->synchronize(); });
}
PEERS_GPU void peers_gpu_stream_destroy(Stream* stream) { delete stream; }

/// Creates an event with timing; nullptr after a failure.
PEERS_GPU Event* peers_gpu_event_create() {
  std::unique_ptr<Event> created;
  guarded([&] { created = std::make_unique<Event>(Event::Timing::on); });
  return created.release();
}
PEERS_GPU int peers_gpu_event_record(const Event* event, DeviceStream stream) {
  return guarded([&] { event->record(stream); });
}
/// Seconds between two completed events.
PEERS_GPU int peers_gpu_event_seconds(const Event* begin, const Event* end, double* seconds) {
  return guarded([&] { *seconds = end->seconds_since(*begin); });
}
PEERS_GPU void peers_gpu_event_destroy(Event* event) { delete event; }

/// Creates a filter for dense images of rows x cols x channels on the current device; nullptr after a
/// failure. Copies the taps. `design` 0 lets the library choose.
PEERS_GPU Filter* peers_gpu_filter_create(const double* row_taps, std::int64_t row_count,
                                          const double* col_taps, std::int64_t col_count, const char* border,
                                          double border_value, std::int64_t rows, std::int64_t cols,
                                          std::int64_t channels, const char* type, int design) {
  std::unique_ptr<Filter> created;
  guarded([&] {
    SeparableTaps taps{{row_taps, row_taps + row_count}, {col_taps, col_taps + col_count}};
    created =
        std::make_unique<Filter>(std::move(taps), Border{border_mode(border), border_value},
                                 ImageSpec{{rows, cols}, channels, pixel_type(type)}, cuda_design(design));
  });
  return created.release();
}
PEERS_GPU std::int64_t peers_gpu_filter_bytes(const Filter* filter) { return filter->arena.capacity_bytes(); }
/// Enqueues the filter on `stream` and returns immediately. `source` and `target` are dense images in device
/// memory.
PEERS_GPU int peers_gpu_filter_enqueue(Filter* filter, const void* source, void* target,
                                       DeviceStream stream) {
  return guarded([&] {
    filter->enqueue(static_cast<const std::byte*>(source), static_cast<std::byte*>(target), stream);
  });
}
/// Filters host memory to host memory; see Filter::on_host. Rectangles are {row, col, rows, cols}.
PEERS_GPU int peers_gpu_filter_on_host(const Filter* filter, const void* source,
                                       const std::int64_t* source_rect, void* target,
                                       const std::int64_t* part) {
  return guarded([&] {
    const auto rect = [](const std::int64_t* sides) { return Rect{sides[0], sides[1], sides[2], sides[3]}; };
    filter->on_host(static_cast<const std::byte*>(source), rect(source_rect), static_cast<std::byte*>(target),
                    rect(part));
  });
}
PEERS_GPU void peers_gpu_filter_destroy(Filter* filter) { delete filter; }

/// Enqueues numpy.transpose of a dense tensor of three axes in device memory on `stream` and returns
/// immediately.
PEERS_GPU int peers_gpu_permute(const std::int64_t* shape, const int* axes, std::int64_t element_bytes,
                                const void* source, void* target, DeviceStream stream) {
  return guarded([&] {
    permute_device({shape[0], shape[1], shape[2]}, {{axes[0], axes[1], axes[2]}}, element_bytes,
                   static_cast<const std::byte*>(source), static_cast<std::byte*>(target), stream);
  });
}
