// Options by their keywords, with values as texts of the program.
#include <nanobind/stl/string.h>

#include <algorithm>

#include "files.hpp"
#include "images.hpp"

namespace sepconv::python {
namespace {

/// Sets the option of a table with this keyword. False: the table has none.
template <class Row, class Options>
bool set_from(const std::vector<Row>& table, Options& options, const std::string& keyword, nb::handle value) {
  const auto option =
      std::ranges::find_if(table, [&](const Row& row) { return row.names[0].keyword == keyword; });
  if (option == table.end()) return false;
  if (option->kind != ValueKind::flag) {
    set_option<Options>(*option, options, keyword, nb::cast<std::string>(value));
  } else if (nb::cast<bool>(value)) {
    option->set(options, "");
  }
  return true;
}

const char* name_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::number:
      return "number";
    case ValueKind::integer:
      return "integer";
    case ValueKind::flag:
      return "flag";
    default:
      return "text";
  }
}

/// The keyword and the kind of value of each option, by groups.
nb::dict options_by_group() {
  nb::dict groups;
  const auto add = [&groups](const char* group, const auto& row) {
    if (!groups.contains(group)) groups[group] = nb::dict();
    groups[group][text_of(row.names[0].keyword)] = name_of(row.kind);
  };
  for (const auto& row : open_option_table()) add("open", row);
  for (const auto& row : plan_option_table()) add("plan", row);
  for (const auto& row : missing_option_table()) add("missing", row);
  for (const auto& row : file_option_table()) add("picture", row);
  for (const OutputOption& row : output_option_table())
    add(row.scope == OptionScope::picture ? "picture" : "layout", row);
  return groups;
}

nb::list options_fixed_by_plan() {
  nb::list all;
  for (const OptionName& name : option_names())
    if (name.fixed_by_plan) all.append(text_of(name.keyword));
  return all;
}

nb::dict former_names() {
  nb::dict all;
  for (const FormerName& name : former_option_names())
    if (!name.keyword.empty()) all[text_of(name.keyword)] = text_of(name.current_keyword);
  return all;
}

}  // namespace

Settings settings_of(const nb::dict& options) {
  Settings settings;
  for (const auto& [key, value] : options) {
    const auto name = nb::cast<std::string>(key);
    if (name == "plan") {
      settings.plan = parse_plan(nb::cast<std::string>(value));
    } else if (!set_from<Option<PlanOptions>, PlanOptions>(plan_option_table(), settings.run, name, value) &&
               !set_from(open_option_table(), settings.files.open, name, value) &&
               !set_from(missing_option_table(), settings.run.missing, name, value) &&
               !set_from(file_option_table(), settings.files, name, value) &&
               !set_from(output_option_table(), settings.files.output, name, value)) {
      throw InvalidArgument("there is no option '" + name + "'");
    }
  }
  settings.files.open = open_options(settings.files.open, settings.run.missing);
  if (settings.plan) settings.run.retry_smaller_plans = false;
  return settings;
}

void bind_options(nb::module_& module) {
  module.def("options_by_group", options_by_group);
  module.def("options_fixed_by_plan", options_fixed_by_plan);
  module.def("former_option_names", former_names);
}

}  // namespace sepconv::python
