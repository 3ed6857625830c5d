// SPDX-License-Identifier: MIT
// Handlers of messages.
#pragma once

#include "xe/unit/message/form.hpp"
#include "xe/unit/message/memory.hpp"
#include "xe/unit/thread.hpp"

namespace kiln::xe {

/// Decodes what stands in a0 where it must, and does what the message asks for.
void send(Thread& thread, const Op& op);

/// The registers of a message: two stretches of them as one payload, and the answer.
class Payload {
 public:
  Payload(Thread& thread, const Op& op, const Form& form)
      : thread_(thread),
        op_(op),
        grf_(thread.register_bytes),
        sent_(form.sent * grf_),
        more_(form.sent_more * grf_),
        received_(form.received * grf_) {}
  /// `size` bytes that lie `at` bytes into it; null: it is shorter, and the thread has failed.
  [[nodiscard]] std::byte* in(std::uint32_t at, std::uint32_t size);
  [[nodiscard]] std::byte* out(std::uint32_t at, std::uint32_t size);

 private:
  [[nodiscard]] std::byte* place(const Place& from, std::uint32_t at, std::uint32_t size);
  Thread& thread_;
  const Op& op_;
  std::uint32_t grf_, sent_, more_, received_;
};

/// Where messages of a form begin to count.
struct Range {
  std::uint64_t base = 0;
  std::uint64_t size = UINT64_MAX;  ///< bytes behind `base`; beyond them reads give 0
  bool slm = false;
};
[[nodiscard]] std::optional<Range> range_of(Thread& thread, const Form& form);

/// Compilers mark pointers to shared local memory by bit 28, so that none is 0; the hardware does not look at
/// it. Source: intel/intel-graphics-compiler, VALID_LOCAL_HIGH_BITS.
inline std::uint64_t place_of(const Form& form, std::uint64_t at) {
  constexpr std::uint64_t kLocalMark = 1 << 28;
  return form.where == Form::Where::slm ? at & ~kLocalMark : at;
}

void move_lanes(Thread& thread, const Op& op, const Form& form);
void move_block(Thread& thread, const Op& op, const Form& form);
void move_plane(Thread& thread, const Op& op, const Form& form);
void signal_barrier(Thread& thread, const Op& op, const Form& form);

/// Bytes between registers and memory; false: the thread has failed.
bool transfer(Thread& thread, const Range& range, std::uint64_t at, std::byte* data, std::uint32_t size,
              bool write, int lane);

}  // namespace kiln::xe
