// SPDX-License-Identifier: MIT
// `kiln run FILE --sweep group=16..1024`: the same work in groups of several sizes.
#include <algorithm>

#include "tool/common/output.hpp"
#include "tool/report/report.hpp"
#include "tool/run/fault.hpp"
#include "tool/run/file_command.hpp"
#include "tool/run/sweep_table.hpp"
#include "tool/samples/counters.hpp"

namespace kiln::tool {
namespace {

/// The work-items that each size is to cover.
Result<Extent> swept_items(const FileRun& run) {
  const Extent &groups = run.shape().groups, &group = run.shape().group_size;
  const std::uint64_t items[] = {std::uint64_t{groups.x} * group.x, std::uint64_t{groups.y} * group.y,
                                 std::uint64_t{groups.z} * group.z};
  if (std::ranges::max(items) > UINT32_MAX)
    return tl::unexpected(
        wrong_arguments("--sweep covers " + std::to_string(std::ranges::max(items)) + " work-items, above " +
                            std::to_string(UINT32_MAX) + " in one dimension",
                        {"give fewer: --global X, or --groups X --group Y"}, run.code().signature));
  return Extent{static_cast<std::uint32_t>(items[0]), static_cast<std::uint32_t>(items[1]),
                static_cast<std::uint32_t>(items[2])};
}

/// Where no size ran there is nothing to name, and no answer.
Error no_size_ran(const std::vector<SweptSize>& all, const FileRun& run) {
  std::string reasons;
  for (const SweptSize& each : all)
    reasons += (reasons.empty() ? "" : ", ") + std::to_string(each.size) + " (" + each.refused + ")";
  return wrong_arguments("no group size of --sweep can be run: " + reasons,
                         {"give sizes that divide the work-items: --global X says how many there are",
                          "`kiln explain CODE` says what a code means"},
                         run.code().signature);
}

/// With the size at which it was found: kernels that are written for one write elsewhere in another.
Error found_at(const Error& error, std::uint32_t size) {
  if (!error.diagnostic()) return error;
  Diagnostic diagnostic = *error.diagnostic();
  diagnostic.rows.push_back({"at", "group=" + std::to_string(size)});
  return Error(error.code(), error.call(), std::move(diagnostic));
}

Result<SweptSize> run_size(const OpenDevice& device, FileRun& run, const FileRequest& request,
                           std::uint32_t size, const RunOptions& options) {
  SweptSize swept{size};
  const Extent& group = run.shape().group_size;
  ShapeRequest shape;
  KILN_TRY(shape.global, swept_items(run));
  shape.group = Extent{size, group.y, group.z};
  const auto chosen =
      choose_shape(shape, run.kernel().facts(), run.kernel().limits(), run.arguments(), run.code().signature);
  if (!chosen) {
    swept.refused = "does not divide";
    return swept;
  }
  swept.groups = chosen->groups;
  auto outcome = measure(device, run.prepare(*chosen), run.kernel(), options.repeat);
  if (!outcome) {
    if (!is_refusal(outcome.error())) return tl::unexpected(std::move(outcome).error());
    swept.refused = outcome.error().diagnostic()->code;
    return swept;
  }
  if (auto overrun = run.overrun()) return tl::unexpected(found_at(*overrun, size));
  swept.outcome = *outcome;
  if (options.counters) {
    KILN_TRY(const auto counters, read_counters(device, run.kernel().kernel()));
    swept.barriers = counters.barriers;
  }
  for (const BufferResult& each : run.results())  // none where nothing was executed
    if (each.expected)
      swept.right = swept.right.value_or(true) &&
                    compare_arrays(each.data, *each.expected, request.tolerance).count == 0;
  return swept;
}

}  // namespace

Result<int> run_sweep(const RunOptions& options, const FileRequest& request) {
  KILN_TRY(const auto sizes, parse_sweep(options.sweep));
  KILN_TRY(const auto device, open_chosen(options.device));
  if (options.counters) {
    KILN_TRY(can_count(device));
  }
  KILN_TRY(const auto run, FileRun::create(device, request, options.counters));
  const Target* target = device.properties.ip_version ? find_target(*device.properties.ip_version) : nullptr;
  const auto native = target ? native_code_of(run->code(), request.flags, *target) : std::nullopt;
  Sweep all{run->code().facts.name, device};
  std::optional<std::vector<std::string>> first;  // digests of what the first size wrote
  for (const std::uint32_t size : sizes) {
    const FaultGuard guard(device, run->code().facts.name, options.json, {.swept = size});
    KILN_TRY(auto swept, run_size(device, *run, request, size, options));
    if (swept.refused.empty()) {
      std::vector<std::string> digests;
      for (const BufferResult& each : run->results())
        if (each.is_output) digests.push_back(digest(each.data.bytes));
      if (!first) first = digests;
      if (swept.outcome.executed) swept.same = *first == digests;
      const Extent& group = run->shape().group_size;
      if (native)
        swept.occupancy = occupancy(*native, core_limits(*target), std::uint64_t{size} * group.y * group.z,
                                    native->static_slm + run->slm_arguments());
    }
    all.sizes.push_back(std::move(swept));
  }
  if (all.none_ran()) return tl::unexpected(no_size_ran(all.sizes, *run));
  all.counted = options.counters;
  if (run->kernel().facts().simd_size != 0) all.barriers_a_group = run->kernel().facts().barrier_count;
  if (native) {
    all.barriers_a_group = native->barrier_count;
    all.occupancy_of = target->name;
    all.occupancy_basis = "the native code that ocloc makes for it";
  }
  return report_sweep(all, options);
}

}  // namespace kiln::tool
