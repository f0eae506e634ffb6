// Applies a chain to pixels in the caller's host memory: a whole image or a part of one.
//
//   sepconv::apply(chain, sepconv::view_of(in_pixels.data(), {rows, cols}),
//                  sepconv::view_of(out_pixels.data(), {rows, cols}));
//
// For a part, pass its rectangle in the whole image, so that borders apply only at the edges of the whole
// image:
//
//   const sepconv::Rect needed = chain.input_for(part, {whole, 1, sepconv::PixelType::f32});
//   sepconv::apply(chain, {pixels, needed, whole}, {result, part, whole});
#pragma once

#include <memory_resource>
#include <optional>
#include <stop_token>

#include "core/executor.hpp"
#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// Options of apply(). Only `arithmetic` affects pixel values.
struct ApplyOptions {
  std::optional<Arithmetic> arithmetic{};
  /// Maximum number of threads; little work uses fewer. 0: all processors available to the process.
  int threads = 0;
  /// If set, computes the tiles, and `threads` is ignored. Must stay valid during the call.
  Executor* executor = nullptr;
  /// Tile size, in pixels of the result; empty: chosen automatically. For tests.
  Extent tile{};
  /// When a stop is requested, the call throws Cancelled and leaves the result incomplete.
  std::stop_token stop{};
  /// Allocates the scratch memory of each worker; must be thread-safe. Null: page_resource().
  std::pmr::memory_resource* memory = nullptr;
};

/// Applies the chain to a whole image on the CPU; blocks until it is done. `out` has the spec
/// chain.result_spec({in}); in and out must not overlap. Throws InvalidArgument before a pixel is computed,
/// OutOfMemory and Cancelled, and IoError if reading the required part of a second image fails.
void apply(const Chain& chain, const ConstPixelView& in, const PixelView& out,
           const ApplyOptions& options = {});

/// Applies the chain to a part of an image: computes out.rect of the result. `in` must contain at least
/// chain.input_for(out.rect, ...); in.image and out.image are the extents of the whole source and result. The
/// pixels are bit-identical to those of the whole image's result. Throws InvalidArgument, with the required
/// rectangle in the message.
void apply(const Chain& chain, const ConstRegion& in, const Region& out, const ApplyOptions& options = {});

/// Throws InvalidArgument unless `in` and `out` are well-formed parts of images of these specs, do not
/// overlap in memory, and `in` contains the chain's input for `out`. Messages say "the `owner`input" and "the
/// `owner`result".
void check_parts(const Chain& chain, const ImageSpec& source, const ImageSpec& result, const ConstRegion& in,
                 const Region& out, std::string_view owner = "");

}  // namespace sepconv
