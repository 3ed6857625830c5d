// SPDX-License-Identifier: MIT
// A list that only grows; its places are used again.
#include "drivers/cpu/runtime/code_ranges.hpp"

#include <atomic>
#include <mutex>
#include <utility>

namespace kiln::cpu {

struct CodeRange::Place {
  std::atomic<std::uintptr_t> begin = 0, end = 0;
  Place* next = nullptr;
  bool used = true;
};

namespace {

std::mutex mutex;  // for those who add and remove
std::atomic<void*> first = nullptr;

}  // namespace

CodeRange::CodeRange(std::span<const std::byte> code) {
  const std::lock_guard lock(mutex);
  place_ = static_cast<Place*>(first.load());
  while (place_ != nullptr && place_->used) place_ = place_->next;
  if (place_ == nullptr) {
    place_ = new Place;
    place_->next = static_cast<Place*>(first.load());
    first = place_;
  }
  place_->used = true;
  place_->begin = reinterpret_cast<std::uintptr_t>(code.data());
  place_->end = reinterpret_cast<std::uintptr_t>(code.data() + code.size());
}

CodeRange::CodeRange(CodeRange&& other) noexcept : place_(std::exchange(other.place_, nullptr)) {}

CodeRange& CodeRange::operator=(CodeRange&& other) noexcept {
  std::swap(place_, other.place_);
  return *this;
}

CodeRange::~CodeRange() {
  if (place_ == nullptr) return;
  const std::lock_guard lock(mutex);
  place_->end = 0;
  place_->begin = 0;
  place_->used = false;
}

bool is_program_code(std::uintptr_t address) {
  for (auto* place = static_cast<const CodeRange::Place*>(first.load()); place != nullptr;
       place = place->next)
    if (address >= place->begin && address < place->end) return true;
  return false;
}

}  // namespace kiln::cpu
