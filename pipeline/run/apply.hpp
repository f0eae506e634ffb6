// A chain on pixels that the caller holds in host memory: a whole image, or a part of one.
//
//   sepconv::apply(chain, sepconv::view_of(in_pixels.data(), {rows, cols}),
//                  sepconv::view_of(out_pixels.data(), {rows, cols}));
//
// For a part, the rectangle in the whole is told, so that borders act where the whole image ends and nowhere
// else:
//
//   const sepconv::Rect needed = chain.input_for(part, {whole, 1, sepconv::PixelType::f32});
//   sepconv::apply(chain, {held, needed, whole}, {result, part, whole});
#pragma once

#include <memory_resource>
#include <optional>
#include <stop_token>

#include "core/executor.hpp"
#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// How apply() does its work; but for `arithmetic`, none of it changes a pixel.
struct ApplyOptions {
  std::optional<Arithmetic> arithmetic{};
  /// At most this many threads are started, and fewer for little work; 0: all processors this process may use.
  int threads = 0;
  /// Computes the tiles in place of threads of apply()'s own; lives as long as the call. `threads` is then
  /// not used.
  Executor* executor = nullptr;
  /// Pixels of the result computed at once by one thread; empty: chosen. For tests.
  Extent tile{};
  /// When a stop is requested the call throws Cancelled; the result is then not complete.
  std::stop_token stop{};
  /// Scratch comes from here, for every worker its own; thread-safe. Null: page_resource().
  std::pmr::memory_resource* memory = nullptr;
};

/// The chain on a whole image, on the CPU; returns when it is done. `out` has the spec
/// chain.result_spec({in}); in and out must not overlap. Throws InvalidArgument before a pixel is computed,
/// OutOfMemory and Cancelled, and IoError of second images, of which the part that is needed is read before.
void apply(const Chain& chain, const ConstPixelView& in, const PixelView& out,
           const ApplyOptions& options = {});

/// The chain on a part: computes out.rect of the result of an image of in.image, of which `in` holds at least
/// chain.input_for(out.rect, ...). out.image is the extent of the whole result. The bytes are those of the
/// whole image's result there. Throws InvalidArgument, which names the rectangle that is needed.
void apply(const Chain& chain, const ConstRegion& in, const Region& out, const ApplyOptions& options = {});

/// Throws InvalidArgument unless `in` and `out` are well-formed parts of images of these specs, apart in
/// memory, and `in` holds what the chain needs for `out`. Messages say "the `owner`input" and "the
/// `owner`result".
void check_parts(const Chain& chain, const ImageSpec& source, const ImageSpec& result, const ConstRegion& in,
                 const Region& out, std::string_view owner = "");

}  // namespace sepconv
