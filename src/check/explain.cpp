// SPDX-License-Identifier: MIT
// The diagnostic of a refused launch: what was asked by what, what there is, what would fit.
#include <algorithm>
#include <cmath>

#include "check/common.hpp"
#include "kiln/check.hpp"

namespace kiln {
namespace {

using std::to_string;
using Arguments = std::span<const LaunchArgument>;

std::string text(const Extent& extent) {
  return to_string(extent.x) + " x " + to_string(extent.y) + " x " + to_string(extent.z);
}

std::string argument_label(const KernelFacts& kernel, std::size_t index) {
  std::string label = "argument " + to_string(index);
  if (index < kernel.arguments.size() && !kernel.arguments[index].name.empty())
    label += " `" + kernel.arguments[index].name + "`";
  return label;
}

const char* kind_name(ArgumentKind kind) {
  switch (kind) {
    case ArgumentKind::value:
      return "a value";
    case ArgumentKind::global_pointer:
      return "a device pointer or buffer";
    case ArgumentKind::local_pointer:
      return "LocalMemory";
    case ArgumentKind::image:
      return "an image (ze_image_handle_t)";
    case ArgumentKind::sampler:
      return "a sampler (ze_sampler_handle_t)";
    case ArgumentKind::other:
      return "something that nobody knows";
  }
  return "?";
}

void suggest_group(Diagnostic& diagnostic, const LaunchFit& fit) {
  if (fit.local_bytes_per_item == 0 || fit.group_items == 0) return;
  const std::string bytes = to_string(fit.local_bytes_per_item);
  diagnostic.rows.push_back(
      {"largest group with " + bytes + " B a work-item", "", fit.group_items, "work-items"});
  diagnostic.help.push_back("with the same " + bytes + " bytes a work-item, a group of at most " +
                            to_string(fit.group_items) + " work-items fits");
}

void suggest_tile(Diagnostic& diagnostic, const LaunchFit& fit, Arguments arguments) {
  if (fit.tile_edge == 0) return;
  const std::string count = fit.tiles == 1 ? "a square tile" : to_string(fit.tiles) + " square tiles";
  const auto tile = std::ranges::find(arguments, ArgumentKind::local_pointer, &LaunchArgument::kind);
  const auto edge = std::llround(std::sqrt(static_cast<double>(tile->size / fit.tile_element)));
  diagnostic.rows.push_back(
      {"largest edge of " + count, "", fit.tile_edge, "elements of " + to_string(fit.tile_element) + " B"});
  diagnostic.help.push_back(
      count + " of edge " + to_string(fit.tile_edge) + " instead of " + to_string(edge) +
      " fit: " + to_string(fit.tiles * fit.tile_edge * fit.tile_edge * fit.tile_element) +
      " bytes of `__local` arguments");
}

Diagnostic explain_slm(const KernelFacts& kernel, const LaunchLimits& limits, const LaunchShape& shape,
                       Arguments arguments) {
  const std::uint64_t total = total_slm(kernel, arguments), limit = limits.slm_per_group;
  Diagnostic diagnostic{"K0101",
                        detail::quoted(kernel) + " asks for " + to_string(total) +
                            " bytes of SLM a work-group, the device has " + to_string(limit),
                        {},
                        {}};
  if (kernel.static_slm) diagnostic.rows.push_back({"static `__local` arrays", "", kernel.static_slm, "B"});
  std::uint64_t named = kernel.static_slm;
  bool dynamic = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].kind != ArgumentKind::local_pointer) continue;
    diagnostic.rows.push_back({argument_label(kernel, i), "", arguments[i].size, "B"});
    named += arguments[i].size;
    dynamic = true;
  }
  if (total > named && dynamic)
    diagnostic.rows.push_back({"alignment, and rounding of the arguments to 1024 B", "", total - named, "B"});
  diagnostic.rows.push_back({"asked for in all", "", total, "B"});
  diagnostic.rows.push_back({"available a work-group", "", limit, "B"});
  if (kernel.static_slm > limit) {
    diagnostic.help.push_back("the static arrays alone are too large: make them at least " +
                              to_string(kernel.static_slm - limit) + " bytes smaller");
    return diagnostic;
  }
  const LaunchFit fit = what_fits(kernel, limits, shape, arguments);
  suggest_group(diagnostic, fit);
  suggest_tile(diagnostic, fit, arguments);
  if (fit.element_size != 0)
    diagnostic.help.push_back("as many elements of " + to_string(fit.element_size) + " instead of " +
                              to_string(fit.element_size * 2) + " bytes fit");
  if (fit.local_bytes)
    diagnostic.help.push_back("give the `__local` arguments at most " + to_string(*fit.local_bytes) +
                              " bytes in all, alignment included");
  diagnostic.help.push_back("the SLM of a device is fixed: no driver setting enlarges it");
  return diagnostic;
}

