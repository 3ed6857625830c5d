// SPDX-License-Identifier: MIT
// Reads and writes across pages.
#include "drivers/simulator/memory/space.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "drivers/simulator/ended.hpp"

namespace kiln::simulator {

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::byte* Space::at(std::uint64_t address, bool write, const char* who) {
  Page* const page = tables_.find(address, write);
  if (!page)
    end(std::string(who) + (write ? " writes to " : " reads ") + hex(address) + ", where nothing is mapped");
  return page->data() + address % kPage;
}

void Space::read(std::uint64_t address, std::span<std::byte> to, const char* who) {
  while (!to.empty()) {
    const std::size_t part = std::min<std::size_t>(to.size(), kPage - address % kPage);
    std::memcpy(to.data(), at(address, false, who), part);
    address += part;
    to = to.subspan(part);
  }
}

void Space::write(std::uint64_t address, std::span<const std::byte> from, const char* who) {
  while (!from.empty()) {
    const std::size_t part = std::min<std::size_t>(from.size(), kPage - address % kPage);
    std::memcpy(at(address, true, who), from.data(), part);
    address += part;
    from = from.subspan(part);
  }
}

std::uint32_t Space::read_word(std::uint64_t address, const char* who) {
  std::uint32_t value = 0;
  read(address, std::as_writable_bytes(std::span(&value, 1)), who);
  return value;
}
std::uint64_t Space::read_long(std::uint64_t address, const char* who) {
  std::uint64_t value = 0;
  read(address, std::as_writable_bytes(std::span(&value, 1)), who);
  return value;
}
void Space::write_word(std::uint64_t address, std::uint32_t value, const char* who) {
  write(address, std::as_bytes(std::span(&value, 1)), who);
}
void Space::write_long(std::uint64_t address, std::uint64_t value, const char* who) {
  write(address, std::as_bytes(std::span(&value, 1)), who);
}

std::uint32_t Space::watch(std::uint64_t address, const char* who) {
  Page* const page = tables_.find(address, false);
  if (!page) end(std::string(who) + " reads " + hex(address) + ", where nothing is mapped");
  tables_.memory().refresh_now(*page, address);
  return read_word(address, who);
}

std::vector<std::byte> Space::read_mapped(std::uint64_t address, std::size_t most) {
  std::vector<std::byte> bytes;
  while (bytes.size() < most) {
    Page* const page = tables_.find(address, false);
    if (!page) break;
    const std::size_t part = std::min<std::size_t>(most - bytes.size(), kPage - address % kPage);
    bytes.insert(bytes.end(), page->data() + address % kPage, page->data() + address % kPage + part);
    address += part;
  }
  return bytes;
}

}  // namespace kiln::simulator
