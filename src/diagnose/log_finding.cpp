// SPDX-License-Identifier: MIT
// From what a log said to one cause with its cure.
#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "diagnose/log_state.hpp"

namespace kiln {
namespace {

using detail::Cause;
using detail::field_of;
using detail::LoggedFailure;
using detail::parse_number;
using detail::text_of;

constexpr const char* kListDied =
    "a program that does no more than list devices failed: most likely the driver, or a library that it "
    "loads";
constexpr const char* kTrace = "trace the program for more: onetrace -c PROGRAM (or unitrace, ze_tracer)";
constexpr const char* kDebugKeys =
    "NEOReadDebugKeys=1 PrintDebugMessages=1 makes Intel's driver print its reasons";
constexpr std::uint8_t kOnlyBuildRank = 58;  // of sentences that say no more than that a build failed
constexpr std::uint8_t kOnlyWarnsRank = 31;  // of sentences that tell of no failure
constexpr std::uint8_t kBesideRank = 35;     // of sentences that may stand beside any failure
constexpr std::uint8_t kSureFamilyRank = 17;
constexpr std::uint64_t kGranule = 1024;  // bytes, to which the driver rounds the `__local` arguments
constexpr std::uint64_t kLocalAlignment = 16;
constexpr std::uint64_t kLeastSlm = 64 << 10;  // bytes that each of Intel's GPUs has for a work-group

/// The cause's own words, without rows.
Diagnostic of(Cause cause, std::string_view message = {}) {
  const detail::CauseText& text = text_of(cause);
  Diagnostic diagnostic{
      std::string(text.code), std::string(message.empty() ? text.message : message), {}, {}};
  for (const std::string_view help : text.help)
    if (!help.empty()) diagnostic.help.emplace_back(help);
  return diagnostic;
}

DiagnosticRow words(std::string label, std::string text) { return {std::move(label), std::move(text)}; }
DiagnosticRow bytes(std::string label, std::uint64_t value) { return {std::move(label), {}, value, "B"}; }

void add_failure(Diagnostic& diagnostic, const LoggedFailure& failure) {
  diagnostic.rows.push_back(words("call", failure.call + " gave " + failure.result));
  diagnostic.rows.push_back(words("at", "line " + std::to_string(failure.line) + " of the log"));
  if (!failure.kernel.name.empty()) diagnostic.rows.push_back(words("kernel", failure.kernel.name));
}

/// That no device was found is sure, and why is not.
void not_sure(Diagnostic& diagnostic, Cause cause) {
  if (cause != Cause::no_device) diagnostic.message = "most likely " + diagnostic.message;
}

/// What else it may be, and what would tell: before all other help.
void leave_open(Diagnostic& diagnostic, Cause first, std::span<const Cause> others) {
  if (others.empty()) return;
  std::string list;
  for (const Cause other : others) (list += list.empty() ? "" : "; ").append(text_of(other).name);
  diagnostic.rows.push_back(words("undecided", "this log leaves it open; other causes: " + list));
  std::vector<std::string> decide{"to decide: " + std::string(text_of(first).decide)};
  for (const Cause other : others) decide.push_back("to decide: " + std::string(text_of(other).decide));
  decide.erase(std::unique(decide.begin(), decide.end()), decide.end());
  decide.emplace_back("to decide: `kiln exec -- PROGRAM` names the call that is refused, and why");
  diagnostic.help.insert(diagnostic.help.end(), decide.begin(), decide.end());
}

void add_line(Diagnostic& diagnostic, const std::string& text, std::uint64_t line) {
  diagnostic.rows.push_back(words("log", text));
  diagnostic.rows.push_back(words("at", "line " + std::to_string(line) + " of the log"));
}

void add_meaning(Diagnostic& diagnostic, const std::string& code) {
  if (const auto meaning = explain_code(code)) {
    std::string name = meaning->name == code ? "" : meaning->name + ", ";
    diagnostic.rows.push_back(words("meaning", name + meaning->meaning));
  }
}

/// What the kernel asks for, as far as the log has it: the arguments, and `arrays` beside them.
std::uint64_t sum_of(const detail::LoggedKernel& kernel, std::uint64_t arrays) {
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

/// `arrays`: bytes of the kernel's `__local` arrays; nothing: not in the log.
Diagnostic slm_finding(const std::optional<LoggedFailure>& failure,
                       const std::optional<std::pair<std::uint64_t, std::uint64_t>>& printed,
                       const std::optional<std::uint64_t>& arrays) {
  Diagnostic diagnostic{"K0501", "a work-group asks for more SLM than the device has", {}, {}};
  if (failure) {
    add_failure(diagnostic, *failure);
    for (const auto& [index, size] : failure->kernel.local_bytes)
      diagnostic.rows.push_back(bytes("`__local` argument " + std::to_string(index), size));
  }
  if (arrays) diagnostic.rows.push_back(bytes("`__local` arrays of the kernel", *arrays));
  const std::uint64_t sum = failure ? sum_of(failure->kernel, arrays.value_or(0)) : 0;
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

Diagnostic unlinked_finding(const std::string& symbol, const std::string& kernel) {
  Diagnostic diagnostic = of(Cause::unresolved);
  if (!symbol.empty()) diagnostic.message = "`" + symbol + "` is used by a module and defined nowhere";
  if (!kernel.empty()) diagnostic.rows.push_back(words("used by", "kernel `" + kernel + "`"));
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
  else if (in("drm_neo") || in("direct_submission"))
    diagnostic.help.emplace_back("the GPU met an error: the kernel log (dmesg) has more");
  else if (in("cmdcontainer") || in("linear_stream") || in("sync_buffer_handler"))
    diagnostic.help.emplace_back(
        "memory for the commands of a list could not be had: reset lists and use them again, submit shorter "
        "ones, "
        "and see with `kiln memory` while the program runs what is left of the device and the host");
  else if (in("heap_allocator"))
    diagnostic.help.emplace_back(
        "an allocation has an alignment that is no power of two, or an enormous one: `kiln exec --guard` "
        "refuses it");
  else if (in("zeinfo_decoder"))
    diagnostic.help.emplace_back(
        "native code says what this driver does not know, or is damaged: compile it by an ocloc of the "
        "driver's "
        "release, or give SPIR-V; `kiln inspect FILE` names what is wrong");
  else if (in("cmdqueue"))
    diagnostic.help.emplace_back(
        "an assert() in a kernel failed, if a message of it stands before this line; else `kiln exec "
        "--record FILE` "
        "says what was under way");
  else if (in("gmm_"))  // the client of libigdgmm
    leave_open(diagnostic, Cause::driver_abort, std::array{Cause::library});
  else if (in("wddm"))  // Windows' subsystem for Linux: the driver of Windows has the other half
    leave_open(diagnostic, Cause::driver_abort, std::array{Cause::library});
  else
    diagnostic.help.emplace_back(kDebugKeys);
  if (inside.empty()) {
    if (!in("gmm_") && !in("wddm"))
      diagnostic.rows.push_back(words("undecided", "this log does not say in which call"));
    diagnostic.help.emplace_back(kTrace);
  }
  return diagnostic;
}

/// By the code alone, and the sort of call that gave it: likely, and not sure where several are.
Diagnostic by_code(const std::string& name, detail::CallKind kind) {
  const auto code = detail::level_zero_code(name);
  // Level Zero's own UNKNOWN says nothing; that of the runtimes above is a failure of the device.
  const bool above = name.starts_with("UR_") || name.starts_with("PI_") || name.starts_with('-');
  if (!above && code == 0x7ffffffeu && kind != detail::CallKind::build) return of(Cause::none);
  const auto causes = code ? detail::causes_of(*code, kind) : std::span<const Cause>();
  if (causes.empty()) return of(Cause::none);
  Diagnostic diagnostic = of(causes[0]);
  if (causes.size() > 1) not_sure(diagnostic, causes[0]);
  leave_open(diagnostic, causes[0], causes.subspan(1));
  return diagnostic;
}

/// A family goes before a code that blames nothing, and if it is sure enough before one that says no more
/// than that a call was wrong, a build failed or no device is there.
bool says_more(const detail::Rule& family, const std::optional<detail::LoggedCode>& code) {
  if (family.rank < detail::kFamilyRank) return false;
  if (!code) return true;
  const auto causes = detail::causes_of(detail::level_zero_code(code->name).value_or(0), code->kind);
  if (causes.empty()) return true;
  const std::array vague{Cause::misuse, Cause::build, Cause::no_device};
  return family.rank >= kSureFamilyRank && std::ranges::find(vague, causes[0]) != vague.end();
}

/// Does the thread that is in it do nothing there?
bool is_wait(const detail::OpenCall& call) { return call.call.find("Synchronize") != call.call.npos; }

/// A trace ends in calls, and the process too. `threads`: the trace has several.
Diagnostic death_finding(const std::vector<detail::OpenCall>& calls, bool threads, const std::string& text,
                         std::uint64_t line) {
  const detail::OpenCall& latest = calls.back();
  const bool sure = calls.size() == 1 && !(threads && is_wait(latest));
  Diagnostic diagnostic = of(Cause::none, sure ? "the process died inside `" + latest.call + "`"
                                               : "the process died while `" + latest.call +
                                                     "` was under way, perhaps in another thread");
  if (sure) diagnostic.rows.push_back(words("inside the call", latest.call));
  for (std::size_t i = calls.size(); !sure && i-- > 0;) {
    const std::string& thread = calls[i].thread;
    diagnostic.rows.push_back(words("under way", calls[i].call + (thread.empty() ? "" : ", " + thread)));
  }
  diagnostic.rows.push_back(words("log", text));
  diagnostic.rows.push_back(words("at", "line " + std::to_string(line) + " of the log"));
  if (sure && !latest.values.empty()) diagnostic.rows.push_back(words("arguments", latest.values));
  if (!sure) diagnostic.help.emplace_back("which thread died a core file says: gdb PROGRAM CORE, then `bt`");
  for (const char* help :
       {"look at handles and pointers of the call: drivers follow those that are null or were freed",
        "`kiln exec --guard -- PROGRAM` answers what would end the process in the driver",
        "the same without the tracer: where it goes well there, report it to the tracer"})
    diagnostic.help.emplace_back(help);
  return diagnostic;
}

Diagnostic call_finding(const LoggedFailure& failure) {
  const std::string& call = failure.call;
  Diagnostic diagnostic = by_code(failure.result, detail::kind_of_call(call));
  std::vector<DiagnosticRow> rows;
  rows.swap(diagnostic.rows);
  add_failure(diagnostic, failure);
  if (const auto size = parse_number(field_of(failure.values, "size"));
      size && call.starts_with("zeMemAlloc"))
    diagnostic.rows.push_back(bytes("size", *size));
  else if (!failure.values.empty() && call != "zeKernelCreate" && call != "zeModuleCreate")
    diagnostic.rows.push_back(words("arguments", failure.values));
  add_meaning(diagnostic, failure.result);
  diagnostic.rows.insert(diagnostic.rows.end(), rows.begin(), rows.end());
  if (diagnostic.code == text_of(Cause::none).code) {
    diagnostic.message = "`" + call + "` failed";
    if (const auto meaning = explain_code(failure.result)) {
      for (const std::string& cause : meaning->causes)
        diagnostic.rows.push_back(words("possible cause", cause));
      diagnostic.help = meaning->cures;
    }
  }
  return diagnostic;
}

/// K0214 to K0219, K0221: calls that were refused for want of memory.
bool is_memory_refusal(std::string_view code) {
  return (code >= "K0214" && code <= "K0219" && code != "K0216") || code == "K0221";
}

/// That a program failed, or what sort of sentence says so, is all that the log has.
Diagnostic fallback_finding(const detail::LoggedSentence& sentence, bool of_a_list) {
  const detail::Rule& rule = *sentence.rule;
  if (rule.cause == Cause::none && of_a_list) {
    Diagnostic diagnostic = of(Cause::driver_abort, kListDied);
    add_line(diagnostic, sentence.text, sentence.line);
    leave_open(diagnostic, Cause::driver_abort, std::array{Cause::library});
    return diagnostic;
  }
  Diagnostic diagnostic = of(rule.cause, rule.message);
  if (rule.cause != Cause::none && rule.message.empty()) not_sure(diagnostic, rule.cause);
  add_line(diagnostic, sentence.text, sentence.line);
  const std::array others{rule.or_else};
  if (rule.or_else != Cause::none) leave_open(diagnostic, rule.cause, others);
  if (rule.or_else != Cause::none) return diagnostic;
  diagnostic.rows.push_back(words("undecided", "this log leaves the cause open"));
  for (const char* help :
       {"`kiln exec --record calls -- PROGRAM`, then `kiln explain calls`: what is refused and why, and what "
        "was under way when the process died",
        "the kernel's log of that minute beside it: `sudo dmesg -T | grep -E 'i915|xe|oom'`", kDebugKeys})
    diagnostic.help.emplace_back(help);
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
  const bool certain = own && own->severity == Severity::error;
  if (certain && !detail::is_memory_cause(own->code)) {
    // A refusal for want of memory, which an account may know the reason of.
    const auto account = is_memory_refusal(own->code) ? state_->account_finding() : std::nullopt;
    return account ? detail::with_account(own_finding(*own), *account) : own_finding(*own);
  }
  if (auto failure = state_->failure_finding()) {
    if (detail::is_about_memory(*failure))
      if (const auto account = state_->account_finding())
        return detail::with_account(*std::move(failure), *account);
    return certain ? own_finding(*own) : *std::move(failure);
  }
  return own ? std::optional(own_finding(*own)) : std::nullopt;
}

std::optional<Diagnostic> LogReader::State::account_finding() const {
  if (const detail::LoggedDiagnostic* told = own.memory_cause()) {
    Diagnostic cause{told->code, told->message, told->rows, told->help};
    cause.severity = told->severity;
    return cause;
  }
  const MemoryAccount* printed = account.found();
  if (!printed) return std::nullopt;
  MemoryRequest request;
  request.size = memory.asked.value_or(0);
  if (failure) {
    if (const auto size = parse_number(field_of(failure->values, "size")); size && request.size == 0)
      request.size = *size;
    if (failure->call == "zeMemAllocHost") request.kind = MemoryKind::host;
    if (failure->call == "zeMemAllocShared") request.kind = MemoryKind::shared;
  }
  auto causes = memory_causes(*printed, request);
  // How much the kernel promises depends on a setting that older output shows in one case alone.
  if (!account.says_promises())
    for (Diagnostic& each : causes)
      if (each.code == "K0240") each.severity = Severity::warning;
  const auto first = std::ranges::min_element(causes, {}, &Diagnostic::severity);
  return first == causes.end() ? std::nullopt : std::optional(*first);
}

std::optional<Diagnostic> LogReader::State::failure_finding() const {
  const auto failed_with = [&](std::string_view result) {
    return failure && failure->result.find(result) != std::string::npos;
  };
  std::optional<std::uint64_t> arrays;
  if (failure && !failure->kernel.name.empty())
    if (const auto found = kernel_slm.find(failure->kernel.name); found != kernel_slm.end() && found->second)
      arrays = found->second;
  // With the arrays the sum is known, and may well be what every GPU has; without them it may be more.
  const bool asks_for_slm =
      failed_with("OUT_OF_DEVICE_MEMORY") &&
      (failure->call == "zeKernelSuggestGroupSize" ||
       (failure->call.starts_with("zeCommandListAppendLaunch") &&
        (arrays ? sum_of(failure->kernel, *arrays) > kLeastSlm : !failure->kernel.local_bytes.empty())));
  const std::uint8_t rank = sentence.rule ? sentence.rule->rank : 0;
  if (slm || (asks_for_slm && rank < detail::kSentenceRank))
    return slm_finding(failed_with("OUT_OF_DEVICE_MEMORY") ? failure : std::nullopt, slm, arrays);

  const bool unlinked = failed_with("INVALID_MODULE_UNLINKED");
  const bool names_symbol = !unresolved.empty() && rank < detail::kSentenceRank;
  const bool has_failure = failure && !failure->probe;
  const bool has_code = has_failure || code;
  const std::uint32_t of_code = code ? detail::level_zero_code(code->name).value_or(0) : 0;
  const bool no_device = !has_failure && of_code == 0x78000001u;
  // What says more than the code: a sentence of its own. The others may well be beside the failure.
  // That a program was not built is less than a code that says another thing.
  const bool only_build = sentence.rule && sentence.rule->cause == Cause::build && rank <= kOnlyBuildRank &&
                          of_code != 0 && of_code != 0x70000004u && of_code < 0x78000000u;
  const bool by_sentence = !only_build &&
                           rank > (!has_code   ? 0
                                   : no_device ? detail::kNoDeviceRank
                                               : detail::kCodeRank) &&
                           !names_symbol && !unlinked;
  const detail::MemoryVerdict amounts =
      rank < 83 ? detail::verdict(memory) : detail::MemoryVerdict{};  // the kernel's log says more
  // A family says more than nothing, and than a code that says no more than that a call failed.
  const bool said = fallback.rule && (names_gpu || (may_name_gpu && !names_other));
  const bool only_built = by_sentence && sentence.rule->cause == Cause::build && rank <= kOnlyBuildRank;
  const bool vague =
      !by_sentence || rank <= kBesideRank || (only_built && said && fallback.rule->rank >= kSureFamilyRank);
  const bool by_family = said && !has_failure && vague && says_more(*fallback.rule, code);
  const bool out_of_memory = by_family && detail::is_about_memory(of(fallback.rule->cause));

  // A family that names the host says more than the size that was asked for.
  const bool names_host = by_family && fallback.rule->cause == Cause::host_memory && !memory.free;

  Diagnostic diagnostic;
  if (names_symbol || unlinked) {
    diagnostic = unlinked_finding(unresolved, unresolved_kernel);
    if (unlinked) add_failure(diagnostic, *failure);
  } else if (abort_line && rank < 83) {
    return abort_finding(abort_text, abort_file, open.empty() ? "" : open.back().call);
  } else if (amounts.cause != Cause::none && !names_host && (by_sentence || has_code || out_of_memory)) {
    diagnostic = of(amounts.cause, amounts.message);
    if (amounts.or_else != Cause::none) leave_open(diagnostic, amounts.cause, {&amounts.or_else, 1});
  } else if (by_family) {
    diagnostic = fallback_finding(fallback, lists);
    if (code) diagnostic.rows.push_back(words("code", code->name + ", line " + std::to_string(code->line)));
    return diagnostic;
  } else if (by_sentence) {
    diagnostic = of(sentence.rule->cause, sentence.rule->message);
    if (rank <= kOnlyWarnsRank) diagnostic.severity = Severity::warning;
    if (sentence.rule->or_else != Cause::none) {
      if (sentence.rule->message.empty()) not_sure(diagnostic, sentence.rule->cause);
      leave_open(diagnostic, sentence.rule->cause, {&sentence.rule->or_else, 1});
    }
  } else if (has_failure) {
    return call_finding(*failure);
  } else if (code) {
    diagnostic = by_code(code->name, code->kind);
  } else if (!died_in.empty()) {
    return death_finding(died_in, several_threads, death_text, death_line);
  } else if (failure) {
    return call_finding(*failure);
  } else if (lists_devices && !lists_gpu) {
    diagnostic = of(Cause::no_device, "SYCL finds no GPU");
    diagnostic.rows.push_back(
        words("at", "line " + std::to_string(list_line) + " of the log: a list of devices without one"));
    return diagnostic;
  } else if (said) {
    return fallback_finding(fallback, lists);
  } else {
    return std::nullopt;
  }

  std::vector<DiagnosticRow> rows;
  rows.swap(diagnostic.rows);
  if (!process.process.empty()) rows.insert(rows.begin(), words("process", process.process));
  if (!process.engine.empty()) rows.insert(rows.begin(), words("engine", process.engine));
  const auto amount = [&](const char* label, const std::optional<std::uint64_t>& value) {
    if (value) diagnostic.rows.push_back(bytes(label, *value));
  };
  if (detail::is_about_memory(diagnostic) && memory.asked) {
    amount("asked for", memory.asked);
    amount("largest allocation", memory.largest);
    amount("memory of the device", memory.total);
    amount("free by the program", memory.free);
    amount("used by the program", memory.used);
  }
  if (sentence.rule && (by_sentence || amounts.cause != Cause::none))
    add_line(diagnostic, sentence.text, sentence.line);
  else if (out_of_memory)
    add_line(diagnostic, fallback.text, fallback.line);
  if (has_failure && !unlinked) {
    add_failure(diagnostic, *failure);
  } else if (code) {
    if (!sentence.rule || sentence.line != code->line || !by_sentence) {
      if (by_sentence || amounts.cause != Cause::none)
        diagnostic.rows.push_back(words("code", code->name + ", line " + std::to_string(code->line)));
      else
        add_line(diagnostic, code->text, code->line);
    }
    add_meaning(diagnostic, code->name);
  }
  diagnostic.rows.insert(diagnostic.rows.end(), rows.begin(), rows.end());
  return diagnostic;
}

}  // namespace kiln
