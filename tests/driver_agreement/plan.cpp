// SPDX-License-Identifier: MIT
// How often what is drawn: ordinary kernels by the dozen, and alone those that refuse a whole module.
#include "driver_agreement/plan.hpp"

#include <algorithm>

namespace kiln::agreement {
namespace {

constexpr std::uint32_t kElements[] = {1, 2, 4, 8, 16, 32, 64, 128};  // bytes
constexpr std::int64_t kOffsets[] = {-1040, -1025, -1024, -1023, -129, -64, -17, -16,  -4,   -1,
                                     0,     1,     4,     15,    16,   64,  128, 1023, 1024, 1025};

/// Around a limit, below it, or far above.
std::uint64_t near(Draw& draw, std::uint64_t limit) {
  switch (draw.between(0, 9)) {
    case 0:
      return draw.between(0, 64);
    case 1:
    case 2:
      return draw.between(1, std::max<std::uint64_t>(limit, 1));
    case 3:
      return limit + draw.between(1, limit + 4096);
    case 4:
      return limit / 2 + draw.of(kOffsets) + 1040;
    default:
      return limit + 1040 < 1040 * 2 ? limit : limit + draw.of(kOffsets);
  }
}

void add_arrays(Draw& draw, KernelPlan& kernel, std::uint64_t most) {
  const auto arrays = draw.between(1, 3);
  for (std::uint64_t i = 0; i < arrays; ++i) {
    const std::uint32_t element = draw.of(kElements);
    const auto count = draw.between(1, std::max<std::uint64_t>(most / arrays / element, 1));
    kernel.arrays.push_back({element, static_cast<std::uint32_t>(count), !draw.one_in(8)});
  }
}

std::array<std::uint32_t, 3> draw_required(Draw& draw, std::uint64_t items) {
  const auto x = static_cast<std::uint32_t>(1u << draw.between(0, 6));
  const auto y = static_cast<std::uint32_t>(draw.between(1, std::max<std::uint64_t>(items / x, 1)));
  const auto z = static_cast<std::uint32_t>(std::max<std::uint64_t>(items / x / y, 1));
  return {x, y, z};
}

KernelPlan draw_kernel(Draw& draw, const Aim& aim) {
  KernelPlan kernel;
  if (draw.one_in(2)) add_arrays(draw, kernel, draw.one_in(3) ? aim.slm : aim.slm / 8);
  for (auto locals = draw.one_in(3) ? 0 : draw.between(1, 4); locals; --locals)
    kernel.locals.push_back({draw.of(kElements), !draw.one_in(8)});
  kernel.values = static_cast<std::uint32_t>(draw.between(0, 3));
  if (draw.one_in(5)) kernel.required_group_size = draw_required(draw, draw.between(1, aim.group_size));
  if (draw.one_in(3)) kernel.required_sub_group_size = aim.smallest_sub_group << draw.between(0, 1);
  if (draw.one_in(100)) kernel.required_sub_group_size = draw.of<std::uint32_t>({8, 16, 32});
  if (draw.one_in(6)) kernel.private_words = static_cast<std::uint32_t>(1u << draw.between(4, 16));
  if (draw.one_in(6)) kernel.live_words = static_cast<std::uint32_t>(draw.between(50, 250));
  kernel.barrier = draw.one_in(2);
  kernel.device_barrier = draw.one_in(10);
  return kernel;
}

}  // namespace

ModulePlan draw_module(Draw& draw, const Aim& aim) {
  ModulePlan module;
  module.large_registers = draw.one_in(4);
  const bool alone = draw.one_in(2);
  for (auto count = alone ? 1 : draw.between(2, 6); count; --count)
    module.kernels.push_back(draw_kernel(draw, aim));
  if (alone) {  // one that may be refused as a whole
    KernelPlan& kernel = module.kernels.front();
    switch (draw.between(0, 6)) {
      case 0: {
        const std::uint32_t element = draw.of(kElements);
        kernel.arrays = {{element, static_cast<std::uint32_t>(near(draw, aim.slm) / element + 1)}};
        break;
      }
      case 1:
        kernel.required_group_size = draw_required(draw, near(draw, aim.group_size) + 1);
        break;
      case 2:
      case 5:
        kernel.private_words = static_cast<std::uint32_t>(draw.between(1, 1u << draw.between(10, 25)));
        break;
      case 3:
        kernel.values = static_cast<std::uint32_t>(draw.between(500, 520));
        break;
      case 4:
        kernel.required_sub_group_size = draw.of<std::uint32_t>({8, 16, 32});
        break;
      default:
        kernel.live_words = static_cast<std::uint32_t>(draw.between(200, 1500));
    }
  }
  for (std::size_t i = 0; i < module.kernels.size(); ++i) module.kernels[i].name = "k" + std::to_string(i);
  return module;
}

LaunchPlan draw_launch(Draw& draw, const Aim& aim, const KernelFacts& facts, std::size_t locals) {
  LaunchPlan launch;
  const auto& required = facts.required_group_size;
  Extent& size = launch.shape.group_size;
  if (required[0] && !draw.one_in(4)) {
    size = {required[0], required[1], required[2]};
  } else {
    const auto items = std::max<std::uint64_t>(draw.one_in(2) ? near(draw, aim.group_size) : 16, 1);
    const auto shape = draw_required(draw, items);
    size = {shape[0], shape[1], shape[2]};
    if (draw.one_in(3)) size = {static_cast<std::uint32_t>(items)};
    if (draw.one_in(30)) size.y = 0;
    if (draw.one_in(60)) size = {65536, 65536, 1};
  }
  std::uint64_t room = locals ? near(draw, aim.slm - std::min(facts.static_slm, aim.slm)) : 0;
  for (std::size_t i = 0; i < locals; ++i) {
    const std::uint64_t bytes = i + 1 == locals ? room : draw.between(0, room);
    launch.local_bytes.push_back(bytes);
    room -= bytes;
  }
  if (locals && draw.one_in(50)) launch.local_bytes[0] = (std::uint64_t{1} << 32) + draw.between(0, 64);
  Extent& groups = launch.shape.groups;
  groups.x = static_cast<std::uint32_t>(draw.between(1, 64));
  if (draw.one_in(8))
    groups = {draw.of<std::uint32_t>({0, 1, 65535, 65536, UINT32_MAX}),
              draw.of<std::uint32_t>({0, 1, 65536})};
  return launch;
}

}  // namespace kiln::agreement
