#include "io/raster_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "io/byte_file.hpp"
#include "io/sibling_mask.hpp"

namespace sepconv {
namespace {

/// The set of a file with one image.
class SingleRasterSet final : public RasterSet {
 public:
  /// `reader` is the file's open reader.
  SingleRasterSet(const std::filesystem::path& path, std::unique_ptr<Reader> reader, const Format& format,
                  const OpenOptions& options)
      : RasterSet(path.native(), reader->spec(), {}),
        path_(path),
        reader_(std::move(reader)),
        format_(format),
        options_(options) {}

 private:
  std::unique_ptr<Reader> open_raster(std::int64_t, bool) override {
    return reader_ ? std::move(reader_) : format_.open(InputFile(path_), options_);
  }

  std::filesystem::path path_;
  std::unique_ptr<Reader> reader_;  // for the first call
  Format format_;
  OpenOptions options_;
};

/// The raster's finish() renames the file, which contains nothing else.
class SingleRasterWriter final : public RasterSetWriter {
 public:
  explicit SingleRasterWriter(std::unique_ptr<Writer> writer) : writer_(std::move(writer)) {}
  std::unique_ptr<Writer> next(const Metadata&) override { return std::move(writer_); }
  void finish() override {}

 private:
  std::unique_ptr<Writer> writer_;
};

}  // namespace

void RasterSet::select(const std::vector<AxisRange>& ranges) {
  for (const AxisRange& range : ranges) {
    if (range.axis.empty()) return select_in_order(range);
    const auto axis = std::ranges::find(axes_, range.axis, &RasterAxis::name);
    if (axis == axes_.end())
      throw IoError(fmt::format("{}: has no axis {}; its axes are {}", name_, range.axis, to_string(axes_)));
    if (range.last >= axis->size)
      throw IoError(fmt::format("{}: has no {}={}; it has {} of them, counted from 0", name_, range.axis,
                                range.last, axis->size));
    *axis = {axis->name, range.last - range.first + 1, range.first, range.first == range.last};
  }
}

bool RasterSet::treat_pages_as_z() {
  if (axes_.size() != 1 || axes_.front().name != "page" || axes_.front().size == 1) return false;
  axes_.front().name = "z";
  return true;
}

void RasterSet::select_in_order(const AxisRange& range) {
  if (range.last >= count())
    throw IoError(fmt::format("{}: has no page {}; it has {}, counted from 0", name_, range.last,
                              count() == 1 ? std::string("one page") : fmt::format("{} pages", count())));
  const std::int64_t size = range.last - range.first + 1;
  if (size == count()) return;
  const std::vector<std::int64_t> first = position_of(axes_, range.first);
  const std::vector<std::int64_t> last = position_of(axes_, range.last);
  // The axes are preserved if the range is a range of one axis with all positions of the faster axes.
  // Otherwise they are replaced by pages.
  std::size_t split_axis = 0;
  while (split_axis + 1 < axes_.size() && first[split_axis] == last[split_axis]) ++split_axis;
  for (std::size_t i = split_axis + 1; i < axes_.size(); ++i) {
    if (first[i] == 0 && last[i] + 1 == axes_[i].size) continue;
    axes_ = {{"page", size, range.first}};
    file_axes_ = {{"page", raster_count(file_axes_)}};
    return;
  }
  for (std::size_t i = 0; i <= split_axis && i < axes_.size(); ++i) {
    const std::int64_t selected = last[i] - first[i] + 1;
    if (axes_[i].size > 1) axes_[i] = {axes_[i].name, selected, first[i], selected == 1};
  }
}

std::unique_ptr<Reader> RasterSet::raster(std::int64_t index) {
  const std::vector<std::int64_t> position = position_of(axes_, index);
  std::int64_t file_index = 0;
  for (std::size_t i = 0; i < position.size(); ++i)
    file_index = file_index * file_axes_[i].size + position[i];
  return open_raster(file_index, index == 0);
}

std::unique_ptr<Reader> only_raster(RasterSet& set, const std::filesystem::path& path) {
  if (set.count() == 1) return set.raster(0);
  throw IoError(
      fmt::format("{}: holds {} images ({}), and one is read here; name it with OpenOptions::select",
                  path.native(), set.count(), to_string(set.axes())));
}

std::unique_ptr<RasterSet> open_set(const std::filesystem::path& path, const OpenOptions& options,
                                    Formats formats) {
  InputFile file(path, InputFile::Folders::taken);
  const Format& format = format_of_file(file, options, formats);
  check_options(options, format, path, formats);
  if (format.open_set != nullptr)
    return with_missing_pixels(format.open_set(std::move(file), options), path, options);
  return with_missing_pixels(
      std::make_unique<SingleRasterSet>(path, format.open(std::move(file), options), format, options), path,
      options);
}

std::unique_ptr<RasterSetWriter> create_set(const std::filesystem::path& path, const RasterSetSpec& spec,
                                            const CreateOptions& options, Formats formats) {
  const Format* const format = format_of_name(path, formats);
  if (spec.count() == 1 && (spec.axes.empty() || format == nullptr || format->create_set == nullptr))
    return std::make_unique<SingleRasterWriter>(create_writer(path, spec.raster, options, formats));
  if (format != nullptr && format->create_set != nullptr)
    return format->create_set(path, spec, adapt_stored_type(path, *format, options, formats));
  throw InvalidArgument(fmt::format(
      "{} cannot hold {} images ({}): {} has one a file; end the name in one of {}, or take one image with "
      "OpenOptions::select",
      path.native(), spec.count(), to_string(spec.axes),
      format == nullptr ? "what is not known" : format->name,
      endings_of(formats, [](const Format& f) { return f.create_set != nullptr; })));
}

}  // namespace sepconv
