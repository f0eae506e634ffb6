#include "pipeline/job/option_names.hpp"

#include <algorithm>

#include "pipeline/job/option.hpp"

namespace sepconv {
namespace {

/// Names in errors that the tables of options do not declare.
constexpr OptionName kOtherNames[] = {
    {"CreateOptions::overwrite", "--force", "overwrite=True"},
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
    const auto add = [&names](const auto& table) {
      for (const auto& option : table) names.insert(names.end(), option.names.begin(), option.names.end());
    };
    add(open_option_table());
    add(plan_option_table());
    add(missing_option_table());
    add(file_option_table());
    add(output_option_table());
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
