// SPDX-License-Identifier: MIT
// From what a log said to one cause with its cure.
#include "diagnose/log_state.hpp"

namespace kiln {
namespace {

using detail::field_of;
using detail::LoggedFailure;
using detail::parse_number;

constexpr const char* kTrace = "trace the program for more: onetrace -c PROGRAM (or unitrace, ze_tracer)";
constexpr const char* kDebugKeys =
    "NEOReadDebugKeys=1 PrintDebugMessages=1 makes Intel's driver print its reasons";
constexpr std::uint64_t kGranule = 1024;  // bytes, to which the driver rounds the `__local` arguments
constexpr std::uint64_t kLocalAlignment = 16;

DiagnosticRow words(std::string label, std::string text) { return {std::move(label), std::move(text)}; }
DiagnosticRow bytes(std::string label, std::uint64_t value) { return {std::move(label), {}, value, "B"}; }

void add_failure(Diagnostic& diagnostic, const LoggedFailure& failure) {
  diagnostic.rows.push_back(words("call", failure.call + " gave " + failure.result));
  diagnostic.rows.push_back(words("at", "line " + std::to_string(failure.line) + " of the log"));
  if (!failure.kernel.name.empty()) diagnostic.rows.push_back(words("kernel", failure.kernel.name));
}

void add_meaning(Diagnostic& diagnostic, const std::string& code) {
  const auto meaning = explain_code(code);
  if (!meaning) return;
  diagnostic.rows.push_back(words("meaning", meaning->meaning));
  for (const std::string& cause : meaning->causes) diagnostic.rows.push_back(words("possible cause", cause));
  diagnostic.help.insert(diagnostic.help.end(), meaning->cures.begin(), meaning->cures.end());
}

std::uint64_t sum_of(const detail::LoggedKernel& kernel) {
  std::uint64_t end = 0;
  for (const auto& [index, size] : kernel.local_bytes) {
    std::uint64_t start = 0;
    if (__builtin_add_overflow(end, kLocalAlignment - 1, &start) ||
        __builtin_add_overflow(start & ~(kLocalAlignment - 1), size, &end))
      return ~std::uint64_t{0};
  }
  return end > ~std::uint64_t{0} - kGranule ? end : (end + kGranule - 1) / kGranule * kGranule;
}

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

Diagnostic slm_finding(const std::optional<LoggedFailure>& failure,
                       const std::optional<std::pair<std::uint64_t, std::uint64_t>>& printed) {
  Diagnostic diagnostic{"K0501", "a work-group asks for more SLM than the device has", {}, {}};
  if (failure) {
    add_failure(diagnostic, *failure);
    for (const auto& [index, size] : failure->kernel.local_bytes)
      diagnostic.rows.push_back(bytes("`__local` argument " + std::to_string(index), size));
  }
  const std::uint64_t sum = failure ? sum_of(failure->kernel) : 0;
  if (printed) {
    diagnostic.rows.push_back(bytes("asked for in all", printed->first));
    diagnostic.rows.push_back(bytes("available a work-group", printed->second));
    diagnostic.help.push_back(
        "give the kernel's `__local` arguments (SYCL: local_accessor) and arrays at most " +
        std::to_string(printed->second) + " bytes in all");
  } else {
    if (sum)
      diagnostic.rows.push_back(bytes("asked for, rounded up to " + std::to_string(kGranule) + " B", sum));
    diagnostic.rows.push_back(words("available a work-group", "not in this log"));
    diagnostic.help.emplace_back(
        "give the kernel smaller `__local` arguments (SYCL: local_accessor) or arrays: `kiln devices` shows "
        "what "
        "a device has, 64 KiB on Gen12 and Arc A, 128 KiB on PVC, Arc B and Lunar Lake");
    diagnostic.help.emplace_back(std::string(kDebugKeys) + ", the limit among them");
  }
  if (failure) add_range_hint(diagnostic, *failure);
  diagnostic.help.emplace_back(
      "SLM is a fixed part of the GPU: CL_CONFIG_CPU_FORCE_LOCAL_MEM_SIZE and "
      "CL_CONFIG_CPU_FORCE_PRIVATE_MEM_SIZE are for Intel's OpenCL runtime on CPUs and change nothing on a "
      "GPU");
  return diagnostic;
}

Diagnostic unlinked_finding(const std::string& symbol, const std::string& kernel,
                            const std::optional<LoggedFailure>& failure) {
  Diagnostic diagnostic{"K0510", "a module uses a function that is defined nowhere", {}, {}};
  if (!symbol.empty()) diagnostic.message = "`" + symbol + "` is used by a module and defined nowhere";
  if (!kernel.empty()) diagnostic.rows.push_back(words("used by", "kernel `" + kernel + "`"));
  if (failure) add_failure(diagnostic, *failure);
  diagnostic.help = {
      "look for a misspelt function: one that is declared and not defined is left to the linker, and then "
      "zeKernelCreate refuses every kernel of the module by INVALID_MODULE_UNLINKED",
      "`kiln inspect FILE` names symbol and kernel; or link what defines it, beforehand or by "
      "zeModuleDynamicLink"};
  return diagnostic;
}

Diagnostic abort_finding(const std::string& text, const std::string& file, const std::string& inside) {
  Diagnostic diagnostic{"K0505", "Intel's driver ended the process", {words("log", text)}, {}};
  if (!file.empty()) diagnostic.rows.push_back(words("driver's file", file));
  if (!inside.empty()) diagnostic.rows.push_back(words("inside the call", inside));
  const auto in = [&](std::string_view part) { return file.find(part) != file.npos; };
  // Sources: the files and calls of intel/compute-runtime 22.43 to 26.31 that end so.
  if (in("command_encoder") || in("hw_helper") || in("preferred_slm") ||
      inside.find("Cooperative") != inside.npos)
    diagnostic.help.emplace_back(
        "the kernel asks for more SLM than the device has, and zeKernelSuggestMaxCooperativeGroupCount or a "
        "cooperative launch does not survive that: make its `__local` arguments or arrays smaller");
  else if (in("scratch_space_controller"))
    diagnostic.help.emplace_back(
        "memory for spilled registers and private arrays of all hardware threads could not be had: `kiln "
        "inspect` "
        "shows how much a kernel needs");
  else if (in("program_initialization") || in("kernel_imp"))
    diagnostic.help.emplace_back(
        "memory for the module's global variables or constants could not be had: `kiln inspect` shows their "
        "size");
  else if (in("drm_neo"))
    diagnostic.help.emplace_back("the GPU met an error: the kernel log (dmesg) has more");
  else
    diagnostic.help.emplace_back(kDebugKeys);
  if (inside.empty()) diagnostic.help.emplace_back(kTrace);
  return diagnostic;
}

Diagnostic call_finding(const LoggedFailure& failure) {
  const std::string& call = failure.call;
  const auto gave = [&](std::string_view part) { return failure.result.find(part) != failure.result.npos; };
  Diagnostic diagnostic{"K0508", "`" + call + "` failed", {}, {}};
  add_failure(diagnostic, failure);
  if (call == "zeKernelCreate" && (gave("OUT_OF_DEVICE_MEMORY") || gave("INVALID_NATIVE_BINARY"))) {
    diagnostic.code = "K0503";
    diagnostic.message = "a kernel needs more private or scratch memory than there is";
    diagnostic.help = {
        "`kiln inspect FILE` shows private and scratch memory of its kernels, a hardware thread",
        "smaller arrays in the kernel; a sub-group size of 16 instead of 32; "
        "-ze-opt-large-register-file; the kernel in two parts"};
  } else if (call == "zeModuleCreate") {
    diagnostic.code = "K0504";
    diagnostic.message = "a module could not be made";
    add_meaning(diagnostic, failure.result);
  } else if (call.starts_with("zeMemAlloc")) {
    diagnostic.code = "K0507";
    diagnostic.message = "an allocation failed";
    if (const auto size = parse_number(field_of(failure.values, "size")))
      diagnostic.rows.push_back(bytes("size", *size));
    add_meaning(diagnostic, failure.result);
  } else {
    if (!failure.values.empty()) diagnostic.rows.push_back(words("arguments", failure.values));
    add_meaning(diagnostic, failure.result);
  }
  return diagnostic;
}

/// What Kiln found is more than what can be read from the failure that followed.
Diagnostic own_finding(const detail::LoggedDiagnostic& own) {
  Diagnostic diagnostic{"K0509", "Kiln reported " + own.code + ": " + own.message, {}, own.help};
  diagnostic.rows = {words("code", own.code),
                     words("at", "line " + std::to_string(own.line) + " of the log")};
  if (!own.result.empty()) diagnostic.rows.push_back(words("result", own.result));
  diagnostic.rows.insert(diagnostic.rows.end(), own.rows.begin(), own.rows.end());
  diagnostic.severity = own.severity;
  return diagnostic;
}

}  // namespace

std::optional<Diagnostic> LogReader::finding() const {
  const detail::LoggedDiagnostic* own = state_->own.found();
  if (own && own->severity == Severity::error) return own_finding(*own);
  if (auto failure = state_->failure_finding()) return failure;
  return own ? std::optional(own_finding(*own)) : std::nullopt;
}

std::optional<Diagnostic> LogReader::State::failure_finding() const {
  const State& s = *this;
  const auto failed_with = [&](std::string_view code) {
    return s.failure && s.failure->result.find(code) != std::string::npos;
  };
  const bool asks_for_slm =
      failed_with("OUT_OF_DEVICE_MEMORY") &&
      (s.failure->call == "zeKernelSuggestGroupSize" ||
       (s.failure->call.starts_with("zeCommandListAppendLaunch") && !s.failure->kernel.local_bytes.empty()));
  if (s.slm || asks_for_slm)
    return slm_finding(failed_with("OUT_OF_DEVICE_MEMORY") ? s.failure : std::nullopt, s.slm);
  if (!s.scratch.empty())
    return Diagnostic{
        "K0502",
        "a kernel needs more scratch memory than a hardware thread can have",
        {words("compiler", s.scratch)},
        {"smaller arrays in the kernel, or the kernel in two parts",
         "-ze-opt-large-register-file doubles the registers; a sub-group size of 16 instead of 32 "
         "halves what they hold"}};
  const bool unlinked = failed_with("INVALID_MODULE_UNLINKED");
  if (!s.unresolved.empty() || unlinked)
    return unlinked_finding(s.unresolved, s.unresolved_kernel, unlinked ? s.failure : std::nullopt);
  if (!s.page_fault.empty())
    return Diagnostic{"K0506",
                      "a kernel read or wrote where it may not, and the GPU stopped",
                      {words("log", s.page_fault)},
                      {"check the pointers and indices of the kernels that ran last"}};
  if (s.abort_line) return abort_finding(s.abort_text, s.abort_file, s.inside);
  if (s.failure && !s.failure->probe) return call_finding(*s.failure);
  if (!s.group_size.empty())
    return Diagnostic{"K0508",
                      "a work-group size does not fit the kernel",
                      {words("log", s.group_size)},
                      {"`kiln inspect FILE` shows the sizes that a kernel requires"}};
  if (!s.word.empty()) {
    Diagnostic diagnostic{"K0508", "the program names " + s.word, {words("log", s.word_line)}, {}};
    add_meaning(diagnostic, s.word);
    if (explain_code(s.word)->value) diagnostic.help.emplace_back(kTrace);  // the others have it
    return diagnostic;
  }
  if (s.failure) return call_finding(*s.failure);
  return std::nullopt;
}

}  // namespace kiln
