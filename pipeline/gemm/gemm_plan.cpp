#include "pipeline/gemm/gemm_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "core/error.hpp"
#include "core/view_check.hpp"
#include "kernels/device/optional_kernels.hpp"
#include "pipeline/gemm/gemm_cost.hpp"
#include "pipeline/plan/device_choice.hpp"
#include "pipeline/plan/memory_limits.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kAlignedSide = 128;  // the libraries are fast for multiples of this side
constexpr std::int64_t kMinSide = 64;
constexpr double kMaxStepOperations = 1e13;  // on a GPU, where a stop waits for the current step

int multiprocessors_of(const std::vector<int>& devices) {
  if (devices.empty()) return 0;
  const std::vector<DeviceInfo> all_devices = list_devices();
  const auto device = std::ranges::find(all_devices, devices.front(), &DeviceInfo::index);
  return device != all_devices.end() ? std::max(1, device->multiprocessors) : 1;
}

/// Lengths of a side to try: the whole, halves, thirds and so on, multiples of `unit`.
std::vector<std::int64_t> sides(std::int64_t length, std::int64_t unit) {
  const std::int64_t aligned = std::lcm(unit, kAlignedSide);
  std::vector<std::int64_t> candidates;
  for (std::int64_t parts = 1;; parts += std::max<std::int64_t>(1, parts / 3)) {
    const std::int64_t target = ceil_div(length, parts);
    const std::int64_t side = std::min(round_up(target, target >= aligned ? aligned : unit), length);
    if (candidates.empty() || side < candidates.back()) candidates.push_back(side);
    if (side <= std::max(unit, kMinSide)) return candidates;
  }
}

std::vector<std::int64_t> depths(std::int64_t k) {
  std::vector<std::int64_t> candidates{k};
  for (std::int64_t depth = std::int64_t{1} << 26; depth >= 16; depth /= 2) {
    if (depth < k) candidates.push_back(depth);
  }
  return candidates;
}

Ceilings ceilings_of(const GemmPlan& plan) { return {plan.max_memory_bytes, plan.max_device_memory_bytes}; }

struct Search {
  std::optional<GemmPlan> best;
  double best_seconds = std::numeric_limits<double>::infinity();
  MinMemory min_memory;

  void consider(const GemmProblem& problem, GemmPlan& plan) {
    if (!is_countable(plan)) return;
    const double tile = static_cast<double>(plan.rows) * static_cast<double>(plan.cols);
    plan.whole_a = !plan.devices.empty() && problem.a.is_page_locked() &&
                   tile * static_cast<double>(plan.shape.k) <= kMaxStepOperations;
    if (!plan.devices.empty() && tile * static_cast<double>(plan.depth) > kMaxStepOperations) return;
    for (const bool may_stage : {true, false}) {
      if (!choose_staging(problem, may_stage, plan) && may_stage) continue;
      set_memory(problem, plan);
      if (!min_memory.fits(plan.memory, plan.device_memory, ceilings_of(plan))) continue;
      const double seconds = gemm_seconds(problem, plan);
      if (seconds < best_seconds) best = plan, best_seconds = seconds;
    }
  }
};

Search search(const GemmProblem& problem, GemmPlan plan, const PlanOptions& options) {
  const Extent block = problem.out.layout().block;
  const bool whole_rows = problem.out.layout().access == Access::sequential;
  const auto candidate_sides = [](std::int64_t forced, std::int64_t length, std::int64_t unit) {
    return forced > 0 ? std::vector<std::int64_t>{std::min(round_up(forced, unit), length)}
                      : sides(length, unit);
  };
  const auto all_rows =
      candidate_sides(options.band_rows, plan.shape.m, std::min(plan.row_unit, plan.shape.m));
  auto all_cols =
      candidate_sides(options.band_cols, plan.shape.n, std::clamp<std::int64_t>(block.cols, 1, plan.shape.n));
  if (whole_rows) all_cols = {plan.shape.n};
  Search found;
  for (const bool keeps_b : {true, false}) {
    for (const int slots :
         options.slots > 0 ? std::vector<int>{options.slots} : std::vector<int>{kPreferredSlots, 2, 1}) {
      for (const int tiles : {2, 1}) {
        for (const std::int64_t rows : all_rows) {
          for (const std::int64_t cols : all_cols) {
            for (const std::int64_t depth : depths(plan.shape.k)) {
              plan.keeps_b = keeps_b, plan.slots = slots, plan.tiles = tiles;
              plan.rows = rows, plan.cols = cols, plan.depth = depth;
              found.consider(problem, plan);
            }
          }
        }
      }
    }
  }
  return found;
}

void check_access(const Reader* reader, const char* name) {
  if (reader != nullptr && reader->layout().access == Access::sequential)
    throw InvalidArgument(
        fmt::format("{} can only be read from top to bottom, and a product takes parts of it in any order; "
                    "give NPY, raw or TIFF",
                    name));
}

