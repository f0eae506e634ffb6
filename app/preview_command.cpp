// sepconv preview IN [STAGE...]: shows the result of a chain on an overview or a detail of an image.
#include <CLI/CLI.hpp>
#include <memory>

#include "console.hpp"
#include "io/path_conflicts.hpp"
#include "options.hpp"
#include "pipeline/job/file_job.hpp"
#include "terminal_graphics.hpp"
#include "text.hpp"

namespace sepconv::app {

namespace {

struct PreviewRequest {
  std::filesystem::path input, output;
  std::vector<std::string> stages;
  PreviewOptions options;
  RunOptions limits;
  std::int64_t size = 0;  ///< 0: not given
  bool overwrite = false;
  bool quiet = false;
};

std::unique_ptr<Writer> create_picture_writer(const PreviewRequest& request, const ImageSpec& spec) {
  CreateOptions options{.overwrite = request.overwrite};
  if (spec.channels == 4) options.metadata.extra_samples = {2};  // unassociated alpha (TIFF 6.0)
  return create_writer(request.output, spec, options);
}

void write_picture(const PreviewRequest& request, const Preview& picture) {
  const auto writer = create_picture_writer(request, {picture.extent, picture.channels, PixelType::u8});
  SerialExecutor executor;
  writer->write(Rect::whole(picture.extent), picture.view(), executor);
  writer->finish();
}

int show_preview(PreviewRequest& request, std::stop_token stop) {
  const Chain chain = Chain::parse(request.stages);
  PictureProtocol protocol = PictureProtocol::none;
  PreviewOptions& options = request.options;
  if (request.output.empty()) {
    protocol = picture_protocol();
    if (protocol == PictureProtocol::none) static_cast<void>(picture_text({}, protocol));
  } else {
    check_not_read(request.output, files_read_by(request.input, chain));
    check_writable(request.output, request.overwrite);
  }
  const std::int64_t terminal_width = protocol == PictureProtocol::none ? 0 : terminal_pixels();
  options.size = request.size > 0     ? request.size
                 : terminal_width > 0 ? std::min(terminal_width, options.size)
                                      : options.size;
  options.region = request.limits.region;
  options.missing = request.limits.missing;
  options.max_memory_bytes = request.limits.max_memory_bytes;
  options.threads = request.limits.threads;
  options.stop = std::move(stop);
  const Preview picture = preview(request.input, chain, options);
  if (request.output.empty()) {
    print_escapes(picture_text(picture, protocol));
  } else {
    write_picture(request, picture);
  }
  if (!request.quiet) {
    for (const std::string& note : picture.notes) write_to_stderr(note + "\n");
  }
  return kDone;
}

}  // namespace

void add_preview_command(CLI::App& program, Context& context) {
  CLI::App* command = program.add_subcommand(
      "preview", "Show what a chain makes of an image, on a level of it or a detail, at once.");
  const auto request = std::make_shared<PreviewRequest>();
  add_image_option(*command, "IN", request->input, "image to read: " + format_names())->required();
  command->add_option("STAGE", request->stages, "filters, in this order; none shows the image")
      ->type_name(kStageTextType);
  add_image_option(*command, "-o,--output", request->output,
                   "picture to make; its ending says the format. Without it the terminal shows it");
  command->add_option("--size", request->size, "the picture's longer side in pixels, 1024 by default")
      ->transform(whole_number(1, kMaxSide));
  add_region_option(*command, request->limits);
  add_input_options(*command, request->options.open);
  add_nodata_option(*command, request->limits.missing);
  add_alpha_option(*command, request->limits.missing);
  add_memory_options(*command, request->limits);
  command->add_flag("--force", request->overwrite, "replace a picture that exists");
  command->add_flag("-q,--quiet", request->quiet, "do not print notes about the picture");
  command->footer(
      std::string("Shows an overview, with the chain's lengths divided by its scale. A file without "
                  "overviews: a detail from the middle.\n") +
      examples({"sepconv preview scan.tif gaussian:sigma=2.5 -o view.png",
                "sepconv preview scan.tif gaussian:sigma=2.5 -o detail.png --region 256x128+100+50",
                "sepconv preview stack.ome.tif median:radius=2 -o third.jpg --page z=2 --size 200"}));
  command->callback([command, &context, request] {
    if (command->get_option("--level")->count() > 0) request->options.level = request->options.open.level;
    context.action = [&context, request] { return show_preview(*request, context.stop); };
  });
}

}  // namespace sepconv::app
