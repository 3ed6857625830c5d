// SPDX-License-Identifier: MIT
// Reads build flags: those of OpenCL, Level Zero's -ze-opt-* family, and Kiln's own.
#include "drivers/cpu/compiler/frontend/options.hpp"

#include <array>

namespace kiln::cpu {
namespace {

constexpr std::array kWithoutMeaning = {
    std::string_view("-cl-std="),
    std::string_view("-cl-single-precision-constant"),
    std::string_view("-cl-denorms-are-zero"),
    std::string_view("-cl-fp32-correctly-rounded-divide-sqrt"),
    std::string_view("-cl-strict-aliasing"),
    std::string_view("-cl-kernel-arg-info"),
    std::string_view("-cl-uniform-work-group-size"),
    std::string_view("-cl-no-subgroup-ifp"),
    std::string_view("-cl-intel-"),
    std::string_view("-ze-"),
    std::string_view("-g"),
    std::string_view("-w"),
    std::string_view("-W"),
    std::string_view("-D"),
    std::string_view("-I"),
};

void read_flag(std::string_view flag, ParsedOptions& options, std::string& log) {
  if (flag == "-cl-opt-disable" || flag == "-ze-opt-disable" || flag == "-ze-opt-level=O0" ||
      flag == "-ze-opt-level=0" || flag == "-O0") {
    options.optimize = false;
  } else if (flag == "-cl-mad-enable") {
    options.contract = true;
  } else if (flag == "-cl-fast-relaxed-math") {
    options.fast_math = options.contract = options.finite_math = options.no_signed_zeros = true;
  } else if (flag == "-cl-unsafe-math-optimizations") {
    options.fast_math = options.contract = options.no_signed_zeros = true;
  } else if (flag == "-cl-finite-math-only") {
    options.finite_math = true;
  } else if (flag == "-cl-no-signed-zeros") {
    options.no_signed_zeros = true;
  } else if (flag.ends_with("-take-global-address") || flag.ends_with("-library-compilation")) {
    options.keep_functions = true;
    options.library |= flag.ends_with("-library-compilation");
  } else if (flag == "-kiln-counters") {
    options.counters = true;
  } else {
    for (const std::string_view known : kWithoutMeaning)
      if (flag.starts_with(known)) return;
    log.append("warning: build flag '").append(flag).append("' is not known and was passed over\n");
  }
}

}  // namespace

ParsedOptions parse_options(std::string_view flags, std::string& log) {
  constexpr std::string_view kSpace = " \t\r\n";
  ParsedOptions options;
  bool is_operand = false;  // -I and -D may stand apart from what they name
  for (std::size_t begin = flags.find_first_not_of(kSpace); begin != std::string_view::npos;) {
    const std::size_t end = flags.find_first_of(kSpace, begin);
    const std::string_view flag = flags.substr(begin, end == std::string_view::npos ? end : end - begin);
    if (!is_operand) read_flag(flag, options, log);
    is_operand = !is_operand && (flag == "-I" || flag == "-D");
    begin = flags.find_first_not_of(kSpace, end);
  }
  return options;
}

std::string flags_for_file(std::string_view flags) {
  constexpr std::string_view kLevel = "-ze-opt-level=";
  std::string out(flags);
  for (std::size_t at = out.find(kLevel); at != out.npos; at = out.find(kLevel, at + 1))
    if (const std::size_t level = at + kLevel.size();
        level < out.size() && out[level] >= '0' && out[level] <= '9')
      out.insert(level, 1, 'O');
  return out;
}

}  // namespace kiln::cpu
