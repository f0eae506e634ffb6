// Journals of partial results: what is proved after a process, or the machine, ended.
#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "io/checkpoint_log.hpp"
#include "io/checkpoint_log_lines.hpp"
#include "temporary_folder.hpp"

using namespace sepconv;
using Use = CheckpointLog::Use;

namespace {

struct Written {
  TemporaryFolder folder;
  std::filesystem::path path = folder.path() / "journal";

  /// Records and their samples, as "samples done samples done", each by its text.
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
  /// As if the machine had been started since.
  void boot() const {
    std::ifstream before(path);
    std::string after;
    std::uint32_t sum = 0;
    for (std::string line; std::getline(before, line);) {
      std::string text = line.substr(9);
      if (text.starts_with("done ")) text = "done another" + text.substr(text.find(' ', 5));
      sum = journal_checksum(text, sum);
      after += journal_line(text, sum);
    }
    std::ofstream(path) << after;
  }
};

void write(const Written& written, const std::vector<std::string>& records, std::int64_t synced = 0) {
  CheckpointLog journal(written.path, Use::extend);
  if (journal.beginning().empty()) journal.begin("text");
  for (const std::string& record : records) {
    journal.add_samples("of " + record);
    journal.append(record);
  }
  if (synced > 0) journal.sync(synced);
}

}  // namespace

TEST_CASE("Records outlive their process, and those that were synced the machine") {
  const Written written;
  write(written, {"a", "b", "c"}, 2);
  CHECK(written.read() == "(of a)a (of b)b (of c)c ");
  written.boot();
  CHECK(written.read() == "(of a)a (of b)b ");
  // What is left is no less after a boot in which nothing was synced, nor are later records more.
  write(written, {"d"});
  CHECK(written.read() == "(of a)a (of b)b (of d)d ");
  written.boot();
  CHECK(written.read() == "(of a)a (of b)b ");
}

TEST_CASE("Samples of a run that ended before their record are nobody's") {
  const Written written;
  write(written, {"a"});
  CheckpointLog(written.path, Use::extend).add_samples("of nothing");
  write(written, {"b"});
  CHECK(written.read() == "(of a)a (of b)b ");
}

TEST_CASE("What was left out stays so, and what was lost is not proved by its boot") {
  const Written written;
  write(written, {"a", "b", "c"}, 1);
  CheckpointLog(written.path, Use::extend).keep_first_records(2);
  CHECK(written.read() == "(of a)a (of b)b (of c)c ");  // nothing was written over yet
  {
    CheckpointLog journal(written.path, Use::extend);
    journal.keep_first_records(2);
    journal.settle();
  }
  CHECK(written.read() == "(of a)a (of b)b ");
  write(written, {"d"});
  CHECK(written.read() == "(of a)a (of b)b (of d)d ");
  CheckpointLog(written.path, Use::extend).lose();
  CHECK(written.read() == "(of a)a ");
}

TEST_CASE("A journal says that all is done once it was told") {
  const Written written;
  write(written, {"a"}, 1);
  CHECK_FALSE(CheckpointLog(written.path, Use::look).is_complete());
  CheckpointLog(written.path, Use::extend).complete(17);
  CHECK(CheckpointLog(written.path, Use::look).is_complete());
  CHECK(CheckpointLog(written.path, Use::look).complete_bytes() == 17);
  CHECK(written.read() == "(of a)a ");
  std::ofstream(written.path, std::ios::app) << "a line that is not whole";
  write(written, {"b"});
  CHECK(CheckpointLog(written.path, Use::look).is_complete());
  CHECK(written.read() == "(of a)a (of b)b ");
}

TEST_CASE("A line that is missing, twice or of another journal ends the records before it") {
  const Written written;
  write(written, {"a", "b", "c"}, 3);  // begin, (samples, done) x 3, synced
  std::vector<std::string> lines;
  std::ifstream file(written.path);
  for (std::string line; std::getline(file, line);) lines.push_back(line + '\n');
  REQUIRE(lines.size() == 8);
  const std::string before[] = {"", "", "", "(of a)a ", "(of a)a ", "(of a)a (of b)b ", "(of a)a (of b)b "};
  const auto read = [&](const std::vector<std::string>& left) {
    std::string all;
    for (const std::string& line : left) all += line;
    std::ofstream(written.path) << all;
    return written.read();
  };
  for (std::size_t i = 0; i < 7; ++i) {
    CAPTURE(i);
    auto left = lines, other = lines;
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
    CHECK(read(left) == before[i]);
    CHECK(CheckpointLog(written.path, Use::look).beginning().empty() == (i == 0));
    std::swap(other[i], other[i + 1]);
    CHECK(read(other) == before[i]);
  }
  auto twice = lines;
  twice.insert(twice.begin() + 2, lines[2]);
  CHECK(read(twice) == "(of a)a ");
  write(written, {"d"});  // goes on behind what holds
  CHECK(written.read() == "(of a)a (of d)d ");
}
