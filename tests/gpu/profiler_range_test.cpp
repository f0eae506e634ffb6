// The ranges that a profiler receives from a run on the host. This program injects its own NVTX callbacks, as
// Nsight would.
#include <catch2/catch.hpp>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

#include "../support/image.hpp"
#include "kernels/device/profiler_range.hpp"
#include "pipeline/run/run.hpp"

using namespace sepconv;
using namespace sepconv::test;

namespace {

struct Range {
  std::string domain, name;
  std::int64_t band = 0;
  std::uint32_t colour = 0;
  std::thread::id thread;
  bool ended = false;
};

std::mutex mutex;
std::vector<std::string> domains;
std::vector<Range> ranges;

nvtxDomainHandle_t create_domain(const char* name) {
  const std::scoped_lock lock(mutex);
  domains.emplace_back(name);
  return reinterpret_cast<nvtxDomainHandle_t>(domains.size());  // starts at 1: no handle is null
}

int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  const std::scoped_lock lock(mutex);
  ranges.push_back({domains.at(reinterpret_cast<std::size_t>(domain) - 1), event->message.ascii,
                    event->payload.llValue, event->color, std::this_thread::get_id(), false});
  return 0;
}

int pop(nvtxDomainHandle_t) {
  const std::scoped_lock lock(mutex);
  for (auto range = ranges.rbegin(); range != ranges.rend(); ++range) {
    if (range->thread != std::this_thread::get_id() || range->ended) continue;
    range->ended = true;
    return 0;
  }
  return -1;
}

int listen(NvtxGetExportTableFunc_t export_table) {
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(export_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) return 0;
  *table[NVTX_CBID_CORE2_DomainCreateA] = reinterpret_cast<NvtxFunctionPointer>(create_domain);
  *table[NVTX_CBID_CORE2_DomainRangePushEx] = reinterpret_cast<NvtxFunctionPointer>(push);
  *table[NVTX_CBID_CORE2_DomainRangePop] = reinterpret_cast<NvtxFunctionPointer>(pop);
  return 1;
}

/// The ranges recorded while `work` ran.
template <class Work>
std::vector<Range> recorded_ranges(const Work& work) {
  ranges.clear();
  work();
  return ranges;
}

}  // namespace

extern "C" {
extern NvtxInitializeInjectionNvtxFunc_t InitializeInjectionNvtx2_fnptr;
NvtxInitializeInjectionNvtxFunc_t InitializeInjectionNvtx2_fnptr = listen;
}

TEST_CASE("a profiler range has the domain, the name and the band") {
  const std::vector<Range> all = recorded_ranges([] {
    const ProfilerRange outer("compute", 41);
    const ProfilerRange inner("something else", -1);
    CHECK_FALSE(ranges.at(0).ended);
  });
  REQUIRE(all.size() == 2);
  for (const Range& range : all) CHECK((range.domain == "sepconv" && range.ended));
  CHECK((all[0].name == "compute" && all[0].band == 41));
  CHECK((all[1].name == "something else" && all[1].band == -1));
  CHECK(all[0].colour != all[1].colour);
}

TEST_CASE("a run on the host names every step of every band") {
  const Chain chain = Chain::parse(std::vector<std::string>{"gaussian:sigma=1"});
  const Image source = Image::of_pattern({{100, 40}, 1, PixelType::u8}, Pattern::noise, 1);
  const Image result(chain.result_spec(source.spec()));
  RunOptions options;
  options.band_rows = 16;
  options.threads = 2;
  const std::vector<Range> all =
      recorded_ranges([&] { run(*source.reader(), *result.writer(), chain, options); });
  for (const char* step : {"read", "compute", "write"}) {
    std::int64_t band = 0;  // each step goes through the bands in order
    for (const Range& range : all) {
      if (range.name == step) CHECK((range.band == band++ && range.ended));
    }
    CHECK(band == 7);
  }
  CHECK(all.size() == 3 * 7);
}
