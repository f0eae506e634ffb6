// A device filter inside the caller's CUDA graph. Built only with a CUDA toolkit, whose functions create the
// graphs.
#include <cuda_runtime_api.h>

#include <catch2/catch.hpp>

#include "../support/gpu.hpp"
#include "../support/image.hpp"
#include "../support/matrix_file.hpp"
#include "pipeline/run/apply.hpp"
#include "pipeline/run/device_filter.hpp"
#include "pipeline/run/run.hpp"

using namespace sepconv;
using namespace sepconv::test;

namespace {

struct DestroyGraph {
  void operator()(cudaGraph_t graph) const { cudaGraphDestroy(graph); }
  void operator()(cudaGraphExec_t graph) const { cudaGraphExecDestroy(graph); }
};
using Graph = std::unique_ptr<CUgraph_st, DestroyGraph>;
using GraphExec = std::unique_ptr<CUgraphExec_st, DestroyGraph>;

/// Captures the work of `enqueue` as an executable graph.
template <class Enqueue>
GraphExec capture_graph(const Stream& stream, const Enqueue& enqueue) {
  check_cuda(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), "beginning a graph");
  enqueue();
  cudaGraph_t graph = nullptr;
  check_cuda(cudaStreamEndCapture(stream.get(), &graph), "ending a graph");
  const Graph owner(graph);
  cudaGraphExec_t exec = nullptr;
  check_cuda(cudaGraphInstantiate(&exec, graph, 0), "making a graph");
  return GraphExec(exec);
}

void check_graph(const std::vector<std::string>& stages) {
  const Chain chain = Chain::parse(stages);
  const ImageSpec spec{{301, 407}, 1, PixelType::u16};
  const DeviceFilter filter(chain, spec);
  const Stream stream;
  const Image first = Image::of_pattern(spec, Pattern::noise, 1);
  Image actual(filter.result());
  Image expected(filter.result());
  const DeviceImage in(first.view(), stream.get());
  const DeviceImage out(actual.view(), stream.get());
  filter.enqueue(in.view(), out.view(),
                 stream.get());  // before the capture: leaves an event that the graph must not wait for
  stream.synchronize();

  const GraphExec graph = capture_graph(stream, [&] { filter.enqueue(in.view(), out.view(), stream.get()); });
  for (std::uint64_t seed = 2; seed < 5; ++seed) {
    const Image source = Image::of_pattern(spec, Pattern::noise, seed);
    apply(chain, source.view(), expected.view());
    actual.poison();
    in.upload(source.view(), stream.get());
    out.upload(actual.view(), stream.get());
    check_cuda(cudaGraphLaunch(graph.get(), stream.get()), "launching a graph");
    out.download(actual.view(), stream);
    CHECK(actual == expected);
  }

  filter.enqueue(in.view(), out.view(), stream.get());  // after the graph
  out.download(actual.view(), stream);
  CHECK(actual == expected);
}

}  // namespace

TEST_CASE("a device filter is captured into a graph and launched again and again", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  check_graph({"gaussian:sigma=2", "unsharp:sigma=1", "cast:type=u8"});
  check_graph({"reduce:factor=3", "resize:scale=1.3,filter=cubic"});
  check_graph({"median:radius=4", "median:radius=1", "median:radius=12"});
}

TEST_CASE("a device filter with a matrix is captured into a graph", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const MatrixFolder matrices;
  check_graph({"gaussian:sigma=2", "gemm:file=" + matrices.noise({407, 90}, PixelType::f64, 1),
               "scale:factor=0.001"});
}
