// SPDX-License-Identifier: MIT
// Messages: what all have in common, blocks, and barriers. Those of lanes are in send_lanes.cpp.
#include "xe/unit/message/send.hpp"

#include <cinttypes>

#include "xe/unit/group.hpp"

namespace kiln::xe {
namespace {

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIx64, value);
  return text;
}

void carry_out(Thread& thread, const Op& op, const Form& form) {
  switch (form.kind) {
    case Form::Kind::load:
    case Form::Kind::store:
    case Form::Kind::atomic:
      return move_lanes(thread, op, form);
    case Form::Kind::block_load:
    case Form::Kind::block_store:
      return move_block(thread, op, form);
    case Form::Kind::plane_load:
    case Form::Kind::plane_store:
      return move_plane(thread, op, form);
    case Form::Kind::fence:  // each access is done before the next begins
      return;
    case Form::Kind::barrier:
      return signal_barrier(thread, op, form);
    case Form::Kind::end:
      return;
    case Form::Kind::unknown:
      break;
  }
  thread.fail(Fault::Kind::unknown, "a message that the execution unit does not have: " + form.why);
}

std::uint32_t word_of(const Thread& thread, std::uint32_t element) {  // a0.N:ud
  std::uint32_t word = 0;
  const std::uint32_t at = std::min<std::uint32_t>(element * 4, sizeof thread.registers.address - 4);
  std::memcpy(&word, reinterpret_cast<const std::byte*>(thread.registers.address) + at, sizeof word);
  return word;
}

}  // namespace

void send(Thread& thread, const Op& op) {
  if (op.ends && op.form && op.form->kind == Form::Kind::end) {
    thread.stop = Stop::ended;
    return;
  }
  // A message whose lanes are all off is not sent. Barriers and fences have no lanes.
  if (op.form) {
    carry_out(thread, op, *op.form);
  } else {
    const std::uint32_t descriptor =
        op.has_descriptor ? op.descriptor : word_of(thread, op.descriptor_address);
    const std::uint32_t extended = op.has_extended ? op.extended : word_of(thread, op.extended_address);
    Form form = decode_message(static_cast<Function>(op.unit), descriptor, extended, op.wide_offset, op.lanes,
                               thread.register_bytes, thread.group->older);
    if (op.has_offset) add_offset(form, op.has_extended ? extended : op.offset_bits, !op.has_extended);
    if (op.registers_more) form.sent_more = *op.registers_more;
    carry_out(thread, op, form);
  }
  if (op.ends && thread.stop == Stop::no) thread.stop = Stop::ended;
}

std::byte* Payload::place(const Place& from, std::uint32_t at, std::uint32_t size) {
  if (from.null || std::uint64_t{from.at} + at + size > thread_.general_bytes) {
    thread_.fail(Fault::Kind::code, "a message's registers lie beyond those that there are");
    return nullptr;
  }
  return thread_.registers.bytes() + from.at + at;
}

std::byte* Payload::in(std::uint32_t at, std::uint32_t size) {
  if (at + size <= sent_) return place(op_.sources[0], at, size);
  if (at >= sent_ && at + size <= sent_ + more_) return place(op_.sources[1], at - sent_, size);
  thread_.fail(Fault::Kind::code, "a message is shorter than what it asks for");
  return nullptr;
}

std::byte* Payload::out(std::uint32_t at, std::uint32_t size) {
  if (at + size <= received_) return place(op_.result, at, size);
  thread_.fail(Fault::Kind::code, "a message's answer is longer than its place");
  return nullptr;
}

std::optional<Range> range_of(Thread& thread, const Form& form) {
  Memory& memory = *thread.memory;
  switch (form.where) {
    case Form::Where::flat:
      return Range{};
    case Form::Where::slm:
      return Range{0, memory.slm().size(), true};
    case Form::Where::stateless:
      return Range{memory.general_state_base(), UINT64_MAX, false};
    case Form::Where::surface:
      break;
  }
  const Surface* surface = memory.surface(form.surface_kind, form.surface);
  if (!surface || !surface->buffer) {
    thread.fail(Fault::Kind::memory, std::string(surface ? "surface " : "there is no surface ") +
                                         hex(form.surface) + (surface ? " is no buffer" : ""));
    return std::nullopt;
  }
  if (surface->thread_bytes)
    return Range{surface->base + std::uint64_t{surface->thread_bytes} * thread.number, surface->thread_bytes,
                 false};
  return Range{surface->base, surface->size, false};
}

