// Journals of partial results: which records are valid after a crash of the process or of the machine.
#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "io/checkpoint/log.hpp"
#include "temporary_folder.hpp"

using namespace sepconv;
using Use = CheckpointLog::Use;

namespace {

struct JournalFixture {
  TemporaryFolder folder;
  std::filesystem::path path = folder.path() / "journal";

  /// The journal's lines in order, as "(samples)record ".
  std::string read() const {
    const CheckpointLog journal(path, Use::look);
    std::string all;
    journal.read([&](CheckpointLog::Line line, std::string_view text) {
      all += (line == CheckpointLog::Line::samples ? "(" : "") + std::string(text);
      all += line == CheckpointLog::Line::samples ? ")" : " ";
      return true;
    });
    return all;
  }
  /// Rewrites the journal as if the machine had been rebooted since.
  void boot() const {
    std::ifstream expected(path);
    std::string rewritten;
    std::uint32_t checksum = 0;
    for (std::string line; std::getline(expected, line);) {
      std::string text = line.substr(9);
      if (text.starts_with("done ")) text = "done another" + text.substr(text.find(' ', 5));
      rewritten += log_line(text, checksum);
    }
    std::ofstream(path) << rewritten;
  }
};

void write(const JournalFixture& fixture, const std::vector<std::string>& records, std::int64_t synced = 0) {
  CheckpointLog journal(fixture.path, Use::extend);
  if (journal.beginning().empty()) journal.begin("text");
  for (const std::string& record : records) {
    journal.add_samples("of " + record);
    journal.append(record);
  }
  if (synced > 0) journal.sync(synced);
}

}  // namespace

TEST_CASE("Records outlive their process, and those that were synced the machine") {
  const JournalFixture fixture;
  write(fixture, {"a", "b", "c"}, 2);
  CHECK(fixture.read() == "(of a)a (of b)b (of c)c ");
  fixture.boot();
  CHECK(fixture.read() == "(of a)a (of b)b ");
  // A boot in which nothing was synced loses no further records, and makes later records no safer.
  write(fixture, {"d"});
  CHECK(fixture.read() == "(of a)a (of b)b (of d)d ");
  fixture.boot();
  CHECK(fixture.read() == "(of a)a (of b)b ");
}

TEST_CASE("Samples of a run that ended before their record are nobody's") {
  const JournalFixture fixture;
  write(fixture, {"a"});
  CheckpointLog(fixture.path, Use::extend).add_samples("of nothing");
  write(fixture, {"b"});
  CHECK(fixture.read() == "(of a)a (of b)b ");
}

TEST_CASE("What was left out stays so, and what was lost is not proved by its boot") {
  const JournalFixture fixture;
  write(fixture, {"a", "b", "c"}, 1);
  CheckpointLog(fixture.path, Use::extend).keep_first_records(2);
  CHECK(fixture.read() == "(of a)a (of b)b (of c)c ");  // nothing was overwritten yet
  {
    CheckpointLog journal(fixture.path, Use::extend);
    journal.keep_first_records(2);
    journal.settle();
  }
  CHECK(fixture.read() == "(of a)a (of b)b ");
  write(fixture, {"d"});
  CHECK(fixture.read() == "(of a)a (of b)b (of d)d ");
  CheckpointLog(fixture.path, Use::extend).lose();
  CHECK(fixture.read() == "(of a)a ");
}

TEST_CASE("A journal says that all is done once it was told") {
  const JournalFixture fixture;
  write(fixture, {"a"}, 1);
  CHECK(CheckpointLog(fixture.path, Use::look).complete_bytes() == std::nullopt);
  CheckpointLog(fixture.path, Use::extend).complete(17);
  CHECK(CheckpointLog(fixture.path, Use::look).complete_bytes() == 17);
  CHECK(fixture.read() == "(of a)a ");
  std::ofstream(fixture.path, std::ios::app) << "a line that is not whole";
  write(fixture, {"b"});
  CHECK(CheckpointLog(fixture.path, Use::look).complete_bytes() == 17);
  CHECK(fixture.read() == "(of a)a (of b)b ");
}

TEST_CASE("A line that is missing, twice or of another journal ends the records before it") {
  const JournalFixture fixture;
  write(fixture, {"a", "b", "c"}, 3);  // begin, (samples, done) x 3, synced
  std::vector<std::string> lines;
  std::ifstream file(fixture.path);
  for (std::string line; std::getline(file, line);) lines.push_back(line + '\n');
  REQUIRE(lines.size() == 8);
  const std::string expected[] = {"", "", "", "(of a)a ", "(of a)a ", "(of a)a (of b)b ", "(of a)a (of b)b "};
  const auto read = [&](const std::vector<std::string>& remaining) {
    std::string all;
    for (const std::string& line : remaining) all += line;
    std::ofstream(fixture.path) << all;
    return fixture.read();
  };
  for (std::size_t i = 0; i < 7; ++i) {
    CAPTURE(i);
    auto remaining = lines, swapped = lines;
    remaining.erase(remaining.begin() + static_cast<std::ptrdiff_t>(i));
    CHECK(read(remaining) == expected[i]);
    CHECK(CheckpointLog(fixture.path, Use::look).beginning().empty() == (i == 0));
    std::swap(swapped[i], swapped[i + 1]);
    CHECK(read(swapped) == expected[i]);
  }
  auto duplicated = lines;
  duplicated.insert(duplicated.begin() + 2, lines[2]);
  CHECK(read(duplicated) == "(of a)a ");
  write(fixture, {"d"});  // appends after the valid records
  CHECK(fixture.read() == "(of a)a (of d)d ");
}
