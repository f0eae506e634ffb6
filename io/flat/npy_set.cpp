// Arrays with more axes than an image: sets of images, read one at a time and written consecutively.
#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "io/flat/npy.hpp"

namespace sepconv {
namespace {

RasterAxes raster_axes(const NpyImages& images) {
  RasterAxes axes;
  for (const NpyAxis& axis : images.others) axes.push_back({std::string(1, axis.name), axis.length});
  return axes;
}

class NpySet final : public RasterSet {
 public:
  NpySet(const InputFile& file, NpyImages images)
      : RasterSet(file.path().native(), images.first.spec, raster_axes(images)),
        path_(file.path()),
        images_(std::move(images)) {}

  const std::string& names() const noexcept { return images_.names; }

 private:
  std::unique_ptr<Reader> open_raster(std::int64_t index, bool is_first) override {
    FlatImage image = images_.first;
    for (std::size_t i = images_.others.size(); i-- > 0;) {
      const NpyAxis& axis = images_.others[i];
      image.offset += image.element().bytes_of(index % axis.length * axis.step);
      index /= axis.length;
    }
    if (!is_first) image.warnings.clear();
    return make_flat_reader(InputFile(path_), std::move(image));
  }

  std::filesystem::path path_;
  NpyImages images_;
};

std::unique_ptr<NpySet> make_set(const InputFile& file, const OpenOptions& options) {
  auto set = std::make_unique<NpySet>(file, parse_npy(file, options.axes));
  if (!options.select.empty()) set->select(parse_selection(options.select));
  if (options.page) set->select({{"", *options.page, *options.page}});
  return set;
}

class NpySetWriter final : public RasterSetWriter {
 public:
  NpySetWriter(const std::filesystem::path& path, const RasterSetSpec& spec, const CreateOptions& options)
      : file_(std::make_shared<OutputFile>(
            path, OutputFile::Options{options.overwrite, options.durable, options.checkpoint})),
        spec_(spec),
        stored_(options.stored.value_or(SampleType(spec.raster.type))),
        layout_(flat_layout("NPY 1.0, uncompressed", options)) {
    header_ = npy_header(npy_descr(stored_), npy_shape(spec, stored_));
    check_flat_image({spec.raster, std::ssize(header_), false, {}}, path);
    std::int64_t total_bytes = 0;
    if (__builtin_mul_overflow(raster_bytes(), spec.count(), &total_bytes) ||
        total_bytes > INT64_MAX - std::ssize(header_))
      throw InvalidArgument(
          fmt::format("{} cannot hold {} images of {} bytes: together they have more than can be counted",
                      path.native(), spec.count(), raster_bytes()));
    file_->expect(std::ssize(header_) + total_bytes);
    layout_.max_write_threads = file_->max_write_threads();
    file_->add_warnings(layout_.warnings);
  }

  std::unique_ptr<Writer> next(const Metadata&) override {
    const std::int64_t offset = std::ssize(header_) + next_raster_++ * raster_bytes();
    auto writer = make_flat_part_writer(file_, spec_.raster, offset, layout_);
    layout_.warnings.clear();
    return writer;
  }

  bool skip_to(std::int64_t raster) override {
    next_raster_ = raster;
    return true;
  }

  void finish() override {
    if (next_raster_ != spec_.count())
      throw IoError(fmt::format("{}: only {} of {} images were written; write all of them",
                                file_->target().native(), next_raster_, spec_.count()));
    file_->write_at(0, header_);
    if (file_->checkpoint())
      file_->resize(std::ssize(header_) + spec_.count() * raster_bytes());  // as FlatWriter
    file_->commit();
  }

 private:
  std::int64_t raster_bytes() const noexcept {
    return stored_.bytes_of(spec_.raster.extent.area() * spec_.raster.channels / stored_.parts());
  }

  std::shared_ptr<OutputFile> file_;
  RasterSetSpec spec_;
  SampleType stored_;
  SinkLayout layout_;
  std::vector<std::byte> header_;
  std::int64_t next_raster_ = 0;
};

}  // namespace

std::unique_ptr<RasterSet> open_npy_set(InputFile file, const OpenOptions& options) {
  return make_set(file, options);
}

std::unique_ptr<Reader> open_npy(InputFile file, const OpenOptions& options) {
  return only_raster(*make_set(file, options), file.path());
}

std::unique_ptr<RasterSetWriter> create_npy_set(const std::filesystem::path& path, const RasterSetSpec& spec,
                                                const CreateOptions& options) {
  return std::make_unique<NpySetWriter>(path, spec, options);
}

FileInfo describe_npy(InputFile file, const OpenOptions& options) {
  const auto set = make_set(file, options);
  FileInfo info = describe_image(*set->raster(0), file.size());
  info.page_count = info.images = set->count();
  info.axes = set->axes();
  info.pages.front().facts.emplace_back("axes", set->names());
  return info;
}

}  // namespace sepconv
