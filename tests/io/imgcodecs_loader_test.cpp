// Which module is loaded: never one that somebody else could have put there.
#include "sepconv/io/opencv/imgcodecs_loader.hpp"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "sepconv/core/error.hpp"
#include "temporary_folder.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;

constexpr const char* kModule = "sepconv_imgcodecs.so";

/// The module that SEPCONV_MODULES, or without it the build, leads to.
const sepconv_imgcodecs* loaded(const char* modules) {
  if (modules != nullptr) REQUIRE(setenv("SEPCONV_MODULES", modules, 1) == 0);
  const sepconv_imgcodecs* const found = &load_imgcodecs("a.bmp");
  unsetenv("SEPCONV_MODULES");
  return found;
}

fs::path file_of(const sepconv_imgcodecs* module) {
  Dl_info info{};
  REQUIRE(dladdr(reinterpret_cast<const void*>(module->decode), &info) != 0);
  return info.dli_fname;
}

/// A folder of its own with a copy of the module: each copy is loaded as a module of its own.
struct Copy {
  explicit Copy(const sepconv_imgcodecs* module) {
    fs::create_directory(modules);
    fs::copy_file(file_of(module), modules / kModule);
    REQUIRE(chmod(modules.c_str(), 0755) == 0);
    REQUIRE(chmod((modules / kModule).c_str(), 0755) == 0);
  }
  TemporaryFolder folder;
  fs::path modules = folder.path() / "modules";
};

TEST_CASE("A module in SEPCONV_MODULES comes before the usual one") {
  const sepconv_imgcodecs* const usual = loaded(nullptr);
  const Copy copy(usual);
  const sepconv_imgcodecs* const found = loaded(copy.modules.c_str());
  CHECK(found != usual);
  CHECK(file_of(found) == copy.modules / kModule);
}

TEST_CASE("A module that somebody else could have put there is passed over") {
  const sepconv_imgcodecs* const usual = loaded(nullptr);
  const Copy copy(usual);
  const fs::path file = copy.modules / kModule;
  SECTION("the module is writable for everybody") { REQUIRE(chmod(file.c_str(), 0757) == 0); }
  SECTION("its folder is") { REQUIRE(chmod(copy.modules.c_str(), 0757) == 0); }
  SECTION("its folder is sticky, too") { REQUIRE(chmod(copy.modules.c_str(), 01777) == 0); }
  SECTION("the folder that a link leads to is") {
    fs::rename(file, copy.folder.path() / "real.so");
    fs::create_symlink("../real.so", file);
    REQUIRE(chmod(copy.folder.path().c_str(), 0757) == 0);
  }
  SECTION("somebody else owns it") {
    if (geteuid() != 0) {
      WARN("skipped: only root can give a file away");
      return;
    }
    REQUIRE(chown(file.c_str(), 12345, 12345) == 0);
  }
  SECTION("somebody else owns its folder") {
    if (geteuid() != 0) {
      WARN("skipped: only root can give a folder away");
      return;
    }
    REQUIRE(chown(copy.modules.c_str(), 12345, 12345) == 0);
  }
  CHECK(loaded(copy.modules.c_str()) == usual);
}

TEST_CASE("A file in SEPCONV_MODULES that is no module is passed over for the right one") {
  const TemporaryFolder folder;
  folder.write(kModule, "no library");
  CHECK(loaded(folder.path().c_str()) == loaded(nullptr));
}

TEST_CASE("SEPCONV_MODULES must be a path from / on") {
  for (const char* const relative : {"modules", "./modules", "../lib"}) {
    REQUIRE(setenv("SEPCONV_MODULES", relative, 1) == 0);
    CHECK_THROWS_WITH(load_imgcodecs("a.bmp"), Contains(std::string("SEPCONV_MODULES is ") + relative) && Contains("give the whole path"));
    unsetenv("SEPCONV_MODULES");
  }
}

}  // namespace
}  // namespace sepconv
