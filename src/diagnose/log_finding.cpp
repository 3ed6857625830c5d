// SPDX-License-Identifier: MIT
// From what a log said to one cause with its cure.
#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "diagnose/finding_parts.hpp"

namespace kiln {
namespace {

using detail::add_failure;
using detail::add_line;
using detail::add_meaning;
using detail::bytes_row;
using detail::Cause;
using detail::field_of;
using detail::finding_of;
using detail::leave_open;
using detail::LoggedFailure;
using detail::not_sure;
using detail::parse_number;
using detail::text_of;
using detail::words_row;

constexpr const char* kListDied =
    "a program that does no more than list devices failed: most likely the driver, or a library that it "
    "loads";
constexpr std::uint8_t kOnlyBuildRank = 58;  // of sentences that say no more than that a build failed
constexpr std::uint8_t kOnlyWarnsRank = 31;  // of sentences that tell of no failure
constexpr std::uint8_t kBesideRank = 35;     // of sentences that may stand beside any failure
constexpr std::uint8_t kSureFamilyRank = 17;
constexpr std::uint64_t kLeastSlm = 64 << 10;  // bytes that each of Intel's GPUs has for a work-group

Diagnostic unlinked_finding(const std::string& symbol, const std::string& kernel) {
  Diagnostic diagnostic = finding_of(Cause::unresolved);
  if (!symbol.empty()) diagnostic.message = "`" + symbol + "` is used by a module and defined nowhere";
  if (!kernel.empty()) diagnostic.rows.push_back(words_row("used by", "kernel `" + kernel + "`"));
  return diagnostic;
}

/// By the code alone, and the sort of call that gave it: likely, and not sure where several are.
Diagnostic by_code(const std::string& name, detail::CallKind kind) {
  const auto code = detail::level_zero_code(name);
  // Level Zero's own UNKNOWN says nothing; that of the runtimes above is a failure of the device.
  const bool above = name.starts_with("UR_") || name.starts_with("PI_") || name.starts_with('-');
  if (!above && code == 0x7ffffffeu && kind != detail::CallKind::build) return finding_of(Cause::none);
  const auto causes = code ? detail::causes_of(*code, kind) : std::span<const Cause>();
  if (causes.empty()) return finding_of(Cause::none);
  Diagnostic diagnostic = finding_of(causes[0]);
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

Diagnostic call_finding(const LoggedFailure& failure) {
  const std::string& call = failure.call;
  Diagnostic diagnostic = by_code(failure.result, detail::kind_of_call(call));
  const bool foreign = (call == "zeMemAllocDevice" || call == "zeMemAllocShared") &&
                       failure.result.find("DEVICE_LOST") != std::string::npos;
  if (foreign) {
    diagnostic = finding_of(Cause::misuse, detail::kForeignDevice);
    leave_open(diagnostic, Cause::misuse, std::array{Cause::hang});
  }
  std::vector<DiagnosticRow> rows;
  rows.swap(diagnostic.rows);
  add_failure(diagnostic, failure);
  if (const auto size = parse_number(field_of(failure.values, "size"));
      size && call.starts_with("zeMemAlloc"))
    diagnostic.rows.push_back(bytes_row("size", *size));
  else if (!failure.values.empty() && call != "zeKernelCreate" && call != "zeModuleCreate")
    diagnostic.rows.push_back(words_row("arguments", failure.values));
  add_meaning(diagnostic, failure.result);
  diagnostic.rows.insert(diagnostic.rows.end(), rows.begin(), rows.end());
  if (!foreign && diagnostic.code == text_of(Cause::none).code) {
    diagnostic.message = "`" + call + "` failed";
    if (const auto meaning = explain_code(failure.result)) {
      for (const std::string& cause : meaning->causes)
        diagnostic.rows.push_back(words_row("possible cause", cause));
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
    // An exception is an answer that the program got; a signal is what happens inside a driver.
    const bool died = rule.rank == detail::kDeathRank;
    const Cause cause = died ? Cause::driver_abort : Cause::library;
    Diagnostic diagnostic = finding_of(cause, kListDied);
    add_line(diagnostic, sentence.text, sentence.line);
    leave_open(diagnostic, cause, std::array{died ? Cause::library : Cause::no_device});
    return diagnostic;
  }
  Diagnostic diagnostic = finding_of(rule.cause, rule.message);
  if (rule.cause != Cause::none && rule.message.empty()) not_sure(diagnostic, rule.cause);
  add_line(diagnostic, sentence.text, sentence.line);
  // What threads found most often behind these, and their lines cannot tell: libraries of several releases.
  const std::array may_be_a_library{Cause::build,          Cause::other_target, Cause::misuse,
                                    Cause::compiler_crash, Cause::hang,         Cause::no_device,
                                    Cause::driver_abort};
  const bool library = rule.or_else != Cause::library && !detail::is_kernel_rule(rule) &&
                       std::ranges::find(may_be_a_library, rule.cause) != may_be_a_library.end();
  const std::array others{rule.or_else, Cause::library};
  if (rule.or_else != Cause::none) leave_open(diagnostic, rule.cause, {others.data(), library ? 2u : 1u});
  if (rule.or_else != Cause::none) return diagnostic;
  diagnostic.rows.push_back(words_row("undecided", "this log leaves the cause open"));
  for (const char* help :
       {"`kiln exec --record calls -- PROGRAM`, then `kiln explain calls`: what is refused and why, and what "
        "was under way when the process died",
        "the kernel's log of that minute beside it: `sudo dmesg -T | grep -E 'i915|xe|oom'`",
        detail::kDebugKeys})
    diagnostic.help.emplace_back(help);
  return diagnostic;
}

/// What Kiln found is more than what can be read from the failure that followed.
Diagnostic own_finding(const detail::LoggedDiagnostic& own) {
  Diagnostic diagnostic{"K0509", "Kiln reported " + own.code + ": " + own.message, {}, own.help};
  diagnostic.rows = {words_row("code", own.code),
                     words_row("at", "line " + std::to_string(own.line) + " of the log")};
  if (!own.result.empty()) diagnostic.rows.push_back(words_row("result", own.result));
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
      failed_with("OUT_OF_DEVICE_MEMORY") && (failure->call == "zeKernelSuggestGroupSize" ||
                                              (failure->call.starts_with("zeCommandListAppendLaunch") &&
                                               (arrays ? detail::slm_of(failure->kernel, *arrays) > kLeastSlm
                                                       : !failure->kernel.local_bytes.empty())));
  const std::uint8_t rank = sentence.rule ? sentence.rule->rank : 0;
  if (slm || (asks_for_slm && rank < detail::kSentenceRank))
    return detail::slm_finding(failed_with("OUT_OF_DEVICE_MEMORY") ? failure : std::nullopt, slm, arrays);

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
  const bool out_of_memory = by_family && detail::is_about_memory(finding_of(fallback.rule->cause));

  // A family that names the host says more than the size that was asked for.
  const bool names_host = by_family && fallback.rule->cause == Cause::host_memory && !memory.free;

  // Firmware of video is the cause where video failed, or nothing did: a small BAR alone is no failure.
  const bool else_failed = sentence.rule && sentence.rule->cause != Cause::small_bar;
  const bool firmware = media_firmware.rule && !has_code && rank < detail::kMediaFirmwareRank &&
                        abort_line == 0 && (names_media || (!else_failed && !said));

  Diagnostic diagnostic;
  if (firmware) {
    diagnostic = finding_of(media_firmware.rule->cause, media_firmware.rule->message);
    add_line(diagnostic, media_firmware.text, media_firmware.line);
    leave_open(diagnostic, media_firmware.rule->cause, {&media_firmware.rule->or_else, 1});
    return diagnostic;
  }
  if (names_symbol || unlinked) {
    diagnostic = unlinked_finding(unresolved, unresolved_kernel);
    if (unlinked) add_failure(diagnostic, *failure);
  } else if (abort_line && rank < 83) {
    return detail::abort_finding(abort_text, abort_file, open.empty() ? "" : open.back().call);
  } else if (amounts.cause != Cause::none && !names_host && (by_sentence || has_code || out_of_memory)) {
    diagnostic = finding_of(amounts.cause, amounts.message);
    if (amounts.or_else != Cause::none) leave_open(diagnostic, amounts.cause, {&amounts.or_else, 1});
  } else if (by_family) {
    diagnostic = fallback_finding(fallback, lists);
    if (code)
      diagnostic.rows.push_back(words_row("code", code->name + ", line " + std::to_string(code->line)));
    return diagnostic;
  } else if (by_sentence) {
    diagnostic = finding_of(sentence.rule->cause, sentence.rule->message);
    if (rank <= kOnlyWarnsRank) diagnostic.severity = Severity::warning;
    if (sentence.rule->or_else != Cause::none) {
      if (sentence.rule->message.empty()) not_sure(diagnostic, sentence.rule->cause);
      leave_open(diagnostic, sentence.rule->cause, {&sentence.rule->or_else, 1});
    }
  } else if (has_failure) {
    return call_finding(*failure);
  } else if (code) {
    const auto causes = detail::causes_of(of_code, code->kind);
    if (lists && (causes.empty() || causes[0] == Cause::misuse)) {  // arguments that are always the same
      diagnostic = finding_of(Cause::library, kListDied);
      leave_open(diagnostic, Cause::library, std::array{Cause::no_device});
    } else {
      diagnostic = by_code(code->name, code->kind);
    }
  } else if (!died_in.empty()) {
    return detail::death_finding(died_in, several_threads, death_text, death_line);
  } else if (failure) {
    return call_finding(*failure);
  } else if (lists_devices && !lists_gpu) {
    diagnostic = finding_of(Cause::no_device, "SYCL finds no GPU");
    diagnostic.rows.push_back(
        words_row("at", "line " + std::to_string(list_line) + " of the log: a list of devices without one"));
    leave_open(diagnostic, Cause::no_device, std::array{Cause::library, Cause::permission});
    return diagnostic;
  } else if (said && compiler_died && fallback.rule->cause == Cause::none && died.rule) {
    static constexpr detail::Rule kCompilerDied{"",
                                                "",
                                                "",
                                                Cause::compiler_crash,
                                                detail::kDeathRank,
                                                Cause::build,
                                                "the compiler died, most likely by a fault of its own"};
    return fallback_finding({&kCompilerDied, died.line, died.text}, false);
  } else if (said) {
    return fallback_finding(fallback, lists);
  } else if (died.rule && !names_other) {
    static constexpr detail::Rule kDiedAlone{
        "",
        "",
        "",
        Cause::none,
        detail::kDeathRank,
        Cause::none,
        "the process died, and nothing in this log says that the GPU or its driver had a part in it"};
    return fallback_finding({&kDiedAlone, died.line, died.text}, false);
  } else {
    return std::nullopt;
  }

  std::vector<DiagnosticRow> rows;
  rows.swap(diagnostic.rows);
  if (!process.process.empty()) rows.insert(rows.begin(), words_row("process", process.process));
  if (!process.engine.empty()) rows.insert(rows.begin(), words_row("engine", process.engine));
  const auto amount = [&](const char* label, const std::optional<std::uint64_t>& value) {
    if (value) diagnostic.rows.push_back(bytes_row(label, *value));
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
        diagnostic.rows.push_back(words_row("code", code->name + ", line " + std::to_string(code->line)));
      else
        add_line(diagnostic, code->text, code->line);
    }
    add_meaning(diagnostic, code->name);
  }
  diagnostic.rows.insert(diagnostic.rows.end(), rows.begin(), rows.end());
  return diagnostic;
}

}  // namespace kiln