// SPDX-License-Identifier: MIT
// Watching what really compiles: a compiler that never ends is ended by who watches.
#include <signal.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cache/fixture.hpp"
#include "device_test.hpp"

namespace kiln::test {

TEST_CASE("a compiler that never ends is ended by who watches it") {
  const TestFolder scratch;
  const std::string script = scratch.path() / "compiler", number = scratch.path() / "number";
  std::ofstream(script) << "#!/bin/sh\necho $$ > '" << number << ".new'\nmv '" << number << ".new' '"
                        << number << "'\nexec tail -f /dev/null\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  struct Canceller {
    std::string number;
    std::jthread thread;
    static void call(void* user, const CompilationNews& news) {
      if (news.ended) return;
      auto& self = *static_cast<Canceller*>(user);
      self.thread = std::jthread([&self, cancel = news.cancel]() mutable {
        using std::chrono::steady_clock;
        const auto deadline = steady_clock::now() + std::chrono::minutes(1);
        while (!std::filesystem::exists(self.number) && steady_clock::now() < deadline)
          std::this_thread::yield();
        cancel.request_stop();
      });
    }
  } canceller{number, {}};
  Cache cache = [&] {
    CacheOptions options;
    options.folder = scratch.path() / "cache";
    return Cache::open(options);
  }();
  replace_compilation_observer({Canceller::call, &canceller});
  setenv("KILN_COMPILER", script.c_str(), 1);
  // Kiln's own driver compiles SPIR-V by itself, and OpenCL C as all do.
  const auto bundle = Bundle::compile(
      device(), {"endless.cl", "kernel void endless(global int* x) { *x = 1; }\n"}, {}, &cache);
  unsetenv("KILN_COMPILER");
  replace_compilation_observer({});
  canceller.thread.join();
  REQUIRE_FALSE(bundle);
  CHECK(bundle.error().code() == ZE_RESULT_NOT_READY);
  CHECK(bundle.error().diagnostic()->code == "K0423");
  pid_t child = 0;
  std::ifstream(number) >> child;
  REQUIRE(child > 1);
  CHECK(kill(child, 0) == -1);
  CHECK(errno == ESRCH);
  CHECK(cache.counts().stored == 0);
}

}  // namespace kiln::test
