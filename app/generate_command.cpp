// sepconv generate OUT: test images of any size, computed from formulas.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <filesystem>
#include <memory>

#include "console.hpp"
#include "core/error.hpp"
#include "io/test_pattern.hpp"
#include "options.hpp"
#include "pipeline/job/option.hpp"
#include "pipeline/job/option_values.hpp"
#include "pipeline/job/pyramid_writer.hpp"
#include "progress.hpp"
#include "text.hpp"

namespace sepconv::app {

namespace {

struct GenerateRequest {
  std::filesystem::path output;
  ImageSpec spec;
  Pattern pattern = Pattern::natural;
  std::uint64_t seed = 0;
  OutputOptions layout;
  RunOptions options;
  Verbosity reporting;
};

std::uint64_t parse_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const char* const end = text.data() + text.size();
  const auto [parsed_end, error] = std::from_chars(text.data(), end, seed);
  if (error != std::errc() || parsed_end != end) {
    throw InvalidArgument(fmt::format(
        "--seed {} is not a seed; give a whole number from 0 to 18446744073709551615", shortened(text)));
  }
  return seed;
}

int generate(GenerateRequest& request, std::stop_token stop) {
  request.options.stop = std::move(stop);
  request.options.logger = make_logger(request.reporting);
  const auto source = make_pattern_reader(request.spec, request.pattern, request.seed);
  const auto sink =
      fill_levels(create_writer(request.output, request.spec,
                                output_options(request.output, request.spec, nullptr, request.layout, {})));
  {
    ProgressLine line(request.reporting.quiet);
    request.options.progress = line.callback();
    run(*source, *sink, Chain(), request.options);
  }
  warn(sink->layout().warnings);
  return kDone;
}

void add_pattern_options(CLI::App& command, GenerateRequest& request) {
  add_image_option(command, "OUT", request.output, "image to make; its ending says the format")->required();
  command
      .add_option_function<std::string>(
          "--size",
          [&request](const std::string& text) {
            request.spec.extent = with_option_name("--size", [&] { return parse_extent(text); });
          },
          "columns and rows")
      ->required()
      ->type_name("COLSxROWS");
  const auto set_type = [&request](const std::string& text) { request.spec.type = *parse_pixel_type(text); };
  add_choices(command.add_option_function<std::string>("--type", set_type, "u8 by default"), type_names());
  command.add_option("--channels", request.spec.channels, "1 by default")->transform(whole_number(1, 65535));
  const auto set_pattern = [&request](const std::string& text) { request.pattern = *parse_pattern(text); };
  add_choices(command.add_option_function<std::string>("--pattern", set_pattern, "natural by default"),
              {"natural", "gradient", "checkerboard", "impulse", "noise"});
  command
      .add_option_function<std::string>(
          "--seed", [&request](const std::string& text) { request.seed = parse_seed(text); },
          "of natural and noise: the same seed, the same pixels")
      ->type_name("NUMBER");
}

}  // namespace

void add_generate_command(CLI::App& program, Context& context) {
  CLI::App* command = program.add_subcommand("generate", "Make a test image of any size.");
  const auto request = std::make_shared<GenerateRequest>();
  add_pattern_options(*command, *request);
  add_layout_options(*command, request->layout);
  add_limit_options(*command, request->options);
  add_reporting_options(*command, request->reporting);
  command->footer(
      examples({"sepconv generate test.tif --size 4096x2048 --type u16 --tile 512 --compress deflate",
                "sepconv generate impulse.npy --size 65x65 --type f32 --pattern impulse",
                "sepconv generate noise.zarr --size 1024x1024 --channels 3 --pattern noise --seed 7"}));
  command->callback([&context, request] {
    context.action = [&context, request] { return generate(*request, context.stop); };
  });
}

}  // namespace sepconv::app
