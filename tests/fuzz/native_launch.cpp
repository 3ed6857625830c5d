// SPDX-License-Identifier: MIT
// Fuzz target: a native file as the CPU device takes it: read, linked, laid out by what it says, and
// executed.
#include <algorithm>

#include "fuzz/input.hpp"
#include "kiln/binary.hpp"
#include "xe/native/launch.hpp"

namespace {

class NoMemory : public kiln::xe::Bus {
 public:
  kiln::xe::Stretch reach(std::uint64_t, bool) override { return {}; }
  std::optional<kiln::xe::Surface> surface(kiln::xe::SurfaceKind, std::uint32_t) override {
    return std::nullopt;
  }
  std::uint64_t general_state_base() override { return 0; }
  std::uint64_t ticks() override { return 1; }
};

}  // namespace

FUZZ_TARGET(native_launch) {
  using namespace kiln;
  const auto file = fuzz::bytes(data, size);
  const auto parts = read_parts(file);
  if (parts.size() != 1 || !parts[0].facts || parts[0].format != BinaryFormat::elf) return 0;
  const Target* made_for = target_of(parts[0]);
  const auto module = xe::NativeModule::read(made_for ? *made_for : *find_target("dg2"), file);
  if (!module) {
    fuzz::claim(!module.error().empty(), "a refusal has a text");
    return 0;
  }
  constexpr std::size_t kKernels = 4;
  for (std::size_t i = 0; i < std::min((*module)->kernels().size(), kKernels); ++i) {
    const std::vector<xe::NativeArgument> arguments(8, {.value = file.first(std::min<std::size_t>(16, size)),
                                                        .address = 0x10000,
                                                        .bytes = 64,
                                                        .local_bytes = 64});
    for (const std::uint32_t items : {1u, 40u, 1024u}) {
      const auto launch = xe::NativeLaunch::make(*module, i, {.local = {items, 1, 1}}, arguments, 1);
      if (!launch) {
        fuzz::claim(!launch.error().empty(), "a refusal has a text");
        continue;
      }
      NoMemory memory;
      xe::NativeLaunch::Worker worker(**launch, 0, memory, {.instructions = 500});
      const auto fault = worker.run({1, 2, 3});
      fuzz::claim(!fault || !fault->text.empty(), "a fault has a text");
    }
  }
  return 0;
}