/// Lower bound of the bytes moved between the matrices and a memory of S elements, in any order of work: 2 m
/// n k / sqrt(S) - 2 S (Smith, Lowery, Langou and van de Geijn, "A tight I/O lower bound for matrix
/// multiplication", 2019), and at least each matrix once.
double min_bytes(const GemmPlan& plan, const Reader* added) {
  const auto size = static_cast<double>(plan.element_bytes());
  const auto m = static_cast<double>(plan.shape.m), n = static_cast<double>(plan.shape.n),
             k = static_cast<double>(plan.shape.k);
  const double memory =
      static_cast<double>(plan.devices.empty() ? plan.max_memory_bytes : plan.max_device_memory_bytes) / size;
  const double once = m * k + k * n + (added != nullptr ? 2 : 1) * m * n;
  return size * std::max(once, 2 * m * n * k / std::sqrt(memory) - 2 * memory);
}

/// Initialises cuBLAS, which allocates device memory, before the free device memory is queried.
void prepare_cublas(const std::vector<int>& devices) {
  if (devices.empty() || !has_context(devices.front())) return;  // a device that is only planned for
  const DeviceScope scope(devices.front());
  prepare_gemm_device();
}

GemmPlan make_plan(const GemmOp& op, const Reader& a, const Reader& b, const Reader* added, const Writer& out,
                   const PlanOptions& options) {
  GemmPlan plan;
  plan.asked = options;
  plan.op = op;
  plan.shape = gemm_shape(op, a.spec(), b.spec(), out.spec());
  check_image("the matrix A", a.spec()), check_image("the matrix B", b.spec());
  if (added != nullptr) gemm_shape(op, a.spec(), b.spec(), added->spec());
  if (added == nullptr && op.beta != 0)
    throw InvalidArgument("beta multiplies a matrix that was not given; give it, or leave beta out");
  check_access(&a, "A"), check_access(&b, "B"), check_access(added, "C");
  plan.type = a.spec().type;
  plan.threads = threads_of(options);
  plan.max_memory_bytes = memory_ceiling(options);
  if (!options.devices.empty()) plan.devices = {options.devices.front()};
  prepare_cublas(plan.devices);
  plan.max_device_memory_bytes = device_memory_ceiling(plan.devices, options);
  const GemmProblem problem{
      a, b, op.beta != 0 ? added : nullptr, out, options.machine, multiprocessors_of(plan.devices)};
  // Whole blocks of the file, even if the writer accepts parts of them: parts are written slower.
  plan.row_unit = std::max<std::int64_t>(1, out.layout().block.rows);
  for (;; plan.threads /= 2) {  // fewer threads use less scratch
    const Search found = search(problem, plan, options);
    if (found.best) {
      plan = *found.best;
      break;
    }
    if (plan.threads == 1) found.min_memory.fail(ceilings_of(plan), "product");
  }
  for (const GemmStep& step : gemm_steps(plan)) {
    plan.bytes_read += (step.result.rows * step.depth + (step.loads_b ? step.result.cols * step.depth : 0)) *
                       plan.element_bytes();
    if (step.first && problem.added != nullptr) plan.bytes_read += step.result.area() * plan.element_bytes();
  }
  plan.bytes_written = plan.result().bytes();
  const auto add_warnings = [&plan](const std::vector<std::string>& warnings) {
    plan.warnings.insert(plan.warnings.end(), warnings.begin(), warnings.end());
  };
  for (const Reader* const source : {&a, &b, problem.added}) {
    if (source != nullptr) add_warnings(source->layout().warnings);
  }
  add_warnings(out.layout().warnings);
  plan.min_bytes = min_bytes(plan, problem.added);
  plan.predicted = predict(problem, plan);
  return plan;
}

}  // namespace

ImageSpec gemm_result_spec(const GemmOp& op, const ImageSpec& a, const ImageSpec& b) {
  const GemmShape shape = gemm_shape(op, a, b);
  return {{shape.m, shape.n}, 1, a.type};
}

GemmPlan plan_gemm(const GemmOp& op, const Reader& a, const Reader& b, const Reader* added, const Writer& out,
                   const PlanOptions& options) {
  check_options(options), check_no_region("a product", options);
  if (options.with_cpu)
    throw InvalidArgument("a product is computed on one device; name one in PlanOptions::devices");
  return plan_on_devices<GemmPlan>(options, [&](const PlanOptions& resolved) {
    if (!resolved.devices.empty()) {
      if (const std::string lacking = lacking_kernels(DeviceKernels::products); !lacking.empty())
        throw NotOnDevice(lacking);
      if (options.choose_device && gemm_device_library().empty()) throw NotOnDevice("cuBLAS was not found");
    }
    return make_plan(op, a, b, added, out, resolved);
  });
}

}  // namespace sepconv
