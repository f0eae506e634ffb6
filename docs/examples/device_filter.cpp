// Runs several filters concurrently on several streams, on images in this program's GPU memory. Waits only
// after all work is enqueued. Each result is compared with the CPU's result.
//
//   example_device_filter
#include <cstring>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "sepconv/sepconv.hpp"

namespace {

/// A frame in page-locked memory, so that copies overlap kernels, and on the GPU.
struct Frame {
  explicit Frame(const sepconv::ImageSpec& frame_spec)
      : spec(frame_spec),
        host_memory(spec.bytes(), sepconv::pinned_resource()),
        device_memory(spec.bytes(), sepconv::device_resource()) {}

  sepconv::PixelView host() const { return view(host_memory); }
  sepconv::PixelView device() const { return view(device_memory); }
  void upload(sepconv::DeviceStream stream) const { copy(device_memory, host_memory, stream); }
  void download(sepconv::DeviceStream stream) const { copy(host_memory, device_memory, stream); }

  sepconv::ImageSpec spec;
  sepconv::Buffer host_memory;
  sepconv::Buffer device_memory;

 private:
  sepconv::PixelView view(const sepconv::Buffer& memory) const {
    return {memory.data(), spec.extent, spec.channels, spec.type, spec.row_bytes()};
  }
  void copy(const sepconv::Buffer& to, const sepconv::Buffer& from, sepconv::DeviceStream stream) const {
    sepconv::copy_rows(to.data(), spec.row_bytes(), from.data(), spec.row_bytes(), spec.row_bytes(),
                       spec.extent.rows, stream);
  }
};

/// A filter with its own stream, source and result.
struct DevicePipeline {
  DevicePipeline(const std::vector<std::string>& stages, const sepconv::ImageSpec& spec)
      : chain(sepconv::Chain::parse(stages)), filter(chain, spec), source(spec), result(filter.result()) {}

  void start() const {
    source.upload(stream.get());
    filter.enqueue(source.device(), result.device(), stream.get());
    result.download(stream.get());
  }

  /// Waits for this pipeline, and compares with the CPU's bytes.
  bool right() const {
    stream.synchronize();
    const sepconv::Buffer expected(result.spec.bytes());
    sepconv::PixelView view = result.host();
    view.data = expected.data();
    sepconv::apply(chain, source.host(), view);
    return std::memcmp(expected.data(), result.host_memory.data(), expected.bytes().size()) == 0;
  }

  sepconv::Chain chain;
  sepconv::Stream stream;
  sepconv::DeviceFilter filter;
  Frame source;
  Frame result;
};

int filter_on_all_pipelines() {
  const std::vector<std::vector<std::string>> chains = {
      {"gaussian:sigma=2.5"},
      {"unsharp:sigma=1.5,amount=0.8"},
      {"gaussian:sigma=1", "gradient", "clamp:low=0,high=255"},
      {"box:radius=15,border=replicate", "cast:type=u8"}};
  const sepconv::ImageSpec spec{{1080, 1920}, 1, sepconv::PixelType::u16};
  sepconv::SerialExecutor executor;
  std::vector<std::unique_ptr<DevicePipeline>> pipelines;
  for (const auto& stages : chains) {
    pipelines.push_back(std::make_unique<DevicePipeline>(stages, spec));
    const auto pattern = sepconv::make_pattern_reader(spec, sepconv::Pattern::natural, pipelines.size());
    pattern->read(sepconv::Rect::whole(spec.extent), pipelines.back()->source.host(), executor);
  }

  for (const auto& pipeline : pipelines) pipeline->start();
  int wrong = 0;
  for (const auto& pipeline : pipelines) {
    const bool right = pipeline->right();
    std::cout << (right ? "right: " : "WRONG: ") << pipeline->chain.text() << '\n';
    wrong += right ? 0 : 1;
  }
  return wrong;
}

}  // namespace

int main() {
  if (sepconv::list_devices().empty()) {
    std::cout << "no GPU\n";
    return 0;
  }
  try {
    return filter_on_all_pipelines() == 0 ? 0 : 1;
  } catch (const sepconv::Error& error) {
    std::cerr << "example_device_filter: " << error.what() << '\n';
    return 1;
  }
}
