// SPDX-License-Identifier: MIT
// A bound for the memory of a process that reads what others have written.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace kiln::detail {

/// This process may take `more` bytes beyond what it has by now, or less where its limit is lower: what is
/// reserved already, by a sanitizer above all, counts for nothing. Nothing happens where that is not known.
inline void limit_memory(rlim_t more) {
  unsigned long reserved = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  const bool known = file && std::fscanf(file, "%*u %*u %*u %*u %*u %lu", &reserved) == 1;  // in pages
  if (file) std::fclose(file);
  rlimit memory{};
  if (!known || getrlimit(RLIMIT_DATA, &memory) != 0) return;
  const rlim_t most = reserved * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + more;
  memory.rlim_cur = std::min(memory.rlim_cur, most);
  setrlimit(RLIMIT_DATA, &memory);
}

}  // namespace kiln::detail
