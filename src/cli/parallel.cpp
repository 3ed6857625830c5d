// SPDX-License-Identifier: MIT
// Threads that take the next piece of work each, and a private folder.
#include "cli/parallel.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "cli/output.hpp"

namespace kiln::cli {

PrivateFolder::PrivateFolder() {
  std::error_code error;
  std::string name = (std::filesystem::temp_directory_path(error) / "kiln-XXXXXX").string();
  if (!error && mkdtemp(name.data())) path_ = name;
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

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

}  // namespace kiln::cli
