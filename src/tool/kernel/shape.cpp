// SPDX-License-Identifier: MIT
// Groups that cover what is asked for, to the last work-item.
#include "tool/kernel/shape.hpp"

#include <algorithm>

namespace kiln::tool {
namespace {

constexpr std::uint32_t kUsualGroup = 256;

std::string extent_words(const Extent& extent) {
  return std::to_string(extent.x) + "," + std::to_string(extent.y) + "," + std::to_string(extent.z);
}

/// The largest that divides: a multiple of 16 where there is one, as sub-groups like it.
std::uint32_t dividing_group(std::uint32_t items, std::uint64_t most) {
  std::uint32_t best = 1;
  for (std::uint32_t size = 1; size <= std::min<std::uint64_t>({kUsualGroup, most, items}); ++size)
    if (items % size == 0 && (size % 16 == 0 || best % 16 != 0)) best = size;
  return best;
}

std::optional<Extent> own_group(const KernelFacts& kernel) {
  for (const auto& size : {kernel.required_group_size, kernel.group_size_hint})
    if (size[0] != 0) return Extent{size[0], std::max(size[1], 1u), std::max(size[2], 1u)};
  return std::nullopt;
}

}  // namespace

Result<LaunchShape> choose_shape(const ShapeRequest& request, const KernelFacts& kernel,
                                 const LaunchLimits& limits, const std::vector<Bound>& bound,
                                 const Signature& signature) {
  const auto refuse = [&](std::string message, std::vector<std::string> help) {
    return tl::unexpected(wrong_arguments(std::move(message), std::move(help), signature));
  };
  if (request.groups && request.global)
    return refuse("--groups and --global say the same", {"leave one of them out"});
  std::optional<Extent> group = request.group ? request.group : own_group(kernel);
  if (request.groups) {
    if (!group)
      return refuse("--groups alone does not say how large a group is",
                    {"add --group X, or give --global X"});
    return LaunchShape{*request.groups, *group};
  }
  std::uint64_t longest = 0;
  for (const Bound& each : bound) {
    if (!each.is_buffer()) continue;
    if (each.items == 0 && !request.global)
      return refuse("how many elements `" + each.label + "` has is not known, as the type behind it is not",
                    {"say how many work-items there are to be: --global X, or --groups X --group Y"});
    longest = std::max(longest, each.items);
  }
  if (!request.global && (longest == 0 || longest > UINT32_MAX))
    return refuse("nothing says how many work-items there are to be",
                  {"give --global X, or --groups X --group Y"});
  const Extent global = request.global.value_or(Extent{static_cast<std::uint32_t>(longest)});
  if (!group) group = Extent{dividing_group(global.x, limits.max_group_size)};
  if (global.x % group->x != 0 || global.y % group->y != 0 || global.z % group->z != 0) {
    const auto up = [](std::uint32_t items, std::uint32_t size) {
      return items / size + (items % size != 0);
    };
    const Extent more{up(global.x, group->x), up(global.y, group->y), up(global.z, group->z)};
    const bool required = kernel.required_group_size[0] != 0;
    return refuse(
        extent_words(global) + " work-items are no whole number of groups of " + extent_words(*group),
        {required ? "the kernel takes groups of " + extent_words(*own_group(kernel)) +
                        " alone: give a --global of whole ones"
                  : "give a --group that divides them",
         "or --groups " + extent_words(more) + ", if the kernel looks after the surplus work-items itself"});
  }
  return LaunchShape{{global.x / group->x, global.y / group->y, global.z / group->z}, *group};
}

}  // namespace kiln::tool
