#include "io/rows.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "core/error.hpp"
#include "core/view_check.hpp"

namespace sepconv {
namespace {

/// Callbacks receive each row once and in order. Throws immediately if the requested rows are not the next.
class RowOrdering {
 public:
  void check(const Rect& rect, const ImageSpec& spec) {
    if (rect.row != next_row_ || rect.col != 0 || rect.cols != spec.extent.cols ||
        rect.row_end() > spec.extent.rows) {
      throw InvalidArgument(fmt::format(
          "requested {}, but the next row is {}: streamed rows pass once and in order; run all bands, or in "
          "order ranges that share no rows",
          to_string(rect), next_row_));
    }
    next_row_ = rect.row_end();
  }
  std::int64_t next_row() const noexcept { return next_row_; }

 private:
  std::int64_t next_row_ = 0;
};

class RowsReader final : public Reader {
 public:
  RowsReader(const ImageSpec& spec, ReadRows read_rows) : spec_(spec), read_rows_(std::move(read_rows)) {
    layout_ = {{1, spec.extent.cols}, Access::sequential, true, "rows from a callback"};
  }
  const ImageSpec& spec() const noexcept override { return spec_; }
  const SourceLayout& layout() const noexcept override { return layout_; }
  const Metadata& metadata() const noexcept override { return metadata_; }
  std::int64_t buffer_bytes(int) const override { return 0; }
  void read(const Rect& rect, const PixelView& out, Executor&) override {
    order_.check(rect, spec_);
    read_rows_(rect.row, out);
  }

 private:
  ImageSpec spec_;
  ReadRows read_rows_;
  RowOrdering order_;
  SourceLayout layout_;
  Metadata metadata_;
};

class RowsWriter final : public Writer {
 public:
  RowsWriter(const ImageSpec& spec, WriteRows write_rows, std::function<void()> on_finish)
      : spec_(spec), write_rows_(std::move(write_rows)), on_finish_(std::move(on_finish)) {
    layout_ = {{1, spec.extent.cols}, Access::sequential, true, "rows to a callback"};
  }
  const ImageSpec& spec() const noexcept override { return spec_; }
  const SinkLayout& layout() const noexcept override { return layout_; }
  std::int64_t buffer_bytes(int) const override { return 0; }
  void write(const Rect& rect, const ConstPixelView& in, Executor&) override {
    order_.check(rect, spec_);
    write_rows_(rect.row, in);
  }
  void finish() override {
    if (order_.next_row() != spec_.extent.rows) {
      throw std::logic_error(
          fmt::format("finished after {} of {} rows", order_.next_row(), spec_.extent.rows));
    }
    if (on_finish_) on_finish_();
  }

 private:
  ImageSpec spec_;
  WriteRows write_rows_;
  std::function<void()> on_finish_;
  RowOrdering order_;
  SinkLayout layout_;
};

void check_callback(bool is_callable) {
  if (!is_callable)
    throw InvalidArgument("a rows reader or writer needs a callback that can be called; give one");
}

}  // namespace

std::unique_ptr<Reader> make_rows_reader(const ImageSpec& spec, ReadRows read_rows) {
  check_callback(static_cast<bool>(read_rows));
  check_image("the image of a rows reader", spec);
  return std::make_unique<RowsReader>(spec, std::move(read_rows));
}

std::unique_ptr<Writer> make_rows_writer(const ImageSpec& spec, WriteRows write_rows,
                                         std::function<void()> on_finish) {
  check_callback(static_cast<bool>(write_rows));
  check_image("the image of a rows writer", spec);
  return std::make_unique<RowsWriter>(spec, std::move(write_rows), std::move(on_finish));
}

}  // namespace sepconv