bool transfer(Thread& thread, const Range& range, std::uint64_t at, std::byte* data, std::uint32_t size,
              bool write, int lane) {
  if (range.slm) {
    const auto slm = thread.memory->slm();
    if (at > slm.size() || size > slm.size() - at) {
      thread.fail(Fault::Kind::memory,
                  "byte " + std::to_string(at) + " of shared local memory is beyond the " +
                      std::to_string(slm.size()) + " that the work-group has",
                  lane, at);
      return false;
    }
    if (write)
      std::memcpy(slm.data() + at, data, size);
    else
      std::memcpy(data, slm.data() + at, size);
    return true;
  }
  if (at > range.size || size > range.size - at) {  // of a surface: nothing is there
    if (!write) std::memset(data, 0, size);
    return true;
  }
  std::uint64_t missing = 0;
  const std::uint64_t address = range.base + at;
  if (write ? thread.memory->write(address, data, size, missing)
            : thread.memory->read(address, data, size, missing))
    return true;
  thread.fail(Fault::Kind::memory, "nothing is mapped at address " + hex(missing), lane, missing);
  return false;
}

void move_block(Thread& thread, const Op& op, const Form& form) {
  const std::uint32_t mask = thread.mask(op);
  if (mask == 0) return;
  const bool write = form.kind == Form::Kind::block_store;
  Payload payload(thread, op, form);
  std::uint64_t at = 0;
  const bool by_header = form.scratch || form.block_in_header;
  Form scratch;
  const Form* where = &form;
  if (by_header) {
    const std::byte* header = payload.in(0, 32);
    if (!header) return;
    std::uint32_t words[8];
    std::memcpy(words, header, sizeof words);
    if (form.scratch) {
      scratch = form;
      if (form.where == Form::Where::stateless)
        at = words[5] & ~0x3ffU;  // of the thread's own scratch space
      else
        scratch.surface = (words[5] & ~0x3ffU) >> 4;  // the state's place among surface states
      where = &scratch;
    } else {
      at = form.header_is_64 ? std::uint64_t{words[1]} << 32 | words[0]
                             : std::uint64_t{words[2]} * form.header_unit;
      if (form.base_in_header) at += words[5] & ~0x3ffU;  // a stack's frames: the thread's own scratch space
    }
  } else {
    const std::byte* address = payload.in(0, form.address_bytes);
    if (!address) return;
    std::memcpy(&at, address, form.address_bytes);
  }
  at = place_of(form, at + static_cast<std::uint64_t>(form.offset));
  const auto range = range_of(thread, *where);
  if (!range) return;
  const std::uint32_t grf = thread.register_bytes, header_bytes = form.sent * grf;
  const std::uint32_t size = form.elements * form.memory_bytes;
  if (thread.counts) count_block(thread, *range, at, size);
  if (form.register_bytes != form.memory_bytes) {  // each element in a word of its own
    for (std::uint32_t i = 0; i < form.elements; ++i) {
      std::byte* data = write ? payload.in(header_bytes + i * form.register_bytes, form.register_bytes)
                              : payload.out(i * form.register_bytes, form.register_bytes);
      if (!data) return;
      if (!write) std::memset(data, 0, form.register_bytes);
      if (!transfer(thread, *range, at + i * form.memory_bytes, data + (form.upper_half ? 2 : 0),
                    form.memory_bytes, write, 0))
        return;
    }
    return;
  }
  const std::uint32_t begin = form.high_half_of_register ? 16 : 0;
  std::byte* data = write ? payload.in(header_bytes + begin, size) : payload.out(begin, size);
  if (!data) return;
  if (!form.masked_words || op.all || !write) {
    static_cast<void>(transfer(thread, *range, at, data, size, write, -1));
    return;
  }
  for (std::uint32_t word = 0; word < size / 4; ++word)
    if (mask >> word % op.lanes & 1U)
      if (!transfer(thread, *range, at + 4 * word, data + 4 * std::size_t{word}, 4, write,
                    static_cast<int>(word % op.lanes)))
        return;
}

void signal_barrier(Thread& thread, const Op& op, const Form& form) {
  if (thread.mask(op) == 0) return;
  Payload payload(thread, op, form);
  const std::byte* header = payload.in(0, 12);
  if (!header) return;
  std::uint32_t word = 0;
  std::memcpy(&word, header + 8, sizeof word);
  GroupState& group = *thread.group;
  std::uint32_t id = 0, expected = group.threads;
  if (!group.older) {  // Xe-HP and later: which one, and how many come
    id = word & 31U;
    const std::uint32_t producers = word >> 16 & 255U, consumers = word >> 24;
    if ((word >> 14 & 3U) != 0 || producers != consumers) {
      thread.fail(Fault::Kind::unknown, "a barrier whose producers are not its consumers");
      return;
    }
    if (id != 0 && producers != 0) expected = producers;
  }
  Barrier& barrier = group.barriers[id];
  ++barrier.arrived;
  thread.waits_for[id] = barrier.generation + 1;
  if (barrier.arrived >= expected) {
    barrier.arrived = 0;
    ++barrier.generation;
  }
}

}  // namespace kiln::xe
