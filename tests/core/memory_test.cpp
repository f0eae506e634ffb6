#include "core/memory.hpp"

#include <catch2/catch.hpp>
#include <stdexcept>

#include "core/error.hpp"

using namespace sepconv;

TEST_CASE("a buffer owns its bytes and moves") {
  Buffer buffer(1000);
  CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % kAlignment == 0);
  std::byte* const data = buffer.data();
  Buffer moved(std::move(buffer));
  CHECK(moved.data() == data);
  CHECK(moved.size() == 1000);
  moved = Buffer(0);
  CHECK(moved.size() == 0);
  CHECK_THROWS_AS(Buffer(std::int64_t{1} << 60), OutOfMemory);
  CHECK_THROWS_WITH(Buffer(std::int64_t{1} << 60), Catch::Contains("cannot allocate") &&
                                                       Catch::Contains("max_memory_bytes") &&
                                                       Catch::Contains("ulimit"));
}

TEST_CASE("an arena hands out aligned scratch and takes it back with the scope") {
  Arena arena(Buffer(1024));
  {
    const Arena::Scope scope(arena);
    float* a = arena.allocate<float>(3);
    float* b = arena.allocate<float>(3);
    CHECK(reinterpret_cast<std::byte*>(b) - reinterpret_cast<std::byte*>(a) == kAlignment);
    CHECK(arena.used_bytes() == 128);
    const PixelView view = arena.allocate_view({3, 17}, 1, PixelType::f32);
    CHECK(view.pitch_bytes == 128);
    CHECK(arena.used_bytes() == 128 + Arena::view_bytes({3, 17}, 1, PixelType::f32));
  }
  CHECK(arena.used_bytes() == 0);
  CHECK_THROWS_AS(arena.allocate<double>(129), std::logic_error);
  CHECK(arena.allocate<double>(128) != nullptr);
}
