// Chains on arrays in a GPU's memory, on streams that the caller has. Nothing here waits for a GPU.
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

/// Made of rows, columns, channels, type of the whole; takes its scratch, for parts of this many rows and
/// columns, on the GPU `device`.
DeviceFilter make_filter(const Chain& chain, std::int64_t rows, std::int64_t cols, std::int64_t channels,
                         const std::string& type, std::optional<std::string_view> arithmetic, int device,
                         Sides part) {
  const WithoutGil released;
  const DeviceScope scope(device);
  return DeviceFilter(chain, ImageSpec{{rows, cols}, channels, type_named(type)}, arithmetic_of(arithmetic),
                      {part.first, part.second});
}

void enqueue(const DeviceFilter& filter, const Memory& in, const Memory& out, std::size_t axes,
             std::uintptr_t stream, std::optional<Place> place) {
  const Images images(array_at(in), array_at(out), axes, place);
  const WithoutGil released;
  for (std::size_t i = 0; i < images.count(); ++i)
    filter.enqueue(images.source(i), images.sink(i), stream_at(stream));
}

/// What `later` is given from now on waits for what `earlier` has.
void order(int device, std::uintptr_t earlier, std::uintptr_t later) {
  const DeviceScope scope(device);
  const Event event;
  event.record(stream_at(earlier));
  event.wait_in(stream_at(later));
}

/// Memory of a GPU, and what the work that writes it reads, which is given up after it: CUDA frees memory
/// when work is done.
struct Kept {
  nb::object source;
  Buffer memory;
};

/// Memory of a GPU as an array that frees it; for libraries that let nobody write into theirs.
nb::ndarray<nb::array_api, nb::device::cuda> device_empty(const std::vector<std::size_t>& shape,
                                                          const std::string& type, int device,
                                                          nb::object source) {
  const DeviceScope scope(device);
  std::int64_t bytes = size_of(type_named(type));
  for (const std::size_t side : shape) bytes *= static_cast<std::int64_t>(side);
  auto kept = std::make_unique<Kept>(std::move(source), Buffer(bytes, device_resource()));
  void* const data = kept->memory.data();
  const nb::capsule owner(kept.release(), [](void* held) noexcept { delete static_cast<Kept*>(held); });
  return {
      data,  shape.size(), shape.data(), owner, nullptr, dtype_of(type_named(type)), nb::device::cuda::value,
      device};
}

/// Address, shape and strides in elements of what a DLPack capsule holds, and what keeps it.
nb::tuple taken(const nb::ndarray<nb::ro, nb::device::cuda>& array) {
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
             nb::arg("part") = Sides{});
  module.def("enqueue", enqueue, nb::arg("filter"), nb::arg("input"), nb::arg("output"), nb::arg("axes"),
             nb::arg("stream"), nb::arg("place") = nb::none());
  module.def("order", order);
  module.def("device_empty", device_empty);
  module.def("taken", taken);
  module.def("is_capturing", [](std::uintptr_t stream) { return is_capturing(stream_at(stream)); });
  module.def("synchronize", [](const Stream& stream) {
    const WithoutGil released;
    stream.synchronize();
  });
}

}  // namespace sepconv::python
