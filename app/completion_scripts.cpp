#include "completion_scripts.hpp"

#include <fmt/format.h>

namespace sepconv::app {

namespace {

/// In single quotes for any of the three shells; quotes and backslashes of the text itself are left out,
/// helps do not need them.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c != '\'' && c != '\\') result += c;
  }
  return result + "'";
}

template <class List, class Text>
std::string joined(const List& list, Text&& text) {
  std::string result;
  for (const auto& item : list) result += (result.empty() ? "" : " ") + text(item);
  return result;
}

std::string command_names(const CompletionTable& table) {
  return joined(table.commands, [](const auto& command) { return command.name; });
}
std::string stage_names(const CompletionTable& table) {
  return joined(table.stages, [](const auto& stage) { return stage.name; });
}
std::string stage_commands(const CompletionTable& table) {
  std::string result;
  for (const auto& command : table.commands) {
    if (command.takes_stages) result += (result.empty() ? "" : "|") + command.name;
  }
  return result;
}

/// "  name) NAME='words' ;;" per item: how bash and zsh know what belongs to what.
template <class List, class Text>
std::string cases(const List& list, const std::string& variable, Text&& words) {
  std::string result;
  for (const auto& item : list)
    result += fmt::format("    {}) {}={} ;;\n", item.name, variable, quoted(words(item)));
  return result;
}

std::string option_cases(const CompletionTable& table) {
  return cases(table.commands, "options", [](const auto& command) {
    return joined(command.options, [](const auto& option) { return option.name; });
  });
}
std::string key_cases(const CompletionTable& table) {
  return cases(table.stages, "keys", [](const auto& stage) {
    return joined(stage.keys, [](const std::string& key) { return key + "="; });
  });
}

}  // namespace

// bash splits words at ':' and '=', so the script takes the word from the line itself and returns what
// follows the last of them.
std::string bash_completion(const CompletionTable& table) {
  return fmt::format(R"SH(# sepconv completion for bash; use:  source <(sepconv completion bash)
_sepconv() {{
  local line="${{COMP_LINE:0:COMP_POINT}}" options='' keys='' words=''
  local word="${{line##*[[:space:]]}}" command="${{COMP_WORDS[1]}}"
  case "$command" in
{0}  esac
  case "${{word%%:*}}" in
{1}  esac
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    words='{2} --help --version'
  elif [[ $word == -* ]]; then
    words="$options"
  elif [[ $command == @({3}) && $word == *:* ]]; then
    local known="${{word%"${{word##*[:,]}}"}}" key
    for key in $keys; do words+=" $known$key"; done
  elif [[ $command == @({3}|stages) ]]; then
    words='{4}'
  elif [[ $command == completion ]]; then
    words='bash zsh fish'
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  local kept="${{word%"${{word##*[:=]}}"}}"
  COMPREPLY=("${{COMPREPLY[@]#"$kept"}}")
  [[ ${{COMPREPLY[0]}} == *= ]] && compopt -o nospace 2>/dev/null
  return 0
}}
complete -o default -F _sepconv sepconv
)SH",
                     option_cases(table), key_cases(table), command_names(table), stage_commands(table),
                     stage_names(table));
}

std::string zsh_completion(const CompletionTable& table) {
  return fmt::format(R"SH(#compdef sepconv
# sepconv completion for zsh; use:  source <(sepconv completion zsh)
_sepconv() {{
  local options='' keys='' command="${{words[2]}}" word="${{PREFIX}}"
  case "$command" in
{0}  esac
  case "${{word%%:*}}" in
{1}  esac
  if ((CURRENT == 2)); then
    compadd -- {2} --help --version
  elif [[ $word == -* ]]; then
    compadd -- ${{=options}}
  elif [[ $command == ({3}) && $word == *:* ]]; then
    compadd -S '' -p "${{word%"${{word##*[:,]}}"}}" -- ${{=keys}}
  elif [[ $command == completion ]]; then
    compadd -- bash zsh fish
  else
    [[ $command == ({3}|stages) ]] && compadd -- {4}
    _files
  fi
}}
if [[ $funcstack[1] == _sepconv ]]; then
  _sepconv "$@"
else
  compdef _sepconv sepconv
fi
)SH",
                     option_cases(table), key_cases(table), command_names(table), stage_commands(table),
                     stage_names(table));
}

std::string fish_completion(const CompletionTable& table) {
  std::string script = "# sepconv completion for fish; use:  sepconv completion fish | source\n";
  const std::string first_word = "-n __fish_use_subcommand";
  for (const auto& command : table.commands) {
    script += fmt::format("complete -c sepconv {} -f -a {} -d {}\n", first_word, command.name,
                          quoted(command.help));
    const std::string here = fmt::format("-n '__fish_seen_subcommand_from {}'", command.name);
    for (const auto& option : command.options) {
      script += fmt::format("complete -c sepconv {} -l {}{} -d {}\n", here, option.name.substr(2),
                            option.takes_value ? " -r" : "", quoted(option.help));
    }
    if (!command.takes_stages) continue;
    for (const auto& stage : table.stages) {
      script += fmt::format("complete -c sepconv {} -a {} -d {}\n", here, stage.name, quoted(stage.help));
      for (const auto& key : stage.keys) {
        script += fmt::format("complete -c sepconv {} -a '{}:{}='\n", here, stage.name, key);
      }
    }
  }
  script += "complete -c sepconv -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'\n";
  script += fmt::format("complete -c sepconv -n '__fish_seen_subcommand_from stages' -f -a '{}'\n",
                        stage_names(table));
  return script;
}

}  // namespace sepconv::app
