// SPDX-License-Identifier: MIT
// What regular command lists do with commands after they were closed.
#include <doctest/doctest.h>

#include "fixture.hpp"

TEST_CASE("a command for a closed list is taken, told, and never runs") {
  Fixture f;
  const auto list = f.list();
  const auto queue = f.queue(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  const auto event = f.event();
  auto* memory = f.memory(2);
  const std::uint32_t one = 1, two = 2;
  const auto fill = [&](std::uint32_t* to, const std::uint32_t& value, ze_event_handle_t signal) {
    return api.CommandListAppendMemoryFill(list, to, &value, 4, 4, signal, 0, nullptr);
  };
  REQUIRE(fill(memory, one, nullptr) == ZE_RESULT_SUCCESS);
  REQUIRE(api.CommandListClose(list) == ZE_RESULT_SUCCESS);
  CHECK(fill(memory + 1, two, event) == ZE_RESULT_SUCCESS);
  if (api.straight) CHECK(f.last_error().find("closed") != std::string::npos);
  for (int round = 0; round < 2; ++round) {
    auto same = list;
    CHECK(api.CommandQueueExecuteCommandLists(queue, 1, &same, nullptr) == ZE_RESULT_SUCCESS);
    CHECK(memory[0] == (round == 0 ? 1 : 5));
    CHECK(memory[1] == 0);
    CHECK(api.EventQueryStatus(event) == ZE_RESULT_NOT_READY);
    // Reset and closed at once there is nothing left to run.
    REQUIRE(api.CommandListReset(list) == ZE_RESULT_SUCCESS);
    REQUIRE(api.CommandListClose(list) == ZE_RESULT_SUCCESS);
    CHECK(fill(memory + 1, two, nullptr) == ZE_RESULT_SUCCESS);
    memory[0] = 5;
  }
}
