// SPDX-License-Identifier: MIT
// Looks pages up, and splits what lies on two of them.
#include "xe/unit/message/memory.hpp"

#include <algorithm>
#include <cstring>

namespace kiln::xe {

std::uint64_t Memory::general_state_base() {
  if (!base_) base_ = bus_.general_state_base();
  return *base_;
}

const Surface* Memory::surface(SurfaceKind kind, std::uint32_t index) {
  auto found = surfaces_.find({kind, index});
  if (found == surfaces_.end())
    found = surfaces_.emplace(std::pair(kind, index), bus_.surface(kind, index)).first;
  return found->second ? &*found->second : nullptr;
}

std::byte* Memory::reach_slowly(std::uint64_t address, std::uint32_t size, bool write) {
  const std::uint64_t page = address >> kPageShift;
  if (const Stretch whole = bus_.reach(page << kPageShift, write); whole.data && whole.size >= kPageBytes) {
    table_[write][page % kEntries] = {page, whole.data};
    const std::uint64_t within = address & (kPageBytes - 1);
    if (within + size <= kPageBytes) return whole.data + within;
  }
  const Stretch part = bus_.reach(address, write);
  return part.data && part.size >= size ? part.data : nullptr;
}

bool Memory::read(std::uint64_t address, void* to, std::uint32_t size, std::uint64_t& at) {
  if (const std::byte* from = reach(address, size, false)) {
    std::memcpy(to, from, size);
    return true;
  }
  auto* out = static_cast<std::byte*>(to);
  while (size > 0) {
    const Stretch part = bus_.reach(address & kAddressBits, false);
    if (!part.data || part.size == 0) {
      at = address;
      return false;
    }
    const auto piece = static_cast<std::uint32_t>(std::min<std::uint64_t>(size, part.size));
    std::memcpy(out, part.data, piece);
    out += piece, address += piece, size -= piece;
  }
  return true;
}

bool Memory::write(std::uint64_t address, const void* from, std::uint32_t size, std::uint64_t& at) {
  if (std::byte* to = reach(address, size, true)) {
    std::memcpy(to, from, size);
    return true;
  }
  const auto* in = static_cast<const std::byte*>(from);
  while (size > 0) {
    const Stretch part = bus_.reach(address & kAddressBits, true);
    if (!part.data || part.size == 0) {
      at = address;
      return false;
    }
    const auto piece = static_cast<std::uint32_t>(std::min<std::uint64_t>(size, part.size));
    std::memcpy(part.data, in, piece);
    in += piece, address += piece, size -= piece;
  }
  return true;
}

}  // namespace kiln::xe
