// SPDX-License-Identifier: MIT
// The process died: inside Intel's driver by its own abort, or inside a call of a trace.
#include <array>

#include "diagnose/finding_parts.hpp"

namespace kiln::detail {
namespace {

constexpr const char* kTrace = "trace the program for more: onetrace -c PROGRAM (or unitrace, ze_tracer)";

/// Does the thread that is in it do nothing there?
bool is_wait(const OpenCall& call) { return call.call.find("Synchronize") != call.call.npos; }

}  // namespace

Diagnostic abort_finding(const std::string& text, const std::string& file, const std::string& inside) {
  const auto in = [&](std::string_view part) { return file.find(part) != file.npos; };
  // What the driver cannot do without: its own kernels, which its compiler makes, libigdgmm, and the other
  // half of it under Windows' subsystem for Linux.
  const bool needs_library =
      in("built_ins") || in("wddm") || in("gmm_client_context") || in("gmm_helper/client_context");
  Diagnostic diagnostic{"K0505", "Intel's driver ended the process", {}, {}};
  if (needs_library) {
    diagnostic =
        finding_of(Cause::library, in("built_ins") ? "Intel's driver could not make its own kernels, and "
                                                     "ended the process: most likely its compiler "
                                                     "(libigc, libigdfcl) is missing, or of another release"
                                                   : "Intel's driver could not start with what it needs, and "
                                                     "ended the process: most likely a library "
                                                     "of it is missing, or of another release");
    leave_open(diagnostic, Cause::library, std::array{Cause::driver_abort});
  }
  diagnostic.rows.insert(diagnostic.rows.begin(), words_row("log", text));
  if (!file.empty()) diagnostic.rows.push_back(words_row("driver's file", file));
  if (!inside.empty()) diagnostic.rows.push_back(words_row("inside the call", inside));
  if (needs_library) return diagnostic;
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
  else if (in("gmm_") || in("builtin"))
    leave_open(diagnostic, Cause::driver_abort, std::array{Cause::library});
  else
    diagnostic.help.emplace_back(kDebugKeys);
  if (inside.empty()) {
    if (!in("gmm_") && !in("builtin"))
      diagnostic.rows.push_back(words_row("undecided", "this log does not say in which call"));
    diagnostic.help.emplace_back(kTrace);
  }
  return diagnostic;
}

Diagnostic death_finding(const std::vector<OpenCall>& calls, bool threads, const std::string& text,
                         std::uint64_t line) {
  const OpenCall& latest = calls.back();
  const bool sure = calls.size() == 1 && !(threads && is_wait(latest));
  Diagnostic diagnostic = finding_of(Cause::none, sure ? "the process died inside `" + latest.call + "`"
                                                       : "the process died while `" + latest.call +
                                                             "` was under way, perhaps in another thread");
  if (sure) diagnostic.rows.push_back(words_row("inside the call", latest.call));
  for (std::size_t i = calls.size(); !sure && i-- > 0;) {
    const std::string& thread = calls[i].thread;
    diagnostic.rows.push_back(words_row("under way", calls[i].call + (thread.empty() ? "" : ", " + thread)));
  }
  diagnostic.rows.push_back(words_row("log", text));
  diagnostic.rows.push_back(words_row("at", "line " + std::to_string(line) + " of the log"));
  if (sure && !latest.values.empty()) diagnostic.rows.push_back(words_row("arguments", latest.values));
  if (!sure) diagnostic.help.emplace_back("which thread died a core file says: gdb PROGRAM CORE, then `bt`");
  for (const char* help :
       {"look at handles and pointers of the call: drivers follow those that are null or were freed",
        "`kiln exec --guard -- PROGRAM` answers what would end the process in the driver",
        "the same without the tracer: where it goes well there, report it to the tracer"})
    diagnostic.help.emplace_back(help);
  return diagnostic;
}

}  // namespace kiln::detail
