#include "batch.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <new>
#include <optional>

#include "console.hpp"
#include "core/count_text.hpp"
#include "core/error.hpp"
#include "io/file_errors.hpp"
#include "io/path_conflicts.hpp"
#include "io/unfinished_paths.hpp"
#include "json_text.hpp"
#include "pipeline/report/report.hpp"
#include "pipeline/run/run_file.hpp"
#include "progress.hpp"

namespace sepconv::app {

namespace {

namespace fs = std::filesystem;

/// One image of the batch and its outcome: a report, an error, or neither if its run has not started.
struct FolderItem {
  fs::path input, output;
  std::optional<RunReport> report{};
  std::string error{};
};

void check_folder(const fs::path& folder) {
  std::error_code ignored;
  if (folder.empty())
    throw InvalidArgument("--output-dir has no name; name a folder, like --output-dir out/");
  if (fs::is_directory(folder, ignored)) return;
  if (fs::exists(folder, ignored))
    throw InvalidArgument(fmt::format("--output-dir {}: it is a file; name a folder", folder.string()));
  if (folder.has_filename() && format_of_name(folder) != nullptr)
    throw InvalidArgument(fmt::format(
        "--output-dir {}: this is the name of an image, and a folder is wanted; write run IN OUT STAGE... "
        "for one image, or {}/ for a folder of this name",
        folder.string(), folder.string()));
}

std::vector<FolderItem> make_items(const BatchOptions& request, const std::string& format) {
  std::vector<FolderItem> items;
  for (std::size_t i = 0; i < request.inputs; ++i) {
    const fs::path input = request.arguments[i];
    if (request.arguments[i] == kStandardStream)
      throw InvalidArgument("standard input (-) has no name to keep in a folder; write run - OUT STAGE...");
    fs::path name = name_of_file(input);
    if (!format.empty()) name.replace_extension(format);
    items.push_back({input, request.folder / name});
  }
  return items;
}

/// Device and inode of the file; nullopt if it does not exist.
std::optional<std::pair<dev_t, ino_t>> identity_of(const fs::path& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) return std::nullopt;
  return std::pair{facts.st_dev, facts.st_ino};
}

/// Files and folders by device and inode.
using Identities = std::map<std::pair<dev_t, ino_t>, fs::path>;
/// The input that a result at `output` would overwrite; null if no input is lost. `output` may be an input,
/// contain one, or be located inside one. `with_parents` contains the inputs and all their parent folders,
/// `inputs` only the inputs.
const fs::path* overwritten_input(const fs::path& output, const Identities& with_parents,
                                  const Identities& inputs) {
  const auto find_in = [](const Identities& paths, const fs::path& path) -> const fs::path* {
    const auto identity = identity_of(path);
    const auto found = identity ? paths.find(*identity) : paths.end();
    return found == paths.end() ? nullptr : &found->second;
  };
  if (const fs::path* const input = find_in(with_parents, output)) return input;
  for (const fs::path& folder : containing_folders(output))
    if (const fs::path* const input = find_in(inputs, folder)) return input;
  return nullptr;
}

/// Throws InvalidArgument if two results have the same path, or if a result would overwrite an input.
void check_clashes(const std::vector<FolderItem>& items) {
  std::map<fs::path, fs::path> input_of_output;
  Identities with_parents, inputs;
  for (const FolderItem& item : items) {
    if (const auto [first, is_new] = input_of_output.emplace(item.output, item.input); !is_new)
      throw InvalidArgument(fmt::format("{} and {} would both become {}; run them into two folders",
                                        first->second.string(), item.input.string(), item.output.string()));
    if (const auto identity = identity_of(item.input)) inputs.emplace(*identity, item.input);
    std::error_code ignored;
    for (fs::path path = fs::canonical(item.input, ignored); path.has_relative_path();
         path = path.parent_path()) {
      if (const auto identity = identity_of(path)) with_parents.emplace(*identity, item.input);
    }
  }
  for (const FolderItem& item : items) {
    if (const fs::path* const input = overwritten_input(item.output, with_parents, inputs))
      throw InvalidArgument(
          fmt::format("{} would overwrite the input {}, or a part of it; choose another folder",
                      item.output.string(), input->string()));
  }
}

/// Creates the output folder. The destructor removes it if it is empty and was created here.
class CreatedFolder {
 public:
  explicit CreatedFolder(const fs::path& folder) : folder_(folder) {
    std::error_code error;
    const auto lock = unfinished_paths::turn();
    created_ = fs::create_directory(folder_, error);
    if (created_) unfinished_paths::add(folder_);
    if (error)
      throw IoError(fmt::format("cannot make the folder {}: {}; make it, or choose another", folder_.string(),
                                error.message()),
                    error.value());
  }
  CreatedFolder(const CreatedFolder&) = delete;
  CreatedFolder& operator=(const CreatedFolder&) = delete;
  ~CreatedFolder() {
    std::error_code ignored;
    if (created_ && fs::is_empty(folder_, ignored)) fs::remove(folder_, ignored);
    unfinished_paths::forget(folder_);
  }

