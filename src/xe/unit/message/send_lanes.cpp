// SPDX-License-Identifier: MIT
// Messages in which each lane has an address: loads, stores, atomic operations.
#include <bit>

#include "xe/unit/group.hpp"
#include "xe/unit/message/atomic.hpp"
#include "xe/unit/message/send.hpp"

namespace kiln::xe {
namespace {

/// Bytes that an item of `bytes` for each lane takes: whole registers.
std::uint32_t block_of(const Thread& thread, const Form& form, std::uint32_t bytes) {
  const std::uint32_t grf = thread.register_bytes, raw = form.lanes * bytes;
  return (raw + grf - 1) / grf * grf;
}

struct Addresses {
  std::uint64_t at[kMostLanes];
};

bool read_addresses(const Form& form, Payload& payload, std::uint32_t begin, std::uint32_t mask,
                    Addresses& to) {
  for (std::uint32_t left = mask; left; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    const std::byte* from = payload.in(begin + lane * form.address_bytes, form.address_bytes);
    if (!from) return false;
    std::uint64_t at = 0;
    std::memcpy(&at, from, form.address_bytes);
    to.at[lane] = place_of(form, at + static_cast<std::uint64_t>(form.offset));
  }
  return true;
}

/// A word of each lane; those of 8 and 16 bits in their lower bytes.
template <class T>
bool move_words(Thread& thread, const Range& range, const Addresses& addresses, std::uint32_t mask,
                std::uint32_t extra, std::byte* data, bool write) {
  for (std::uint32_t left = mask; left; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    const std::uint64_t at = addresses.at[lane] + extra;
    std::byte* item = data + lane * sizeof(T);
    if (!range.slm && at <= range.size && sizeof(T) <= range.size - at) {
      if (std::byte* host = thread.memory->reach(range.base + at, sizeof(T), write)) {
        if (write)
          std::memcpy(host, item, sizeof(T));
        else
          std::memcpy(item, host, sizeof(T));
        continue;
      }
    }
    if (!transfer(thread, range, at, item, sizeof(T), write, static_cast<int>(lane))) return false;
  }
  return true;
}

bool move_parts(Thread& thread, const Form& form, const Range& range, const Addresses& addresses,
                std::uint32_t mask, std::uint32_t extra, std::byte* data, bool write) {
  for (std::uint32_t left = mask; left; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    std::byte* item = data + std::size_t{lane} * form.register_bytes;
    if (!write) std::memset(item, 0, form.register_bytes);
    if (!transfer(thread, range, addresses.at[lane] + extra, item + (form.upper_half ? 2 : 0),
                  form.memory_bytes, write, static_cast<int>(lane)))
      return false;
  }
  return true;
}

std::byte* atomic_place(Thread& thread, const Range& range, std::uint64_t at, std::uint32_t bytes, int lane) {
  std::byte* place = nullptr;
  std::uint64_t address = at;
  if (range.slm) {
    const auto slm = thread.memory->slm();
    if (at <= slm.size() && bytes <= slm.size() - at) place = slm.data() + at;
  } else if (at <= range.size && bytes <= range.size - at) {
    address = range.base + at;
    place = thread.memory->reach(address, bytes, true);
  } else {
    return nullptr;  // beyond a surface: nothing happens
  }
  if (address % bytes != 0)
    thread.fail(Fault::Kind::memory, "an atomic operation at an address that is no multiple of its size",
                lane, address);
  else if (!place)
    thread.fail(Fault::Kind::memory,
                range.slm ? "an atomic operation beyond the shared local memory"
                          : "nothing is mapped where an atomic operation goes",
                lane, address);
  return thread.stop == Stop::fault ? nullptr : place;
}

void do_atomics(Thread& thread, const Op& op, const Form& form, const Range& range,
                const Addresses& addresses, std::uint32_t mask, std::uint32_t data_begin) {
  Payload payload(thread, op, form);
  const std::uint32_t operands = atomic_operands(form.atomic),
                      block = block_of(thread, form, form.register_bytes);
  std::uint64_t answers[kMostLanes] = {};
  for (std::uint32_t left = mask; left; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    std::uint64_t values[2] = {};
    for (std::uint32_t i = 0; i < operands; ++i) {
      const std::byte* from =
          payload.in(data_begin + i * block + lane * form.register_bytes, form.register_bytes);
      if (!from) return;
      std::memcpy(&values[i], from, form.memory_bytes);
    }
    std::byte* place =
        atomic_place(thread, range, addresses.at[lane], form.memory_bytes, static_cast<int>(lane));
    if (thread.stop == Stop::fault) return;
    // Of a compare and swap the expected value comes first.
    if (place) answers[lane] = do_atomic(form.atomic, place, form.memory_bytes, values[0], values[1]);
  }
  if (form.received == 0 || op.result.null) return;
  for (std::uint32_t left = mask; left; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    std::byte* to = payload.out(lane * form.register_bytes, form.register_bytes);
    if (!to) return;
    std::memcpy(to, &answers[lane], form.register_bytes);
  }
}

}  // namespace

void move_lanes(Thread& thread, const Op& op, const Form& form) {
  std::uint32_t mask = thread.mask(op);
  if (form.lanes < 32) mask &= (1U << form.lanes) - 1;
  if (mask == 0) return;
  Payload payload(thread, op, form);
  const std::uint32_t begin = form.header ? thread.register_bytes : 0;
  Addresses addresses;
  if (!read_addresses(form, payload, begin, mask, addresses)) return;
  auto range = range_of(thread, form);
  if (!range) return;
  if (form.base_in_header) {
    const std::byte* header = payload.in(0, 32);
    if (!header) return;
    std::uint32_t word = 0;
    std::memcpy(&word, header + 20, sizeof word);
    range->base += word & ~0x3ffU;
  }
  const std::uint32_t data_begin = begin + block_of(thread, form, form.address_bytes);
  if (thread.counts)
    count_lanes(thread, *range, addresses.at, mask, form.memory_bytes * form.elements,
                form.kind == Form::Kind::atomic);
  if (form.kind == Form::Kind::atomic)
    return do_atomics(thread, op, form, *range, addresses, mask, data_begin);
  const bool write = form.kind == Form::Kind::store;
  const std::uint32_t block = block_of(thread, form, form.register_bytes);
  std::uint32_t element = 0;
  for (std::uint32_t component = 0; component < 8; ++component) {
    if (!(form.components >> component & 1U)) continue;
    const std::uint32_t size = form.lanes * form.register_bytes;
    std::byte* data =
        write ? payload.in(data_begin + element * block, size) : payload.out(element * block, size);
    if (!data) return;
    const std::uint32_t extra = component * form.memory_bytes;
    bool done = false;
    if (form.memory_bytes != form.register_bytes)
      done = move_parts(thread, form, *range, addresses, mask, extra, data, write);
    else if (form.memory_bytes == 4)
      done = move_words<std::uint32_t>(thread, *range, addresses, mask, extra, data, write);
    else if (form.memory_bytes == 8)
      done = move_words<std::uint64_t>(thread, *range, addresses, mask, extra, data, write);
    else
      done = move_parts(thread, form, *range, addresses, mask, extra, data, write);
    if (!done) return;
    ++element;
  }
}

}  // namespace kiln::xe
