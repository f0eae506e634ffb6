// The CUDA side of a build without a CUDA toolkit: there is no device, and whatever needs one says so.
#include <new>

#include "sepconv/kernels/conv/conv.hpp"
#include "sepconv/kernels/cuda/copy_rows_by_kernel.hpp"
#include "sepconv/kernels/cuda/device_limits.hpp"
#include "sepconv/kernels/cuda/profiler_range.hpp"
#include "sepconv/kernels/cuda/runtime.hpp"
#include "sepconv/kernels/gemm/exact.hpp"
#include "sepconv/kernels/gemm/gemm.hpp"
#include "sepconv/kernels/pointwise/pointwise.hpp"
#include "sepconv/kernels/reduce/reduce.hpp"
#include "sepconv/kernels/transpose/permutation.hpp"

namespace sepconv {
namespace {

[[noreturn]] void fail() {
  throw CudaError("this build has no CUDA engine; build it where a CUDA toolkit is installed");
}

class NoResource final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t, std::size_t) override { throw std::bad_alloc(); }
  void do_deallocate(void*, std::size_t, std::size_t) override {}
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

}  // namespace

void check_cuda(int, const char*) { fail(); }
bool built_with_cuda() noexcept { return false; }
std::vector<DeviceInfo> cuda_devices() { return {}; }
std::int64_t free_device_memory_bytes(int) { fail(); }
void set_current_device(int) { fail(); }
int current_device() { fail(); }
DeviceScope::~DeviceScope() = default;

ProfilerRange::ProfilerRange(const char*, std::int64_t) noexcept {}
ProfilerRange::~ProfilerRange() = default;

std::pmr::memory_resource* device_resource() noexcept {
  static NoResource resource;
  return &resource;
}
std::pmr::memory_resource* pinned_resource() noexcept { return device_resource(); }

void copy_rows(void*, std::int64_t, const void*, std::int64_t, std::int64_t, std::int64_t, DeviceStream) {
  fail();
}

void copy_rows_by_kernel(void*, std::int64_t, const void*, std::int64_t, std::int64_t, std::int64_t,
                         DeviceStream) {
  fail();
}

bool is_capturing(DeviceStream) { fail(); }

Stream::Stream(Priority) { fail(); }
void Stream::synchronize() const { fail(); }
void Stream::Destroy::operator()(DeviceStream) const noexcept {}
Event::Event(Timing) { fail(); }
void Event::record(DeviceStream) const { fail(); }
void Event::wait_in(DeviceStream) const { fail(); }
void Event::synchronize() const { fail(); }
double Event::seconds_since(const Event&) const { fail(); }
void Event::Destroy::operator()(DeviceEvent) const noexcept {}

void gemm_cuda(const GemmOp&, const ConstPixelView&, const ConstPixelView&, const PixelView&, DeviceStream) {
  fail();
}
void prepare_gemm_cuda() { fail(); }
std::string gemm_cuda_library() { return ""; }

void exact_gemm_cuda(const ExactOperand&, const ExactOperand&, const PixelView&, Arithmetic, DeviceStream,
                     std::span<const PointwiseOp>) {
  fail();
}

void pointwise_cuda(const PointwiseOp&, const ConstPixelView&, const ConstPixelView&, const PixelView&,
                    Arithmetic, DeviceStream, std::span<const PointwiseOp>) {
  fail();
}
void mix_channels_cuda(const ChannelMatrix&, const ConstPixelView&, const PixelView&, Arithmetic,
                       DeviceStream, std::span<const PointwiseOp>) {
  fail();
}
void convolve_cuda(const SeparableTaps&, const Border&, const ConstRegion&, const Region&, Arithmetic, Arena&,
                   DeviceStream, const ConvolutionEpilogue&) {
  fail();
}
void convolve_cuda(CudaDesign, const SeparableTaps&, const Border&, const ConstRegion&, const Region&,
                   Arithmetic, Arena&, DeviceStream, const ConvolutionEpilogue&) {
  fail();
}
bool convolve_cuda_fits(const SeparableTaps&, std::int64_t, PixelType, Arithmetic) { return false; }
std::int64_t convolve_device_bytes(const SeparableTaps&, Extent, std::int64_t, Arithmetic, Extent) {
  return 0;
}

DeviceLimits measure_device_limits(int, std::int64_t) { fail(); }
void cell_moments_cuda(const ConstPixelView&, Extent, Moments*, DeviceStream) { fail(); }
void count_values_cuda(const ConstPixelView&, std::int64_t*, DeviceStream) { fail(); }
void count_bins_cuda(const ConstPixelView&, const BinScale*, std::int64_t*, DeviceStream) { fail(); }
void transpose_cuda(const TransposeShape&, ConstMatrices, Matrices, DeviceStream) { fail(); }
void permute_cuda(const TensorExtent&, const Permutation&, std::int64_t, const std::byte*, std::byte*,
                  DeviceStream) {
  fail();
}

}  // namespace sepconv
