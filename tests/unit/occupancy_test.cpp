// SPDX-License-Identifier: MIT
// Work-groups a core by threads, SLM and barriers; SLM as the hardware allocates it.
#include "kiln/occupancy.hpp"

#include <doctest/doctest.h>

using namespace kiln;

namespace {

CoreLimits core(std::string_view name) { return core_limits(*find_target(name)); }

KernelFacts compiled(std::uint32_t simd, std::uint32_t grf, std::uint32_t barriers = 0) {
  KernelFacts kernel;
  kernel.simd_size = simd;
  kernel.grf_count = grf;
  kernel.barrier_count = barriers;
  return kernel;
}

}  // namespace

TEST_CASE("SLM is allocated in steps that depend on the generation") {
  CHECK(allocated_slm(Generation::gen12lp, 0) == 0);
  CHECK(allocated_slm(Generation::gen12lp, 1) == 1 << 10);
  CHECK(allocated_slm(Generation::xe_hpg, 18432) == 32 << 10);
  CHECK(allocated_slm(Generation::xe_hpc, 18432) == 24 << 10);
  CHECK(allocated_slm(Generation::xe2, 49153) == 64 << 10);
  CHECK(allocated_slm(Generation::xe_hpc, 98305) == 128 << 10);
  CHECK(allocated_slm(Generation::xe_hpc, 131073) == 131073);  // above the largest step
  CHECK(allocated_slm(Generation::xe3, 131073) == 192 << 10);
  CHECK(allocated_slm(Generation::xe_hpg, 65537) == 65537);
  CHECK(allocated_slm(Generation::xe3p, UINT64_MAX) == UINT64_MAX);
}

TEST_CASE("registers and hardware threads of a core") {
  CHECK(threads_per_core(core("tgllp"), 128) == 112);
  CHECK(threads_per_core(core("dg2"), 0) == 128);
  CHECK(threads_per_core(core("dg2"), 256) == 64);
  CHECK(threads_per_core(core("pvc"), 128) == 64);
  CHECK(threads_per_core(core("ptl"), 96) == 80);
  CHECK(threads_per_core(core("ptl"), 128) == 64);
  CHECK(threads_per_core(core("ptl"), 192) == 40);
  CHECK(threads_per_core(core("ptl"), 256) == 32);
}

TEST_CASE("what limits the work-groups of a core") {
  const Occupancy threads = occupancy(compiled(16, 128), core("pvc"), 1024, 1024);
  CHECK(threads.groups_per_core == 1);
  CHECK(threads.threads_per_group == 64);
  CHECK(threads.limit == Resource::threads);
  CHECK(threads.percent() == 100);

  const Occupancy slm = occupancy(compiled(16, 128), core("pvc"), 64, 18432);
  CHECK(slm.groups_per_core == 5);
  CHECK(slm.slm_per_group == 24 << 10);
  CHECK(slm.limit == Resource::slm);
  CHECK(slm.percent() == 31);

  const Occupancy barriers = occupancy(compiled(32, 128, 16), core("pvc"), 32, 0);
  CHECK(barriers.groups_per_core == 2);
  CHECK(barriers.limit == Resource::barriers);

  // Two groups of 64 KiB share the 128 KiB of an Xe-HPG core.
  CHECK(occupancy(compiled(16, 128), core("dg2-g10"), 64, 65536).groups_per_core == 2);
  CHECK(occupancy(compiled(16, 128), core("dg2-g11"), 64, 65536).groups_per_core == 1);
  CHECK(occupancy(compiled(16, 128), core("dg2"), 64, 65537).groups_per_core == 1);
  CHECK(occupancy(compiled(16, 128), core("pvc"), 64, 1 << 20).groups_per_core == 0);
  CHECK(occupancy(compiled(8, 256), core("tgllp"), 512, 0).groups_per_core == 1);
  CHECK(occupancy(compiled(0, 0), core("pvc"), 64, 0).threads_per_core == 0);  // not compiled
  CHECK(occupancy(compiled(16, 128), core("pvc"), UINT64_MAX, 0).groups_per_core == 0);
}

TEST_CASE("cooperative launches: what each core has room for, and what the driver counts") {
  CoreLimits device = core("pvc");
  device.cores = 64;
  // Intel's driver 22.43 suggests 341 here, as if the SLM of all cores were one.
  CHECK(cooperative_groups(compiled(16, 128), device, 64, 18432) == 320);
  device = core("dg2-g10");
  device.cores = 32;
  CHECK(cooperative_groups(compiled(16, 128), device, 64, 65536) == 32);  // though two fit a core
}
