// Completion scripts for shells, from a table of what there is to complete.
#pragma once

#include <string>
#include <vector>

namespace sepconv::app {

struct CompletionTable {
  struct Option {
    std::string name, help;
    bool takes_value = false;
  };
  struct Command {
    std::string name, help;
    std::vector<Option> options;
    bool takes_stages = false;
  };
  struct Stage {
    std::string name, help;
    std::vector<std::string> keys;
  };
  std::vector<Command> commands;
  std::vector<Stage> stages;
};

std::string bash_completion(const CompletionTable& table);
std::string zsh_completion(const CompletionTable& table);
std::string fish_completion(const CompletionTable& table);

}  // namespace sepconv::app