 private:
  fs::path folder_;
  bool created_ = false;
};

void run_item(FolderItem& item, const RunArguments& shared, ProgressLine& line, const std::string& prefix) {
  RunArguments request = shared;
  request.input = item.input;
  request.output = item.output;
  request.format.clear();  // the output name already has it
  ImageJob job = prepare(request);
  ExecutionOptions options = request.options;
  options.progress = line.callback(prefix);
  item.report = run(job, options);
}

void run_guarded(FolderItem& item, const RunArguments& shared, ProgressLine& line,
                 const std::string& prefix) try {
  run_item(item, shared, line, prefix);
} catch (const Cancelled&) {
  throw;
} catch (const std::bad_alloc&) {
  item.error = item.input.string() + ": not enough memory; give a smaller --max-memory";
} catch (const std::exception& error) {
  item.error = error.what();
}

std::int64_t count_completed(const std::vector<FolderItem>& items) {
  return std::ranges::count_if(items, [](const FolderItem& item) { return item.report.has_value(); });
}

/// Prints each warning once, with the first file that it applies to and the number of further files.
void print_warnings(const std::vector<FolderItem>& items) {
  std::vector<std::pair<std::string, std::vector<fs::path>>> warnings_with_files;
  for (const FolderItem& item : items) {
    if (!item.report) continue;
    for (const std::string& warning : item.report->plan.warnings) {
      auto entry = std::ranges::find(warnings_with_files, warning,
                                     &std::pair<std::string, std::vector<fs::path>>::first);
      if (entry == warnings_with_files.end())
        entry = warnings_with_files.insert(warnings_with_files.end(), {warning, {}});
      entry->second.push_back(item.output);
    }
  }
  for (const auto& [warning, files] : warnings_with_files)
    warn({fmt::format("{}{}: {}", files.front().string(),
                      files.size() == 1 ? "" : fmt::format(" and {} more", files.size() - 1), warning)});
}

std::string format_row(const FolderItem& item, std::size_t width) {
  std::string outcome = item.error.empty() ? "not begun" : "failed";
  if (item.report) {
    const ImageSpec spec = item.report->plan.sink();
    const double seconds = std::max(item.report->wall_seconds, 1e-6);
    outcome = fmt::format("{:>9} x {:<9} {:>8.2f} s {:>9.1f} Mpix/s", spec.extent.cols, spec.extent.rows,
                          seconds, static_cast<double>(item.report->pixels) / seconds / 1e6);
  }
  return fmt::format("  {:<{}}  {}\n", printable(item.output.string()), width, outcome);
}

std::string format_table(const std::vector<FolderItem>& items) {
  std::size_t width = 0;
  double seconds = 0;
  for (const FolderItem& item : items) {
    width = std::max(width, printable(item.output.string()).size());
    if (item.report) seconds += item.report->wall_seconds;
  }
  std::string text;
  for (const FolderItem& item : items) text += format_row(item, width);
  const std::int64_t failed =
      std::ranges::count_if(items, [](const FolderItem& item) { return !item.error.empty(); });
  return text + fmt::format("{} of {} made in {:.2f} s{}\n", count_completed(items),
                            count_text(std::ssize(items), "image"), seconds,
                            failed > 0 ? fmt::format(", {} failed", failed) : "");
}

std::string items_json(const std::vector<FolderItem>& items) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const FolderItem& item : items) {
    nlohmann::ordered_json entry = {{"input", item.input.string()}, {"output", item.output.string()}};
    if (!item.error.empty()) entry["error"] = item.error;
    if (item.report) entry["report"] = nlohmann::ordered_json::parse(to_json(*item.report, {}));
    all.push_back(std::move(entry));
  }
  return json_lines(all);
}

void print_results(const std::vector<FolderItem>& items, bool as_json, const Verbosity& reporting) {
  print_warnings(items);
  if (as_json) {
    print_lines(items_json(items));
  } else if (!reporting.quiet) {
    write_to_stderr(format_table(items));
  }
}

}  // namespace

fs::path name_of_file(const fs::path& path) { return without_slash(path).filename(); }

CLI::Option* add_into_option(CLI::App& command, BatchOptions& request,
                             const std::vector<CLI::Option*>& arguments) {
  const auto set_folder = [&request, arguments](const std::string& text) {
    if (!request.folder.empty())
      throw InvalidArgument(
          "--output-dir (-o) stands twice; results go into one folder: give it once, after all images");
    request.folder = text;
    check_folder(request.folder);
    request.inputs = 0;
    for (const CLI::Option* argument : arguments) request.inputs += argument->results().size();
    if (request.inputs == 0)
      throw InvalidArgument(
          "no image stands before --output-dir (-o); write run IN... --output-dir DIR STAGE..., images "
          "before it and stages behind");
    arguments[1]->required(false);
  };
  return command
      .add_option_function<std::string>(
          "-o,--output-dir", set_folder,
          "output folder: filter each of several images into a file of the same name there (run IN... "
          "--output-dir DIR STAGE...)")
      ->trigger_on_parse()
      ->type_name(kFolderType);
}

int run_into_folder(const BatchOptions& request, const RunArguments& job, bool as_json,
                    const Verbosity& reporting, Context& context) {
  std::vector<FolderItem> items = make_items(request, job.format);
  check_clashes(items);
  const CreatedFolder folder(request.folder);
  {
    ProgressLine line(reporting.quiet);
    for (std::size_t i = 0; i < items.size(); ++i) {
      try {
        run_guarded(items[i], job, line,
                    fmt::format("{}/{} {}  ", i + 1, items.size(), name_of_file(items[i].input).string()));
      } catch (const Cancelled&) {
        line.clear();
        print_results(items, as_json, reporting);
        const std::string summary =
            fmt::format("{} of {} made", count_completed(items), count_text(std::ssize(items), "image"));
        context.set_partial_results([summary] { return summary; });
        throw;
      }
      line.clear();
      if (!items[i].error.empty()) print_error(items[i].error);
    }
  }
  print_results(items, as_json, reporting);
  return count_completed(items) == std::ssize(items) ? kDone : kFailed;
}

}  // namespace sepconv::app
