// SPDX-License-Identifier: MIT
// Remembers, line by line, what the calls of a log say about kernels and failures.
#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

#include "diagnose/log_line.hpp"
#include "diagnose/log_state.hpp"
#include "diagnose/rules/matcher.hpp"
#include "support/digits.hpp"

namespace kiln {
namespace {

using detail::CallKind;
using detail::field_of;
using detail::parse_number;
using detail::TraceLine;

constexpr std::size_t kLongestLine = 64 << 10;
constexpr std::size_t kLongestKept = 400;     // bytes of a line that a diagnostic shows
constexpr std::size_t kMostKernels = 10000;   // handles; a program that forgets more loses them all
constexpr std::size_t kMostCalls = 2000;      // by name; Level Zero has some hundreds
constexpr std::size_t kLongestValues = 4096;  // bytes of a call's arguments
constexpr std::size_t kMostArguments = 64;    // `__local` ones of a kernel
constexpr std::size_t kMostOpen = 256;        // calls that have not returned: one a thread
constexpr std::size_t kLongestHandle = 32;    // bytes; a hexadecimal number of 64 bits has 18
constexpr std::uint64_t kCompilersDeath = 2;  // lines below its command that its death may stand
constexpr std::uint64_t kNearBefore = 6, kNearBehind = 4;  // lines around a code that may name its call

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

/// Those of Level Zero that are no errors are answers, such as ZE_RESULT_QUERY_TRUE.
bool is_success(std::string_view result) {
  if (result.starts_with("0x")) {  // the tracers write decimal numbers so too
    const std::string_view digits = result.substr(2);
    const auto number = detail::parse_digits(digits, digits.size() == 10 ? 10 : 16);
    return number && (*number < 0x70000000 || (*number >= 0x7fff0000 && *number < 0x7ffffffe));
  }
  return result == "CL_SUCCESS" ||
         (result.starts_with("ZE_RESULT_") && !result.starts_with("ZE_RESULT_ERROR_"));
}

/// In the way that `arguments` has it.
std::string call_key(const TraceLine& line) {
  return std::string(line.thread) + " " + std::string(line.call);
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
  std::erase_if(open, [&](const detail::OpenCall& each) { return each.thread == line.thread; });
  if (open.size() >= kMostOpen) open.erase(open.begin());
  if (!first_thread) first_thread = line.thread;
  several_threads |= *first_thread != line.thread;
  open.push_back({std::string(line.thread), std::string(line.call), kept(line.values)});
  const std::string key = call_key(line);
  if (arguments.size() >= kMostCalls && !arguments.contains(key)) arguments.clear();
  arguments[key] = line.values.substr(0, kLongestValues);
  const std::string_view handle = kernel_handle(line.values);
  // "hKernel = 0xb (tiled(float*, int)) pLaunchFuncArgs = …": also of kernels that were made before the
  // trace.
  if (line.call.starts_with("zeCommandListAppendLaunch") && !handle.empty()) {
    std::string_view name = between(line.values, "hKernel = " + std::string(handle) + " (", " = ");
    name = name.substr(0, name.rfind(") "));
    if (auto& known = kernel(handle).name; known.empty() && name.size() > 0) known = kept(name);
  }
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
  std::erase_if(open, [&](const detail::OpenCall& each) { return each.thread == line.thread; });
  const auto given = arguments.find(call_key(line));
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

namespace {

/// Of lspci: "Region 2: Memory at … [size=256M]" below a card is all of it that the host sees at once. An
/// integrated GPU has no memory of its own to show.
constexpr detail::Rule kSmallRegion{"", "", "", detail::Cause::small_bar, 31};
constexpr detail::Rule kCompilersError{
    "", "", "", detail::Cause::build, 17, detail::Cause::library, detail::kDoesNotCompile};
constexpr detail::Rule kAnotherGroup{
    "",
    "",
    "",
    detail::Cause::permission,
    49,
    detail::Cause::no_device,
    "the GPU's node belongs to no group for GPUs, or to one that this container does not know: "
    "give it to the program by its number (`--group-add`)"};
/// What a shell says of a child, on a line of its own.
constexpr detail::Rule kKilled{"",
                               "",
                               "",
                               detail::Cause::host_memory,
                               45,
                               detail::Cause::misuse,
                               "the process was killed, most likely for want of memory of the host"};
constexpr detail::Rule kCompilersAssertion{
    "", "", "", detail::Cause::compiler_crash, 23, detail::Cause::library};

}  // namespace

/// Sentences of the kernel, of Intel's driver, of its compiler, and of the runtimes and programs above.
void LogReader::State::text(std::string_view line) {
  if (abort_file.empty() && abort_line != 0 && lines == abort_line + 1) abort_file = kept(line);
  if (table_columns != 0) kernel_table(line);
  if (detail::begins_pci_device(line)) lists_card = false;
  if (detail::is_command(line)) compiler_line = 0;
  if (git_log.line(line)) return;
  const auto& rules = detail::RuleMatcher::get();
  auto found = rules.find(line);
  if (const std::string words = detail::exception_words(line); !words.empty()) found |= rules.find(words);
  if (found.none()) return;
  const std::string small = detail::in_small_letters(line);
  const bool innocent = detail::is_innocent(line, small);
  if (detail::is_another_vendors(small)) {
    names_other = true;
    if (!detail::asks_for_cuda(small)) return;
  }
  using enum detail::ReadWord;
  const auto has = [&](auto... words) { return rules.reads(found, {words...}); };
  if (has(size_of_slm) && !slm) {
    const auto asked = parse_number(between(line, "Size of SLM (", ")"));
    const auto available = parse_number(between(line, "larger than available (", ")"));
    if (asked && available) slm = {*asked, *available};
  } else if (has(out_of_shared_memory) && !slm) {
    const auto asked = parse_number(between(line, "Required: ", ","));
    std::string_view limit = between(line, "Hardware limit: ", "\n");
    limit = limit.substr(0, limit.find_first_not_of("0123456789"));
    if (const auto available = parse_number(limit); asked && available) slm = {*asked, *available};
  } else if (has(unresolved_external) && has(at_offset) && unresolved.empty()) {
    // "error : unresolved external symbol f at offset 8 in instructions segment #1 (aka kernel : k)"
    unresolved = kept(between(line, "unresolved external symbol ", " at offset "));
    unresolved_kernel = kept(between(line, "(aka kernel : ", ")"));
  } else if (has(unresolved_imported) && unresolved.empty()) {
    unresolved = kept(between(line, "Unresolved Imported Symbol <", ">"));
  } else if (has(undefined_reference) && !has(linker, linker_variant) && unresolved.empty()) {
    unresolved = kept(between(line, "undefined reference to `", "'"));
  } else if (has(abort_called) && abort_line == 0) {
    abort_line = lines;
    abort_text = kept(line);
    abort_file = kept(between(line, "line in file:", "\n"));
  }
  if (has(slm_per_group)) kernel_table(line);
  if (has(segmentation_fault, sigsegv, signal_11)) death(line);
  if (has(allocation, malloc, free_memory)) memory.read(line);
  if (has(opencl_device, level_zero_device, level_zero_extension)) {
    lists_devices = true;
    if (list_line == 0) list_line = lines;
    lists_gpu |= has(gpu);
  }
  if (has(i915, xe, drm, process)) kernel_log(line);
  if (has(pci_controller)) lists_card = detail::is_card(small);
  if (lists_card && has(pci_region) && !sentence.rule &&
      small.find("prefetchable) [size=256m]") != small.npos)
    sentence = {&kSmallRegion, lines, {}};
  if (has(ocloc_command, llvm_spirv_command, icpx_command) && detail::is_compilers_command(small))
    compiler_line = lines;
  if (!innocent) sentences(small, found);
  if (died.line == lines) {
    died.text = kept(line);
    compiler_died = compiler_line != 0 && lines - compiler_line <= kCompilersDeath;
  } else if (compiler_line != lines &&
             detail::has_one_of(small, {"device", "running on", "arc(tm)", "graphics"})) {
    compiler_line = 0;
  }
  if (media_firmware.line == lines) media_firmware.text = kept(line);
  if (sentence.line == lines) sentence.text = kept(line);
  if (fallback.line == lines) fallback.text = kept(line);
  names_gpu |= rules.names_gpu(found);
  names_media |= rules.names_media(found) && detail::says_failure(small);
  lists |= has(clinfo, sycl_ls, xpu_smi, zello_world, query_device);
  may_name_gpu |= rules.may_name_gpu(found);

  const CallKind here = rules.kind(found);
  if (!innocent && rules.may_have_code(found)) code_in(line, here);
  // The line that names the call may come behind.
  if (code && code->kind == CallKind::unknown && lines <= code->line + kNearBehind) code->kind = here;
  if (here != CallKind::unknown) last_kind = here, last_kind_line = lines;
}

/// "Kernel, Compiled, SIMD, Number of Arguments, SLM Per Work Group, …", and a row for each; names have
/// commas of their own, so that fields are counted from the end.
void LogReader::State::kernel_table(std::string_view line) {
  constexpr std::string_view kHead = "Kernel, ", kSlm = "SLM Per Work Group";
  const auto fields = [](std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count(text, ',')) + 1;
  };
  if (const auto at = line.find(kSlm); at != line.npos) {
    table_columns = line.find(kHead) < at ? fields(line) : 0;
    table_behind = fields(line.substr(at)) - 1;
    return;
  }
  std::string_view rest = line;
  std::optional<std::uint64_t> slm;
  for (std::size_t behind = 0; behind + 1 < table_columns; ++behind) {
    const auto comma = rest.rfind(',');
    if (comma == rest.npos) break;
    std::string_view field = rest.substr(comma + 1);
    field.remove_prefix(std::min(field.size(), field.find_first_not_of(' ')));
    if (behind == table_behind) slm = detail::parse_digits(field);
    rest = rest.substr(0, comma);
  }
  const auto quote = rest.find('"');
  std::string name = quote == rest.npos ? kept(rest) : kept(between(rest.substr(quote), "\"", "\""));
  if (!slm || name.empty()) {
    table_columns = 0;
    return;
  }
  if (kernel_slm.size() < kMostKernels) kernel_slm.insert_or_assign(std::move(name), *slm);
}

void LogReader::State::death(std::string_view line) {
  if (!died_in.empty() || open.empty()) return;
  died_in = open;
  death_line = lines;
  death_text = kept(line);
}

void LogReader::State::sentences(std::string_view small, const detail::WordFinder::Found& found) {
  const auto rules = detail::log_rules();
  const bool other = detail::is_of_another_driver(small), of_kernel = detail::is_of_the_gpus_driver(small);
  static const auto firmware = static_cast<std::size_t>(
      std::ranges::find(rules, detail::kMediaFirmwareRank, &detail::Rule::rank) - rules.begin());
  if (detail::RuleMatcher::get().holds(firmware, found, small)) {
    if (!media_firmware.rule) media_firmware = {&rules[firmware], lines, {}};
    return;
  }
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const detail::Rule& rule = rules[i];
    if (rule.rank <= detail::kFallbackRank && (other || (of_kernel && rule.word != detail::kKernelLine)))
      continue;
    const bool tells_of_death = rule.rank == detail::kDeathRank && !died.rule;
    if (tells_of_death && detail::RuleMatcher::get().holds(i, found, small)) died = {&rule, lines, {}};
    detail::LoggedSentence& kept = rule.rank <= detail::kFallbackRank ? fallback : sentence;
    if (kept.rule && kept.rule->rank >= rule.rank) continue;
    if (detail::RuleMatcher::get().holds(i, found, small)) kept = {&rule, lines, {}};
  }
  if (small == "killed" && (!sentence.rule || sentence.rule->rank < kKilled.rank))
    sentence = {&kKilled, lines, {}};
  if ((!sentence.rule || sentence.rule->rank < kAnotherGroup.rank) && detail::is_node_of_another_group(small))
    sentence = {&kAnotherGroup, lines, {}};
  if ((!fallback.rule || fallback.rule->rank < kCompilersError.rank) && detail::is_compilers_error(small))
    fallback = {&kCompilersError, lines, {}};
  if (compiler_line != 0 && lines - compiler_line <= kCompilersDeath &&
      small.find("assertion") != small.npos && small.find("failed") != small.npos &&
      (!fallback.rule || fallback.rule->rank < kCompilersAssertion.rank))
    fallback = {&kCompilersAssertion, lines, {}};
}

void LogReader::State::code_in(std::string_view line, CallKind here) {
  // The first one counts, but for those that say only that a call was wrong: programs ask for what is not
  // there.
  const auto blames = [](const std::string& name) {
    const auto causes = detail::causes_of(detail::level_zero_code(name).value_or(0), CallKind::unknown);
    return !causes.empty() && causes[0] != detail::Cause::misuse;
  };
  if (code && blames(code->name)) return;
  const auto name = detail::find_code(line);
  if (!name || (code && !blames(*name))) return;
  if (here == CallKind::unknown && last_kind_line + kNearBefore >= lines) here = last_kind;
  code = detail::LoggedCode{*name, lines, kept(line), here};
}

/// "…, in llama-server [1808332]", "llama-server[1808332] context reset", "class=ccs", "engine_class=ccs",
/// "on rcs0".
void LogReader::State::kernel_log(std::string_view line) {
  if (process.process.empty())
    for (const std::string_view words : {" in ", "[drm] ", "i915-"}) {
      const auto at = line.rfind(words);
      if (at == line.npos) continue;
      std::string_view rest = line.substr(at + words.size());
      if (words == "i915-")
        rest = rest.substr(std::min(rest.size(), rest.find(':', 8) == rest.npos ? 0 : rest.find(':', 8) + 1));
      const auto open = rest.find('[');
      const auto close = rest.find(']', open);
      if (open == rest.npos || close == rest.npos || open == 0 || open > 40) continue;
      const std::string_view number = rest.substr(open + 1, close - open - 1);
      if (number.empty() || number.find_first_not_of("0123456789") != number.npos) continue;
      if (rest.substr(0, open).find(": ") != rest.npos) continue;  // "GT0: Engine memory CAT error [18]"
      process.process = kept(rest.substr(0, close + 1));
      break;
    }
  if (process.engine.empty())
    for (const std::string_view words :
         {"engine_class=", "class=", "hang on ", "heartbeat on ", "Resetting ", "EngineClass: "})
      if (const std::string_view engine = between(line, words, "\n"); !engine.empty()) {
        const auto end = engine.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789 ");
        std::string_view name = engine.substr(0, end);
        if (words != "EngineClass: ") name = name.substr(0, name.find(' '));
        for (const std::string_view known : {"rcs", "ccs", "bcs", "vcs", "vecs"})
          if (name.find(known) != name.npos) process.engine = kept(name);
        if (!process.engine.empty()) break;
      }
}

void LogReader::line(std::string_view line) {
  State& state = *state_;
  ++state.lines;
  line = line.substr(0, kLongestLine);
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (state.own.line(line, state.lines) || state.account.line(line)) return;
  const auto trace = detail::parse_trace_line(line);
  if (!trace)
    state.text(line);
  else if (trace->kind == TraceLine::Kind::entered)
    state.entered(*trace);
  else
    state.left(*trace);
}

}  // namespace kiln
