// SPDX-License-Identifier: MIT
// Reads a record of calls, and works out what was under way at its end. The bytes may be anything.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "record/format.hpp"

namespace kiln::record {

enum class State : std::uint8_t {
  inside,     ///< the driver has not come back from it
  refused,    ///< it gave `result`
  recorded,   ///< in a list that is not known to have been submitted since
  under_way,  ///< nothing is known to have waited for it; of a submission: for a list whose calls are not
              ///< here
  done,       ///< somebody has waited for it, or it needs no waiting
};

/// A call of the program's.
struct Entry {
  std::uint64_t number = 0;  ///< among all, from 1
  Call call = Call::none;
  std::uint32_t result = 0;  ///< a ze_result_t; of State::inside nothing
  State state = State::done;
  std::uint32_t thread = 0;                   ///< in the order in which they are met, from 1
  std::uint64_t object = 0, other = 0;        ///< list and event of work; list and queue of a submission
  std::string kernel{};                       ///< empty: not known
  std::array<std::uint32_t, 3> groups{};      ///< of a launch; zeros: memory says how many
  std::array<std::uint32_t, 3> group_size{};  ///< zeros: not known
  std::uint64_t bytes = 0;                    ///< of memory, copies, fills and builds
  std::uint32_t module = 0;                   ///< of a build: in the order of creation, from 1

  [[nodiscard]] bool is_launch() const { return call >= Call::launch && call <= Call::with_arguments; }
  /// Does it run on the device?
  [[nodiscard]] bool is_work() const {
    return (call >= Call::launch && call <= Call::fill) || call >= Call::image_copy;
  }
  /// Work, or a submission of a list whose work is not here.
  [[nodiscard]] bool may_run() const {
    return state == State::under_way || (state == State::inside && is_work());
  }
};

/// The name of the entry point.
[[nodiscard]] const char* name_of(Call call);

struct Record {
  std::uint32_t process = 0;  ///< 0: no program has opened a driver
  std::uint64_t since = 0;    ///< start of the process, as /proc/PID/stat has it
  std::int64_t started = 0;   ///< seconds since 1970
  bool ended = false;         ///< by exit()
  bool lost = false;          ///< a device was, whatever the codes say
  std::string program{};
  std::uint64_t calls = 0;       ///< that were recorded; `entries` has the last of them
  std::vector<Entry> entries{};  ///< in the order in which they began

  /// Calls were made that are not here any more.
  [[nodiscard]] bool has_lost() const { return calls > entries.size(); }
  /// What runs on the device, or may, the last one first: State::under_way, and State::inside.
  [[nodiscard]] std::vector<const Entry*> under_way() const;
};

/// Does it begin as a record does?
[[nodiscard]] bool is_record(std::span<const std::byte> bytes);

/// Nothing: too short, or of another release. Calls that lie there only in part are left out. Pure.
[[nodiscard]] std::optional<Record> read(std::span<const std::byte> bytes);

}  // namespace kiln::record
