// SPDX-License-Identifier: MIT
// What the CPU device counted of a kernel, and the defects that it found. Of libkiln-offline;
// docs/counters.md has the rules by which it counts.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/bundle.hpp"
#include "kiln/diagnostic.hpp"
#include "kiln/handle.hpp"
#include "kiln/open.hpp"
#include "kiln/result.hpp"

namespace kiln {

enum class AccessKind : std::uint8_t { read, write, atomic, barrier };
enum class MemorySpace : std::uint8_t { none, global, constant, slm, generic, private_memory };
enum class DefectKind : std::uint8_t {
  slm_out_of_bounds,
  global_out_of_bounds,
  slm_race,
  indirect_access,
  slm_unwritten,  ///< read before it was written
};

/// As the JSON of the counters has them: "slm_race", "private". Pure.
[[nodiscard]] std::string_view to_string(AccessKind kind);
[[nodiscard]] std::string_view to_string(MemorySpace memory);
[[nodiscard]] std::string_view to_string(DefectKind kind);

/// An instruction of the SPIR-V.
struct CodePlace {
  std::uint64_t id = 0;    ///< its result's, of a store that of its pointer; 0: not known
  std::uint64_t line = 0;  ///< of the source, from 1 on; 0: not known
  AccessKind kind = AccessKind::read;
};

/// One access of a sub-group, that with the most lanes.
struct AccessExample {
  struct Lane {
    std::uint64_t lane = 0;
    std::uint64_t offset = 0;  ///< bytes in SLM, or in the allocation
  };
  std::uint64_t group = 0, sub_group = 0;  ///< linear
  std::vector<Lane> lanes{};
  std::uint64_t lines = 0;  ///< cache lines that it touched; 0: of SLM
  std::uint64_t turns = 0;  ///< of the banks of SLM; 0: of other memory
};

/// What was counted of one instruction.
struct InstructionCount {
  CodePlace at{};
  MemorySpace memory = MemorySpace::none;
  std::optional<std::uint32_t> argument{};  ///< whose memory it is; nothing: another's, or that of several
  std::string argument_name{};              ///< empty: not known
  std::uint64_t width = 0;                  ///< bytes of one access; 0: it varies
  std::uint64_t accesses = 0, bytes = 0;    ///< of work-items
  std::uint64_t sub_group_accesses = 0;
  std::map<std::uint64_t, std::uint64_t> lines{};  ///< cache lines: accesses of sub-groups that touch so many
  std::uint64_t turns = 0, conflict_turns = 0;     ///< of the banks of SLM
  std::uint64_t neighbours = 1, neighbour_bytes = 0;  ///< accesses that could be one, and its bytes
  std::optional<AccessExample> example{};
};

/// What the accesses of one kind of one memory sum up to.
struct MemoryTotal {
  MemorySpace memory = MemorySpace::none;
  AccessKind kind = AccessKind::read;
  std::uint64_t accesses = 0, bytes = 0, sub_group_accesses = 0;
  std::uint64_t lines = 0, turns = 0, conflict_turns = 0;
};

/// One cause, found once or more.
struct Defect {
  DefectKind kind = DefectKind::slm_out_of_bounds;
  std::string text{};  ///< the device's own words
  CodePlace at{};
  std::array<std::uint64_t, 3> group{};
  std::uint64_t work_item = 0;  ///< linear local id
  std::int64_t offset = 0;      ///< bytes in SLM, the variable or the allocation; may be negative
  std::uint64_t bytes = 0;      ///< of the access
  std::uint64_t available = 0;  ///< bytes of what it should lie in; 0: it lies in no allocation
  std::uint64_t times = 0;
  CodePlace other{};                        ///< of a race
  std::uint64_t other_work_item = 0;        ///< of a race
  std::uint64_t address = 0;                ///< of global memory
  std::optional<std::uint32_t> argument{};  ///< whose memory it should lie in
  std::string allocation{};                 ///< of indirect accesses: "device", "host", "shared"
};

/// Of one kernel, over its launches since it was last read.
struct Counters {
  std::string kernel;
  std::uint64_t sub_group_size = 0, launches = 0, groups = 0, work_items = 0;
  bool complete = true;               ///< false: lines and turns of some sub-groups were counted in parts
  std::uint64_t barriers = 0;         ///< arrivals of work-items
  std::vector<MemoryTotal> totals{};  ///< those that there are
  std::vector<InstructionCount> instructions{};
  std::vector<Defect> defects{};
  std::string json{};  ///< the same, as the device gave it
};

/// How a bundle is built when the CPU device shall count its kernels. Pure.
[[nodiscard]] inline BundleOptions counted_build() { return {.flags = "-kiln-counters", .only_spirv = true}; }

/// K0409 (UNSUPPORTED_FEATURE) for another device than the CPU device: nothing else counts. Pure.
[[nodiscard]] Result<void> can_count(const OpenDevice& device);

/// The counters of a kernel that was built as counted_build() says, over all its launches since the last
/// call, through any kernel object of that name in the module. Its launches must be done. Thread-safe.
/// Errors: as can_count(); NOT_AVAILABLE: the kernel was built without; UNKNOWN (K0409): the CPU driver's
/// answer is of another form.
[[nodiscard]] Result<Counters> read_counters(const OpenDevice& device, KernelRef kernel);

/// Counters from their JSON, such as a file has them. Error: UNKNOWN (K0409). Pure.
[[nodiscard]] Result<Counters> parse_counters(std::string_view json);

/// A defect of these counters: K0801 to K0804, K0810. Pure.
[[nodiscard]] Diagnostic to_diagnostic(const Counters& counters, const Defect& defect);

}  // namespace kiln
