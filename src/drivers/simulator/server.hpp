// SPDX-License-Identifier: MIT
// The simulated GPU as a library: what libkiln and the command open at run time.
#pragma once

#include <cstdint>

extern "C" {

/// A submission that ended early: `process` is the program's (0: it could not be told), `text` a sentence
/// without a period. `stuck`: the driver waits for ever, since it has no way to learn of it. Called from an
/// engine's thread; the text lives as long as the call.
using kiln_simulator_fault = void (*)(void* user, int process, const char* text, bool stuck);

/// Starts a simulated GPU of that product ("dg2") on a loopback port of its own choice, for as long as the
/// process lives; a second call starts a second one. Null, or why it did not start: text that lives as long
/// as the thread. `after_fault`: whether submissions go on to their end behind a fault without executing
/// anything, so that nobody waits for ever. Thread-safe.
[[gnu::visibility("default")]] const char* kiln_simulator_start(const char* product, bool after_fault,
                                                                kiln_simulator_fault fault, void* user,
                                                                std::uint16_t* port);

/// A process that talks to a simulated GPU of this one, and lives; 0: there is none. Thread-safe.
[[gnu::visibility("default")]] int kiln_simulator_program();

/// Of an instruction, from the kernel's entry on, what all threads of all launches did: times executed,
/// active lanes, bytes of memory, cache lines of 64 bytes, turns of SLM's banks and those of conflicts.
struct kiln_simulator_count {
  std::uint64_t offset, executed, lanes, bytes, lines, turns, conflicts;
};
/// Of one code of one product ("dg2-g10"), from its entry to the last instruction that was executed.
struct kiln_simulator_counted {
  const char* target;
  const void* code;
  std::uint64_t code_bytes, launches, groups, threads;
  const kiln_simulator_count* counts;  ///< in the order of the code
  std::uint64_t size;                  ///< of `counts`
};
/// From now on launches are counted, which takes several times as long; what was counted is forgotten.
[[gnu::visibility("default")]] void kiln_simulator_begin_counts();
/// Calls `each` for each code that ran since. What it is given lives as long as the call. Read when the
/// launches are done. Thread-safe, as the above.
[[gnu::visibility("default")]] void kiln_simulator_read_counts(
    void (*each)(void* user, const kiln_simulator_counted* counted), void* user);
}
