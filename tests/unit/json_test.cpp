// SPDX-License-Identifier: MIT
// JSON as values: what is read and written is what the JSON library itself reads and writes.
#include "support/json.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

using kiln::detail::Json;

namespace {

const char* const kEverything =
    R"({"z":1,"a":[null,true,false,-1,-9223372036854775808,18446744073709551615,0.1,1.0,-0.0,1e300,2.5e-9],)"
    R"("":{},"e":[],"text":"\"\\\u0000\u001f\n€ 😀","o":{"b":{"c":[[1]]}}})";

}  // namespace

TEST_CASE("JSON that is read is written again, in order") {
  const auto read = Json::parse(kEverything);
  REQUIRE(read);
  const auto wanted = nlohmann::ordered_json::parse(kEverything);
  CHECK(read->dump() == wanted.dump());
  CHECK(read->dump_lines() == wanted.dump(2, ' ', true));
  CHECK(read->items().front().name == "z");
  CHECK(*Json::parse(read->dump()) == *read);
  for (const char* text : {"", "{", "[1,]", "{\"a\" 1}", "1 2", "\"\\x\"", "\"\xff\"", "nul", "1e999"})
    CHECK_FALSE(Json::parse(text));
  CHECK(Json::parse(R"({"a": 1, "b": 2, "a": 3})")->dump() == R"({"a":3,"b":2})");
}

TEST_CASE("JSON that is nested too deep is refused, not followed") {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  CHECK(Json::parse(nested(100)));
  CHECK_FALSE(Json::parse(nested(101)));
  CHECK_FALSE(Json::parse(std::string(1'000'000, '[')));
}

TEST_CASE("lists of pairs are objects, other lists arrays") {
  CHECK(Json{{"a", 1}, {"b", {1, 2}}}.dump() == R"({"a":1,"b":[1,2]})");
  CHECK(Json{{"a", "b"}, {"c"}}.dump() == R"([["a","b"],["c"]])");
  CHECK(Json{1, "two", 3.0, nullptr, true}.dump() == R"([1,"two",3.0,null,true])");
  CHECK(Json(std::vector<std::string>{"a"}).dump() == R"(["a"])");
  CHECK(Json(std::vector<std::string>{}).dump() == "[]");
  CHECK(Json(std::array<std::uint32_t, 2>{1, 2}).dump() == "[1,2]");
  Json made{{"gone", 1}};
  made.erase("gone");
  made.erase("never there");
  made["list"].push_back({{"x", 1u}});
  made["not a number"] = std::nan("");
  made["bytes"] = "a\xff";
  CHECK(made.dump() == "{\"list\":[{\"x\":1}],\"not a number\":null,\"bytes\":\"a\xef\xbf\xbd\"}");
  CHECK(made.dump_lines().find(R"("bytes": "a\ufffd")") != std::string::npos);
}

TEST_CASE("JSON: numbers are equal by what they count") {
  CHECK(Json(1) == Json(1u));
  CHECK(Json(1) == Json(1.0));
  CHECK(Json(-1) != Json(UINT64_MAX));
  CHECK(Json(1) != Json(true));
  CHECK(Json("1") != Json(1));
  CHECK(Json{{"a", 1}} == Json{{"a", 1u}});
  CHECK(Json{{"a", 1}} != Json{{"b", 1}});
  CHECK(Json() == Json(nullptr));
  CHECK(Json() != Json::array());
}

TEST_CASE("JSON: what is missing or of another type") {
  const Json json{{"text", "a"}, {"large", 300}, {"minus", -1}, {"half", 0.5}, {"list", {1}}};
  CHECK(json["missing"]["also"].is_null());
  CHECK(json["list"][1].is_null());
  CHECK(json.value("missing", 7u) == 7);
  CHECK(json.value("text", "b") == "a");
  CHECK(json.find("missing") == nullptr);
  CHECK(json["text"].begin() == json["text"].end());
  CHECK(json["text"].items().empty());
  CHECK_THROWS_AS((void)json.at("missing"), Json::WrongType);
  CHECK_THROWS_AS((void)json["list"].at(1), Json::WrongType);
  CHECK_THROWS_AS((void)json["text"].get<int>(), Json::WrongType);
  CHECK_THROWS_AS((void)json["large"].get<std::string>(), Json::WrongType);
  CHECK_THROWS_AS((void)json["large"].get<std::uint8_t>(), Json::WrongType);
  CHECK_THROWS_AS((void)json["minus"].get<std::uint64_t>(), Json::WrongType);
  CHECK_THROWS_AS((void)json["half"].get<int>(), Json::WrongType);
  CHECK_THROWS_AS((void)json["large"].get<bool>(), Json::WrongType);
  CHECK(json["minus"].get<double>() == -1);
  CHECK(json["large"].get<std::int16_t>() == 300);
  Json text("a");
  CHECK_THROWS_AS((void)text["b"], Json::WrongType);
  CHECK_THROWS_AS(text.push_back(1), Json::WrongType);
}

TEST_CASE(
    "JSON: many members are read in a moment, and of one name the last counts, in the place of the first") {
  std::string text = "{";
  for (int i = 0; i < 300'000; ++i) text += '"' + std::to_string(i) + "\":0,";
  const auto json = Json::parse(text + R"("7":1,"299999":2,"last":3,"last":4})");
  REQUIRE(json);
  CHECK(json->size() == 300'001);
  CHECK(json->at("7").get<int>() == 1);
  CHECK(json->items().begin()->name == "0");
  CHECK(std::next(json->items().begin(), 7)->value == Json(1));
  CHECK(json->at("299999").get<int>() == 2);
  CHECK(json->items().back().name == "last");
  CHECK(json->at("last").get<int>() == 4);
}

TEST_CASE("JSON: a member stays where it is when others come") {
  Json json;
  Json& first = json["first"];
  for (int i = 0; i < 100; ++i) json[std::to_string(i)] = json["again"] = i;
  first = "still there";
  CHECK(json["first"] == Json("still there"));
  CHECK(&json["first"] == &first);
  CHECK(json["99"] == Json(99));
  CHECK(json.items().front().name == "first");
}
