// ProfilerRange on the CUDA engine: NVTX ranges.
#include <nvtx3/nvToolsExt.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace sepconv::engine {
namespace {

struct StepColour {
  std::string_view step;
  std::uint32_t argb;
};

/// The colours of the same steps in docs/tools/timeline_svg.py.
constexpr std::array<StepColour, 5> kColours{{{"read", 0xFF4E79A7},
                                              {"upload", 0xFFF28E2B},
                                              {"compute", 0xFF59A14F},
                                              {"download", 0xFFB07AA1},
                                              {"write", 0xFFE15759}}};
constexpr std::uint32_t kOtherColour = 0xFF9C9C9C;

std::uint32_t colour_of(std::string_view name) noexcept {
  for (const StepColour& colour : kColours) {
    if (colour.step == name) return colour.argb;
  }
  return kOtherColour;
}

/// Created at the first range and never destroyed: a profiler discards the ranges of a destroyed domain.
nvtxDomainHandle_t domain() noexcept {
  static const nvtxDomainHandle_t handle = nvtxDomainCreateA("sepconv");
  return handle;
}

}  // namespace

void begin_range(const char* name, std::int64_t band) noexcept {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.colorType = NVTX_COLOR_ARGB;
  attributes.color = colour_of(name);
  attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  attributes.payload.llValue = band;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name;
  nvtxDomainRangePushEx(domain(), &attributes);
}

void end_range() noexcept { nvtxDomainRangePop(domain()); }

}  // namespace sepconv::engine
