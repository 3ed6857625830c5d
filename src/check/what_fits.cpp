// SPDX-License-Identifier: MIT
// What would fit instead of a launch that does not, as values.
#include <cmath>

#include "check/largest.hpp"
#include "kiln/check.hpp"

namespace kiln {
namespace {

using detail::largest;

using Launched = std::span<const LaunchArgument>;

/// The same arguments with other sizes for the `__local` ones: does that fit?
template <class SizeOf>
bool fits_with(const KernelFacts& kernel, Launched arguments, std::uint64_t limit, SizeOf size_of) {
  std::vector<LaunchArgument> changed(arguments.begin(), arguments.end());
  for (LaunchArgument& argument : changed)
    if (argument.kind == ArgumentKind::local_pointer) argument.size = size_of(argument.size);
  return total_slm(kernel, changed) <= limit;
}

/// The edge of a square tile that an argument of that size holds, or 0.
std::uint64_t tile_edge(std::uint64_t bytes, std::uint64_t element) {
  if (element == 0 || bytes % element) return 0;
  const auto edge = static_cast<std::uint64_t>(std::llround(std::sqrt(static_cast<double>(bytes / element))));
  return edge * edge * element == bytes ? edge : 0;
}

/// When each work-item has the same whole number of bytes, a smaller group asks for less.
void fit_group(LaunchFit& fit, const KernelFacts& kernel, std::uint64_t limit, const LaunchShape& shape,
               Launched arguments) {
  const std::uint64_t group = total(shape.group_size);
  if (kernel.required_group_size[0] != 0 || group == 0) return;
  std::uint64_t per_item = 0;
  for (const LaunchArgument& argument : arguments) {
    if (argument.kind != ArgumentKind::local_pointer) continue;
    if (argument.size % group) return;
    per_item += argument.size / group;
  }
  if (per_item == 0) return;
  fit.local_bytes_per_item = per_item;
  fit.group_items = largest(group, [&](std::uint64_t n) {
    return fits_with(kernel, arguments, limit, [&](std::uint64_t size) { return size / group * n; });
  });
}

/// When every `__local` argument is a square tile of one edge, the largest edge that fits.
void fit_tile(LaunchFit& fit, const KernelFacts& kernel, std::uint64_t limit, Launched arguments) {
  std::uint64_t edge = 0, element = 0;
  std::uint32_t tiles = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].kind != ArgumentKind::local_pointer) continue;
    const std::uint64_t size = i < kernel.arguments.size() ? kernel.arguments[i].local_alignment : 0;
    const std::uint64_t this_edge = tile_edge(arguments[i].size, size);
    if (this_edge == 0 || (tiles && (this_edge != edge || size != element))) return;
    edge = this_edge, element = size, ++tiles;
  }
  if (tiles == 0) return;
  fit.tile_edge = largest(edge, [&](std::uint64_t n) {
    return fits_with(kernel, arguments, limit, [&](std::uint64_t) { return n * n * element; });
  });
  fit.tiles = tiles;
  fit.tile_element = element;
}

/// When elements of half the size fit: `half` for `float`, `float` for `double`. An argument's alignment
/// stands for the size of its elements.
void fit_type(LaunchFit& fit, const KernelFacts& kernel, std::uint64_t limit, Launched arguments) {
  std::uint64_t element = 0;
  for (std::size_t i = 0; i < arguments.size() && i < kernel.arguments.size(); ++i) {
    if (arguments[i].kind != ArgumentKind::local_pointer) continue;
    const std::uint64_t size = kernel.arguments[i].local_alignment;
    if ((size != 4 && size != 8) || (element && size != element) || arguments[i].size % size) return;
    element = size;
  }
  if (element != 0 && fits_with(kernel, arguments, limit, [](std::uint64_t size) { return size / 2; }))
    fit.element_size = element / 2;
}

}  // namespace

LaunchFit what_fits(const KernelFacts& kernel, const LaunchLimits& limits, const LaunchShape& shape,
                    std::span<const LaunchArgument> arguments) {
  LaunchFit fit;
  const auto& required = kernel.required_group_size;
  fit.group_items = limits.max_group_size;
  if (required[0] != 0) {
    fit.required_group_size = {required[0], required[1], required[2]};
    fit.group_items = total(*fit.required_group_size);
  }
  const std::uint64_t limit = limits.slm_per_group;
  if (kernel.static_slm > limit) {
    fit.group_items = 0;
    return fit;
  }
  bool dynamic = false;
  for (const LaunchArgument& argument : arguments) dynamic |= argument.kind == ArgumentKind::local_pointer;
  if (!dynamic) return fit;
  // Behind the static arrays, rounded up to 1024 bytes as a whole; where the total holds them already, it is
  // not told.
  if (kernel.slm_mode == SlmMode::compiler_resolved)
    fit.local_bytes = (limit - kernel.static_slm) / 1024 * 1024;
  if (total_slm(kernel, arguments) <= limit) return fit;
  const std::uint64_t most = fit.group_items;
  fit_group(fit, kernel, limit, shape, arguments);
  fit.group_items = std::min(fit.group_items, most);
  fit_tile(fit, kernel, limit, arguments);
  fit_type(fit, kernel, limit, arguments);
  return fit;
}

}  // namespace kiln
