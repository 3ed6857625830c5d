// SPDX-License-Identifier: MIT
// The files of /proc and /sys that tell of memory, as values. Pure; what is not as documented is left out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/memory_account.hpp"

namespace kiln::detail {

/// A file of /proc/PID/fdinfo; nothing where it is no card's, or names no client. `process` and `program` are
/// the caller's. Source: docs.kernel.org/gpu/drm-usage-stats.html.
[[nodiscard]] std::optional<MemoryClient> parse_fdinfo(std::string_view text);

/// /proc/meminfo; proc(5). Fills in what is there.
void parse_meminfo(std::string_view text, HostMemory& host);

/// /proc/PID/limits and /proc/PID/status; proc(5). Fills in what is there.
void parse_limits(std::string_view text, ProcessLimits& limits);
void parse_status(std::string_view text, ProcessLimits& limits);

/// The control group of a process that counts memory: /proc/PID/cgroup; cgroups(7).
struct GroupPlace {
  std::uint32_t version = 2;
  std::string path{};  ///< "/user.slice"
};
/// Version 1 where it counts memory, since then version 2 does not.
[[nodiscard]] std::optional<GroupPlace> parse_cgroup(std::string_view text);
/// That of version 2, which may count device memory where version 1 counts the host's.
[[nodiscard]] std::optional<GroupPlace> parse_unified_group(std::string_view text);

/// Where the groups of a version are mounted: /proc/self/mountinfo; proc(5).
struct GroupMount {
  std::string root{};   ///< the group that is shown at `point`
  std::string point{};  ///< "/sys/fs/cgroup"
};
/// Of several, and not hidden by a later mount at the same place: one that shows the group `path`, and of
/// those the one that shows most above it.
[[nodiscard]] std::optional<GroupMount> parse_mountinfo(std::string_view text, std::uint32_t version,
                                                        std::string_view path);

/// Is the group `path`, as /proc/PID/cgroup has it, below what is mounted?
[[nodiscard]] bool shows(const GroupMount& mount, std::string_view path);

/// The groups from `path` up to the one that is mounted, as paths below the mount's point: "/a/b", "/a", "".
/// A path that the mount does not show is taken for the mount itself; one outside of the reader's namespace
/// ("/../b") for none.
[[nodiscard]] std::vector<std::string> groups_up(const GroupMount& mount, std::string_view path);

/// Does /proc hide the processes of other users, so that they are not even counted? /proc/self/mountinfo.
/// Source: docs.kernel.org/filesystems/proc.html, hidepid.
[[nodiscard]] bool parse_hidepid(std::string_view mountinfo);

/// A number of a control group or of sysfs, alone in its file; nothing for "max", and for what version 1 has
/// for none.
[[nodiscard]] std::optional<std::uint64_t> parse_amount(std::string_view text);

/// Of memory.stat, the pages of files.
[[nodiscard]] std::uint64_t parse_file_pages(std::string_view text, std::uint32_t version);

/// dmem.max, dmem.current, dmem.capacity: lines of a region and a number.
/// Source: docs.kernel.org/admin-guide/cgroup-v2.html, DMEM.
[[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> parse_regions(std::string_view text);

/// The largest prefetchable memory of /sys/bus/pci/devices/…/resource, in bytes.
/// Source: docs.kernel.org/PCI/sysfs-pci.html.
[[nodiscard]] std::uint64_t parse_window(std::string_view text);

/// The value of NAME=value in a file `uevent`.
[[nodiscard]] std::string parse_uevent(std::string_view text, std::string_view name);

/// Size and use of a card's memory in debugfs (vram0_mm of i915 and xe): "size:" and "usage:", in bytes.
struct ManagedMemory {
  std::uint64_t size = 0, used = 0;
};
[[nodiscard]] std::optional<ManagedMemory> parse_managed(std::string_view text);

}  // namespace kiln::detail
