// SPDX-License-Identifier: MIT
// Finds the mapping of an address in the list that the system keeps.
#include "drivers/cpu/memory/system_memory.hpp"

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <memory>

#include "drivers/cpu/objects/device.hpp"

namespace kiln::cpu {

std::optional<MemoryRange> find_system_memory(const void* address) {
  if (!driver() || !driver()->system_memory) return std::nullopt;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(std::fopen("/proc/self/maps", "re"),
                                                             std::fclose);
  if (!maps) return std::nullopt;
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::uintptr_t begin = 0, end = 0;
  char readable = '-';
  while (std::fscanf(maps.get(), "%" SCNxPTR "-%" SCNxPTR " %c%*[^\n]", &begin, &end, &readable) == 3)
    if (wanted >= begin && wanted < end)
      return readable == 'r' ? std::optional(MemoryRange{begin, end - begin}) : std::nullopt;
  return std::nullopt;
}

}  // namespace kiln::cpu
