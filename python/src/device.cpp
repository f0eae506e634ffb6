// Chains on arrays in GPU memory, on the caller's streams. No function waits for a GPU, except synchronize.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <tuple>

#include "bindings.hpp"
#include "images.hpp"
#include "without_gil.hpp"

namespace sepconv::python {
namespace {

/// Address, type, shape and strides in bytes.
using Memory = std::tuple<std::uintptr_t, std::string, std::vector<std::int64_t>, std::vector<std::int64_t>>;

Array array_at(const Memory& memory) {
  const auto& [address, type, shape, strides] = memory;
  return {reinterpret_cast<std::byte*>(address), type_named(type), shape, strides};
}

DeviceStream stream_at(std::uintptr_t handle) { return reinterpret_cast<DeviceStream>(handle); }

/// A filter for whole images of this spec. Its scratch on GPU `device` suffices for parts of `part` rows and
/// columns.
DeviceFilter make_filter(const Chain& chain, std::int64_t rows, std::int64_t cols, std::int64_t channels,
                         const std::string& type, std::optional<std::string_view> arithmetic, int device,
                         RowsCols part) {
  const WithoutGil released;
  const DeviceScope scope(device);
  return DeviceFilter(chain, ImageSpec{{rows, cols}, channels, type_named(type)}, arithmetic_of(arithmetic),
                      {part.first, part.second});
}

void enqueue(const DeviceFilter& filter, const Memory& in, const Memory& out, std::size_t axes,
             std::uintptr_t stream, std::optional<PartPosition> part_position) {
  const Images images(array_at(in), array_at(out), axes, part_position);
  const WithoutGil released;
  for (std::size_t i = 0; i < images.count(); ++i)
    filter.enqueue(images.source(i), images.sink(i), stream_at(stream));
}

/// Makes future work of stream `later` wait for the current work of stream `earlier`.
void order_streams(int device, std::uintptr_t earlier, std::uintptr_t later) {
  const DeviceScope scope(device);
  const Event event;
  event.record(stream_at(earlier));
  event.make_stream_wait(stream_at(later));
}

/// GPU memory and the object that the work writing it reads. The object is released after the memory, because
/// CUDA frees memory only when the work is done.
struct OwnedMemory {
  nb::object source;
  Buffer memory;
};

/// An array that owns new GPU memory; for libraries whose arrays are read-only.
nb::ndarray<nb::array_api, nb::device::cuda> device_empty(const std::vector<std::size_t>& shape,
                                                          const std::string& type, int device,
                                                          nb::object source) {
  const DeviceScope scope(device);
  std::int64_t bytes = size_of(type_named(type));
  for (const std::size_t side : shape) bytes *= static_cast<std::int64_t>(side);
  auto owned = std::make_unique<OwnedMemory>(std::move(source), Buffer(bytes, device_resource()));
  void* const data = owned->memory.data();
  const nb::capsule owner(owned.release(),
                          [](void* pointer) noexcept { delete static_cast<OwnedMemory*>(pointer); });
  return {
      data,  shape.size(), shape.data(), owner, nullptr, dtype_of(type_named(type)), nb::device::cuda::value,
      device};
}

/// Address, shape and strides in elements of an array from a DLPack capsule.
nb::tuple dlpack_layout(const nb::ndarray<nb::ro, nb::device::cuda>& array) {
  nb::list shape, strides;
  for (std::size_t axis = 0; axis < array.ndim(); ++axis)
    shape.append(array.shape(axis)), strides.append(array.stride(axis));
  return nb::make_tuple(reinterpret_cast<std::uintptr_t>(array.data()), nb::tuple(shape), nb::tuple(strides));
}

}  // namespace

void bind_device(nb::module_& module) {
  nb::class_<DeviceFilter>(module, "DeviceFilter").def_prop_ro("scratch_bytes", &DeviceFilter::scratch_bytes);
  nb::class_<Stream>(module, "Stream").def_prop_ro("handle", [](const Stream& stream) {
    return reinterpret_cast<std::uintptr_t>(stream.get());
  });
  module.def("make_stream", [](int device) {
    const DeviceScope scope(device);
    return Stream();
  });
  module.def("current_device", [] { return current_device(); });
  module.def("make_filter", make_filter, nb::arg("chain"), nb::arg("rows"), nb::arg("cols"),
             nb::arg("channels"), nb::arg("type"), nb::arg("arithmetic").none(), nb::arg("device"),
             nb::arg("part") = RowsCols{});
  module.def("enqueue", enqueue, nb::arg("filter"), nb::arg("input"), nb::arg("output"), nb::arg("axes"),
             nb::arg("stream"), nb::arg("place") = nb::none());
  module.def("order", order_streams);
  module.def("device_empty", device_empty);
  module.def("taken", dlpack_layout);
  module.def("is_capturing", [](std::uintptr_t stream) { return is_capturing(stream_at(stream)); });
  module.def("synchronize", [](const Stream& stream) {
    const WithoutGil released;
    stream.synchronize();
  });
}

}  // namespace sepconv::python
