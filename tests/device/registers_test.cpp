// SPDX-License-Identifier: MIT
// How many registers a hardware thread gets: as given, 128, 256, or what spills less.
#include "build/registers.hpp"

#include "cache/fixture.hpp"
#include "device_test.hpp"

namespace kiln::test {
namespace {

struct Use {
  std::uint32_t spill = 0;  // bytes a hardware thread
  std::uint32_t largest_group = 0;
};

Use use_of(const Bundle& bundle) {
  const Kernel kernel = need(bundle.module().kernel("spills"));
  const KernelProperties properties = need(kernel.get().properties());
  return {properties.spill_memory, properties.max_group_size.value_or(device().compute.max_total_group_size)};
}

Bundle load(Registers registers, Cache* cache = nullptr, const std::string& flags = "",
            std::uint32_t limit = 0) {
  BundleOptions options{flags};
  options.registers = registers;
  options.spill_limit = limit;
  return need(Bundle::load(device(), {test_kernel("registers.spv")}, options, cache));
}

}  // namespace

TEST_CASE("registers: what spills less is kept, told, and remembered") {
  const Use given = use_of(load(Registers::as_given)), more = use_of(load(Registers::r256));
  const bool better = more.spill < given.spill;
  const TestFolder scratch;
  CacheOptions options;
  options.folder = scratch.path();
  options.memory_size = 0;
  for (int time = 0; time < 2; ++time) {
    Cache cache = Cache::open(options);
    Bundle bundle = load(Registers::automatic, &cache);
    CHECK(bundle.origin() == (time == 0 ? BinaryOrigin::jit : BinaryOrigin::cache));
    CHECK(cache.counts().compilations == (time == 0 ? 1 : 0));
    CHECK(bundle.registers() == (better ? Registers::r256 : Registers::as_given));
    CHECK(use_of(bundle).spill == std::min(more.spill, given.spill));
    const std::string& choice = bundle.register_choice();
    CHECK(choice.empty() == (given.spill == 0));
    if (given.spill == 0) continue;
    CHECK(choice.find(std::to_string(given.spill) + " B a hardware thread") != choice.npos);
    CHECK(choice.find("registers of 32 bits a lane") != choice.npos);
    // Twice the registers may be half the group; the check has the limit of what was chosen.
    CheckedKernel* kernel = need(bundle.kernel("spills"));
    const std::uint32_t largest = use_of(bundle).largest_group;
    HostBuffer memory = need(context().allocate_shared(device().device, 1 << 20));
    CommandList list = immediate_list();
    need(launch(list.get(), *kernel, {{1}, {largest}}, memory, memory, 1));
    const auto refused = launch(list.get(), *kernel, {{1}, {largest * 2}}, memory, memory, 1);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
  }
  MESSAGE(given.spill << " B spilled as given, " << more.spill << " B with 256 registers");
}

TEST_CASE("registers: a limit, 128, and flags that say it") {
  const Use given = use_of(load(Registers::as_given));
  const Bundle patient = load(Registers::automatic, nullptr, "", given.spill);
  CHECK(patient.registers() == Registers::as_given);
  CHECK(patient.register_choice().empty());
  CHECK(use_of(patient).spill == given.spill);
  CHECK(use_of(load(Registers::r128)).spill >= given.spill);
  const Bundle flagged = load(Registers::automatic, nullptr, "-cl-intel-128-GRF-per-thread");
  CHECK(flagged.registers() == Registers::as_given);
  CHECK(flagged.register_choice().empty());
  const bool has_256 = !is_kilns_own() && device().properties.threads_per_eu != 7;
  CHECK(load(Registers::r256).registers() == (has_256 ? Registers::r256 : Registers::as_given));
  if (has_256 || is_kilns_own()) return;
  const Bundle alone = load(Registers::automatic);  // told, and not built twice
  CHECK(alone.registers() == Registers::as_given);
  CHECK(alone.register_choice().ends_with("; the device has 128 alone"));
}

TEST_CASE("registers: which build is better") {
  using namespace kiln::detail;
  const RegisterUse none{true}, some{true, false, "f", 512, 16}, much{true, false, "g", 16384, 32}, failed{},
      refused{false, true}, useless{true, true};
  CHECK(!wants_registers(none, 0));
  CHECK(wants_registers(some, 0));
  CHECK(wants_registers(some, 511));
  CHECK(!wants_registers(some, 512));
  CHECK(!wants_registers(failed, 0));
  CHECK(wants_registers(refused, UINT32_MAX));
  CHECK(wants_registers(useless, UINT32_MAX));
  CHECK(is_better(none, some));
  CHECK(is_better(some, much));
  CHECK(!is_better(some, some));
  CHECK(!is_better(much, some));
  CHECK(!is_better(failed, much));
  CHECK(!is_better(failed, refused));
  CHECK(is_better(much, refused));
  CHECK(is_better(much, useless));
  CHECK(is_better(useless, refused));
  CHECK(!is_better(useless, some));
  CHECK(!is_better(useless, useless));
  // Bytes of a hardware thread are for all its lanes.
  CHECK(spill_text(much) == "`g` spills 16384 B a hardware thread, 128 registers of 32 bits a lane");
  CHECK(spill_text(some).find(", 8 registers") != std::string::npos);
  CHECK(with_registers("", Registers::r256) == "-ze-opt-large-register-file");
  CHECK(with_registers("-g", Registers::r128) == "-g -cl-intel-128-GRF-per-thread");
  CHECK(with_registers("-g", Registers::automatic) == "-g");
  CHECK(with_registers("-ze-exp-register-file-size=128", Registers::r256) ==
        "-ze-exp-register-file-size=128");
}

}  // namespace kiln::test
