// SPDX-License-Identifier: MIT
// What the layer remembers beside the driver's handles.
#include <doctest/doctest.h>

#include "drivers/layer/arguments.hpp"
#include "drivers/layer/handle_map.hpp"

using namespace kiln;
using namespace kiln::layer;

namespace {

const void* handle(std::uintptr_t number) { return reinterpret_cast<const void*>(number); }

}  // namespace

TEST_CASE("null is never found, whatever was forgotten") {
  static HandleMap<int> map{Lock::kernels};
  CHECK(!map.find(nullptr));
  for (std::uintptr_t i = 1; i < 200'000; ++i) {  // some in each chain
    map.add(handle(i * 16), [](int& record) { record = 1; });
    map.remove(handle(i * 16), [](int& record) { record = 0; });
  }
  CHECK(!map.find(nullptr));
  map.add(nullptr, [](int&) { FAIL("null has no record"); });
  map.remove(nullptr, [](int&) { FAIL("null has no record"); });
}

TEST_CASE("what nobody says to be `__local` counts as that where a refusal is explained, and nowhere else") {
  KnownArgument set;
  set.size = 8;
  set.null = true;
  const auto of = [](ArgumentKind kind) {
    ArgumentFacts facts;
    facts.kind = kind;
    return facts;
  };
  const ArgumentFacts other = of(ArgumentKind::other), local = of(ArgumentKind::local_pointer);
  CHECK(certain_argument(other, set).kind == ArgumentKind::other);
  CHECK(likely_argument(other, set).kind == ArgumentKind::local_pointer);
  CHECK(likely_argument(other, set).size == 8);
  CHECK(certain_argument(local, set).size == 8);
  CHECK(certain_argument(local, {}).size == 0);
}

TEST_CASE("a record is found until it is removed, and again under the same handle") {
  static HandleMap<int> map{Lock::kernels};
  map.add(handle(0x1000), [](int& record) { record = 7; });
  map.add(handle(0x2000), [](int& record) { record = 8; });
  REQUIRE(map.find(handle(0x1000)));
  CHECK(*map.find(handle(0x1000)) == 7);
  map.remove(handle(0x1000), [](int& record) { record = 0; });
  CHECK(!map.find(handle(0x1000)));
  CHECK(*map.find(handle(0x2000)) == 8);
  map.add(handle(0x1000), [](int& record) {
    CHECK(record == 0);  // the same place
    record = 9;
  });
  CHECK(*map.find(handle(0x1000)) == 9);
}
