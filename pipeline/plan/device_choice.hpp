// Choice of the device: PlanOptions::devices, or the one that is predicted to finish first.
#pragma once

#include <algorithm>
#include <exception>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "kernels/device/runtime.hpp"
#include "pipeline/plan/plan.hpp"

namespace sepconv {

struct PlanProblem;

/// The chain or product cannot be computed on a GPU; what() says why.
class NotOnDevice : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
};

/// Why no GPU is available.
std::string gpu_absence_reason();

/// Computes one pixel on each of these GPUs that the process has not used yet. The first becomes the calling
/// thread's current device, so that no other GPU gets a context later. Throws InvalidArgument for a GPU that
/// does not exist; DeviceError or OutOfMemory for one that is in use, full, or too old for this build.
void open_devices(const std::vector<int>& devices);

/// Throws InvalidArgument for a GPU that does not exist. Creates no context.
void check_devices(const std::vector<int>& devices);

/// Predicted seconds of open_devices().
double context_seconds(const MachineModel& machine, const std::vector<int>& devices);

/// Why a GPU is not considered; empty if it is. This and the following are internal to the planners.
std::string why_no_gpu(const MachineModel& machine, const std::optional<Prediction>& on_cpu);
/// The options for these GPUs. Without a context their memory is assumed to be free, because a query would
/// create the context.
PlanOptions options_for_gpus(const PlanOptions& options, const std::vector<int>& devices);
/// Text that compares the predicted times.
std::string times_text(double cpu_seconds, double gpu_seconds, double context_seconds);

template <class Plan>
void add_start_seconds(Plan& plan, double seconds) {
  plan.predicted.start += seconds;
  plan.predicted.total += seconds;
}

/// More devices are used if the predicted time is at most this part of the time of fewer.
inline constexpr double kSharedTime = 0.9;

/// A plan for several devices if its predicted time is less than this, and appends this time to `reason`.
template <class Plan>
using PlanTogether = std::function<std::optional<Plan>(double max_seconds, std::string& reason)>;

/// The plan of `make_plan` for options.devices; with choose_device, for the CPU or the first GPU, whichever
/// is predicted to finish first, or for both if `plan_together` is set and gains at least a tenth, with a note
/// on the reason. Throws as make_plan() and open_devices() do; an unusable GPU that was not named, and
/// NotOnDevice, are only noted.
template <class Plan>
Plan plan_on_devices(const PlanOptions& options, const std::function<Plan(const PlanOptions&)>& make_plan,
                     const PlanTogether<Plan>& plan_together = {}) {
  if (!options.choose_device) {
    const double context = context_seconds(options.machine, options.devices);
    open_devices(options.devices);
    try {
      Plan plan = make_plan(options);
      add_start_seconds(plan, context);
      return plan;
    } catch (const NotOnDevice& error) {
      throw InvalidArgument(std::string(error.what()) + "; compute on the CPU");
    }
  }
  std::optional<Plan> on_cpu;
  std::exception_ptr failure;
  try {
    on_cpu = make_plan(options);
  } catch (const OutOfMemory&) {
    failure = std::current_exception();
  }
  const double cpu_seconds = on_cpu ? on_cpu->predicted.total : std::numeric_limits<double>::infinity();
  std::string reason = why_no_gpu(options.machine, on_cpu ? std::optional(on_cpu->predicted) : std::nullopt);
  if (reason.empty()) try {
      PlanOptions gpu_options = options_for_gpus(options, {0});
      const double context = context_seconds(options.machine, gpu_options.devices);
      Plan on_gpu = make_plan(gpu_options);
      reason = times_text(cpu_seconds, on_gpu.predicted.total + context, context);
      if (on_cpu && plan_together)
        if (auto together = plan_together(
                kSharedTime * std::min(cpu_seconds, on_gpu.predicted.total + context), reason)) {
          together->notes.push_back(reason + ": they share the bands");
          return std::move(*together);
        }
      if (on_gpu.predicted.total + context < cpu_seconds) {
        open_devices(gpu_options.devices);
        gpu_options.max_device_memory_bytes = options.max_device_memory_bytes;
        on_gpu = make_plan(gpu_options);  // with the memory that is actually free
        add_start_seconds(on_gpu, context);
        on_gpu.asked = options;
        on_gpu.notes.push_back(reason + ": the GPU computes");
        return on_gpu;
      }
    } catch (const NotOnDevice& error) {
      reason = error.what();
    } catch (const OutOfMemory&) {
      reason = "no plan for a GPU fits into memory";
    } catch (const DeviceError& error) {
      reason = std::string("cuda:0 cannot be used, ") + error.what();
    }
  if (!on_cpu) std::rethrow_exception(failure);
  on_cpu->notes.push_back(reason + ": the CPU computes");
  return std::move(*on_cpu);
}

/// Why the CPU does not compute bands together with GPUs; empty if it does. `is_chosen`: by the planner, not
/// by the caller.
std::string why_not_shared(const PlanProblem& problem, bool is_chosen);

using MakePlan = std::function<Plan(const PlanOptions&)>;

/// The plan for the devices of `options`: those that it names, or as plan_on_devices() chooses, where several
/// devices may share the bands.
Plan choose_plan(const PlanOptions& options, const MakePlan& make_plan);

}  // namespace sepconv
