// SPDX-License-Identifier: MIT
// The page of `kiln run --report`: what it draws, that its numbers are those of the JSON, and that text from
// files stays text.
#include "tool/report/report.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <regex>

#include "tool/report/html.hpp"
#include "unit/golden.hpp"

using namespace kiln;
using namespace kiln::tool;
using namespace kiln::test;
using detail::Json;

namespace {

/// An instruction whose lane i is at `offset(i)`, with the cost that the CPU device would count.
Json instruction(const char* memory, std::uint64_t width, std::uint64_t cost, const auto& offset,
                 std::uint64_t lanes = 16, const char* kind = "read") {
  const bool slm = std::string(memory) == "slm";
  Json json{{"id", 7},
            {"line", nullptr},
            {"kind", kind},
            {"memory", memory},
            {"accesses", 4096},
            {"bytes", 4096 * width},
            {"width", width},
            {"argument", 0},
            {"argument_name", "in"},
            {"sub_group_accesses", 256}};
  json["example"] = {{"group", 0}, {"sub_group", 0}};
  for (std::uint64_t lane = 0; lane < lanes; ++lane)
    json["example"]["lanes"].push_back({{"lane", lane}, {"offset", offset(lane)}});
  if (slm) {
    json["turns"] = cost * 256;
    json["conflict_turns"] = (cost - 1) * 256;
  } else {
    json["lines"][std::to_string(cost)] = 256;
  }
  json["example"][slm ? "turns" : "lines"] = cost;
  return json;
}

Json run_of(std::vector<Json> instructions) {
  Json run{{"kernel", "sample"},        {"device", "device"}, {"binary", "jit"},     {"file", "f.spv"},
           {"build_ms", 1.5},           {"host_ms", 2.25},    {"device_ms", 1.125},  {"groups", {4, 1, 1}},
           {"group_size", {256, 1, 1}}, {"elements", 1024},   {"gb_per_s", 12.0625}, {"ok", true},
           {"defects", Json::array()}};
  run["counters"] = {{"kernel", "k"}, {"sub_group_size", 16}, {"complete", true}};
  run["counters"]["totals"]["global_reads"] = {{"accesses", 1234567}, {"bytes", 4938268}, {"lines", 77161}};
  run["counters"]["instructions"] = std::move(instructions);
  return Json::parse(run.dump()).value();  // as it comes from the device
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

std::size_t rows_of(const std::string& svg) { return times(svg, ">byte ") + times(svg, ">turn "); }

/// A run of one instruction that wastes nothing: 1024 work-items, groups of 256.
Json counted_run(std::vector<Json> instructions) {
  Json run = run_of(std::move(instructions));
  run["counters"]["work_items"] = 1024;
  run["counters"]["defects"] = Json::array();
  return run;
}

std::vector<std::string> codes_of(const std::vector<Finding>& found) {
  std::vector<std::string> codes;
  for (const Finding& each : found) codes.push_back(each.diagnostic.code);
  return codes;
}

/// Elements that are opened and not closed, or closed and not opened.
std::vector<std::string> unbalanced(const std::string& html) {
  static const std::vector<std::string> kVoid{"meta", "br", "!doctype", "rect"};
  std::vector<std::string> open, wrong;
  const std::regex tag("<(/?)([a-z0-9!]+)[^>]*>");
  for (std::sregex_iterator it(html.begin(), html.end(), tag), end; it != end; ++it) {
    const std::string name = (*it)[2];
    if (std::ranges::find(kVoid, name) != kVoid.end()) continue;
    if ((*it)[1].length() == 0)
      open.push_back(name);
    else if (open.empty() || open.back() != name)
      wrong.push_back(name);
    else
      open.pop_back();
  }
  wrong.insert(wrong.end(), open.begin(), open.end());
  return wrong;
}

}  // namespace

TEST_CASE("text from outside stays text") {
  CHECK(escaped("<a href=\"x\">&'") == "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
  CHECK(escaped("\x1b[31m\x01") == "\\x1b[31m\\x01");
  CHECK(escaped("a\xff"
                "b") == "a\ufffdb");
  CHECK(escaped("µ → 3") == "µ → 3");

  const std::string evil = "<script>alert(1)</script>\"'\x1b\xff";
  Json run = run_of({instruction("global", 4, 1, [](std::uint64_t lane) { return 4 * lane; })});
  for (const char* field : {"kernel", "device", "binary", "file"}) run[field] = evil;
  run["predicted"][evil] = 1;
  run["counters"]["totals"][evil + "_x"] = {{"accesses", 1}};
  Json& each = run["counters"]["instructions"][0];
  for (const char* field : {"kind", "memory", "argument_name"}) each[field] = evil;
  each["line"] = 1u;
  run["predicted"]["`" + evil] = 1;
  run["counted"]["`" + evil] = 2;
  run["counters"]["defects"].push_back({{"defect", "indirect_access"},
                                        {"at", {{"id", 1u}, {"line", 1u}, {"kind", evil}}},
                                        {"group", {0, 0, 0}},
                                        {"work_item", 1u},
                                        {"offset", 0},
                                        {"bytes", 4u},
                                        {"available", 0},
                                        {"address", 1u},
                                        {"memory", evil},
                                        {"times", 1u}});
  ReportFacts facts{evil,   0,    1024, CoreUse{evil, evil, {}, {}, {{Resource::threads, 1, 8, 8}}}, {}, evil,
                    {evil}, evil, {}};
  const std::string page = report_page(run, facts);
  const auto check_safe = [](const std::string& html) {
    CHECK(html.find("<script") == html.npos);
    CHECK(html.find('\x1b') == html.npos);
    CHECK(html.find('\xff') == html.npos);
    CHECK(unbalanced(html).empty());
  };
  check_safe(page);
  CHECK(times(page, "&lt;script&gt;") >= 20);
  // Kinds that nobody knows: the counters are of another form, and the page says so instead of "no defects".
  CHECK(codes_of(findings_of(run, facts)) == std::vector<std::string>{"K0409", "K0414"});
  CHECK(page.find(">K0409</b>") != page.npos);

  // The same with kinds that are known: then the defects are there too, in the device's own words.
  run["counters"]["totals"] = Json::object();
  run["counters"]["kernel"] = evil;
  each["kind"] = "read";
  each["memory"] = "global";
  run["counters"]["defects"][0]["at"]["kind"] = "write";
  const auto found = findings_of(run, facts);
  REQUIRE(codes_of(found) == std::vector<std::string>{"K0804", "K0414"});
  CHECK(found[0].diagnostic.message.find(evil.substr(0, 8)) != std::string::npos);
  const std::string second = report_page(run, facts);
  check_safe(second);
  const std::string article =
      second.substr(second.find("<article"), second.find("</article>") - second.find("<article"));
  CHECK(article.find(">K0804</b>") != article.npos);
  CHECK(times(article, "&lt;script&gt;") >= 2);  // the kernel's name, and the memory's
}

TEST_CASE("text from outside stays text on the pages of several runs") {
  const std::string evil = "<script>alert(1)</script>\"'\x1b";
  const auto check_safe = [](const std::string& html, std::size_t least) {
    CHECK(html.find("<script") == html.npos);
    CHECK(html.find('\x1b') == html.npos);
    CHECK(times(html, "&lt;script&gt;") >= least);
    CHECK(unbalanced(html).empty());
  };
  Json swept{
      {"group", 16u}, {"groups", {1u, 1u, 1u}}, {"host_ms", 1.5}, {"device_ms", 0.5}, {"right", nullptr}};
  swept["same"] = true;
  swept["occupancy"] = {{"percent", 50u}, {"limit", evil}};
  Json sweep{{"kernel", evil}, {"device", evil}, {"best", 16u}, {"occupancy_of", evil}, {"ok", nullptr}};
  sweep["sweep"].push_back(swept);
  sweep["sweep"].push_back({{"group", 32u}, {"refused", evil}});
  check_safe(sweep_page(sweep, true), 6);

  Json side{{"kernel", evil},   {"file", evil},   {"device", evil},
            {"device_ms", 1.5}, {"host_ms", 2.5}, {"build_ms", 3.5}};
  side["counters"]["totals"][evil + "_x"] = {{"accesses", 1u}, {"lines", 2u}};
  Json against{{"this", side}, {"other", side}, {"ok", false}};
  against["buffers"].push_back(
      {{"name", evil}, {"numbers", 4u}, {"differ", 1u}, {"index", 2u}, {"largest", nullptr}});
  against["buffers"][0]["here"] = evil;
  against["buffers"][0]["there"] = evil;
  check_safe(against_page(against, false), 12);

  Json run = run_of({});
  Json trial{{"words", "`" + evil + "` x"}, {"refused", evil}, {"how", Json::array()}};
  run["advice"] = {{"best", 0u}, {"cut", true}, {"product", evil}, {"basis", evil}};
  run["advice"]["tried"].push_back(trial);
  run["advice"]["not_tried"].push_back({{"what", evil}, {"why", evil}});
  check_safe(report_page(run, {}), 5);
}

TEST_CASE("a sweep names the best, and two runs say whether they agree") {
  const auto swept = [](std::uint64_t group, double time) {
    Json json{
        {"group", group}, {"groups", {4u, 1u, 1u}}, {"host_ms", 9.5}, {"device_ms", time}, {"right", true}};
    json["same"] = true;
    return json;
  };
  Json sweep{{"kernel", "k"}, {"device", "d"}, {"best", 64u}, {"occupancy_of", nullptr}, {"ok", true}};
  sweep["sweep"] = {swept(32, 4.5), swept(64, 1.5), swept(128, 3.0)};
  const std::string page = sweep_page(sweep, true);
  CHECK(page.find("<h1>Groups of <data value=\"64\">64</data> are the fastest on this device</h1>") !=
        page.npos);
  CHECK(page.find(number(3.0) + " ×") != page.npos);
  CHECK(page.find("times are those of the CPU device") != page.npos);
  CHECK(sweep_page(sweep, false).find("times are those of the CPU device") == std::string::npos);
  sweep["sweep"][1]["right"] = false;
  sweep["best"] = 128u;
  CHECK(sweep_page(sweep, true).find("<h1>The answer is wrong") != std::string::npos);

  const auto side = [](const char* kernel, double time) {
    return Json{
        {"kernel", kernel}, {"device", "d"}, {"device_ms", time}, {"host_ms", time}, {"build_ms", 1.5}};
  };
  Json against{{"this", side("a", 4.0)}, {"other", side("b", 2.0)}, {"buffers", Json::array()}, {"ok", true}};
  CHECK(against_page(against, true)
            .find("<h1>The answers agree; the second is <data value=\"2.0\">2</data> times as "
                  "fast on this device</h1>") != std::string::npos);
  against["ok"] = nullptr;
  CHECK(against_page(against, true).find("<h1>The answers were not compared") != std::string::npos);
  against["ok"] = false;
  CHECK(against_page(against, true).find("<h1>The answers differ") != std::string::npos);
}

TEST_CASE("the page asks for nothing from elsewhere") {
  const std::string page = report_page(run_of({}), {});
  CHECK(page.find("default-src 'none'") != page.npos);
  for (const char* part : {"http:", "https:", "src=", "href=", "@import", "<script", "<link", "<iframe"})
    CHECK_MESSAGE(page.find(part) == page.npos, part);
  CHECK(unbalanced(page).empty());
}

TEST_CASE("numbers are those of the JSON") {
  CHECK(number(std::uint64_t{1234567}) == "<data value=\"1234567\">1\u202f234\u202f567</data>");
  CHECK(number(std::uint64_t{1234}) == "<data value=\"1234\">1234</data>");
  CHECK(number(12.0625) == "<data value=\"12.0625\">12.1</data>");
  CHECK(number(0.00123) == "<data value=\"0.00123\">0.0012</data>");
  Json run = run_of({instruction("global", 4, 16, [](std::uint64_t lane) { return 64 * lane; })});
  run["predicted"] = {{"lines", 16}, {"reads", 9}, {"other", 3}};
  run["counted"] = {{"lines", 16}, {"reads", 8}};
  const std::string page = report_page(run, {});
  for (const double value : {1.5, 2.25, 1.125, 12.0625}) CHECK(page.find(number(value)) != page.npos);
  for (const std::uint64_t value : {1234567ul, 4938268ul, 77161ul, 4096ul, 1024ul})
    CHECK(page.find(number(value)) != page.npos);
  const std::string predictions = predictions_section(run);
  CHECK(times(predictions, ">equal<") == 1);
  CHECK(times(predictions, ">differs<") == 1);
  CHECK(times(predictions, ">not counted<") == 1);
}

TEST_CASE("a wrong answer is told at the top, with the first element that differs") {
  Json run = run_of({});
  CHECK(report_page(run, {}).find("answer differs") == std::string::npos);
  run["ok"] = false;
  run["first_wrong"] = {{"index", 17u}, {"got", 0.5}, {"wanted", 0.25}};
  const std::string page = report_page(run, {});
  CHECK(page.find("<h1>The answer differs") != page.npos);
  for (const std::string& value : {number(std::uint64_t{17}), std::string("0.5"), std::string("0.25")})
    CHECK(page.find(value) < page.find("</section"));
}

TEST_CASE("global memory: a row a cache line") {
  const auto lines = [](std::uint64_t width, const auto& offset) {
    return lanes_svg(instruction("global", width, 1, offset));
  };
  CHECK(rows_of(lines(4, [](std::uint64_t lane) { return 4 * lane; })) == 1);
  CHECK(rows_of(lines(4, [](std::uint64_t lane) { return 64 * lane + 4; })) == 16);
  const std::string same = lines(4, [](std::uint64_t) { return 0; });
  CHECK(times(same, ">16×<") == 1);
  // Each of them lies in two lines, and is drawn in both.
  const std::string across = lines(4, [](std::uint64_t lane) { return 64 * lane + 62; });
  CHECK(rows_of(across) == 17);
  CHECK(times(across, "class=\"hit ") == 32);
  CHECK(rows_of(lines(1u << 30, [](std::uint64_t lane) { return lane << 30; })) == 40);
  CHECK(lanes_svg({{"kind", "barrier"}}).empty());
}

TEST_CASE("SLM: a row a turn, and conflicts from the turn on that the words would not need") {
  const auto check = [](std::uint64_t width, const auto& offset, std::uint64_t turns, std::size_t conflicts,
                        std::uint64_t least, std::uint64_t lanes = 16, const char* kind = "read") {
    const Json each = instruction("slm", width, turns, offset, lanes, kind);
    const std::string svg = lanes_svg(each);
    CHECK(rows_of(svg) == turns);
    CHECK(times(svg, "hit conflict") == conflicts);
    CHECK(least_of_example(each) == least);
  };
  check(
      4, [](std::uint64_t lane) { return 4 * lane; }, 1, 0, 1);
  check(
      4, [](std::uint64_t lane) { return 8 * lane; }, 2, 8, 1);
  check(
      4, [](std::uint64_t lane) { return 64 * lane; }, 16, 15, 1);
  check(
      4, [](std::uint64_t) { return 4; }, 1, 0, 1);
  check(
      4, [](std::uint64_t) { return 4; }, 16, 15, 1, 16, "atomic");
  check(
      16, [](std::uint64_t lane) { return 16 * lane; }, 4, 0, 4);  // 64 words
  check(
      4, [](std::uint64_t lane) { return 8 * lane; }, 4, 16, 2, 32);  // 16 by 16
}

TEST_CASE("the costliest picture comes first, and no more than a page can bear") {
  std::vector<Json> all;
  for (std::uint64_t i = 0; i < 39; ++i)
    all.push_back(instruction("global", 4, 1, [&](std::uint64_t lane) { return 64 * i + 4 * lane; }));
  all.push_back(instruction("slm", 4, 16, [](std::uint64_t lane) { return 64 * lane; }));
  all.back()["argument_name"] = "tile";
  const Json counters = run_of(all)["counters"];
  const std::string html = access_section(counters, {}, pictures_of(counters));
  CHECK(times(html, "<figure>") == 16);
  CHECK(html.find("<code>tile</code>") < html.find("<code>in</code>"));
  CHECK(times(html, number(std::uint64_t{24})) == 1);
}

TEST_CASE("pictures that look the same are one, with their count and all that they are of") {
  const auto side_by_side = [](std::uint64_t lane) { return 4 * lane; };
  std::vector<Json> all(3, instruction("global", 4, 1, side_by_side));
  for (unsigned i = 0; i < 3; ++i) all[i]["line"] = 10 + i;
  all[1]["kind"] = "write";
  all.push_back(instruction("global", 4, 1, [](std::uint64_t lane) { return 64 + 4 * lane; }));
  all.push_back(instruction("slm", 4, 1, side_by_side));
  const Json counters = run_of(all)["counters"];
  const std::vector<Picture> pictures = pictures_of(counters);
  REQUIRE(pictures.size() == 3);
  CHECK(pictures[0].instructions == std::vector<std::size_t>{0, 1, 2});
  const std::string html = figure(counters, pictures[0]);
  CHECK(times(html, "<svg") == 1);
  CHECK(html.find(number(std::uint64_t{3}) + " accesses look like this") != html.npos);
  for (const std::uint64_t line : {10, 11, 12}) CHECK(times(html, "<li><span>line " + number(line)) == 1);
  CHECK(times(figure(counters, pictures[1]), "look like this") == 0);
}

TEST_CASE("a legend says what is drawn, and only that") {
  const Json global = instruction("global", 4, 1, [](std::uint64_t lane) { return 4 * lane; });
  const Json slm = instruction("slm", 4, 1, [](std::uint64_t lane) { return 4 * lane; });
  const auto has = [](const std::string& html) {
    return std::pair(html.find("<dt>A cache line</dt>") != html.npos,
                     html.find("<dt>A turn</dt>") != html.npos);
  };
  CHECK(has(legend_section(run_of({global})["counters"])) == std::pair(true, false));
  CHECK(has(legend_section(run_of({slm})["counters"])) == std::pair(false, true));
  CHECK(has(legend_section(run_of({global, slm})["counters"])) == std::pair(true, true));
  CHECK(legend_section(run_of({})["counters"]).empty());
}

TEST_CASE("how lanes lie to each other") {
  const auto pattern = [](std::uint64_t width, const auto& offset, std::uint64_t lanes = 16) {
    const AccessPattern is = pattern_of(instruction("global", width, 1, offset, lanes), width);
    return std::pair(is.kind, is.distance);
  };
  CHECK(pattern(4, [](std::uint64_t lane) { return 4 * lane; }) ==
        std::pair(Pattern::adjacent, std::uint64_t{4}));
  CHECK(pattern(4, [](std::uint64_t lane) { return 400 - 4 * lane; }) ==
        std::pair(Pattern::adjacent, std::uint64_t{4}));
  CHECK(pattern(4, [](std::uint64_t lane) { return 400 - 16 * lane; }) ==
        std::pair(Pattern::apart, std::uint64_t{16}));
  CHECK(pattern(4, [](std::uint64_t) { return 8; }) == std::pair(Pattern::one, std::uint64_t{0}));
  CHECK(pattern(4, [](std::uint64_t lane) { return lane * lane; }) ==
        std::pair(Pattern::scattered, std::uint64_t{0}));
  CHECK(pattern(
            4, [](std::uint64_t lane) { return 64 * lane; }, 1) == std::pair(Pattern::one, std::uint64_t{0}));
}

TEST_CASE("K0413, K0414, K0805 to K0809, K0811: findings, each with advice, the gravest first") {
  const auto apart = [](std::uint64_t lane) { return 64 * lane; };
  Json strided = instruction("global", 4, 16, apart), conflict = instruction("slm", 4, 16, apart);
  Json reads = instruction("global", 4, 1, [](std::uint64_t) { return 0; });
  strided["line"] = 2;
  conflict["line"] = 3;
  conflict["argument_name"] = "tile";
  reads["line"] = 1;
  reads["accesses"] = 65536;
  reads["sub_group_accesses"] = 4096;
  reads["argument_name"] = "table";
  Json array{{"id", 9},          {"line", 4}, {"kind", "write"}, {"memory", "private"},
             {"accesses", 8192}, {"width", 4}};
  Json run = counted_run({strided, conflict, reads, array});
  run["first_wrong"] = {{"index", 17u}, {"got", 0.5}, {"wanted", 0.25}};
  run["predicted"] = {{"cache lines for 16 reads", 1u}};
  run["counted"] = {{"cache lines for 16 reads", 16u}};
  const auto tried = [](const char* words, std::uint64_t cost, std::uint64_t lines, std::uint64_t threads) {
    Json trial{{"words", words}, {"refused", nullptr}, {"cost", cost},       {"lines", lines},
               {"turns", 4096u}, {"barriers", 256u},   {"spilled_lines", 0u}};
    trial["percent"] = static_cast<double>(cost) / 100;
    trial["occupancy"] = {{"percent", threads}, {"limit", "SLM"}};
    trial["how"] = Json::array();
    return trial;
  };
  run["advice"] = {{"best", 1u}, {"cut", false}, {"product", nullptr}, {"basis", nullptr}};
  run["advice"]["tried"] = {tried("as given", 10'000, 5648, 50), tried("groups of 64", 6'352, 2000, 100)};
  run["advice"]["tried"][1]["how"].push_back("--group 64");
  run["advice"]["not_tried"] = Json::array();
  ReportFacts facts;
  facts.source_file = "k.cl";
  facts.source = {"for (;;) sum += table[k];", "  sum += in[16 * i];", "\tsum += tile[16 * item];",
                  "counts[digit] = 1;"};
  KernelFacts kernel;
  kernel.simd_size = 16;
  kernel.grf_count = 128;
  facts.core = core_use(kernel, *find_target("pvc"), 256, 65'536, "the native binary for pvc");
  const std::vector<Finding> found = findings_of(run, facts);
  const std::vector<std::string> codes{"K0413", "K0414", "K0811", "K0809",
                                       "K0806", "K0805", "K0807", "K0808"};
  REQUIRE(codes_of(found) == codes);
  for (const Finding& each : found) {
    check_diagnostic(each.diagnostic.code.c_str(), each.diagnostic);
    CHECK_FALSE(each.diagnostic.help.empty());
  }
  // The page has all of it, the first as its headline.
  const std::string page = report_page(run, facts);
  for (const Finding& each : found)
    for (const std::string& help : each.diagnostic.help)
      CHECK_MESSAGE(page.find(escaped(help.substr(1, help.find('`', 1) - 1))) != page.npos, help);
  CHECK(page.find("<h1>The answer differs from the host&#39;s</h1><p class=\"help lead\">") != page.npos);
  CHECK(unbalanced(page).empty());
  // What saves less than a twentieth is not worth a change.
  Json little = run;
  little["advice"]["tried"][1]["cost"] = 9'600u;
  CHECK(std::ranges::count(codes_of(findings_of(little, facts)), "K0811") == 0);
  // Native code that keeps nothing in memory knows better than the estimate.
  facts.native_private = 0;
  CHECK(std::ranges::count(codes_of(findings_of(run, facts)), "K0807") == 0);
}

TEST_CASE("what needs no change is no finding") {
  const auto side_by_side = [](std::uint64_t lane) { return 4 * lane; };
  CHECK(findings_of(
            counted_run({instruction("global", 4, 1, side_by_side), instruction("slm", 4, 1, side_by_side)}),
            {})
            .empty());
  // Four reads of a work-item that can be one of 16 bytes: the lines that they touch are needed.
  Json each = instruction("global", 4, 4, [](std::uint64_t lane) { return 16 * lane; });
  CHECK(codes_of(findings_of(counted_run({each}), {})) == std::vector<std::string>{"K0806"});
  each["neighbours"] = {{"accesses", 4u}, {"bytes", 16u}};
  CHECK(findings_of(counted_run({each}), {}).empty());
  const std::string page = report_page(counted_run({each}), {});
  CHECK(page.find("<h1>Nothing to change was found</h1>") != page.npos);
}

TEST_CASE("the advice is for how the lanes lie") {
  const auto help = [](const Json& each, std::uint64_t wide = 256, std::uint64_t high = 1) {
    Json run = counted_run({each});
    run["group_size"] = {wide, high, 1};
    const auto found = findings_of(run, {});
    return found.size() == 1 ? found[0].diagnostic.help.front().substr(0, 12) : "not one";
  };
  const auto lines = [](std::uint64_t cost, const auto& offset) {
    return instruction("global", 4, cost, offset);
  };
  CHECK(help(lines(2, [](std::uint64_t lane) { return 4 * lane + 4; })) ==
        "let what a s");  // begins amid a line
  CHECK(help(lines(16, [](std::uint64_t lane) { return 1024 * lane; })) == "let neighbou");
  CHECK(help(lines(16, [](std::uint64_t lane) { return 1024 * lane; }), 1, 16) == "make the wor");
  CHECK(help(lines(16, [](std::uint64_t lane) { return 999 * lane * lane; })) == "go through t");
  // 4 accesses a work-item of 4 B, 16 B apart: it takes them all.
  CHECK(help(lines(4, [](std::uint64_t lane) { return 16 * lane; })) == "let a work-i");
  const auto turns = [](const char* kind, const auto& offset) {
    return instruction("slm", 4, 16, offset, 16, kind);
  };
  CHECK(help(turns("read", [](std::uint64_t lane) { return 64 * lane; })) == "let neighbou");
  CHECK(help(turns("atomic", [](std::uint64_t) { return 0; })) == "keep several");
  CHECK(help(turns("read", [](std::uint64_t lane) { return 64 * lane * lane; })) == "the addresse");
}

TEST_CASE("occupancy by resource agrees with the library") {
  KernelFacts kernel;
  kernel.simd_size = 16;
  kernel.grf_count = 128;
  kernel.barrier_count = 1;
  const CoreUse use = core_use(kernel, *find_target("pvc"), 256, 40'000, "");
  REQUIRE(use.uses.size() == 3);
  CHECK(use.uses[0].groups == 4);  // 64 threads by 16
  CHECK(use.uses[1].of_group == 48 * 1024);
  CHECK(use.uses[1].groups == 2);
  CHECK(use.uses[2].groups == 32);
  CHECK(use.occupancy.limit == Resource::slm);
  CHECK(std::ranges::min(use.uses, {}, &ResourceUse::groups).groups == use.occupancy.groups_per_core);
  CHECK(core_use({}, *find_target("pvc"), 256, 0, "").occupancy.groups_per_core == 0);
}

TEST_CASE("source lines with their counts, where source and line numbers fit together") {
  Json each = instruction("global", 4, 2, [](std::uint64_t lane) { return 8 * lane; });
  each["line"] = 12;
  const Json counters = run_of({each, each})["counters"];
  ReportFacts facts;
  facts.no_source = "why <not>";
  CHECK(times(source_section(counters, facts, {}), "<p class=\"missing\">why &lt;not&gt;</p>") == 1);
  facts.source_file = "k.cl";
  for (int line = 1; line <= 30; ++line) facts.source.push_back("line " + std::to_string(line) + ";");
  const std::string html = source_section(counters, facts, {});
  CHECK(html.find(number(std::uint64_t{8192})) != html.npos);
  for (const char* shown : {"line 10;", "line 14;"}) CHECK(html.find(shown) != html.npos);
  for (const char* not_shown : {"line 9;", "line 15;"}) CHECK(html.find(not_shown) == html.npos);
  facts.source.resize(11);
  CHECK(times(source_section(counters, facts, {}), "class=\"missing\"") == 1);
  CHECK(times(source_section(run_of({})["counters"], facts, {}), "class=\"missing\"") == 1);
}

TEST_CASE("a source is shown if it is the one that the kernel names") {
  const auto spirv = read_file(std::filesystem::path(KILN_TEST_SPIRV) / "saxpy.spv");
  const auto named = named_source(spirv);
  REQUIRE(named);
  CHECK(named->name == "saxpy.cl");
  const std::filesystem::path kernels = std::filesystem::path(KILN_TEST_SPIRV) / ".." / "kernels";
  const auto found = [&](const std::optional<NamedSource>& source) {
    ReportFacts facts;
    find_source(kernels, "saxpy", source, facts);
    CHECK(facts.source.empty() != facts.no_source.empty());
    return facts.no_source.empty();
  };
  CHECK(found(named));
  CHECK_FALSE(found(std::nullopt));
  CHECK_FALSE(found(NamedSource{"matmul.cl", named->sha256}));
  CHECK_FALSE(found(NamedSource{"../kernels/saxpy.cl", named->sha256}));
  CHECK_FALSE(found(NamedSource{"saxpy.cl", std::string(64, '0')}));
  ReportFacts facts;
  find_source(kernels / "none", "saxpy", named, facts);
  CHECK(facts.no_source.find("is not in") != std::string::npos);
  // In a fat binary too; in what is damaged, or cut anywhere, nothing or the same.
  const auto wrapped = wrap_spirv(spirv);
  const ArchiveMember member{"generic_ir", wrapped};
  CHECK(named_source(*write_archive({&member, 1})) == named);
  for (std::size_t size = 0; size < spirv.size(); ++size) {
    const auto cut = named_source(std::span(spirv).first(size));
    CHECK((!cut || cut == named));
  }
  Bytes zero = spirv;
  std::fill(zero.begin() + 20, zero.end(), std::byte{});
  CHECK_FALSE(named_source(zero));
}

TEST_CASE("a device that does not count: the page says so, and shows the rest") {
  Json run = run_of({});
  run.erase("counters");
  run.erase("defects");
  run["ok"] = nullptr;
  run["device_ms"] = nullptr;
  const std::string page = report_page(run, {});
  CHECK(page.find("id=\"accesses\"") == page.npos);
  CHECK(page.find("not executed") != page.npos);
  CHECK(page.find("--device cpu") != page.npos);
  CHECK(unbalanced(page).empty());
}

TEST_CASE("K0435: a buffer that is not as expected") {
  check_diagnostic("K0435", difference_diagnostic({{"name", "y"},
                                                   {"count", 3},
                                                   {"of", 1000},
                                                   {"index", 17},
                                                   {"got", "2.5"},
                                                   {"wanted", "2"},
                                                   {"largest", 0.5}}));
}

TEST_CASE("K0410: a report is written whole, or what was there stays") {
  check_diagnostic("K0410", *unwritable_report("report.html", "Permission denied").diagnostic());
  const auto folder = std::filesystem::temp_directory_path() / ("kiln-report-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string file = folder / "r.html", link = folder / "link";
  REQUIRE(write_report(file, "first"));
  REQUIRE(write_report(file, "second"));
  const Bytes bytes = read_file(file);
  CHECK(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()) == "second");
  std::filesystem::create_symlink(file, link);
  for (const std::string& bad : {link, folder.string(), (folder / "none" / "r.html").string()}) {
    const auto refused = write_report(bad, "third");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().diagnostic()->code == "K0410");
  }
  CHECK(std::filesystem::is_symlink(link));
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 2);
  std::filesystem::remove_all(folder);
}
