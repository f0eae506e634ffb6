#include "core/printable.hpp"

#include <catch2/catch.hpp>

using namespace sepconv;

TEST_CASE("printable text is unchanged") {
  for (const char* text :
       {"", "scan.tif", "a\\x1b", "Größe \u00a0 \u65e5\u672c \U0001f600",
        "\u007e\u00a0\u061b\u061d\u200d\u2010\u2027\u202f\u2065\u206a\ud7ff\ue000\U0010ffff"}) {
    CHECK(printable(text) == text);
    CHECK(printable_lines(text) == text);
  }
}

TEST_CASE("control characters are shown as escapes") {
  const auto [text, escaped] = GENERATE(table<std::string, std::string>({
      {"\x1b[31mred", "\\x1b[31mred"},
      {"a\tb\rc\ad", "a\\x09b\\x0dc\\x07d"},
      {"\x7f", "\\x7f"},
      {"\u0080\u009b31m\u009f", "\\u0080\\u009b31m\\u009f"},
      {"\u2028\u2029\u202a\u202e", "\\u2028\\u2029\\u202a\\u202e"},
      {"txt\u2066.exe\u2069", "txt\\u2066.exe\\u2069"},
      {"\u061c\u200e\u200f", "\\u061c\\u200e\\u200f"},
      {"\x9b", "\\x9b"},  // C1 as a byte is not UTF-8
      {"\xff\xfe", "\\xff\\xfe"},
      {"\xc3", "\\xc3"},  // cut off
      {"\xe2\x82z", "\\xe2\\x82z"},
      {"\xc0\x9b", "\\xc0\\x9b"},  // longer than needed
      {"\xe0\x82\x9b", "\\xe0\\x82\\x9b"},
      {"\xf0\x80\x82\x9b", "\\xf0\\x80\\x82\\x9b"},
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},           // a surrogate
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // beyond Unicode
      {"\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80"},
  }));
  CHECK(printable(text) == escaped);
  CHECK(printable(escaped) == escaped);
}

TEST_CASE("a zero byte and line ends") {
  CHECK(printable(std::string_view("a\0b", 3)) == "a\\x00b");
  CHECK(printable("one\ntwo\n") == "one\\x0atwo\\x0a");
  CHECK(printable_lines("one\n\x1btwo\r\n") == "one\n\\x1btwo\\x0d\n");
}
