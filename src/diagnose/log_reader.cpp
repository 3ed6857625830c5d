// SPDX-License-Identifier: MIT
// Remembers, line by line, what the calls of a log say about kernels and failures.
#include <algorithm>
#include <array>
#include <utility>

#include "diagnose/log_state.hpp"

namespace kiln {
namespace {

using detail::field_of;
using detail::parse_number;
using detail::TraceLine;

constexpr std::size_t kLongestLine = 64 << 10;
constexpr std::size_t kLongestKept = 400;     // bytes of a line that a diagnostic shows
constexpr std::size_t kMostKernels = 10000;   // handles; a program that forgets more loses them all
constexpr std::size_t kMostCalls = 2000;      // by name; Level Zero has some hundreds
constexpr std::size_t kLongestValues = 4096;  // bytes of a call's arguments
constexpr std::size_t kMostArguments = 64;    // `__local` ones of a kernel
constexpr std::size_t kLongestHandle = 32;    // bytes; a hexadecimal number of 64 bits has 18

std::string kept(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return std::string(text.substr(0, kLongestKept));
}

/// What is asked about and then not used: a program goes on after these.
bool is_probe(std::string_view call, std::string_view result) {
  return result.find("UNSUPPORTED_FEATURE") != result.npos ||
         result.find("UNSUPPORTED_VERSION") != result.npos ||
         result.find("UNSUPPORTED_ENUMERATION") != result.npos ||
         result.find("UNINITIALIZED") != result.npos || result.find("DEVICE_NOT_FOUND") != result.npos ||
         call.find("GetExtension") != call.npos || call.starts_with("zes") || call.starts_with("zet") ||
         call.starts_with("clGet");
}

bool is_success(std::string_view result) {
  return result == "ZE_RESULT_SUCCESS" || result == "ZE_RESULT_NOT_READY" || result == "CL_SUCCESS";
}

std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
  const auto start = text.find(before);
  if (start == text.npos) return {};
  text.remove_prefix(start + before.size());
  return text.substr(0, text.find(after));
}

std::string_view kernel_handle(std::string_view values) {
  return field_of(values, "hKernel").substr(0, kLongestHandle);
}

/// "unknown" where the trace is cut off.
std::string quoted(std::string_view values) { return kept(between(values, "\"", "\"")); }

}  // namespace

LogReader::LogReader() : state_(new State) {}
LogReader::LogReader(LogReader&&) noexcept = default;
LogReader& LogReader::operator=(LogReader&&) noexcept = default;
LogReader::~LogReader() = default;

detail::LoggedKernel& LogReader::State::kernel(std::string_view handle) {
  if (const auto found = kernels.find(handle); found != kernels.end()) return found->second;
  if (kernels.size() >= kMostKernels) kernels.clear();
  return kernels[std::string(handle)];
}

void LogReader::State::entered(const TraceLine& line) {
  inside = line.call;
  const auto place = arguments.find(line.call);
  if (place == arguments.end() && arguments.size() >= kMostCalls) arguments.clear();
  (place == arguments.end() ? arguments[std::string(line.call)] : place->second) =
      line.values.substr(0, kLongestValues);
  const std::string_view handle = kernel_handle(line.values);
  if (line.call == "zeKernelSetArgumentValue") {
    const auto index = parse_number(field_of(line.values, "argIndex"));
    const auto size = parse_number(field_of(line.values, "argSize"));
    // Eight bytes of nothing are a null pointer to global memory more likely than SLM.
    if (!index || !size || *size <= 8 || parse_number(field_of(line.values, "pArgValue")) != 0) return;
    auto& locals = kernel(handle).local_bytes;
    if (locals.size() < kMostArguments) locals[*index] = *size;
  } else if (line.call == "zeKernelDestroy") {
    if (const auto found = kernels.find(handle); found != kernels.end()) kernels.erase(found);
  }
}

void LogReader::State::left(const TraceLine& line) {
  if (line.call == inside) inside.clear();
  const auto given = arguments.find(line.call);
  const std::string_view values = given == arguments.end() ? line.values : std::string_view(given->second);
  if (is_success(line.result)) {
    if (line.call == "zeKernelCreate") {
      std::string_view handle = kernel_handle(line.values);
      if (handle.empty()) return;
      kernel(handle) = {quoted(values), {}};
    }
    return;
  }
  if (failure && (!failure->probe || is_probe(line.call, line.result))) return;
  failure =
      detail::LoggedFailure{lines, std::string(line.call),          std::string(line.result), kept(values),
                            {},    is_probe(line.call, line.result)};
  if (const auto found = kernels.find(kernel_handle(values)); found != kernels.end())
    failure->kernel = found->second;
  if (line.call == "zeKernelCreate") failure->kernel.name = quoted(values);
}

/// Sentences of Intel's driver, of its compiler, and of the runtimes above.
void LogReader::State::text(std::string_view line) {
  const auto has = [&](std::string_view words) { return line.find(words) != line.npos; };
  if (abort_file.empty() && abort_line != 0 && lines == abort_line + 1) abort_file = kept(line);
  if (has("Size of SLM (") && !slm) {
    const auto asked = parse_number(between(line, "Size of SLM (", ")"));
    const auto available = parse_number(between(line, "larger than available (", ")"));
    if (asked && available) slm = {*asked, *available};
  } else if (has("max permitted PTSS") && scratch.empty()) {
    scratch = kept(line);
  } else if (has("unresolved external symbol ") && unresolved.empty()) {
    // "error : unresolved external symbol f at offset 8 in instructions segment #1 (aka kernel : k)"
    unresolved = kept(between(line, "unresolved external symbol ", " at offset "));
    unresolved_kernel = kept(between(line, "(aka kernel : ", ")"));
  } else if (has("Unresolved Imported Symbol <") && unresolved.empty()) {
    unresolved = kept(between(line, "Unresolved Imported Symbol <", ">"));
  } else if (has("Abort was called at ") && abort_line == 0) {
    abort_line = lines;
    abort_text = kept(line);
    abort_file = kept(between(line, "line in file:", "\n"));
  } else if (has("Segmentation fault from GPU at") && page_fault.empty()) {
    page_fault = kept(line);
  } else if ((has("exceeds maximum value (") || has("requiredWorkGroupSize =")) && group_size.empty()) {
    group_size = kept(line);
  } else if (word.empty()) {
    word_in(line);
  }
}

/// The first name of a result code that means a failure, such as UR_RESULT_ERROR_OUT_OF_RESOURCES.
void LogReader::State::word_in(std::string_view line) {
  for (const std::string_view start : {"ZE_RESULT_ERROR_", "UR_RESULT_ERROR_", "PI_ERROR_", "CL_"}) {
    const auto at = line.find(start);
    if (at == line.npos) continue;
    std::string_view name = line.substr(at);
    name = name.substr(0, name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"));
    if (!explain_code(name)) continue;
    word = name;
    word_line = kept(line);
    return;
  }
}

void LogReader::line(std::string_view line) {
  State& state = *state_;
  ++state.lines;
  line = line.substr(0, kLongestLine);
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (state.own.line(line, state.lines)) return;
  const auto trace = detail::parse_trace_line(line);
  if (!trace)
    state.text(line);
  else if (trace->kind == TraceLine::Kind::entered)
    state.entered(*trace);
  else
    state.left(*trace);
}

}  // namespace kiln
