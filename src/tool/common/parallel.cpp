// SPDX-License-Identifier: MIT
// Threads that take the next piece of work each, and the line about them.
#include "tool/common/parallel.hpp"

#include <unistd.h>

#include "offline/parallel.hpp"
#include "tool/common/output.hpp"

namespace kiln::tool {

LongWork shown_work(const std::string& title) {
  if (isatty(STDERR_FILENO) != 1) return {};
  return {[title](std::size_t done, std::size_t all) {
            if (done == all)
              clear_progress();
            else
              show_progress("%s: %zu of %zu", title.c_str(), done, all);
          },
          {}};
}

void in_parallel(std::size_t count, const std::string& title, const std::function<void(std::size_t)>& work) {
  offline::in_parallel(count, 0, shown_work(title), work);
}

}  // namespace kiln::tool
