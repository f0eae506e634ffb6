// sepconv finish OUT: completes a result that was made in parts.
#include <CLI/CLI.hpp>
#include <memory>

#include "console.hpp"
#include "options.hpp"
#include "sepconv/pipeline/report/report.hpp"
#include "sepconv/pipeline/run/partial_file.hpp"

namespace sepconv::app {

void add_finish_command(CLI::App& program, Context& context) {
  CLI::App* command = program.add_subcommand(
      "finish", "Complete a result that was begun with run --create-only and made with run --part.");
  const auto output = std::make_shared<std::filesystem::path>();
  add_image_option(*command, "OUT", *output, "image whose parts are made")->required();
  command->footer("Example:  sepconv finish out.zarr");
  command->callback([&context, output] {
    context.action = [&context, output] {
      finish_file(*output, {.stop = context.stop});
      return static_cast<int>(kDone);
    };
  });
}

}  // namespace sepconv::app
