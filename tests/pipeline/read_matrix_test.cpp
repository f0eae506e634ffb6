#include "pipeline/stages/read_matrix.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "../io/temporary_folder.hpp"
#include "../support/image.hpp"
#include "core/error.hpp"
#include "io/formats.hpp"

using namespace sepconv;
using Catch::Contains;

TEST_CASE("a table from text: separators, comments, rows of any length") {
  const TemporaryFolder folder;
  const auto path = folder.write("table.txt", "# weights\n1, 2;3\n\n -0.5e1\t7  # two\n");
  CHECK(read_table(path) == Table{{1, 2, 3}, {-5, 7}});
}

TEST_CASE("a table from NPY") {
  const TemporaryFolder folder;
  const auto image = test::Image::of_pattern({{2, 3}, 1, PixelType::i16}, Pattern::gradient, 0);
  const auto writer = create_writer(folder.path() / "table.npy", image.spec(), {});
  SerialExecutor executor;
  writer->write(Rect::whole(image.spec().extent), image.view(), executor);
  writer->finish();
  const Table table = read_table(folder.path() / "table.npy");
  REQUIRE(table.size() == 2);
  CHECK(table[1] ==
        std::vector<double>(image.view().row<std::int16_t>(1), image.view().row<std::int16_t>(1) + 3));
}

TEST_CASE("what is not a table is refused in one printable sentence") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& content) -> std::string {
    try {
      read_table(folder.write("table.txt", content));
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  CHECK_THAT(refused("1 2\n3 x\n"), Contains("line 2: 'x' is not a finite number"));
  CHECK_THAT(refused("1 nan 1\n"), Contains("'nan' is not a finite number"));
  CHECK_THAT(refused("# nothing\n"), Contains("holds no numbers"));
  const std::string binary =
      refused(std::string("II*\0\x08\x01\x02 and more of this very long line of things", 50));
  CHECK_THAT(binary, Contains("'II*") && Contains("is not a finite number") && !Contains("\n"));
  CHECK(refused(std::string(4000, 'y')).size() < 200);
}
