// sepconv generate OUT: test images of any size, whose pixels are formulas.
#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <memory>

#include "job.hpp"
#include "progress.hpp"
#include "sepconv/core/error.hpp"
#include "sepconv/io/pattern.hpp"

namespace sepconv::app {

namespace {

struct Request {
  std::filesystem::path output;
  ImageSpec spec;
  Pattern pattern = Pattern::natural;
  std::uint64_t seed = 0;
  OutputRequest layout;
  RunOptions options;
  Reporting reporting;
};

void parse_pattern_into(const std::string& text, Pattern& pattern) {
  const auto parsed = parse_pattern(text);
  if (!parsed) {
    throw InvalidArgument(
        fmt::format("--pattern {} is unknown; use natural, gradient, checkerboard, impulse or noise", text));
  }
  pattern = *parsed;
}

std::uint64_t parse_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, seed);
  if (error != std::errc() || stopped != end) {
    throw InvalidArgument(
        fmt::format("--seed {} is no seed; give a whole number from 0 to 18446744073709551615", text));
  }
  return seed;
}

int generate(Request& request, std::stop_token stop) {
  request.options.stop = std::move(stop);
  request.options.logger = make_logger(request.reporting);
  const auto source = make_pattern_reader(request.spec, request.pattern, request.seed);
  const auto sink = create_writer(request.output, request.spec, create_options(request.output, request.spec, source.get(), request.layout, Kept::in_place, false));
  ProgressLine line(request.reporting.quiet);
  request.options.progress = line.callback();
  run(*source, *sink, Chain(), request.options);
  return kDone;
}

void add_pattern_options(CLI::App& command, Request& request) {
  command.add_option("OUT", request.output, "image to make; its ending says the format")
      ->required()
      ->type_name("FILE");
  command
      .add_option_function<std::string>(
          "--size", [&request](const std::string& text) { request.spec.extent = parse_extent(text); },
          "columns and rows")
      ->required()
      ->type_name("COLSxROWS");
  command
      .add_option_function<std::string>(
          "--type", [&request](const std::string& text) { request.spec.type = *parse_pixel_type(text); },
          "u8 by default")
      ->check(CLI::IsMember({"u8", "u16", "i16", "f32", "f64"}))
      ->type_name("TYPE");
  command.add_option("--channels", request.spec.channels, "1 by default")->check(CLI::Range(1, 65535));
  command
      .add_option_function<std::string>(
          "--pattern", [&request](const std::string& text) { parse_pattern_into(text, request.pattern); },
          "natural (the default), gradient, checkerboard, impulse, noise")
      ->type_name("NAME");
  command
      .add_option_function<std::string>(
          "--seed", [&request](const std::string& text) { request.seed = parse_seed(text); },
          "of natural and noise: the same seed, the same pixels")
      ->type_name("NUMBER");
}

}  // namespace

void add_generate_command(CLI::App& program, Context& context) {
  CLI::App* command = program.add_subcommand("generate", "Make a test image of any size.");
  const auto request = std::make_shared<Request>();
  add_pattern_options(*command, *request);
  add_layout_options(*command, request->layout);
  add_limit_options(*command, request->options);
  add_reporting_options(*command, request->reporting);
  command->footer(
      "Example:  sepconv generate test.tif --size 4096x2048 --type u16 --tile 512 --compress deflate");
  command->callback([&context, request] {
    context.action = [&context, request] { return generate(*request, context.stop); };
  });
}

}  // namespace sepconv::app
