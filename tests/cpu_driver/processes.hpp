// SPDX-License-Identifier: MIT
// Checks that need processes or settings of their own; each gives the exit status.
#pragma once

/// Memory and events of one process in another: the handle's bytes alone, and with its descriptor sent.
int share_between_processes(const char* driver);

/// What is written a little behind an allocation harms nobody; what is written far behind it ends the
/// process.
int overrun(const char* driver);

/// Kernels run on as many threads as the system lets start, and on the calling one when there is none.
int few_threads(const char* driver);

/// A list whose kernel does not end is not destroyed, and says so.
int endless(const char* driver);

/// Commands that wait long for an event are told, with what became of the event.
int tell_of_waits(const char* driver);

/// Not while a kernel runs, which may be what they wait for.
int silent_while_running(const char* driver);

/// With KILN_CPU_TIMEOUT such a kernel is stopped: its list can be destroyed, and the device goes on.
int stop_endless(const char* driver);

/// Three devices that say they are GPUs.
int three_gpus(const char* driver);

/// Of four devices ZE_AFFINITY_MASK leaves the second and the last.
int masked_devices(const char* driver);
