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
}
