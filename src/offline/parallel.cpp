// SPDX-License-Identifier: MIT
// Threads that take the next piece of work each.
#include "offline/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "kiln/refusal.hpp"

namespace kiln::offline {

void in_parallel(std::size_t count, std::size_t threads, const LongWork& work,
                 const std::function<void(std::size_t)>& piece) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;  // of what follows
  std::size_t done = 0;
  std::exception_ptr thrown;
  const auto tell = [&](bool one_more) {
    const std::scoped_lock lock(mutex);
    done += one_more ? 1 : 0;
    if (work.progress && !one_more) work.progress(done, count);
  };
  const auto take = [&] {
    try {
      for (std::size_t i = next++; i < count && !work.stop.stop_requested(); i = next++) {
        tell(false);
        piece(i);
        tell(true);
      }
    } catch (...) {
      next = count;
      const std::scoped_lock lock(mutex);
      if (!thrown) thrown = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    const std::size_t most = threads ? threads : std::max(1u, std::thread::hardware_concurrency());
    try {
      for (std::size_t i = 1; i < std::min(count, most); ++i) others.emplace_back(take);
    } catch (const std::system_error&) {  // a limit of threads: those that are there do it
    }
    take();
  }
  if (thrown) std::rethrow_exception(thrown);
  if (count && done == count) tell(false);
}

Error stopped(const char* call, const std::string& what) {
  return Error(ZE_RESULT_NOT_READY, call, explain_stopped(what));
}

}  // namespace kiln::offline
