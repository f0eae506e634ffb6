// Common to the programs sepconv and sepconv-bench: parses the command line, runs one command, and converts
// errors to a message and an exit code.
#include "program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "console.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "help_format.hpp"
#include "io/unfinished_paths.hpp"
#include "pipeline/job/option_names.hpp"
#include "signals.hpp"

namespace sepconv::app {

namespace {

int fail(ExitCode code, std::string_view message) {
  print_error(message);
  return code;
}

/// Handles wrong options, and --help and --version, which CLI11 also throws.
int parse_failure(const CLI::App& program, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {
    std::ostringstream text;
    program.exit(error, text, text);
    print_lines(text.str());
    return kDone;
  }
  const auto chosen = program.get_subcommands();
  const std::string command = program.get_name() + (chosen.empty() ? "" : " " + chosen.front()->get_name());
  std::string message = fmt::format("{}; see {} --help", error.what(), command);
  std::replace(message.begin(), message.end(), '\n', ' ');
  return fail(kWrongUsage, message);
}

/// Throws InvalidArgument for an unknown command. CLI11 would only report that a command is required.
void check_command_name(const CLI::App& program, const std::string& word) {
  if (!word.empty() && word.front() != '-') find_command(program, word);
}

/// Options of version 0.2 are accepted under the names of today. Throws InvalidArgument for the value of a
/// flag.
std::string with_current_name(const CLI::App& command, const std::string& word) {
  const std::size_t end = std::min(word.find('='), word.size());
  for (const FormerName& name : former_option_names()) {
    const std::string current(name.current_flag);
    const bool is_assigned = current.find('=') != current.npos;
    if (word.substr(0, end) != name.flag ||
        command.get_option_no_throw(current.substr(0, current.find('='))) == nullptr)
      continue;
    if (is_assigned && end < word.size())
      throw InvalidArgument(fmt::format("{} takes no value; its present name is {}", name.flag, current));
    return current + word.substr(end);
  }
  return word;
}

bool is_flag(const CLI::Option& option) {
  return option.get_items_expected_max() == 0 && option.get_type_name().empty();
}

/// Throws InvalidArgument for what CLI11 misunderstands: of "--name=" the next argument would be the value,
/// of "--flag=no" the flag would be unset, and of "-o=value" the value would be "=value".
void check_equals_sign(const CLI::App& command, const std::string& word) {
  const std::size_t equals = word.find('=');
  if (!word.starts_with('-') || equals == word.npos || equals < 2) return;
  const bool is_long = word.starts_with("--");
  const auto find_option = [&](const std::string& name) { return command.get_option_no_throw(name); };
  for (std::size_t i = 1; !is_long && i + 1 < equals; ++i) {  // flags before the option, as in "-qo=x"
    const CLI::Option* const option = find_option({'-', word[i]});
    if (option == nullptr || !is_flag(*option)) return;
  }
  const std::string name = is_long ? word.substr(0, equals) : std::string{'-', word[equals - 1]};
  const CLI::Option* const option = find_option(name);
  if (option == nullptr) return;
  const std::string value = shortened(word.substr(equals + 1));
  if (is_flag(*option)) throw InvalidArgument(fmt::format("{} takes no value; remove '={}'", name, value));
  if (value.empty()) throw InvalidArgument(fmt::format("{}= has no value; write one after it", name));
  if (!is_long) throw InvalidArgument(fmt::format("{0}={1} has a '=' too many; write {0} {1}", name, value));
}

/// The arguments in reverse order, as CLI11 expects them. "--pyramid none" becomes "--pyramid=none"; thus
/// --pyramid without a value never takes a stage as its value. What follows "--" is left as it is.
std::vector<std::string> reversed_arguments(const CLI::App& program, int argc, char** argv) {
  std::vector<std::string> arguments;
  const CLI::App* command = &program;
  bool has_options = true;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    has_options = has_options && word != "--";
    const auto is_named = [&word](const CLI::App* candidate) { return candidate->get_name() == word; };
    if (const auto found = command->get_subcommands(is_named); !found.empty()) command = found.front();
    if (has_options && !arguments.empty() && arguments.back() == "--pyramid" &&
        (word == "none" || word == "nearest")) {
      arguments.back() += "=" + word;
      continue;
    }
    if (has_options) {
      const std::string previous = arguments.empty() ? "" : arguments.back();
      const CLI::Option* const option =
          previous.starts_with('-') ? command->get_option_no_throw(previous) : nullptr;
      if (word.empty() && option != nullptr && !is_flag(*option))
        throw InvalidArgument(fmt::format("{} has no value; write one after it", previous));
      word = with_current_name(*command, word);
      check_equals_sign(*command, word);
    }
    arguments.push_back(std::move(word));
  }
  std::ranges::reverse(arguments);
  return arguments;
}

std::string partial_results_text(const Context& context) try {
  return context.describe_partial_results();
} catch (const std::exception&) {  // unreadable, so no run can continue it
  return "";
}

/// Also reports the partial results of the command.
int fail_with(const Context& context, std::string_view message) {
  const std::string partial = partial_results_text(context);
  return fail(context.failure, fmt::format("{}{}{}", message, partial.empty() ? "" : "; ", partial));
}

/// The partial results of a command that is ended at an arbitrary point.
std::string forced_exit_text(const Context& context) {
  if (context.has_partial_results) return "completed work is saved, and the same command continues it";
  return unfinished_paths::is_any_complete() ? "" : "no output was made";
}

int run_with_error_handling(const CLI::App& program, const Context& context, SignalWatcher& signals,
                            const std::function<int()>& work) {
  try {
    return work();
  } catch (const CLI::ParseError& error) {
    return parse_failure(program, error);
  } catch (const Cancelled&) {
    const std::string partial = partial_results_text(context);
    signals.claim_final_message();
    return fail(kInterrupted, "interrupted; " + (partial.empty() ? "no output was made" : partial));
  } catch (const InvalidArgument& error) {
    return fail(kWrongUsage, error.what());
  } catch (const IoError& error) {
    if (error.error() == EPIPE) return kBrokenPipe;  // standard output is the only pipe that is written
    return fail_with(context, error.what());
  } catch (const std::bad_alloc&) {
    return fail_with(context, "cannot allocate memory; give a smaller --max-memory or free some memory");
  } catch (const std::exception& error) {
    return fail_with(context, error.what());
  }
}

}  // namespace

