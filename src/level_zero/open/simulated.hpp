// SPDX-License-Identifier: MIT
// Intel's driver with a simulated GPU behind it: what it is told, and what becomes of a fault.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kiln/api.hpp"
#include "kiln/result.hpp"

namespace kiln::detail {

/// KILN_SIMULATOR, else own_file(kOwnSimulator).
[[nodiscard]] std::string simulator_path();

/// Called for what a simulated GPU could not execute: the program's process (0: not told), why, and whether
/// the driver waits for ever now.
using SimulatorFault = void (*)(void* user, int process, const char* text, bool stuck);

/// Starts a simulated GPU in this process, which it lives as long as: its port on 127.0.0.1. Errors: K0307
/// for a product that is not simulated, K0311 for no simulator.
[[nodiscard]] Result<std::uint16_t> start_simulator(const std::string& product, SimulatorFault fault,
                                                    void* user);

/// A process whose driver talks to a simulated GPU of this one, and that lives; 0: there is none.
[[nodiscard]] int simulated_program();

/// What makes Intel's driver talk to the simulated GPU at that port.
[[nodiscard]] std::vector<std::pair<const char*, std::string>> simulated_variables(const std::string& product,
                                                                                   std::uint16_t port);

/// K0311: the simulated GPU is not there, or the driver talks to none.
[[nodiscard]] Error explain_missing_simulator(const std::string& library, const std::string& reason);
[[nodiscard]] Error explain_mute_driver(const std::string& driver, const std::string& reason);

/// K0311 where Intel's driver, which is loaded and not initialized, talks to no simulated GPU.
[[nodiscard]] Result<void> need_talking_driver(const char* driver, void* library);

/// Products that are simulated.
inline constexpr const char* kSimulated[] = {"tgllp", "dg2", "pvc"};

/// For devices that this process opens: a fault is written to the log, or to stderr where nobody takes the
/// log, and answers of the driver become DEVICE_LOST from then on. Where the driver would wait for ever, the
/// process ends by abort().
void simulator_fault(void* user, int process, const char* text, bool stuck);

/// The driver's table, with entry points that tell of a fault. One for each; lives as long as the process.
[[nodiscard]] const Api& watched_table(const Api& driver);

}  // namespace kiln::detail
