#include "pipeline/gemm/gemm.hpp"

#include <fmt/format.h>
#include <spdlog/logger.h>

#include <algorithm>
#include <new>
#include <nlohmann/json.hpp>

#include "core/byte_text.hpp"
#include "core/error.hpp"
#include "core/view_check.hpp"
#include "io/memory_image.hpp"
#include "pipeline/gemm/gemm_device_run.hpp"
#include "pipeline/gemm/gemm_host_run.hpp"
#include "pipeline/machine/host_resources.hpp"
#include "pipeline/plan/memory_limits.hpp"
#include "pipeline/run/run_with_retry.hpp"

namespace sepconv {
namespace {

PlanOptions options_for_half_the_memory(const GemmPlan& plan) {
  PlanOptions options = plan.asked;
  options.choose_device = false;
  options.devices = plan.devices;
  options.max_memory_bytes =
      std::max<std::int64_t>(1, plan.memory.slots / 2 + plan.memory.total() - plan.memory.slots);
  if (!plan.devices.empty()) options.max_device_memory_bytes = plan.device_memory.total() / 2;
  return options;
}

/// Loads OpenBLAS or cuBLAS before anything is written, because the library may be missing.
void prepare_library(const GemmPlan& plan) {
  if (plan.devices.empty()) {
    prepare_gemm_host(1);
    return;
  }
  const DeviceScope scope(plan.devices.front());
  prepare_gemm_device();
}

GemmReport make_report(const GemmPlan& plan, const Timeline& timeline, double startup_seconds) {
  GemmReport report;
  report.plan = plan;
  report.wall_seconds = timeline.now();
  report.startup_seconds = startup_seconds;
  const std::vector<const char*> tracks =
      plan.devices.empty() ? std::vector<const char*>{"read", "compute", "write"}
                           : std::vector<const char*>{"read", "upload", "compute", "download", "write"};
  for (const char* const track : tracks) {
    report.steps.push_back(step_report(timeline, track));
    if (report.steps.back().name == "compute") report.steps.back().operations = plan.shape.operations();
  }
  report.bottleneck = std::ranges::max_element(report.steps, {}, &StepReport::busy_seconds)->name;
  report.device = device_text(plan.devices, plan.threads,
                              plan.devices.empty() ? gemm_host_library() : gemm_device_library());
  report.timeline = timeline;
  return report;
}

ExecutedPlan<GemmPlan> execute(const GemmPlan& plan, const GemmFiles& files, const ExecutionOptions& options,
                               Timeline& timeline) try {
  check_no_bands(options);
  return run_planned(
      plan, files.out, options, timeline,
      [&](const GemmPlan& current_plan) -> std::unique_ptr<Runner> {
        if (options.logger) options.logger->info("{}", describe(current_plan));
        if (current_plan.devices.empty()) return std::make_unique<GemmHostRun>(files, current_plan, options);
        return std::make_unique<GemmDeviceRun>(files, current_plan, options);
      },
      [&](const GemmPlan& too_large) {
        GemmPlan smaller = plan_gemm(plan.op, files.a, files.b, files.added, files.out,
                                     options_for_half_the_memory(too_large));
        smaller.asked = plan.asked;
        return smaller;
      });
} catch (const std::bad_alloc&) {
  throw OutOfMemory(
      "memory ran out during the run; give a smaller PlanOptions::max_memory_bytes so that smaller panels "
      "are planned");
}

/// Plans the product and executes the plan.
ExecutedPlan<GemmPlan> execute(const GemmOp& op, const GemmFiles& files, const RunOptions& options,
                               Timeline& timeline) {
  const GemmPlan plan = plan_gemm(op, files.a, files.b, files.added, files.out, options);
  prepare_library(plan);
  ExecutionOptions execution = options;
  execution.retry_smaller_plans = true;
  return execute(plan, files, execution, timeline);
}

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

GemmReport run_gemm(const GemmOp& op, Reader& a, Reader& b, Reader* added, Writer& out,
                    const RunOptions& options) {
  Timeline timeline;  // startup time includes planning
  const ExecutedPlan<GemmPlan> executed =
      execute(op, {a, b, op.beta != 0 ? added : nullptr, out}, options, timeline);
  return make_report(executed.plan, timeline, executed.startup_seconds);
}

GemmReport run_gemm(Reader& a, Reader& b, Reader* added, Writer& out, const GemmPlan& plan,
                    const ExecutionOptions& options) {
  Timeline timeline;
  prepare_library(plan);
  const ExecutedPlan<GemmPlan> executed =
      execute(plan, {a, b, plan.op.beta != 0 ? added : nullptr, out}, options, timeline);
  return make_report(executed.plan, timeline, executed.startup_seconds);
}

void gemm(const GemmOp& op, const ConstPixelView& a, const ConstPixelView& b, const PixelView& out,
          const RunOptions& options, HostMemory memory) {
  check_no_region("a product", options), check_no_bands(options);
  check_view("the matrix A", a), check_view("the matrix B", b), check_view("the matrix C", out);
  check_apart("the matrix A", a, "the result", out), check_apart("the matrix B", b, "the result", out);
  if (options.devices.empty() && !options.choose_device) return gemm_host(op, a, b, out, threads_of(options));
  const auto left = make_memory_reader(a, memory), right = make_memory_reader(b, memory);
  const auto added = make_memory_reader(out, memory);
  const auto result = make_memory_writer(out, memory);
  const GemmFiles files{*left, *right, op.beta != 0 ? added.get() : nullptr, *result};
  RunOptions resolved = options;
  if (std::exchange(resolved.choose_device, false) && resolved.devices.empty())
    resolved.devices = plan_gemm(op, files.a, files.b, files.added, files.out, options).devices;
  if (resolved.devices.empty()) return gemm_host(op, a, b, out, threads_of(options));
  Timeline timeline;  // not reported: a report would take longer than a small product
  execute(op, files, resolved, timeline);
}

std::string summary(const GemmReport& report) {
  std::string text = fmt::format("{:.2f} s on {}, start {:.2f} s; predicted {}\n", report.wall_seconds,
                                 report.device, report.startup_seconds, to_string(report.plan.predicted));
  for (const StepReport& step : report.steps) {
    if (step.busy_seconds == 0) continue;
    text += fmt::format("{:<9} {:8.3f} s busy, {:4.0f} % of it overlapped by other steps, {:8.2f} GB/s",
                        step.name, step.busy_seconds, 100 * ratio(step.hidden_seconds, step.busy_seconds),
                        ratio(static_cast<double>(step.bytes), step.busy_seconds) / 1e9);
    if (step.operations > 0)
      text += fmt::format(", {:.1f} GFLOP/s", 2 * ratio(step.operations, step.busy_seconds) / 1e9);
    text += "\n";
  }
  const double working = report.wall_seconds - report.startup_seconds;
  text += fmt::format("together  {:.1f} GFLOP/s; {} took the most time; peak memory {}\n",
                      2 * ratio(report.plan.shape.operations(), working) / 1e9, report.bottleneck,
                      format_bytes(static_cast<double>(peak_rss_bytes())));
  for (const std::string& warning : report.plan.warnings) text += fmt::format("warning: {}\n", warning);
  return text;
}

std::string to_json(const GemmReport& report) {
  using nlohmann::ordered_json;
  const GemmPlan& plan = report.plan;
  ordered_json steps = ordered_json::array(), predicted;
  for (const auto& [name, seconds] : plan.predicted.named()) predicted[name] = seconds;
  for (const StepReport& step : report.steps) {
    steps.push_back({{"name", step.name},
                     {"busy_seconds", step.busy_seconds},
                     {"hidden_seconds", step.hidden_seconds},
                     {"bytes", step.bytes},
                     {"operations", step.operations}});
  }
  const ordered_json document = {
      {"device", report.device},
      {"wall_seconds", report.wall_seconds},
      {"startup_seconds", report.startup_seconds},
      {"flops_per_second", 2 * ratio(plan.shape.operations(), report.wall_seconds - report.startup_seconds)},
      {"bottleneck", report.bottleneck},
      {"peak_rss_bytes", peak_rss_bytes()},
      {"plan",
       {{"m", plan.shape.m},
        {"n", plan.shape.n},
        {"k", plan.shape.k},
        {"type", name_of(plan.type)},
        {"trans_a", plan.op.trans_a},
        {"trans_b", plan.op.trans_b},
        {"alpha", plan.op.alpha},
        {"beta", plan.op.beta},
        {"tile_rows", plan.rows},
        {"tile_cols", plan.cols},
        {"depth", plan.depth},
        {"keeps_b", plan.keeps_b},
        {"stages_a", plan.stages_a},
        {"stages_b", plan.stages_b},
        {"slots", plan.slots},
        {"tiles", plan.tiles},
        {"memory_bytes", plan.memory.total()},
        {"device_memory_bytes", plan.device_memory.total()},
        {"bytes_read", plan.bytes_read},
        {"bytes_written", plan.bytes_written},
        {"min_bytes", plan.min_bytes},
        {"threads", plan.threads},
        {"predicted_seconds", std::move(predicted)},
        {"warnings", plan.warnings},
        {"notes", plan.notes}}},
      {"steps", std::move(steps)}};
  return document.dump(2) + "\n";
}

}  // namespace sepconv
