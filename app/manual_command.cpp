// sepconv manual DIR: writes the man pages, for builds and packages. Help does not show this command.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <span>

#include "commands.hpp"
#include "io/byte_file.hpp"
#include "manual.hpp"
#include "option_values.hpp"

namespace sepconv::app {

void add_manual_command(CLI::App& program, Context& context) {
  CLI::App* command = program.add_subcommand("manual", "Write the man pages; existing ones are replaced.");
  command->group("");
  const auto folder = std::make_shared<std::filesystem::path>();
  command->add_option("DIR", *folder, "folder for man1 and man7")->required()->type_name(kFolderType);
  command->callback([&program, &context, folder] {
    context.action = [&program, folder] {
      for (const ManualPage& page : manual_pages(program)) {
        const std::filesystem::path path = *folder / page.path;
        std::filesystem::create_directories(path.parent_path());
        OutputFile file(path, {.overwrite = true});
        file.write_at(0, std::as_bytes(std::span(page.text)));
        file.commit();
      }
      return static_cast<int>(kDone);
    };
  });
}

}  // namespace sepconv::app
