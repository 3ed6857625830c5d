// SPDX-License-Identifier: MIT
// When the program is given what the GPU wrote: only while no engine works.
#include "drivers/simulator/activity.hpp"

#include <doctest/doctest.h>

#include <future>
#include <optional>

namespace {

using namespace kiln::simulator;
using namespace std::chrono_literals;

/// Someone who asks for the GPU's memory, in a thread.
struct Asker {
  explicit Asker(Activity& activity)
      : done(std::async(std::launch::async, [this, &activity] { activity.settle(stop); })) {}
  /// What must not happen is given this long to happen.
  [[nodiscard]] bool waits() const { return done.wait_for(30ms) == std::future_status::timeout; }
  [[nodiscard]] bool gets_it() const { return done.wait_for(60s) == std::future_status::ready; }
  std::atomic<bool> stop{false};
  std::future<void> done;
};

TEST_CASE("an engine that works: nothing is given before the last submission ends") {
  Activity activity;
  CHECK(Asker(activity).gets_it());
  activity.begin();
  activity.begin();
  Asker asker(activity);
  CHECK(asker.waits());
  activity.end();
  CHECK(asker.waits());
  activity.end();
  CHECK(asker.gets_it());
  // Submissions that nobody will do any more, as of an engine that is closed.
  activity.begin();
  activity.begin();
  Asker other(activity);
  CHECK(other.waits());
  activity.end(2);
  CHECK(other.gets_it());
}

TEST_CASE("an engine that waits for a word: given once it has looked again") {
  Activity activity;
  activity.begin();
  Activity::Wait waiting(activity);
  {
    Asker asker(activity);
    CHECK(asker.waits());  // the word may be there already: the engine would go on
    waiting.pause(60s);    // it was not; returns at once, since somebody asked
    CHECK(asker.waits());  // nor is this look over
    waiting.pause(0us);
    CHECK(asker.gets_it());
  }
  // Another engine that works may write that word.
  activity.begin();
  Asker asker(activity);
  waiting.pause(0us);
  waiting.pause(0us);
  CHECK(asker.waits());
  activity.end();
  CHECK(asker.waits());
  waiting.pause(0us);
  waiting.pause(0us);
  CHECK(asker.gets_it());
}

TEST_CASE("an engine whose wait is over works again") {
  Activity activity;
  activity.begin();
  std::optional<Activity::Wait> waiting(std::in_place, activity);
  waiting->pause(0us);
  waiting.reset();
  Asker asker(activity);
  CHECK(asker.waits());
  activity.end();
  CHECK(asker.gets_it());
}

TEST_CASE("a program that is gone is not waited for") {
  Activity activity;
  activity.begin();
  Asker asker(activity);
  CHECK(asker.waits());
  asker.stop = true;
  CHECK(asker.gets_it());
}

}  // namespace
