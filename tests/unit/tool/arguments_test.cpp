// SPDX-License-Identifier: MIT
// The pure parts of the command line: words that are near, numbers with a range, and help made of a page.
#include <algorithm>
#include <cmath>

#include "support/nearest.hpp"
#include "tool/arguments/usage.hpp"
#include "tool/common/session.hpp"
#include "tool/common/table.hpp"
#include "tool/common/wrap.hpp"
#include "tool/help/page.hpp"
#include "unit/golden.hpp"

using namespace kiln;
using namespace kiln::tool;
using namespace kiln::test;

TEST_CASE("the nearest word is the one with the fewest typing errors, and not far") {
  const std::vector<std::string> words{"saxpy", "matmul", "coalescing.contiguous", "pvc", "dg2"};
  CHECK(detail::nearest("saxpi", words) == "saxpy");
  CHECK(detail::nearest("saypx", words).empty());
  CHECK(detail::nearest("asxpy", words) == "saxpy");
  CHECK(detail::nearest("matmull", words) == "matmul");
  CHECK(detail::nearest("MATMLU", words) == "matmul");
  CHECK(detail::nearest("coalescing", words) == "coalescing.contiguous");
  CHECK(detail::nearest("pcv", words) == "pvc");
  CHECK(detail::nearest("", words).empty());
  CHECK(detail::nearest("x", std::vector<std::string>{"y"}).empty());
  CHECK(detail::nearest(std::string(100'000, 's'), words).empty());
  CHECK(detail::typing_errors("", "abc") == 3);
  CHECK(detail::typing_errors("kitten", "sitting") == 3);
}

TEST_CASE("an error has the same members in JSON whether more than its code is known or not") {
  const auto members = [](const Error& error) {
    std::vector<std::string> names;
    const detail::Json json = tool::to_json(error);
    for (const auto& [name, value] : json.items()) names.push_back(name);
    std::ranges::sort(names);
    return names;
  };
  const Error bare(ZE_RESULT_ERROR_DEVICE_LOST, "zeFenceHostSynchronize");
  const std::vector<std::string> all{"answered_by", "call",         "code", "help",    "message",
                                     "result",      "result_value", "rows", "severity"};
  CHECK(members(bare) == all);
  CHECK(members(unknown_command("kiln", "runn", {"run"})) == all);
  const detail::Json json = tool::to_json(bare);
  CHECK(json["code"] == "");
  CHECK(json["answered_by"] == "driver");
  CHECK(json["call"] == "zeFenceHostSynchronize");
  CHECK(json["message"] == "zeFenceHostSynchronize failed: ZE_RESULT_ERROR_DEVICE_LOST (0x70000001)");
  CHECK(tool::to_json(Error(ZE_RESULT_ERROR_UNKNOWN, "kiln run"))["answered_by"] == "kiln");
}

TEST_CASE("K0400: a command line that cannot be meant") {
  const Error error = unknown_command("kiln", "runn", {"devices", "run"});
  REQUIRE(error.diagnostic());
  check_diagnostic("K0400", *error.diagnostic());
  CHECK(unknown_option("kiln run", "--sise=3", {"--size"}).diagnostic()->help.front() ==
        "did you mean `--size`?");
  CHECK(surplus_word("kiln run", "json", {"--json"}).diagnostic()->help.front() == "did you mean `--json`?");
  CHECK(surplus_word("kiln run", "b", {"--bundle"}).diagnostic()->help.size() == 1);
}

TEST_CASE("whole numbers are taken whole, within their range") {
  CHECK(parse_whole("--size", "0", {0, 9}) == 0);
  CHECK(parse_whole("--size", "9", {0, 9}) == 9);
  CHECK(parse_whole("--size", "0x10", {0, 16}) == 16);
  CHECK(parse_whole("--size", "18446744073709551615", {}) == UINT64_MAX);
  for (const char* wrong : {"", "-1", "10", "1e3", "many", "0x", "-0x1", " 1", "1 ", "+1", "1.5",
                            "18446744073709551616", "99999999999999999999999999"}) {
    CAPTURE(wrong);
    const auto value = parse_whole("--size", wrong, {0, 9});
    REQUIRE_FALSE(value);
    const Diagnostic& diagnostic = *value.error().diagnostic();
    CHECK(diagnostic.code == "K0400");
    CHECK(diagnostic.message.starts_with("--size "));
    CHECK(diagnostic.message.find(wrong) != std::string::npos);
    CHECK(diagnostic.help == std::vector<std::string>{"give --size 0 to 9"});
  }
}

TEST_CASE("seconds have a fraction, and no infinity") {
  CHECK(parse_seconds("--timeout", "0.5", 0.001, 10) == 0.5);
  CHECK(parse_seconds("--timeout", "10", 0.001, 10) == 10);
  for (const char* wrong : {"", "0", "-1", "10.1", "nan", "inf", "1s", "1e999", "-1e999"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_seconds("--timeout", wrong, 0.001, 10));
  }
}

TEST_CASE("--json counts where it stands as an option") {
  const char* asked[] = {"kiln", "fly", "--json"};
  const char* word[] = {"kiln", "--", "--json"};
  CHECK(wants_json(3, asked));
  CHECK_FALSE(wants_json(3, word));
  CHECK_FALSE(wants_json(0, word));
}

TEST_CASE("notes: paragraphs lose the line ends of the source, lists keep their entries") {
  const auto blocks =
      blocks_of("\nFirst\nparagraph.\n\nSecond:\n  ONE   text\n        more\n  TWO   other\nThird");
  REQUIRE(blocks.size() == 5);
  CHECK(blocks[0].text == "First paragraph.");
  CHECK(blocks[1].text == "Second:");
  CHECK((blocks[2].label == "ONE" && blocks[2].text == "text more"));
  CHECK((blocks[3].label == "TWO" && blocks[3].text == "other"));
  CHECK((blocks[4].label.empty() && blocks[4].text == "Third"));
}

TEST_CASE("help keeps to the width") {
  Page page{"kiln bake", "Compile", "", {{{}, "FILE", "a source", true, true}}, {}, {}};
  page.options.push_back({{"-o", "--output"}, "FILE", "the bundle, which is a file of many words"});
  page.options.push_back({{"--json"}, "", "as JSON"});
  CHECK(synopsis_of(page) == "kiln bake [OPTIONS] FILE...");
  CHECK(help_text(page, 40) ==
        "Compile\n"
        "Usage: kiln bake [OPTIONS] FILE...\n"
        "\n"
        "Arguments:\n"
        "  FILE...  a source\n"
        "\n"
        "Options:\n"
        "  -o, --output FILE  the bundle, which\n"
        "                     is a file of many\n"
        "                     words\n"
        "  --json             as JSON\n");
}

TEST_CASE("lines are cut at blanks, never inside a character, and hang under their text") {
  const auto wrapped = [](const std::string& line, std::size_t width) {
    std::vector<std::string> lines;
    for (const Piece& piece : wrap(line, width, hanging_indent(line)))
      lines.push_back(std::string(piece.indent, ' ') + line.substr(piece.begin, piece.end - piece.begin));
    return lines;
  };
  using Lines = std::vector<std::string>;
  CHECK(wrapped("short", 40) == Lines{"short"});
  CHECK(wrapped("", 40) == Lines{""});
  CHECK(wrapped("anything at all", 0) == Lines{"anything at all"});
  CHECK(wrapped("error[K0101]: one two three four five six seven", 30) ==
        Lines{"error[K0101]: one two three", "  four five six seven"});
  CHECK(wrapped("  help: one two three four five six seven", 30) ==
        Lines{"  help: one two three four", "        five six seven"});
  CHECK(wrapped("  = asked: one two three four five six", 30) ==
        Lines{"  = asked: one two three four", "           five six"});
  CHECK(wrapped(std::string(70, 'x'), 40) == Lines{std::string(40, 'x'), std::string(30, 'x')});
  // Two bytes a letter.
  CHECK(wrapped("ääääääääääääääääääääääääääääää", 20) == Lines{"ääääääääääääääääääää", "ääääääääää"});
  for (const std::string line : {"  help: ä b  c   d", "= = = =", "a  b", "   ", "error["})
    for (std::size_t width = 1; width < 24; ++width) {
      std::string all;
      for (const Piece& piece : wrap(line, width, hanging_indent(line)))
        all += line.substr(piece.begin, piece.end - piece.begin);
      const auto no_blanks = [](std::string text) { return std::erase(text, ' '), text; };
      CHECK(no_blanks(all) == no_blanks(line));
    }
}

TEST_CASE("colours: on a terminal that has them, unless somebody says otherwise") {
  using enum ColorChoice;
  CHECK(wants_color(automatic, true, nullptr, "xterm"));
  CHECK(wants_color(automatic, true, "", "xterm"));
  CHECK_FALSE(wants_color(automatic, true, "1", "xterm"));
  CHECK_FALSE(wants_color(automatic, true, nullptr, "dumb"));
  CHECK_FALSE(wants_color(automatic, true, nullptr, nullptr));
  CHECK_FALSE(wants_color(automatic, false, nullptr, "xterm"));
  CHECK(wants_color(always, false, "1", "dumb"));
  CHECK_FALSE(wants_color(never, true, nullptr, "xterm"));
  const char* words[] = {"kiln", "run", "--color", "never", "--color=always"};
  CHECK(color_of(5, words) == always);
  CHECK(color_of(4, words) == never);
  CHECK(color_of(3, words) == automatic);
}

TEST_CASE("a line's colours stay with their words when it is cut") {
  Line line{"error[K0101]: one two three four five six seven"};
  line.spans = severities(line.text);
  CHECK(rendered(line, 30, true) == "\033[1;31merror[K0101]\033[0m: one two three\n  four five six seven\n");
  CHECK(rendered(line, 0, false) == line.text + "\n");
  line.spans = {{14, 21, Paint::good}};
  CHECK(rendered(line, 18, true) ==
        "error[K0101]: \033[32mone\033[0m\n  \033[32mtwo\033[0m three four\n  five six seven\n");
  CHECK(severities("  help: do").size() == 1);
  CHECK(severities("no error[K0101 here").empty());
  CHECK(severities("xerror[K0101]").empty());
  CHECK(severities("").empty());
}

TEST_CASE("tables become narrower in their widest names alone") {
  using Widths = std::vector<std::size_t>;
  CHECK(narrowed({30, 20, 5}, 2, 0) == Widths{30, 20, 5});
  CHECK(narrowed({30, 20, 5}, 2, 59) == Widths{30, 20, 5});
  CHECK(narrowed({30, 20, 5}, 2, 49) == Widths{20, 20, 5});
  CHECK(narrowed({30, 20, 5}, 2, 10) == Widths{12, 12, 5});
  CHECK(narrowed({30}, 5, 20) == Widths{20});
  CHECK(narrowed({}, 2, 20).empty());
}