Diagnostic explain_group_size(const KernelFacts& kernel, const LaunchLimits& limits,
                              const LaunchShape& shape) {
  const std::uint64_t asked = total(shape.group_size);
  const bool too_many = asked > limits.max_group_size;  // else one dimension is too large
  Diagnostic diagnostic{"K0102",
                        detail::quoted(kernel) + " is launched with " +
                            (too_many ? to_string(asked) + " work-items a group, at most " +
                                            to_string(limits.max_group_size) + " fit"
                                      : "a group of " + text(shape.group_size) + " work-items, at most " +
                                            text(limits.max_group_extent) + " fit"),
                        {},
                        {}};
  diagnostic.rows = {{"group size asked for", text(shape.group_size)},
                     {"work-items asked for", "", asked, ""},
                     {"most work-items for this kernel", "", limits.max_group_size, ""},
                     {"most work-items for the device", "", limits.device_max_group_size, ""},
                     {"most by dimension", text(limits.max_group_extent)}};
  diagnostic.help = {"use a group of at most " + to_string(limits.max_group_size) + " work-items"};
  if (!too_many) diagnostic.help = {"keep each dimension of the group at or below its own limit"};
  if (too_many && limits.max_group_size < limits.device_max_group_size)
    diagnostic.help.push_back(
        "or build the kernel for fewer registers or a larger sub-group, which lets more in");
  return diagnostic;
}

Diagnostic explain_size(const KernelFacts& kernel, std::size_t index, std::uint64_t given) {
  const std::uint64_t wanted = kernel.arguments[index].size;
  Diagnostic diagnostic{
      "K0108",
      argument_label(kernel, index) + " of " + detail::quoted(kernel) + " has " + to_string(given) +
          " bytes, the kernel takes " + to_string(wanted),
      {{"wanted", "", wanted, "B"}, {"given", "", given, "B"}},
      {"pass a value of the kernel's own type (a float for `float`, std::uint32_t for `uint`)"}};
  if (given * 4 == wanted * 3)
    diagnostic.help = {"a vector of three takes the room of four in OpenCL C: for a `float3` pass " +
                       to_string(wanted) +
                       " bytes, such as cl_float3 or four floats, the last of which counts "
                       "for nothing"};
  return diagnostic;
}

Diagnostic explain_verdict(LaunchVerdict verdict, const KernelFacts& kernel, const LaunchLimits& limits,
                           const LaunchShape& shape, Arguments arguments) {
  const auto& required = kernel.required_group_size;
  switch (verdict) {
    case LaunchVerdict::slm:
      return explain_slm(kernel, limits, shape, arguments);
    case LaunchVerdict::group_size:
      return explain_group_size(kernel, limits, shape);
    case LaunchVerdict::required_group_size:
      return {"K0103",
              detail::quoted(kernel) + " requires another group size",
              {{"asked for", text(shape.group_size)},
               {"required", text({required[0], required[1], required[2]})}},
              {"launch it with " + text({required[0], required[1], required[2]}) +
               ", or take reqd_work_group_size from the kernel"}};
    case LaunchVerdict::zero_group_size:
      return {"K0104",
              detail::quoted(kernel) + " is launched with a group size of zero",
              {{"asked for", text(shape.group_size)}},
              {"use at least 1 in each dimension"}};
    case LaunchVerdict::group_count:
      return {"K0105",
              detail::quoted(kernel) + " is launched with more groups than the device takes",
              {{"asked for", text(shape.groups)}, {"most", text(limits.max_groups)}},
              {"split the work over several launches"}};
    case LaunchVerdict::argument_count:
      return {"K0106",
              detail::quoted(kernel) + " takes " + to_string(kernel.arguments.size()) +
                  " arguments, the launch gives " + to_string(arguments.size()),
              {{"wanted", "", kernel.arguments.size(), ""}, {"given", "", arguments.size(), ""}},
              {"give one argument for each parameter of the kernel, in order"}};
    case LaunchVerdict::argument_kind:
    case LaunchVerdict::argument_size:
      break;
    case LaunchVerdict::fits:
      return {};
  }
  for (std::size_t i = 0; i < arguments.size() && i < kernel.arguments.size(); ++i) {
    const ArgumentFacts& wanted = kernel.arguments[i];
    if (wanted.kind == ArgumentKind::other) continue;
    if (verdict == LaunchVerdict::argument_kind && arguments[i].kind != wanted.kind)
      return {"K0107",
              argument_label(kernel, i) + " of " + detail::quoted(kernel) + " is of another kind",
              {{"wanted", kind_name(wanted.kind)}, {"given", kind_name(arguments[i].kind)}},
              {std::string("pass ") + kind_name(wanted.kind)}};
    if (verdict == LaunchVerdict::argument_size && wanted.kind != ArgumentKind::local_pointer &&
        wanted.size && arguments[i].size != wanted.size)
      return explain_size(kernel, i, arguments[i].size);
  }
  return {};
}

