// SPDX-License-Identifier: MIT
// Walks the page tables.
#include "drivers/simulator/memory/tables.hpp"

#include <cstring>
#include <mutex>

namespace kiln::simulator {
namespace {

constexpr std::uint64_t kPresent = 1, kWritable = 2;
constexpr std::uint64_t kAddress = 0x0000'ffff'ffff'f000;
constexpr std::size_t kMostTables = std::size_t{1} << 20;  // each of 4 KiB
constexpr std::size_t kMostOwnPages = std::size_t{1} << 16;

}  // namespace

tl::expected<void, std::string> Tables::write(std::uint64_t physical, std::span<const std::byte> bytes,
                                              bool whole) {
  if (whole && bytes.size() == 8 && physical % 8 == 0 && physical >= kLevel4) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data(), 8);
    const std::scoped_lock lock(mutex_);
    auto& table = tables_[physical / kPage];
    if (!table) {
      if (tables_.size() > kMostTables) return tl::unexpected(std::string("too many page tables"));
      table = std::make_unique<std::array<std::uint64_t, 512>>();
    }
    std::uint64_t& old = (*table)[physical % kPage / 8];
    if (old == value) return {};
    old = value;
    if (physical >= kLevel1 && physical < kLevel1End) {
      const std::uint64_t page = (physical - kLevel1) / 8;
      virtual_pages_[(value & kAddress) / kPage] = page;
      found_.erase(page);
    } else {
      found_.clear();
    }
    return {};
  }
  std::uint64_t page = 0;
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = virtual_pages_.find(physical / kPage); found != virtual_pages_.end())
      page = found->second;
  }
  if (page != 0) {
    if (memory_.upload(page * kPage + physical % kPage, bytes)) return {};
    return tl::unexpected(std::string("more memory than the simulated GPU has"));
  }
  const std::scoped_lock lock(mutex_);
  auto& own = own_[physical / kPage];
  if (!own) {
    if (own_.size() > kMostOwnPages) return tl::unexpected(std::string("too many pages outside page tables"));
    own = std::make_unique<std::array<std::byte, kPage>>();
  }
  std::memcpy(own->data() + physical % kPage, bytes.data(), bytes.size());
  return {};
}

Page* Tables::read(std::uint64_t physical, std::span<std::byte> to) {
  std::uint64_t page = 0;
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = virtual_pages_.find(physical / kPage); found != virtual_pages_.end())
      page = found->second;
    else if (const auto own = own_.find(physical / kPage); own != own_.end())
      std::memcpy(to.data(), own->second->data() + physical % kPage, to.size());
  }
  return page != 0 ? memory_.download(page * kPage + physical % kPage, to) : nullptr;
}

bool Tables::knows(std::uint64_t physical) {
  const std::shared_lock lock(mutex_);
  return virtual_pages_.contains(physical / kPage) || own_.contains(physical / kPage);
}

void Tables::name(std::uint64_t physical, std::uint64_t address) {
  if (address >= kProgramEnd || address % kPage != physical % kPage || !memory_.share(address)) return;
  const std::scoped_lock lock(mutex_);
  virtual_pages_[physical / kPage] = address / kPage;
}

void Tables::write_gtt(std::uint64_t index, std::uint64_t entry) {
  const std::scoped_lock lock(mutex_);
  if (gtt_.size() <= kMostOwnPages || gtt_.contains(index)) gtt_[index] = entry;
}

void Tables::set_root(std::uint64_t physical) {
  const std::scoped_lock lock(mutex_);
  if (root_ == physical) return;
  root_ = physical;
  found_.clear();
}

std::optional<std::uint64_t> Tables::entry(std::uint64_t table, std::uint64_t index) const {
  const auto found = tables_.find((table & kAddress) / kPage);
  if (found == tables_.end()) return {};
  const std::uint64_t value = (*found->second)[index];
  return value & kPresent ? std::optional(value) : std::nullopt;
}

Page* Tables::find(std::uint64_t address, bool write) {
  const std::uint64_t number = (address & 0x0000'ffff'ffff'ffff) / kPage;
  Leaf leaf{};
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = found_.find(number); found != found_.end()) leaf = found->second;
  }
  if (!leaf.page) {
    const std::scoped_lock lock(mutex_);
    std::uint64_t value = root_;
    int level = 3;
    for (; level >= 0; --level) {
      const auto next = entry(value, number >> (9 * level) & 511);
      if (!next) break;
      value = *next;
    }
    if (level >= 0) {
      // The driver maps what it uploads for the engine that it uploads it to, most of it once, and another
      // engine may use it: hardware has one address space for all. What the program shares is the same in
      // each.
      if (number * kPage < kProgramEnd) leaf = {memory_.known_page(number * kPage), true};
    } else {
      // The last entry names a physical page, which is that of this virtual page alone.
      const auto owner = virtual_pages_.find((value & kAddress) / kPage);
      if (owner == virtual_pages_.end() || owner->second != number) return nullptr;
      leaf = {memory_.page(number * kPage), (value & kWritable) != 0};
      if (leaf.page) found_[number] = leaf;
    }
    if (!leaf.page) return nullptr;
  }
  if (write && !leaf.writable) return nullptr;
  memory_.refresh(*leaf.page, number * kPage);
  if (write) leaf.page->begin_write();
  return leaf.page;
}

std::byte* Tables::find_global(std::uint64_t address) {
  const std::shared_lock lock(mutex_);
  const auto entry = gtt_.find(address / kPage);
  if (entry == gtt_.end() || !(entry->second & kPresent)) return nullptr;
  const auto own = own_.find((entry->second & 0x7fff'ffff'f000) / kPage);
  return own == own_.end() ? nullptr : own->second->data() + address % kPage;
}

}  // namespace kiln::simulator
