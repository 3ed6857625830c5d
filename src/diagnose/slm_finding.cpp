// SPDX-License-Identifier: MIT
// Too much SLM: what was asked for, by which argument, and the frequent mistakes.
#include <string>

#include "diagnose/finding_parts.hpp"

namespace kiln::detail {
namespace {

constexpr std::uint64_t kGranule = 1024;  // bytes, to which the driver rounds the `__local` arguments
constexpr std::uint64_t kLocalAlignment = 16;

/// The frequent mistake: an array for the whole range where one for a work-group was meant.
void add_range_hint(Diagnostic& diagnostic, const LoggedFailure& failure) {
  std::uint64_t items = 1;
  for (const char* name : {"globalSizeX", "globalSizeY", "globalSizeZ"}) {
    const auto size = parse_number(field_of(failure.values, name));
    if (!size || __builtin_mul_overflow(items, *size, &items)) return;
  }
  for (const auto& [index, size] : failure.kernel.local_bytes)
    if (items > 1 && size % items == 0) {
      diagnostic.help.push_back(
          "argument " + std::to_string(index) + " has " + std::to_string(size / items) +
          " bytes for each of the " + std::to_string(items) +
          " work-items of the whole range: SLM belongs to one work-group, so size it by "
          "the group, not by the range");
      return;
    }
}

}  // namespace

std::uint64_t slm_of(const LoggedKernel& kernel, std::uint64_t arrays) {
  std::uint64_t end = 0;
  for (const auto& [index, size] : kernel.local_bytes) {
    std::uint64_t start = 0;
    if (__builtin_add_overflow(end, kLocalAlignment - 1, &start) ||
        __builtin_add_overflow(start & ~(kLocalAlignment - 1), size, &end))
      return ~std::uint64_t{0};
  }
  if (end <= ~std::uint64_t{0} - kGranule) end = (end + kGranule - 1) / kGranule * kGranule;
  return __builtin_add_overflow(end, arrays, &end) ? ~std::uint64_t{0} : end;
}

Diagnostic slm_finding(const std::optional<LoggedFailure>& failure,
                       const std::optional<std::pair<std::uint64_t, std::uint64_t>>& printed,
                       const std::optional<std::uint64_t>& arrays) {
  Diagnostic diagnostic{"K0501", "a work-group asks for more SLM than the device has", {}, {}};
  if (failure) {
    add_failure(diagnostic, *failure);
    for (const auto& [index, size] : failure->kernel.local_bytes)
      diagnostic.rows.push_back(bytes_row("`__local` argument " + std::to_string(index), size));
  }
  if (arrays) diagnostic.rows.push_back(bytes_row("`__local` arrays of the kernel", *arrays));
  const std::uint64_t sum = failure ? slm_of(failure->kernel, arrays.value_or(0)) : 0;
  if (printed) {
    diagnostic.rows.push_back(bytes_row("asked for in all", printed->first));
    diagnostic.rows.push_back(bytes_row("available a work-group", printed->second));
    diagnostic.help.push_back(
        "give the kernel's `__local` arguments (SYCL: local_accessor) and arrays at most " +
        std::to_string(printed->second) + " bytes in all");
  } else {
    if (sum)
      diagnostic.rows.push_back(
          bytes_row("asked for, rounded up to " + std::to_string(kGranule) + " B", sum));
    diagnostic.rows.push_back(words_row("available a work-group", "not in this log"));
    diagnostic.help.emplace_back(text_of(Cause::slm).help[0]);
    diagnostic.help.emplace_back(std::string(kDebugKeys) + ", the limit among them");
  }
  if (failure) add_range_hint(diagnostic, *failure);
  diagnostic.help.emplace_back(
      "SLM is a fixed part of the GPU: CL_CONFIG_CPU_FORCE_LOCAL_MEM_SIZE and "
      "CL_CONFIG_CPU_FORCE_PRIVATE_MEM_SIZE are for Intel's OpenCL runtime on CPUs and change nothing on a "
      "GPU");
  return diagnostic;
}

}  // namespace kiln::detail
