// Zarr: untrusted JSON, with chunks or shards. An input is a zip file, or metadata, a byte 0, and the value
// of every other key.
#include <string>

#include "io/zarr/zarr_reader.hpp"
#include "read_image.hpp"

namespace sepconv::fuzz {
namespace {

class Bytes final : public ZarrObject {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}
  std::int64_t size() const noexcept override { return std::ssize(bytes_); }
  void read_at(std::int64_t offset, std::span<std::byte> bytes) const override {
    std::memcpy(bytes.data(), bytes_.substr(static_cast<std::size_t>(offset), bytes.size()).data(),
                bytes.size());
  }

 private:
  std::string_view bytes_;
};

class MemoryStore final : public ZarrStore {
 public:
  MemoryStore(std::string_view metadata, std::string_view chunk)
      : metadata_(metadata), chunk_(chunk), is_v2_(metadata.find("\"zarr_format\": 2") != metadata.npos) {}

  const std::filesystem::path& path() const noexcept override { return path_; }
  std::unique_ptr<ZarrObject> open(const std::string& key) const override {
    if (key == "zarr.json" || key == ".zarray")
      return (key == ".zarray") == is_v2_ ? std::make_unique<Bytes>(metadata_) : nullptr;
    return key.starts_with(".z") ? nullptr : std::make_unique<Bytes>(chunk_);
  }
  std::vector<std::string> folders(const std::string&, std::size_t) const override { return {}; }
  void for_each_object(const std::string&, std::size_t,
                       const std::function<bool(std::string_view)>&) const override {}
  std::int64_t changed_ns() const noexcept override { return 0; }

 private:
  std::filesystem::path path_ = "fuzz.zarr";
  std::string_view metadata_, chunk_;
  bool is_v2_;
};

void read_array(std::string_view input) {
  const std::size_t end = std::min(input.find('\0'), input.size());
  auto store =
      std::make_shared<MemoryStore>(input.substr(0, end), input.substr(std::min(end + 1, input.size())));
  auto node = read_zarr_node(*store, "");
  if (!node || !node->array) return;
  const auto source = std::make_shared<ZarrSource>(store, "", *std::move(node->array));
  const ZarrAxes axes = zarr_axes(source->array(), "", "fuzz.zarr");
  // A plan would refuse a source that needs more memory.
  if (source->memory_bytes(1) > 8 * kMaxDecodedBytes) return;
  const auto reader =
      make_zarr_reader(source, axes, position_of(axes.rasters, raster_count(axes.rasters) - 1),
                       zarr_source_layout(source->array(), axes), {});
  read_all(*reader);
}

}  // namespace
}  // namespace sepconv::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sepconv;
  if (fuzz::starts_with(data, size, "PK")) {
    fuzz::read_image(data, size);
    return 0;
  }
  if (!fuzz::starts_with(data, size, "{")) return -1;
  try {
    fuzz::read_array({reinterpret_cast<const char*>(data), size});
  } catch (const Error&) {
  }
  return 0;
}
