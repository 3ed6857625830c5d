// SPDX-License-Identifier: MIT
// Fuzz target: bytes as native code, decoded by libiga64 and executed by two threads on a little memory.
#include <array>

#include "fuzz/input.hpp"
#include "xe/unit/machine.hpp"

namespace {

/// Every address is one of a few pages that are used again and again.
class LittleBus : public kiln::xe::Bus {
 public:
  kiln::xe::Stretch reach(std::uint64_t address, bool) override {
    if (address >> 40 & 1) return {};
    const std::uint64_t within = address % bytes_.size();
    return {bytes_.data() + within, bytes_.size() - within};
  }
  std::optional<kiln::xe::Surface> surface(kiln::xe::SurfaceKind, std::uint32_t index) override {
    if (index % 4 == 3) return std::nullopt;
    return kiln::xe::Surface{.base = 0x1000, .size = 0x1000, .thread_bytes = index % 4 == 2 ? 0x400U : 0U};
  }
  std::uint64_t general_state_base() override { return 0x2000; }
  std::uint64_t ticks() override { return 1; }

 private:
  std::array<std::byte, 0x4000> bytes_{};
};

}  // namespace

FUZZ_TARGET(execution) {
  using namespace kiln;
  if (size < 9) return 0;
  constexpr std::array<std::string_view, 3> kProducts{"tgllp", "dg2", "pvc"};
  const auto product = data[0] % kProducts.size();
  const auto code = xe::Code::decode(*find_target(kProducts[product]), fuzz::bytes(data + 1, size - 1), 0);
  if (!code) return 0;  // without libiga64 there is nothing to run
  fuzz::claim((*code)->matches(fuzz::bytes(data + 1, size - 1), 0), "code is made of its own bytes");
  LittleBus bus;
  std::vector<xe::ThreadStart> threads(2);
  for (std::uint32_t i = 0; i < 2; ++i) {
    threads[i].payload.resize(512, static_cast<std::byte>(i + 1));
    threads[i].dispatch_mask = 0xffff >> i;
    threads[i].number = i;
  }
  const xe::Group group{.register_bytes = product == 2 ? 64U : 32U,
                        .slm_bytes = 1024,
                        .threads = threads,
                        .most_instructions = 3000};
  xe::Counts counts;
  const auto fault = xe::run_group(**code, group, bus, &counts);
  fuzz::claim(!fault || !fault->text.empty(), "a fault has a text");
  std::uint64_t executed = 0;
  for (const auto& [offset, each] : counts.at) executed += each.executed;
  fuzz::claim(executed <= 2 * 3000, "no more is executed than may be");
  return 0;
}
