#include "pipeline/machine/host_resources.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <thread>

#include "core/openblas_limits.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

/// First number in a file; nullopt if it is not a number ("max" in a cgroup file).
std::optional<std::int64_t> read_unsigned(const std::string& path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

std::int64_t mem_available_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream tokens(line);
    std::string key;
    std::int64_t kib = 0;
    if (tokens >> key >> kib && key == "MemAvailable:") return kib * 1024;
  }
  return std::int64_t{1} << 30;
}

/// This process's directory in the unified cgroup hierarchy, or the mount point.
std::string cgroup_folder() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("0::")) return "/sys/fs/cgroup" + line.substr(3);
  }
  return "/sys/fs/cgroup";
}

std::int64_t cgroup_free_bytes() {
  const std::string folder = cgroup_folder();
  for (const auto& [limit_file, used_file] :
       {std::pair{folder + "/memory.max", folder + "/memory.current"},
        std::pair{std::string("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
                  std::string("/sys/fs/cgroup/memory/memory.usage_in_bytes")}}) {
    const auto limit = read_unsigned(limit_file);
    const auto used = read_unsigned(used_file);
    if (limit && used) return std::max<std::int64_t>(0, *limit - *used);
  }
  return kUnlimited;
}

/// Processors of the cgroup's CPU quota, rounded up; nullopt without a quota.
std::optional<int> cgroup_processors() {
  std::ifstream file(cgroup_folder() + "/cpu.max");
  double quota = 0;
  double period = 0;
  if (file >> quota >> period && quota > 0 && period > 0)
    return static_cast<int>((quota + period - 1) / period);
  return std::nullopt;
}

}  // namespace

std::int64_t free_memory_bytes() {
  return std::min({mem_available_bytes(), cgroup_free_bytes(), free_address_bytes()});
}

int usable_processors() {
  cpu_set_t set;
  int processors = static_cast<int>(std::thread::hardware_concurrency());
  if (sched_getaffinity(0, sizeof set, &set) == 0) processors = CPU_COUNT(&set);
  if (const auto quota = cgroup_processors()) processors = std::min(processors, *quota);
  return std::max(1, processors);
}

// VmHWM instead of getrusage: after exec, ru_maxrss starts with the parent's value.
std::int64_t peak_rss_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    std::int64_t kibibytes = 0;
    status >> kibibytes;
    return kibibytes * 1024;
  }
  return 0;
}

std::int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t mapped_pages = 0, resident_pages = 0;
  statm >> mapped_pages >> resident_pages;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

}  // namespace sepconv