std::vector<const CLI::App*> commands_of(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* candidate) { return !candidate->get_group().empty(); });
}

const CLI::App& find_command(const CLI::App& commands, const std::string& name) {
  const auto found =
      commands.get_subcommands([&name](const CLI::App* candidate) { return candidate->get_name() == name; });
  if (!found.empty()) return *found.front();
  std::string names;
  for (const CLI::App* command : commands_of(commands))
    names += (names.empty() ? "" : ", ") + command->get_name();
  throw InvalidArgument(fmt::format("there is no command '{}'; the commands are {}", name, names));
}

int run_program(int argc, char** argv, CLI::App& program,
                const std::function<void(CLI::App&, Context&)>& add_commands) {
  // OpenBLAS starts without worker threads, from whichever package it is loaded; each product sets its number
  // of threads. setenv() is safe here, because the process has a single thread.
  setenv("OPENBLAS_NUM_THREADS", "1", 0);
  SignalWatcher signals;
  Context context;
  context.stop = signals.token();
  program.require_subcommand(1);
  add_commands(program, context);
  set_help_format(program);

  const int code = run_with_error_handling(program, context, signals, [&] {
    if (argc > 1) check_command_name(program, argv[1]);
    program.parse(reversed_arguments(program, argc, argv));
    signals.start([&context] { return forced_exit_text(context); });
    return context.action();
  });
  // Errors of stdout, such as a full disk or a closed pipe, are detected only here.
  const StdoutStatus stdout_status = finish_stdout();
  if (code >= context.failure || stdout_status == StdoutStatus::written) return code;
  if (stdout_status == StdoutStatus::broken_pipe) return code == kDone ? kBrokenPipe : code;
  return fail(context.failure, "standard output could not be written; send it to a location with free space");
}

}  // namespace sepconv::app
