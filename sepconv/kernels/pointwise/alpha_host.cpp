#include <algorithm>
#include <vector>

#include "sepconv/kernels/pointwise/element_alpha.hpp"
#include "sepconv/kernels/pointwise/pointwise_check.hpp"

namespace sepconv {
namespace {

/// Calls each(x, alpha, whether it is alpha) for every element of a row, which becomes what it returns.
template <class A, class Each>
void change_row(A* row, std::int64_t cols, std::int64_t channels, std::int64_t alpha_channel,
                const Each& each) {
  for (std::int64_t col = 0; col < cols; ++col, row += channels) {
    const A alpha = row[alpha_channel];
    for (std::int64_t c = 0; c < channels; ++c) row[c] = each(row[c], alpha, c == alpha_channel);
  }
}

template <class A>
void change_row(const ElementAlpha<A>& op, A* row, std::int64_t cols, std::int64_t channels) {
  if (op.kind == AlphaOp::Kind::hide) {
    return change_row(row, cols, channels, op.channel,
                      [&](A x, A alpha, bool is_alpha) { return op.hidden(x, alpha, is_alpha); });
  }
  visit_pixel_type(op.type, [&]<class T>(std::type_identity<T>) {
    change_row(row, cols, channels, op.channel,
               [&](A x, A alpha, bool is_alpha) { return op.template stored<T>(x, alpha, is_alpha); });
  });
}

template <class A>
void change(const AlphaOp& alpha_op, const ConstPixelView& in, const PixelView& out) {
  const ElementAlpha<A> op(alpha_op);
  const LoadRow<A> load = load_row_for<A>(in.type);
  const StoreRow<A> store = store_row_for<A>(out.type);
  constexpr std::int64_t kElements = 1024;
  std::vector<A> piece(static_cast<std::size_t>(std::max(kElements, in.channels)));
  const std::int64_t cols = std::ssize(piece) / in.channels;
  for (std::int64_t row = 0; row < in.extent.rows; ++row) {
    for (std::int64_t col = 0; col < in.extent.cols; col += cols) {
      const std::int64_t count = std::min(cols, in.extent.cols - col);
      load(in.row_data(row) + col * in.pixel_bytes(), count * in.channels, piece.data());
      change_row(op, piece.data(), count, in.channels);
      store(piece.data(), count * in.channels, out.row_data(row) + col * out.pixel_bytes());
    }
  }
}

template <class T>
void look(const ConstPixelView& pixels, const AlphaOp& hide, bool& missing, bool& there) {
  const bool asks_all = std::is_floating_point_v<T> || !std::isnan(hide.p);
  for (std::int64_t row = 0; row < pixels.extent.rows && !(missing && there); ++row) {
    const T* x = pixels.row<T>(row);
    for (std::int64_t col = 0; col < pixels.extent.cols; ++col, x += pixels.channels) {
      const T alpha = x[hide.channel];
      const bool hidden = !(alpha > 0 || alpha < 0);
      missing = missing || hidden;
      there = there || !hidden;
      for (std::int64_t c = 0; asks_all && !hidden && c < pixels.channels; ++c)
        missing = missing || x[c] != x[c] || (c != hide.channel && static_cast<double>(x[c]) == hide.p);
    }
  }
}

}  // namespace

void alpha_host(const AlphaOp& op, const ConstPixelView& in, const PixelView& out, Arithmetic arithmetic) {
  check_alpha(op, in, out);
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) { change<A>(op, in, out); });
}

Presence presence_of(const ConstPixelView& pixels, const AlphaOp& hide) {
  bool missing = false, there = false;
  visit_pixel_type(pixels.type,
                   [&]<class T>(std::type_identity<T>) { look<T>(pixels, hide, missing, there); });
  return !missing ? Presence::all_there : there ? Presence::some_missing : Presence::all_missing;
}

}  // namespace sepconv
