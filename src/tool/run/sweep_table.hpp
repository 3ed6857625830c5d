// SPDX-License-Identifier: MIT
// What `--sweep` saw of kernel files and of samples, and its table.
#pragma once

#include "kiln/occupancy.hpp"
#include "tool/common/session.hpp"
#include "tool/run/measure.hpp"

namespace kiln::tool {

/// One size of the group, and what came of it.
struct SweptSize {
  std::uint32_t size = 0;
  Extent groups{};
  std::string refused{};  ///< the code of the reason; empty: it ran
  Outcome outcome{};
  std::optional<Occupancy> occupancy{};
  std::optional<std::uint64_t> barriers{};  ///< arrivals of work-items, counted
  std::optional<bool> right{}, same{};      ///< as expected; as the first; nothing: not compared

  [[nodiscard]] bool is_wrong() const { return right && !*right; }
};

/// Of one kernel on one device.
struct Sweep {
  std::string kernel;
  const OpenDevice& device;
  std::vector<SweptSize> sizes{};
  bool verified = false;                            ///< answers are the host's to compare, not the first's
  bool counted = false;                             ///< barriers were
  std::optional<std::uint32_t> barriers_a_group{};  ///< of native code
  std::string occupancy_of{},
      occupancy_basis{};  ///< product, and what is known of the code; empty: not known

  [[nodiscard]] bool none_ran() const;
};

/// "group=16..1024" are the powers of two times the first; "group=16,48,100" those. K0430. Pure.
[[nodiscard]] Result<std::vector<std::uint32_t>> parse_sweep(const std::string& text);

/// Prints table or JSON, and writes the page where one was asked for. The exit status: kWrongAnswer where a
/// size gave a wrong answer. Error: K0410.
[[nodiscard]] Result<int> report_sweep(const Sweep& sweep, const RunOptions& options);

}  // namespace kiln::tool
