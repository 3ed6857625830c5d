// SPDX-License-Identifier: MIT
// Pages: what the program has, what the GPU wrote, and how the two come together.
#include "drivers/simulator/memory/memory.hpp"

#include <algorithm>
#include <cstring>

#include "drivers/simulator/memory/program.hpp"

namespace kiln::simulator {
namespace {
constexpr std::size_t kMostPages = std::size_t{4} << 20;  // 16 GiB
}

Page::Bytes& Page::bytes() {
  if (!data_) {
    data_ = std::make_unique<Bytes>();
    in_use_.fetch_add(1);
  }
  return *data_;
}

void Page::merge(std::size_t offset, std::span<const std::byte> bytes) {
  Bytes& own = this->bytes();
  if (!seen_) {
    std::memcpy(own.data() + offset, bytes.data(), bytes.size());
    return;
  }
  if (std::memcmp(seen_->data() + offset, bytes.data(), bytes.size()) == 0) return;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != (*seen_)[offset + i]) own[offset + i] = (*seen_)[offset + i] = bytes[i];
}

void Page::take(std::size_t offset, std::span<const std::byte> bytes) {
  const std::scoped_lock lock(mutex_);
  merge(offset, bytes);
}

void Page::take_from(pid_t process, std::uint64_t address) {
  std::array<std::byte, kPage> bytes;
  for (int attempt = 0; attempt < 4; ++attempt) {
    const std::uint32_t given = given_.load();
    if (on_their_way_.load() != 0 || !read_program(process, address, bytes)) return;
    const std::scoped_lock lock(mutex_);
    if (given_.load() != given || on_their_way_.load() != 0) continue;
    merge(0, bytes);
    return;
  }
}

void Page::begin_write() {
  if (written()) return;
  const std::scoped_lock lock(mutex_);
  if (!seen_) seen_ = std::make_unique<Bytes>(bytes());
  written_.store(true, std::memory_order_release);
}

void Page::give(std::size_t offset, std::span<std::byte> to) {
  const std::scoped_lock lock(mutex_);
  on_their_way_.fetch_add(1);
  given_.fetch_add(1);
  std::memcpy(to.data(), bytes().data() + offset, to.size());
  if (seen_) std::memcpy(seen_->data() + offset, to.data(), to.size());
}

void Page::have_bytes() {
  const std::scoped_lock lock(mutex_);
  bytes();
}

void Page::give_back(pid_t process, std::uint64_t address) {
  const std::scoped_lock lock(mutex_);
  if (!data_ || !of_program.load() || on_their_way_.load() != 0) return;
  Bytes now;
  // Of a page that cannot be read, now or any more, what the GPU wrote is kept.
  if (read_program(process, address, now) ? now != *data_ : seen_ && *seen_ != *data_) return;
  data_.reset();
  seen_.reset();
  written_.store(false);
  refreshed_.store(0);
  in_use_.fetch_sub(1);
}

std::shared_lock<std::shared_mutex> Memory::begin_submission() {
  if (process_ && in_use_.load() > give_back_above_.load())
    if (const std::unique_lock lock(submitting_, std::try_to_lock); lock.owns_lock()) give_back();
  submission_.fetch_add(1);
  return std::shared_lock(submitting_);
}

void Memory::give_back() {
  const std::shared_lock lock(mutex_);
  for (const auto& [number, page] : pages_) page->give_back(*process_, number * kPage);
  // Twice as many next time: a look at each page costs as much as reading it.
  give_back_above_.store(std::max(least_in_use_, 2 * in_use_.load()));
}

Page* Memory::page(std::uint64_t address) {
  const std::uint64_t number = address / kPage;
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = pages_.find(number); found != pages_.end()) return found->second.get();
  }
  const std::scoped_lock lock(mutex_);
  auto& place = pages_[number];
  if (!place && pages_.size() <= kMostPages) place = std::make_unique<Page>(in_use_);
  return place.get();
}

Page* Memory::known_page(std::uint64_t address) {
  const std::shared_lock lock(mutex_);
  const auto found = pages_.find(address / kPage);
  return found == pages_.end() ? nullptr : found->second.get();
}

bool Memory::share(std::uint64_t address) {
  if (const Page* const known = known_page(address)) return known->of_program.load();
  std::array<std::byte, 1> any;
  Page* const made = process_ && read_program(*process_, address, any) ? page(address) : nullptr;
  if (!made) return false;
  made->of_program.store(true);
  return true;
}

bool Memory::upload(std::uint64_t address, std::span<const std::byte> bytes) {
  Page* const target = page(address);
  if (!target) return false;
  if (process_ && address < kProgramEnd) {
    std::array<std::byte, kPage> now;
    const std::span<std::byte> same(now.data(), bytes.size());
    target->of_program.store(read_program(*process_, address, same) &&
                             std::memcmp(same.data(), bytes.data(), bytes.size()) == 0);
  }
  target->take(address % kPage, bytes);
  return true;
}

Page* Memory::download(std::uint64_t address, std::span<std::byte> to) {
  Page* const source = page(address);
  if (!source) return nullptr;
  const std::shared_lock in_use(submitting_);  // nothing is given back between the two
  refresh_now(*source, address);
  source->give(address % kPage, to);
  return source;
}

void Memory::refresh(Page& page, std::uint64_t address) {
  const std::uint32_t now = submission_.load();
  if (page.refreshed_.load(std::memory_order_acquire) == now) return;
  const std::scoped_lock lock(page.refreshing_);
  if (page.refreshed_.load() == now) return;
  refresh_now(page, address);
  page.refreshed_.store(now, std::memory_order_release);
}

void Memory::refresh_now(Page& page, std::uint64_t address) {
  if (process_ && page.of_program.load()) page.take_from(*process_, address & ~(kPage - 1));
  page.have_bytes();
}

}  // namespace kiln::simulator
