// SPDX-License-Identifier: MIT
// Holds the launch check, its fast gate and its explanations against each other.
#include "fuzz/claims.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "fuzz/input.hpp"
#include "kiln/target.hpp"

namespace kiln::fuzz {
namespace {

constexpr std::size_t kMostKernels = 4;  // of a module; the time for an input is bounded too

// Bits of Request::flags.
constexpr std::uint32_t kOtherKind = 1, kOtherSize = 2, kOtherCount = 4, kFewerItems = 8, kNoGroupSize = 16;

std::uint64_t local_bytes(const Request& request, std::size_t index) {
  return std::uint64_t{request.sizes[index % request.sizes.size()]} << (request.flags >> 8 & 31);
}

std::vector<LaunchArgument> arguments_for(const KernelFacts& kernel, const Request& request) {
  std::vector<LaunchArgument> arguments;
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const ArgumentFacts& wanted = kernel.arguments[i];
    const bool local = wanted.kind == ArgumentKind::local_pointer;
    arguments.push_back({wanted.kind, local ? local_bytes(request, i) : wanted.size, nullptr});
  }
  if (!arguments.empty()) {
    LaunchArgument& one = arguments[(request.flags >> 16) % arguments.size()];
    if (request.flags & kOtherKind) one.kind = ArgumentKind::local_pointer;
    if (request.flags & kOtherSize) one.size ^= request.sizes[7];
    if (request.flags & kOtherCount) arguments.pop_back();
  }
  return arguments;
}

std::string_view code_for(LaunchVerdict verdict) {
  switch (verdict) {
    case LaunchVerdict::fits:
      return "";
    case LaunchVerdict::argument_count:
      return "K0106";
    case LaunchVerdict::argument_kind:
      return "K0107";
    case LaunchVerdict::argument_size:
      return "K0108";
    case LaunchVerdict::zero_group_size:
      return "K0104";
    case LaunchVerdict::group_size:
      return "K0102";
    case LaunchVerdict::required_group_size:
      return "K0103";
    case LaunchVerdict::group_count:
      return "K0105";
    case LaunchVerdict::slm:
      return "K0101";
  }
  return "?";
}

/// Are both the proposal within the limit, and the next larger one beyond?
template <class SizeOf>
void claim_largest(const KernelFacts& kernel, std::uint64_t limit, std::vector<LaunchArgument> arguments,
                   std::uint64_t largest, SizeOf size_of) {
  const auto fits = [&](std::uint64_t n) {
    std::vector<LaunchArgument> changed = arguments;
    for (LaunchArgument& argument : changed)
      if (argument.kind == ArgumentKind::local_pointer) argument.size = size_of(argument.size, n);
    return total_slm(kernel, changed) <= limit;
  };
  claim(fits(largest), "what is said to fit does fit");
  claim(!fits(largest + 1), "and nothing larger does");
}

void claim_proposals(const Diagnostic& diagnostic, const KernelFacts& kernel, std::uint64_t limit,
                     const Extent& size, const std::vector<LaunchArgument>& arguments) {
  const std::uint64_t items = std::uint64_t{size.x} * size.y * size.z;
  for (const DiagnosticRow& row : diagnostic.rows) {
    if (row.label.starts_with("largest group with "))
      claim_largest(kernel, limit, arguments, row.value,
                    [&](std::uint64_t bytes, std::uint64_t n) { return bytes / items * n; });
    constexpr std::string_view kElements = "elements of ";
    if (row.label.starts_with("largest edge of ") && row.unit.starts_with(kElements)) {
      const std::uint64_t element = std::stoull(row.unit.substr(kElements.size()));
      claim_largest(kernel, limit, arguments, row.value,
                    [&](std::uint64_t, std::uint64_t n) { return n * n * element; });
    }
  }
}

void claim_launch(const KernelFacts& kernel, const LaunchLimits& limits, const LaunchShape& shape,
                  const std::vector<LaunchArgument>& arguments) {
  const LaunchVerdict verdict = check_launch(kernel, limits, shape, arguments);
  const bool fits = verdict == LaunchVerdict::fits;
  const LaunchGate gate(kernel, limits);
  claim(fits || !gate.admits(shape.groups, shape.group_size, arguments),
        "the gate lets only launches through that the check lets through");
  claim((code_of(verdict) == ZE_RESULT_SUCCESS) == fits, "a refusal has a result code");
  const Diagnostic diagnostic = explain_launch(verdict, kernel, limits, shape, arguments);
  claim(diagnostic.code == code_for(verdict), "each verdict has its code");
  if (fits) return;
  claim_renders(diagnostic);
  if (verdict == LaunchVerdict::slm)
    claim_proposals(diagnostic, kernel, limits.slm_per_group, shape.group_size, arguments);
  if (verdict == LaunchVerdict::required_group_size) {
    const auto& required = kernel.required_group_size;
    const LaunchShape right{shape.groups, {required[0], required[1], required[2]}};
    claim(check_launch(kernel, limits, right, arguments) != verdict, "the required size is accepted as such");
  }
}

/// Those of all targets, each once: many have the same, and then the same answers.
const std::vector<TargetLimits>& all_limits() {
  static const std::vector<TargetLimits> all = [] {
    std::vector<TargetLimits> found;
    for (const Target& target : targets()) {
      const TargetLimits limits = target_limits(target);
      if (std::ranges::none_of(found, [&](const TargetLimits& other) {
            return other.generation == limits.generation && other.slm_per_group == limits.slm_per_group;
          }))
        found.push_back(limits);
    }
    return found;
  }();
  return all;
}

void claim_target(const KernelFacts& kernel, const TargetLimits& limits, const Request& request) {
  KernelRequest asked;
  if (!(request.flags & kNoGroupSize)) asked.group_size = request.group_size;
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i)
    asked.local_bytes.push_back(local_bytes(request, i));
  const bool zero =
      asked.group_size && (!asked.group_size->x || !asked.group_size->y || !asked.group_size->z);
  for (const Diagnostic& reason : check_kernel(kernel, limits, asked)) {
    constexpr std::string_view kCodes[] = {"K0101", "K0102", "K0103", "K0109", "K0110",
                                           "K0111", "K0116", "K0117", "K0118", "K0119"};
    claim(std::ranges::count(kCodes, reason.code) == 1 || (zero && reason.code == "K0104"),
          "a reason has one of the documented codes");
    claim_renders(reason);
  }
  const std::uint32_t most = max_group_size(kernel, limits), any = limits.max_group_size;
  claim(most <= any, "no kernel has larger groups than the device");
  const LaunchLimits launch{limits.slm_per_group, most, any, {any, any, any}, request.groups};
  claim_launch(kernel, launch, {{1, 1, 1}, request.group_size}, arguments_for(kernel, request));
}

}  // namespace

