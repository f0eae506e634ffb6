#include "pipeline/job/option_names.hpp"

#include <algorithm>

#include "pipeline/job/output_option.hpp"

namespace sepconv {
namespace {

/// The options that output_option_table() does not declare.
constexpr OptionName kOtherNames[] = {
    {"OpenOptions::page", "--page", "page"},
    {"OpenOptions::select", "--page", "page"},
    {"OpenOptions::axes", "--axes", "axes"},
    {"OpenOptions::raw", "--raw", "raw"},
    {"OpenOptions::missing_chunks", "--missing-chunks", "missing_chunks"},
    {"OpenOptions::missing_chunks = error", "--missing-chunks error", "missing_chunks='error'"},
    {"OpenOptions::missing_chunks = fill", "--missing-chunks fill", "missing_chunks='fill'"},
    {"CreateOptions::overwrite", "--force", "overwrite=True"},
    {"FileOptions::orient", "--orient", "orient"},
    {"PlanOptions::max_memory_bytes", "--max-memory", "max_memory", true},
    {"PlanOptions::threads", "--threads", "threads", true},
    {"PlanOptions::slots", "--slots", "slots", true},
    {"PlanOptions::band_rows", "--band-rows", "band_rows", true},
    {"PlanOptions::band_cols", "--band-cols", "band_cols", true},
    {"PlanOptions::arithmetic", "--arithmetic", "arithmetic", true},
    {"PlanOptions::devices", "--device", "device", true},
    {"PlanOptions::max_device_memory_bytes", "--max-device-memory", "max_device_memory", true},
    {"PlanOptions::region", "--region", "region", true},
    {"MissingOptions::none", "--nodata none", "nodata='none'"},
    {"MissingOptions::value", "--nodata", "nodata", true},
    {"MissingOptions::all_channels", "--nodata-bands", "nodata_bands", true},
    {"MissingOptions::alpha_rule", "--alpha", "alpha", true},
    {"MissingOptions::result", "--dst-nodata", "dst_nodata", true},
    {"resume_file()", "--resume", "resume=True"},
    {"run_part()", "--part", "part="},
    {"finish_file()", "finish", "sepconv.finish()"},
    {"Checkpoint::discard()", "--discard", "discard=True"},
    {"to_json() of a run", "run --stats", "RunReport.json()"},
    {"permute_file()", "sepconv transpose --perm", "sepconv.transpose()"},
};

}  // namespace

const std::vector<OptionName>& option_names() {
  static const std::vector<OptionName> all = [] {
    std::vector<OptionName> names(std::begin(kOtherNames), std::end(kOtherNames));
    for (const OutputOption& option : output_option_table())
      names.insert(names.end(), option.names.begin(), option.names.end());
    return names;
  }();
  return all;
}

const std::vector<FormerName>& former_option_names() {
  static const std::vector<FormerName> all{{"--whole", "--reference", "", ""},
                                           {"--into", "--output-dir", "", ""},
                                           {"--durable", "--fsync", "durable", "fsync"},
                                           {"--result-nodata", "--dst-nodata", "result_nodata", "dst_nodata"},
                                           {"--big-tiff", "--bigtiff=yes", "big_tiff", "bigtiff"},
                                           {"--classic-tiff", "--bigtiff=no", "", ""},
                                           {"--add", "--c", "add", "c"}};
  return all;
}

std::string with_option_names(std::string_view message, std::string_view OptionName::*spelling) {
  // A name that begins with another one comes before it.
  static const std::vector<OptionName> longest_first = [] {
    std::vector<OptionName> names = option_names();
    std::ranges::stable_sort(names, std::greater<>(),
                             [](const OptionName& name) { return name.member.size(); });
    return names;
  }();
  std::string result(message);
  for (const OptionName& name : longest_first) {
    const std::string_view spelled = name.*spelling;
    for (std::size_t at = 0; (at = result.find(name.member, at)) != result.npos; at += spelled.size())
      result.replace(at, name.member.size(), spelled);
  }
  return result;
}

}  // namespace sepconv
