// sepconv stages [NAME]: the filters and their keys.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "console.hpp"
#include "options.hpp"
#include "sepconv/pipeline/chain/chain.hpp"

namespace sepconv::app {

namespace {

int print_stages(const std::string& name) {
  if (name.empty()) {
    print_lines(stage_list());
    return kDone;
  }
  for (const StageEntry& entry : stage_table()) {
    if (entry.name != name) continue;
    print("{}: {}\n", entry.name, entry.help);
    for (const StageEntry::Key& key : entry.keys) print("  {:<12} {}\n", key.name + "=", key.help);
    print("Example:  sepconv run in.tif out.tif {}\n", entry.example);
    return kDone;
  }
  parse_stage(name);  // throws, and knows the nearest name
  return kDone;
}

}  // namespace

void add_stages_command(CLI::App& program, Context& context) {
  CLI::App* command = program.add_subcommand("stages", "List the filters, or the keys of one.");
  const auto name = std::make_shared<std::string>();
  command->add_option("NAME", *name, "a stage")->type_name(kStageType);
  command->footer("Example:  sepconv stages gaussian");
  command->callback([&context, name] { context.action = [name] { return print_stages(*name); }; });
}

}  // namespace sepconv::app