/// Of arguments, drivers look at the index alone, and at the size in part: what they do not refuse would read
/// other bytes than were meant. Groups by dimension they do not count.
bool driver_refuses(LaunchVerdict verdict, const KernelFacts& kernel, const LaunchLimits& limits,
                    const LaunchShape& shape, Arguments arguments) {
  switch (verdict) {
    case LaunchVerdict::argument_count:
      return arguments.size() > kernel.arguments.size();
    case LaunchVerdict::group_size:  // by dimension they do not look either
      return total(shape.group_size) > limits.max_group_size;
    case LaunchVerdict::zero_group_size:
    case LaunchVerdict::required_group_size:
      return true;
    case LaunchVerdict::slm:  // they keep the low 32 bits of a size
      return std::ranges::all_of(arguments, [](const LaunchArgument& each) {
        return each.kind != ArgumentKind::local_pointer || each.size <= UINT32_MAX;
      });
    case LaunchVerdict::fits:
    case LaunchVerdict::argument_kind:
    case LaunchVerdict::argument_size:
    case LaunchVerdict::group_count:
      break;
  }
  return false;
}

}  // namespace

Diagnostic explain_launch(LaunchVerdict verdict, const KernelFacts& kernel, const LaunchLimits& limits,
                          const LaunchShape& shape, Arguments arguments) {
  Diagnostic diagnostic = explain_verdict(verdict, kernel, limits, shape, arguments);
  if (verdict == LaunchVerdict::fits) return diagnostic;
  const bool refused = driver_refuses(verdict, kernel, limits, shape, arguments);
  diagnostic.answer = {refused ? AnsweredBy::before_driver : AnsweredBy::kiln,
                       static_cast<std::uint32_t>(code_of(verdict)), call_of(verdict)};
  return diagnostic;
}

Diagnostic explain_static_slm(const KernelFacts& kernel, std::uint64_t limit) {
  Diagnostic diagnostic{"K0109",
                        detail::quoted(kernel) + " has " + to_string(kernel.static_slm) +
                            " bytes of `__local` arrays, the device has " + to_string(limit) +
                            " a work-group",
                        {},
                        {}};
  diagnostic.rows = {
      {"static `__local` arrays", "", kernel.static_slm, "B"},
      {"available a work-group", "", limit, "B"},
      {"drivers' own code",
       "the same for SPIR-V since 26.18; MODULE_BUILD_FAILURE before, and for native files, for "
       "which 22.43 says INVALID_NATIVE_BINARY"}};
  diagnostic.answer = {AnsweredBy::kiln, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "zeModuleCreate"};
  diagnostic.help = {
      "make the arrays at least " + to_string(kernel.static_slm - std::min(kernel.static_slm, limit)) +
          " bytes smaller",
      "or move this kernel to a module of its own: the driver refuses the whole module, the other "
      "kernels included"};
  return diagnostic;
}

}  // namespace kiln
