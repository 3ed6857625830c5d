// SPDX-License-Identifier: MIT
// Threads that take the next piece of work each.
#include "tool/common/parallel.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "tool/common/output.hpp"

namespace kiln::tool {

void in_parallel(std::size_t count, const std::string& title, const std::function<void(std::size_t)>& work) {
  const bool terminal = isatty(STDERR_FILENO) == 1;
  std::atomic<std::size_t> next = 0, done = 0;
  const auto show = [&] {
    if (terminal) show_progress("%s: %zu of %zu", title.c_str(), done.load(), count);
  };
  const auto take = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      show();
      work(i);
      ++done;
    }
  };
  {
    std::vector<std::jthread> threads;
    const std::size_t most = std::max(1u, std::thread::hardware_concurrency());
    for (std::size_t i = 1; i < std::min(count, most); ++i) threads.emplace_back(take);
    take();
  }
  if (terminal && count > 0) clear_progress();
}

}  // namespace kiln::tool
