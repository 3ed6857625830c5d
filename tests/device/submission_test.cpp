// SPDX-License-Identifier: MIT
// Submission as engines do it: lists in order, queues by index and priority, events by scope and by counter,
// closed lists in immediate ones, copies of regions, functions of the host.
#include <atomic>
#include <numeric>
#include <optional>
#include <vector>

#include "device_test.hpp"

namespace kiln::test {
namespace {

/// The loader's own limits stand between: what it lacks, or what it checks and does not know.
bool through_loader() { return &device().driver.api() == &default_api(); }

/// Whether a feature may be lacking: the CPU device, asked itself, has all of them.
bool must_have(Feature feature) {
  return device().driver.has(feature) && (executes() ? !through_loader() : true);
}

/// The value, or nothing where it is refused as lacking, which has to go together with has().
template <class T>
std::optional<T> if_there(Feature feature, Result<T> result) {
  if (result) {
    CHECK(device().driver.has(feature));
    if constexpr (std::is_void_v<T>)
      return {};
    else
      return *std::move(result);
  }
  INFO(result.error().text());
  CHECK(result.error().code() == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
  REQUIRE(result.error().diagnostic());
  CHECK(result.error().diagnostic()->code == "K0230");
  CHECK_FALSE(must_have(feature));
  return std::nullopt;
}

std::uint32_t group() { return need(device().device.compute_queue_group()); }

std::optional<CommandList> in_order_list() {
  return if_there(Feature::in_order_lists, CommandListRef::create_immediate(context(), device().device, {},
                                                                            group(), {.in_order = true}));
}

constexpr std::size_t kSteps = 64;

/// Each word is copied from the one before it: another order leaves zeros.
void append_chain(CommandListRef list, const HostBuffer& buffer) {
  const auto words = buffer.span<std::uint32_t>();
  const std::uint32_t first = 7;
  need(list.fill(words.data(), std::as_bytes(std::span(&first, 1)), sizeof first));
  for (std::size_t i = 0; i + 1 < kSteps; ++i) need(list.copy(&words[i + 1], &words[i], sizeof first));
}

HostBuffer zeros(std::size_t count) {
  HostBuffer buffer = need(context().allocate_shared(device().device, count * sizeof(std::uint32_t)));
  for (std::uint32_t& word : buffer.span<std::uint32_t>()) word = 0;
  return buffer;
}

void check_chain(const HostBuffer& buffer) {
  if (!executes()) return;
  const auto words = buffer.span<std::uint32_t>();
  CHECK(std::accumulate(words.begin(), words.end(), 0u) == 7 * kSteps);
}

}  // namespace

TEST_CASE("an immediate list in order needs no barriers") {
  const auto list = in_order_list();
  if (!list) return;
  const HostBuffer buffer = zeros(kSteps);
  append_chain(list->get(), buffer);
  finish(list->get());
  check_chain(buffer);
}

TEST_CASE("a regular list in order needs no barriers, and offloads copies where that is known") {
  const auto list = if_there(
      Feature::in_order_lists,
      CommandListRef::create(context(), device().device, group(), {.in_order = true, .copy_offload = true}));
  if (!list) return;
  const HostBuffer buffer = zeros(kSteps);
  append_chain(list->get(), buffer);
  need((*list)->close());
  const CommandQueue queue = need(CommandQueueRef::create(context(), device().device, {}, group()));
  need(queue->execute(list->get()));
  need(queue->synchronize());
  check_chain(buffer);
}

TEST_CASE("queues by priority and by index") {
  const auto groups = need(device().device.queue_groups());
  const std::uint32_t queues = groups.at(group()).queues;
  for (const QueuePriority priority : {QueuePriority::normal, QueuePriority::low, QueuePriority::high})
    CHECK(CommandQueueRef::create(context(), device().device, {.priority = priority}, group()));
  const QueueOptions last{.index = queues - 1}, none{.index = queues};
  CHECK(CommandQueueRef::create(context(), device().device, last, group()));
  CHECK(CommandListRef::create_immediate(context(), device().device, last, group()));
  for (const Error& error :
       {CommandQueueRef::create(context(), device().device, none, group()).error(),
        CommandListRef::create_immediate(context(), device().device, none, group()).error()}) {
    REQUIRE(error.diagnostic());
    CHECK(error.diagnostic()->code == "K0224");
  }
}

TEST_CASE("every queue of every group fills memory") {
  const auto groups = need(device().device.queue_groups());
  for (std::uint32_t of = 0; of < groups.size(); ++of) {
    for (std::uint32_t index = 0; index < groups[of].queues; ++index) {
      CAPTURE(of);
      CAPTURE(index);
      const HostBuffer buffer = zeros(4);
      const CommandQueue queue =
          need(CommandQueueRef::create(context(), device().device, {.index = index}, of));
      const CommandList list = need(CommandListRef::create(context(), device().device, of));
      const std::uint8_t value = 7;
      need(list->fill(buffer.span<std::uint32_t>().data(), std::as_bytes(std::span(&value, 1)), 16));
      need(list->close());
      need(queue->execute(list.get()));
      need(queue->synchronize());
      if (executes()) CHECK(buffer.span<std::uint32_t>()[3] == 0x07070707);
    }
  }
}

TEST_CASE("commands wait for events that are named, or in an array") {
  const EventPool pool = need(EventPoolRef::create(context(), 4));
  std::vector<Event> events;
  for (std::uint32_t i = 0; i < 4; ++i)
    events.push_back(
        need(pool->event(i, {.signal = static_cast<EventScope>(i), .wait = static_cast<EventScope>(i)})));
  const HostBuffer buffer = zeros(4);
  const auto words = buffer.span<std::uint32_t>();
  const std::uint32_t value = 5;
  const auto bytes = std::as_bytes(std::span(&value, 1));
  const CommandList list = immediate_list();
  need(list->fill(&words[0], bytes, 4, {events[0], {}}));
  need(list->copy(&words[1], &words[0], 4, {events[1], {events[0]}}));
  const Sync kept{events[2], {events[0].get(), events[1].get()}};  // those by name are inside
  CHECK(kept.wait.size() == 2);
  need(list->copy(&words[2], &words[1], 4, kept));
  const std::vector<EventRef> many{events[0], events[1], events[2]};
  need(list->wait(many));
  need(list->copy(&words[3], &words[2], 4, {events[3], many}));
  need(events[3]->wait());
  if (executes()) CHECK(words[3] == 5);
  CHECK(list->wait({EventRef()}).error().diagnostic()->code == "K0222");
  CHECK(list->wait(Waits(nullptr, 3)).error().diagnostic()->code == "K0222");
}

TEST_CASE("an event that counts stands for the command appended last") {
  const auto event =
      if_there(Feature::counter_based_events,
               EventRef::create_counter_based(context(), device().device, {.timestamps = true}));
  if (!event) return;
  CHECK(need((*event)->is_signalled()));
  const auto list = in_order_list(), other = in_order_list();
  REQUIRE(list);
  const HostBuffer buffer = zeros(2);
  const auto words = buffer.span<std::uint32_t>();
  for (std::uint32_t round = 1; round < 4; ++round) {
    need((*list)->fill(&words[0], std::as_bytes(std::span(&round, 1)), 4, {*event, {}}));
    need((*other)->copy(&words[1], &words[0], 4, {{}, {*event}}));
    need((*event)->wait());
    finish(other->get());
    if (executes()) CHECK(words[1] == round);
  }
  // It is not the host's to set, nor that of a list without an order.
  for (const Error& error : {(*event)->signal().error(), (*event)->reset().error()}) {
    CHECK(error.code() == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    CHECK(error.diagnostic()->code == "K0252");
  }
  const CommandList unordered =
      need(CommandListRef::create_immediate(context(), device().device, {}, group()));
  CHECK(unordered->barrier({*event, {}}).error().code() == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(unordered->reset_event(*event).error().code() == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  need(unordered->barrier({{}, {*event}}));  // any may wait
  finish(unordered.get());
  if (!executes()) return;
  const auto times = need((*event)->timestamps());
  CHECK(times.global_start <= times.global_end);
}

TEST_CASE("a closed list runs again and again in an immediate one") {
  const CommandList closed = need(CommandListRef::create(context(), device().device, group()));
  const HostBuffer buffer = zeros(2);
  const auto words = buffer.span<std::uint32_t>();
  need(closed->copy(&words[1], &words[0], 4));
  need(closed->close());
  const auto list = in_order_list();
  if (!list) return;
  for (std::uint32_t round = 1; round < 4; ++round) {
    need((*list)->fill(&words[0], std::as_bytes(std::span(&round, 1)), 4));
    if (const auto appended = (*list)->append(closed.get()); !appended) {
      CHECK(appended.error().diagnostic()->code == "K0230");
      CHECK_FALSE(must_have(Feature::append_lists));
      return;
    }
    finish(list->get());
    if (executes()) CHECK(words[1] == round);
  }
}

TEST_CASE("the host is called in the order of the list") {
  const auto list = in_order_list();
  if (!list) return;
  const HostBuffer buffer = zeros(1);
  struct Seen {
    const std::uint32_t* word;
    std::atomic<std::uint32_t> value = 0, calls = 0;
  } seen{buffer.span<std::uint32_t>().data()};
  const std::uint32_t value = 11;
  need((*list)->fill(buffer.data(), std::as_bytes(std::span(&value, 1)), 4));
  const auto look = [](void* user) {
    auto& seen = *static_cast<Seen*>(user);
    seen.value = *seen.word;
    ++seen.calls;
  };
  if (const auto appended = (*list)->host_function(look, &seen); !appended) {
    CHECK(appended.error().diagnostic()->code == "K0230");
    CHECK_FALSE(must_have(Feature::host_functions));
    return;
  }
  finish(list->get());
  if (!executes()) return;
  CHECK(seen.calls == 1);
  CHECK(seen.value == 11);
}

TEST_CASE("a region is copied from one pitch to another") {
  const HostBuffer from = need(context().allocate_shared(device().device, 4 * 16 * 2)),
                   to = need(context().allocate_shared(device().device, 8 * 8));
  const auto source = from.span<std::uint8_t>(), target = to.span<std::uint8_t>();
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::uint8_t>(i);
  for (std::uint8_t& byte : target) byte = 0xff;
  const CommandList list = immediate_list();
  const RegionPlace from_place{.x = 3, .y = 1, .z = 1, .pitch = 16, .slice_pitch = 64},
      to_place{.x = 2, .y = 4, .pitch = 8};
  need(list->copy_region(to.data(), to_place, from.data(), from_place, {5, 3}));
  finish(list.get());
  if (executes()) {
    for (std::size_t y = 0; y < 8; ++y)
      for (std::size_t x = 0; x < 8; ++x) {
        const bool inside = y >= 4 && y < 7 && x >= 2 && x < 7;
        const std::size_t expected = inside ? 64 + (y - 4 + 1) * 16 + (x - 2 + 3) : 0xff;
        CAPTURE(x);
        CAPTURE(y);
        CHECK(target[y * 8 + x] == expected);
      }
  }
  for (const Extent size : {Extent{0, 1, 1}, Extent{7, 1, 1}, Extent{1, 1, 2}}) {
    const auto refused = list->copy_region(to.data(), to_place, from.data(), from_place, size);
    REQUIRE(!refused);
    CHECK(refused.error().diagnostic()->code == "K0231");
  }
}

TEST_CASE("the device writes its clock, and takes hints") {
  const HostBuffer buffer = need(context().allocate_shared(device().device, 16));
  const auto ticks = buffer.span<std::uint64_t>();
  const CommandList list = immediate_list();
  need(list->prefetch(buffer.data(), buffer.size()));
  need(list->advise(device().device, buffer.data(), buffer.size(), ZE_MEMORY_ADVICE_SET_READ_MOSTLY));
  need(list->write_timestamp(&ticks[0]));
  need(list->barrier());
  need(list->write_timestamp(&ticks[1]));
  finish(list.get());
  if (executes()) CHECK(ticks[0] <= ticks[1]);
}

TEST_CASE("an immediate list is waited for") {
  const CommandList list = immediate_list();
  const HostBuffer buffer = zeros(1);
  const std::uint32_t value = 3;
  need(list->fill(buffer.data(), std::as_bytes(std::span(&value, 1)), 4));
  if (const auto waited = list->synchronize(); !waited) {
    CHECK(waited.error().diagnostic()->code == "K0230");
    CHECK_FALSE(must_have(Feature::list_synchronize));
    finish(list.get());
  }
  if (executes()) CHECK(buffer.span<std::uint32_t>()[0] == 3);
}

}  // namespace kiln::test
