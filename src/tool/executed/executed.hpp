// SPDX-License-Identifier: MIT
// What a simulated GPU executed of a kernel's native code: for `kiln run … --device sim:PRODUCT --counters`.
// A functional machine counts, so nothing here is a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kiln/bundle.hpp"
#include "kiln/counters.hpp"
#include "support/json.hpp"
#include "tool/common/session.hpp"
#include "xe/lines.hpp"
#include "xe/message.hpp"

namespace kiln::tool {

using detail::Json;

/// Of one instruction: all threads of all launches together.
struct ExecutedCount {
  std::uint64_t offset = 0;                ///< bytes
  std::uint64_t executed = 0, lanes = 0;   ///< times; active lanes
  std::uint64_t bytes = 0, lines = 0;      ///< of memory; cache lines of 64 bytes
  std::uint64_t turns = 0, conflicts = 0;  ///< of SLM's banks, and those beyond what the words need
};

/// A code that ran, as the simulated GPU knows it: without a name.
struct ExecutedCode {
  std::string target;           ///< "dg2-g10"
  std::vector<std::byte> code;  ///< from its entry to the last instruction that was executed
  std::uint64_t launches = 0, groups = 0, threads = 0;
  std::vector<ExecutedCount> counts;
};

/// What was executed of one kernel.
struct Executed {
  std::string target;
  std::uint64_t launches = 0, groups = 0, threads = 0;
  struct Instruction {
    ExecutedCount count;
    xe::Instruction instruction;
    std::string text;
    std::uint32_t line = 0;  ///< of the source; 0: not known
  };
  std::vector<Instruction> instructions;  ///< those that were executed, in the order of the code
};

/// Does a run with these options count what a simulated GPU executes? Pure.
[[nodiscard]] bool is_executed_counted(const OpenDevice& device, const RunOptions& options);

/// Build options by which release 22.43 writes native code in the form that Kiln reads, as later ones do by
/// themselves: without, what is compiled from SPIR-V has no lines, nor a place for a kernel's code.
inline constexpr const char* kReadableCode = "-ze-intel-allow-zebin";

/// Launches are counted from now on; what was counted is forgotten. Error: K0409 on a device that is not
/// simulated, and for a simulator of another release.
[[nodiscard]] Result<void> begin_executed(const OpenDevice& device);

/// What was executed of a kernel since. Read when its launches are done. Errors: K0409; the driver's where it
/// does not give the native code.
[[nodiscard]] Result<Executed> read_executed(const OpenDevice& device, const Bundle& bundle,
                                             const std::string& kernel);

/// The product as `sim:` and `cpu:` name it ("dg2"). Pure.
[[nodiscard]] std::string simulated_product(const Executed& executed);

/// Where in a kernel's code another one begins that ran: bytes; nothing: it is not that kernel's. A driver
/// enters behind the kernel's first instructions, and writes addresses into it. Pure.
[[nodiscard]] std::optional<std::size_t> place_in(std::span<const std::byte> kernel,
                                                  std::span<const std::byte> ran);

/// As `native_counters` of the run's JSON, docs/simulated-gpu.md. `cpu`: the totals that the CPU device
/// counted of the same launches, or null. Pure.
[[nodiscard]] Json executed_json(const Executed& executed, const Json& cpu);

/// As tables on a terminal.
void print_executed(const Json& native);
/// As a section of the report's page. Pure.
[[nodiscard]] std::string executed_section(const Json& native);

}  // namespace kiln::tool
