// sepconv stages [NAME]: the filters and their keys.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "console.hpp"
#include "json_text.hpp"
#include "options.hpp"
#include "pipeline/chain/stage_entry.hpp"
#include "text.hpp"

namespace sepconv::app {

namespace {

using Json = nlohmann::ordered_json;

/// The default value as JSON; null if the key has no default.
Json default_json(const StageKey& key) {
  using enum StageKey::Type;
  if (key.default_text.empty()) return nullptr;
  const bool is_text = key.type != number && key.type != integer && key.type != flag;
  return is_text ? Json(key.default_text) : Json::parse(key.default_text);
}

Json to_json(const StageKey& key) {
  Json json = {{"name", key.name},
               {"type", name_of(key.type)},
               {"words", key.words},
               {"needed", key.needed},
               {"default", default_json(key)}};
  if (!key.unit.empty()) json["unit"] = key.unit;
  if (std::isfinite(key.range.least))
    json[key.range.excludes_min ? "greater_than" : "least"] = key.range.least;
  if (std::isfinite(key.range.most)) json["most"] = key.range.most;
  if (!key.choices.empty()) json["choices"] = key.choices;
  if (!key.only_with.empty()) json["only_with"] = key.only_with;
  if (!key.not_with.empty()) json["not_with"] = key.not_with;
  return json;
}

Json to_json(const StageEntry& entry) {
  Json keys = Json::array();
  for (const StageKey& key : entry.keys) keys.push_back(to_json(key));
  return {{"name", entry.name}, {"words", entry.help}, {"example", entry.example}, {"keys", keys}};
}

/// The stage of this name, or all stages if it is empty. Throws InvalidArgument that suggests the nearest
/// name.
StageTable select_stages(const std::string& name) {
  if (name.empty()) return stage_table();
  return {find_stage_entry(name)};
}

void print_keys(const StageEntry& entry) {
  print("{}: {}\n", entry.name, entry.help);
  for (const StageKey& key : entry.keys) print("  {:<12} {}\n", key.name + "=", key.help());
  print("Example:  {}\n", example_command(entry.example));
}

int print_stages(const std::string& name, bool as_json) {
  const StageTable stages = select_stages(name);
  if (as_json) {
    Json json = Json::array();
    for (const StageEntry& entry : stages) json.push_back(to_json(entry));
    print_lines(json_lines(nlohmann::ordered_json{{"stages", json}}));
  } else if (name.empty()) {
    print_lines(stage_list());
  } else {
    print_keys(stages.front());
  }
  return kDone;
}

}  // namespace

void add_stages_command(CLI::App& program, Context& context) {
  struct StagesRequest {
    std::string name;
    bool json = false;
  };
  CLI::App* command = program.add_subcommand("stages", "List the filters, or the keys of one.");
  const auto request = std::make_shared<StagesRequest>();
  command->add_option("NAME", request->name, "a stage")->type_name(kStageType);
  command->add_flag("--json", request->json, "print names, keys, types, defaults and ranges as JSON");
  command->footer(examples({"sepconv stages", "sepconv stages gaussian", "sepconv stages --json"}));
  command->callback([&context, request] {
    context.action = [request] { return print_stages(request->name, request->json); };
  });
}

}  // namespace sepconv::app
