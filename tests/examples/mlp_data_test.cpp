#include "mlp_data.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "core/error.hpp"

namespace {

using Catch::Matchers::Contains;
using sepconv::IoError;

/// A temporary folder with three training images of 2 x 1 pixels and one test image.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "sepconv-idx-XXXXXX").native();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
    write("train-images-idx3-ubyte", images(3, 2, 1) + bytes({10, 20, 30, 40, 50, 255}));
    write("train-labels-idx1-ubyte", labels(3) + bytes({7, 0, 9}));
    write("t10k-images-idx3-ubyte", images(1, 2, 1) + bytes({1, 2}));
    write("t10k-labels-idx1-ubyte", labels(1) + bytes({5}));
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  const std::filesystem::path& path() const noexcept { return path_; }
  void write(const std::string& name, const std::string& contents) const {
    std::ofstream(path_ / name, std::ios::binary) << contents;
  }

  static std::string bytes(std::initializer_list<int> values) { return {values.begin(), values.end()}; }
  static std::string number(std::uint32_t value) {
    return bytes({static_cast<int>(value >> 24), static_cast<int>(value >> 16 & 255),
                  static_cast<int>(value >> 8 & 255), static_cast<int>(value & 255)});
  }
  static std::string images(std::uint32_t count, std::uint32_t rows, std::uint32_t cols) {
    return number(0x803) + number(count) + number(rows) + number(cols);
  }
  static std::string labels(std::uint32_t count) { return number(0x801) + number(count); }

 private:
  std::filesystem::path path_;
};

void check_refused(const Folder& folder, const std::string& fact) {
  CHECK_THROWS_WITH(mlp::read_data_set(folder.path()), Contains(fact));
  CHECK_THROWS_AS(mlp::read_data_set(folder.path()), IoError);
}

}  // namespace

TEST_CASE("IDX files are read as MNIST ships them") {
  const Folder folder;
  const mlp::DataSet data = mlp::read_data_set(folder.path());
  CHECK(data.train.count() == 3);
  CHECK(data.train.rows == 2);
  CHECK(data.train.cols == 1);
  CHECK(data.train.pixels == std::vector<std::uint8_t>{10, 20, 30, 40, 50, 255});
  CHECK(data.train.labels == std::vector<std::uint8_t>{7, 0, 9});
  CHECK(data.train.image(2)[1] == 255);
  CHECK(data.held_out.pixels == std::vector<std::uint8_t>{1, 2});
  CHECK(data.held_out.labels == std::vector<std::uint8_t>{5});
}

TEST_CASE("damaged and foreign IDX files are refused in a sentence") {
  const Folder folder;
  const std::string pixels = Folder::bytes({10, 20, 30, 40, 50, 255});
  const std::string digits = Folder::bytes({7, 0, 9});
  const auto images = [&](const std::string& contents) { folder.write("train-images-idx3-ubyte", contents); };
  const auto labels = [&](const std::string& contents) { folder.write("train-labels-idx1-ubyte", contents); };

  SECTION("wrong magic numbers") {
    images(Folder::number(0x801) + Folder::number(3) + Folder::number(2) + Folder::number(1) + pixels);
    check_refused(folder,
                  "its magic number is 2049 and not 2051; it is not an IDX file of bytes with 3 dimensions");
    images(Folder::images(3, 2, 1) + pixels);
    labels(Folder::number(0x01080000) + Folder::number(3) + digits);
    check_refused(folder, "and not 2049; it is not an IDX file of bytes with 1 dimension");
  }
  SECTION("every length that is too short") {
    const std::string whole = Folder::images(3, 2, 1) + pixels;
    for (std::size_t length = 1; length < whole.size(); ++length) {
      images(whole.substr(0, length));
      check_refused(folder, length < 16 ? "it ends inside its header; it is cut off"
                                        : "its header says 3 x 2 x 1 bytes");
    }
    images(whole + "x");
    check_refused(folder, "its header says 3 x 2 x 1 bytes and 7 follow; it is damaged");
  }
  SECTION("sizes whose product does not fit 64 bits") {
    images(Folder::images(0xffffffff, 0xffffffff, 0xffffffff) + pixels);
    check_refused(folder,
                  "its header says 4294967295 x 4294967295 x 4294967295 bytes and 6 follow; it is cut off");
    images(Folder::images(3, 0, 1));
    check_refused(folder, "its header says that it is empty");
  }
  SECTION("files that do not belong together") {
    labels(Folder::labels(2) + digits.substr(1));
    check_refused(folder, "it has 2 labels for the 3 images of");
    labels(Folder::labels(3) + digits);
    images(Folder::images(3, 1, 2) + pixels);
    check_refused(folder, "its images to learn from have 1 x 2 pixels and those held out 2 x 1");
  }
  SECTION("a label that is not a digit") {
    labels(Folder::labels(3) + Folder::bytes({1, 10, 2}));
    check_refused(folder, "label 1, counted from 0, is 10 and no digit");
  }
  SECTION("compressed files") {
    images(Folder::bytes({0x1f, 0x8b, 8, 0}) + pixels);
    check_refused(folder, "it is compressed by gzip; unpack it with gunzip");
    std::filesystem::rename(folder.path() / "train-images-idx3-ubyte",
                            folder.path() / "train-images-idx3-ubyte.gz");
    check_refused(folder, "only train-images-idx3-ubyte.gz is there; unpack it with gunzip");
  }
  SECTION("no files") {
    std::filesystem::remove(folder.path() / "t10k-labels-idx1-ubyte");
    check_refused(folder, "t10k-labels-idx1-ubyte: there is no such file");
    images("");
    check_refused(folder, "train-images-idx3-ubyte");
  }
}
