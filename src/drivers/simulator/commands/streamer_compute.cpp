// SPDX-License-Identifier: MIT
// Commands of the compute pipeline, and how they become walks.
#include <bit>
#include <cstring>

#include "drivers/simulator/commands/streamer.hpp"
#include "drivers/simulator/ended.hpp"
#include "drivers/simulator/groups/dispatch.hpp"
#include "xe/native/local_ids.hpp"

// Fields by word and bits: hw_cmds_generated_*.inl of driver 22.43.
namespace kiln::simulator {
namespace {

std::uint64_t base_of(std::uint32_t low, std::uint32_t high) {
  return (std::uint64_t{high} << 32 | low) & 0x0000'ffff'ffff'f000;
}

constexpr std::uint32_t kMostThreads = 1023;

}  // namespace

void Streamer::base_address(Words words) {
  const auto set = [&](std::uint64_t& base, unsigned word) {
    if (words[word] & 1) base = base_of(words[word], words[word + 1]);
  };
  set(base_.general, 1);
  set(base_.surface, 4);
  set(base_.dynamic, 6);
  set(base_.indirect, 8);
  set(base_.instruction, 10);
  set(base_.bindless, 16);
}

bool Streamer::skipped(std::uint32_t first_word) const {
  return (first_word >> 8 & 1) && !(registers_.read(kPredicateResult) & 1);
}

void Streamer::dimensions(Words words, unsigned x, unsigned y, unsigned z, Walk& walk) const {
  if (words[0] >> 10 & 1)
    for (unsigned i = 0; i < 3; ++i) walk.end[i] = registers_.read(kDispatchDimension + 4 * i);
  else
    walk.end = {words[x], words[y], words[z]};
}

void Streamer::bases(Walk& walk, std::uint32_t table) const {
  walk.table = (base_.pool ? base_.tables : base_.surface) + table;
  walk.surface_base = base_.surface;
  walk.bindless_base = base_.bindless;
  walk.general_base = base_.general;
}

void Streamer::media_walker(Words words) {
  if (!machine_.model.media_walker) end("GPGPU_WALKER on a product that has none");
  if (skipped(words[0])) return;
  std::array<std::uint32_t, 8> descriptor{};
  space_.read(descriptors_ + 32 * (words[1] & 63), std::as_writable_bytes(std::span(descriptor)),
              "an interface descriptor");
  Walk walk;
  dimensions(words, 7, 10, 12, walk);
  walk.first = {words[5], words[8], words[11]};
  if ((words[4] >> 30) > 2) end("GPGPU_WALKER with an unknown SIMD width");
  walk.lanes = 8u << (words[4] >> 30);
  walk.threads = descriptor[6] & 0x3ff;
  walk.last_mask = words[13];
  walk.kernel = base_.instruction +
                ((std::uint64_t{descriptor[1] & 0xffff} << 32 | descriptor[0]) & ~std::uint64_t{63});
  walk.slm = slm_bytes(machine_.model, descriptor[6] >> 16 & 31);
  walk.rounding = descriptor[6] >> 22 & 3;
  bases(walk, descriptor[4] & 0xffe0);

  walk.header[3] = (descriptor[3] & ~31u) | (scratch_ & 15);
  walk.header[4] = descriptor[4] & 0xffe0;
  walk.header[5] = scratch_ & ~0x3ffu;
  // A thread's share is 1 KiB << the field; none where no scratch memory was given.
  walk.scratch_shift = scratch_ >> 10 != 0 ? 10 + (scratch_ & 15) : 0;

  const std::uint32_t shared = (descriptor[7] & 0xff) * machine_.model.register_bytes;
  walk.own_bytes = (descriptor[5] >> 16) * machine_.model.register_bytes;
  if (walk.threads == 0 || walk.threads > kMostThreads || walk.own_bytes > 4096)
    end("an interface descriptor with " + std::to_string(walk.threads) + " threads of " +
        std::to_string(walk.own_bytes) + " payload bytes");
  const std::uint64_t data = base_.indirect + (words[3] & ~63u);
  const std::uint32_t length = words[2] & 0x1ffff;
  if (length < shared) end("GPGPU_WALKER with less payload than its kernel takes");
  std::vector<std::byte> payload(length);
  space_.read(data, payload, "GPGPU_WALKER's payload");
  // A thread of a kernel that has no payload of its own takes one register all the same.
  payload.resize(shared + std::size_t{walk.own_bytes} * walk.threads);
  const auto behind = payload.begin() + shared;
  walk.shared.assign(payload.begin(), behind);
  walk.own.assign(behind, payload.end());
  dispatch(machine_, space_.tables(), walk);
}

void Streamer::compute_walker(Words words) {
  if (machine_.model.media_walker) end("COMPUTE_WALKER on a product that has none");
  if (skipped(words[0])) return;
  const Words descriptor = words.subspan(18, 8);
  Walk walk;
  dimensions(words, 7, 8, 9, walk);
  walk.first = {words[10], words[11], words[12]};
  if ((words[4] >> 30) > 2) end("COMPUTE_WALKER with an unknown SIMD width");
  walk.lanes = 8u << (words[4] >> 30);
  walk.threads = descriptor[5] & 0x3ff;
  walk.last_mask = words[5];
  walk.kernel =
      base_.instruction + ((std::uint64_t{descriptor[1]} << 32 | descriptor[0]) & ~std::uint64_t{63});
  walk.registers = many_registers_ ? 256 : 128;
  walk.slm = slm_bytes(machine_.model, descriptor[5] >> 16 & 31);
  walk.rounding = descriptor[5] >> 22 & 3;
  bases(walk, descriptor[4] & 0x1fffe0);
  if (walk.threads == 0 || walk.threads > kMostThreads)
    end("COMPUTE_WALKER with groups of " + std::to_string(walk.threads) + " threads");
  if (words[2] >> 30 != 0 || words[0] >> 9 & 1) end("COMPUTE_WALKER that divides its groups among tiles");

  walk.header[0] = words[3] & ~63u;
  walk.header[3] = descriptor[3] & ~31u;
  walk.header[4] = descriptor[4] & 0x1fffe0;
  walk.header[5] = scratch_ & ~0x3ffu;

  const std::uint32_t emitted = words[4] >> 26 & 7;
  if (emitted != 0) {
    const std::array<std::uint32_t, 3> sizes{(words[6] & 0x3ff) + 1, (words[6] >> 10 & 0x3ff) + 1,
                                             (words[6] >> 20 & 0x3ff) + 1};
    walk.own = xe::local_ids(sizes, words[4] >> 22 & 7, walk.lanes, walk.threads,
                             machine_.model.register_bytes, emitted);
    walk.own_bytes = static_cast<std::uint32_t>(walk.own.size() / walk.threads);
  }
  if (words[4] >> 25 & 1) {
    walk.shared.resize(32);
    std::memcpy(walk.shared.data(), &words[31], 32);
  }
  const std::vector<std::uint32_t> post(words.begin() + 26, words.begin() + 31);
  const std::uint64_t start = ticks();
  dispatch(machine_, space_.tables(), walk);
  post_sync(post, start);
}

void Streamer::post_sync(Words words, std::uint64_t start) {
  constexpr const char* kName = "COMPUTE_WALKER's post-sync operation";
  const std::uint64_t address = (std::uint64_t{words[2]} << 32 | words[1]) & 0x0000'ffff'ffff'fffc;
  switch (words[0] & 3) {
    case 0:
      return;
    case 1:
      return space_.write_long(address, std::uint64_t{words[4]} << 32 | words[3], kName);
    case 3: {
      // Of the context and of the device at the start, then both at the end.
      const std::array<std::uint32_t, 2> times{static_cast<std::uint32_t>(start),
                                               static_cast<std::uint32_t>(ticks())};
      for (unsigned i = 0; i < 4; ++i) space_.write_word(address + 4 * i, times[i / 2], kName);
      return;
    }
    default:
      end(std::string(kName) + " is unknown");
  }
}

}  // namespace kiln::simulator