void claim_renders(const Diagnostic& diagnostic) {
  claim(!diagnostic.code.empty() && !diagnostic.message.empty(), "a diagnostic has a code and a message");
  claim(to_text(diagnostic).ends_with('\n'), "text ends with a newline");
  claim(nlohmann::json::accept(to_json(diagnostic)), "JSON can be parsed");
}

void claim_checks(const ModuleFacts& facts, const Request& request) {
  const KernelFacts* culprit = static_slm_over_limit(facts, request.slm);
  if (culprit) claim_renders(explain_static_slm(*culprit, request.slm));
  for (std::size_t i = 0; i < std::min(facts.kernels.size(), kMostKernels); ++i) {
    const KernelFacts& kernel = facts.kernels[i];
    claim(facts.find(kernel.name) != nullptr, "a kernel is found by its name");
    for (const TargetLimits& limits : all_limits()) claim_target(kernel, limits, request);
    const std::uint64_t items = request.flags & kFewerItems ? 64 : UINT64_MAX;
    const LaunchLimits made_up{request.slm,
                               items,
                               items,
                               {request.sizes[4], request.sizes[5], request.sizes[6]},
                               {UINT32_MAX, UINT32_MAX, UINT32_MAX}};
    claim_launch(kernel, made_up, {request.groups, request.group_size}, arguments_for(kernel, request));
  }
}

}  // namespace kiln::fuzz
