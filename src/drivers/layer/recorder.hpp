// SPDX-License-Identifier: MIT
// Records the program's calls: a ring without a lock, in memory of the layer, which with `--record` is a
// file's.
#pragma once

#include <level_zero/ze_api.h>

#include <atomic>
#include <cstring>
#include <string>

#include "drivers/layer/known.hpp"
#include "kiln/diagnostic.hpp"
#include "record/format.hpp"

namespace kiln::layer {

/// A file that is mapped takes its place.
inline constinit record::Image recorded{};

/// A call that begins. Before the driver hears of it, which may end the process. Of calls that come at the
/// same time each has a place of its own; who reads while they are written may see one that is half
/// another's, or in the file of a process that died, knows by its number that it is.
class Recording {
 public:
  [[gnu::always_inline]] Recording(record::Call call, const void* object) {
    number_ = std::atomic_ref(recorded.header.calls).fetch_add(1, std::memory_order_relaxed);
    record::Slot* calls = recorded.calls;
    asm("" : "+r"(calls));  // else each member's address is worked out anew
    slot_ = &calls[number_ % record::kCalls];
    slot_->call = call;
    slot_->result = record::kInside;
    slot_->thread = thread();
    slot_->object = of(object);
  }

  [[gnu::always_inline]] void set(const void* other, const void* more) const {
    slot_->other = of(other);
    slot_->more = of(more);
  }
  [[gnu::always_inline]] void set_bytes(std::uint64_t bytes, ze_event_handle_t signal = nullptr) const {
    slot_->other = bytes;
    slot_->more = of(signal);
  }
  void set_name(std::uint32_t name) const { slot_->name = name; }
  void set_numbers(std::uint32_t x, std::uint32_t y) const {
    slot_->x = x;
    slot_->y = y;
  }
  /// No groups: the device reads how many from memory.
  [[gnu::always_inline]] void set_launch(const KnownKernel& kernel, const ze_group_count_t* groups,
                                         ze_event_handle_t signal) const {
    slot_->other = of(signal);
    slot_->more = kernel.packed_size;
    slot_->name = kernel.recorded_name;
    static_assert(sizeof *groups == 3 * sizeof slot_->x);
    if (groups)
      std::memcpy(&slot_->x, groups, sizeof *groups);
    else
      std::memset(&slot_->x, 0, sizeof *groups);
  }
  void set_group_size(const Extent& size) const { slot_->more = packed(size); }

  /// All is written. Until then the number is that of the call that had the place before.
  [[gnu::always_inline]] void begin() const {
    std::atomic_ref(slot_->number).store(number_, std::memory_order_release);
  }

  /// Not where so many calls of others came in the meantime that the place is another's.
  [[gnu::always_inline]] void end(ze_result_t code) const {
    if (slot_->thread == thread()) [[likely]]
      slot_->result = static_cast<std::uint32_t>(code);
  }
  /// Of a wait. One that is not over gives its place back, unless another call has come: a program that asks
  /// again and again would drive out all else.
  void end_wait(ze_result_t code) const {
    std::uint64_t next = number_ + 1;
    if (code != ZE_RESULT_NOT_READY ||
        !std::atomic_ref(recorded.header.calls)
             .compare_exchange_strong(next, number_, std::memory_order_relaxed))
      end(code);
  }
  /// With what the driver made.
  void end(ze_result_t code, const void* object) const {
    if (code == ZE_RESULT_SUCCESS && slot_->thread == thread()) slot_->object = of(object);
    end(code);
  }

 private:
  static std::uint64_t of(const void* address) { return reinterpret_cast<std::uint64_t>(address); }
  /// Volatile, so that it is read again after the call, and no register kept for it.
  [[gnu::always_inline]] static std::uint64_t thread() {
    std::uint64_t pointer;
    asm volatile("mov %%fs:0, %0" : "=r"(pointer));
    return pointer;
  }

  record::Slot* slot_;
  std::uint64_t number_;
};

/// Begins to record into the file that the environment names, if it does: in that very file the first process
/// that comes, in FILE.PROCESS those after it. What is wrong with it is told.
void start_recording();

/// For calls that make lists and modules: a child of fork() begins a file of its own here.
void record_child();

/// In a child of fork(): what it does is none of its parent's, whose file it must not touch.
void forget_recorded();

/// At the end of the process, by exit().
void recording_ended();

/// Of a status that was asked for: that the work before it is done, or why not. The answer of the call
/// before is not recorded again.
void record_status(record::Call call, const void* object, ze_result_t code);

/// Of a list or queue that was destroyed.
void record_destroyed(const void* handle);

/// Of a list or queue that was made.
void record_list(const void* handle, std::uint32_t flags);

/// The place of a name in the record, for as long as the process lives. 0: there is no room. Thread-safe.
[[nodiscard]] std::uint32_t recorded_name(const std::string& name);

/// The work that came last, as rows, to what is told of a lost device; the record has it, too, that it is.
void record_lost(Diagnostic& diagnostic);

}  // namespace kiln::layer
