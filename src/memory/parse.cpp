// SPDX-License-Identifier: MIT
// Parses the files of /proc and /sys that tell of memory.
#include "memory/parse.hpp"

#include <algorithm>

#include "support/digits.hpp"

namespace kiln::detail {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr std::uint64_t kKibi = 1024;
constexpr std::size_t kMostRegions = 64, kMostGroups = 64;  // of a client; of a path
// Bytes that no machine has: so sums of what has passed do not wrap round. Version 1 of control groups means
// no limit by a number above, the largest of pages.
constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 56;

/// The next line, taken away from `rest`.
std::string_view take_line(std::string_view& rest) {
  const auto end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
  return line;
}

/// The next word, taken away from `rest`; empty at the end.
std::string_view take_word(std::string_view& rest) {
  const auto begin = rest.find_first_not_of(kBlanks);
  if (begin == rest.npos) return rest = {};
  const auto end = std::min(rest.find_first_of(kBlanks, begin), rest.size());
  const std::string_view word = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return word;
}

std::optional<std::uint64_t> times(std::uint64_t value, std::uint64_t unit) {
  if (value >= kNoLimit / unit) return std::nullopt;
  return value * unit;
}

/// "24 KiB": bytes without a unit, and nothing for one that is not documented.
std::optional<std::uint64_t> amount_with_unit(std::string_view text) {
  const auto number = parse_digits(take_word(text));
  const std::string_view unit = take_word(text);
  if (!number || !take_word(text).empty()) return std::nullopt;
  if (unit.empty()) return times(*number, 1);
  if (unit == "KiB" || unit == "kB") return times(*number, kKibi);  // kB: /proc/meminfo, and it means 1024
  if (unit == "MiB") return times(*number, kKibi * kKibi);
  return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

/// Calls `with` for each "key: value".
template <class With>
void each_pair(std::string_view text, const With& with) {
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (const auto colon = line.find(':'); colon != line.npos)
      with(line.substr(0, colon), trimmed(line.substr(colon + 1)));
  }
}

/// What a key says of a region; drm-memory- is the old name of resident, which amdgpu still has.
struct RegionKey {
  std::string_view prefix;
  std::uint64_t MemoryRegion::*member;
};
constexpr RegionKey kRegionKeys[] = {
    {"drm-total-", &MemoryRegion::total},         {"drm-shared-", &MemoryRegion::shared},
    {"drm-resident-", &MemoryRegion::resident},   {"drm-memory-", &MemoryRegion::resident},
    {"drm-purgeable-", &MemoryRegion::purgeable}, {"drm-active-", &MemoryRegion::active}};

void take_region(std::string_view key, std::string_view value, MemoryClient& client) {
  for (const RegionKey& each : kRegionKeys) {
    if (!key.starts_with(each.prefix)) continue;
    const std::string_view name = key.substr(each.prefix.size());
    if (name.empty() || name.starts_with("cycles-")) return;  // drm-total-cycles-rcs is time
    const auto bytes = amount_with_unit(value);
    if (!bytes) return;
    auto region = std::ranges::find(client.regions, name, &MemoryRegion::name);
    if (region == client.regions.end()) {
      if (client.regions.size() == kMostRegions) return;
      region = client.regions.insert(region, MemoryRegion{std::string(name), 0, 0, 0, 0, 0});
    }
    (*region).*each.member = *bytes;
    return;
  }
}

/// mountinfo has blanks and backslashes as \040.
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && at + 3 < text.size())
      if (const auto code = parse_digits(text.substr(at + 1, 3), 8); code && *code < 256) {
        plain += static_cast<char>(*code);
        at += 3;
        continue;
      }
    plain += text[at];
  }
  return plain;
}

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == word) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

/// A line of mountinfo: "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue";
/// proc(5).
struct Mount {
  std::string root, point;
  std::string_view type, options;
};

/// The next line, taken away from `text`; nothing where it is none.
std::optional<Mount> take_mount(std::string_view& text) {
  const std::string_view line = take_line(text);
  const auto dash = line.find(" - ");
  if (dash == line.npos) return std::nullopt;
  std::string_view before = line.substr(0, dash), behind = line.substr(dash + 3);
  Mount mount;
  mount.type = take_word(behind);
  take_word(behind);  // the source
  mount.options = take_word(behind);
  for (int skipped = 0; skipped < 3; ++skipped) take_word(before);  // id, parent, major:minor
  mount.root = unescaped(take_word(before));
  mount.point = unescaped(take_word(before));
  return mount;
}

}  // namespace

std::optional<MemoryClient> parse_fdinfo(std::string_view text) {
  MemoryClient client;
  bool has_id = false;
  each_pair(text, [&](std::string_view key, std::string_view value) {
    if (key == "drm-driver") {
      client.driver = value;
    } else if (key == "drm-pdev") {
      client.card = value;
    } else if (key == "drm-client-id") {
      if (const auto id = parse_digits(value)) {
        client.id = *id;
        has_id = true;
      }
    } else {
      take_region(key, value, client);
    }
  });
  if (client.driver.empty() || !has_id) return std::nullopt;
  return client;
}

void parse_meminfo(std::string_view text, HostMemory& host) {
  constexpr std::pair<std::string_view, std::uint64_t HostMemory::*> kLines[] = {
      {"MemTotal", &HostMemory::total},           {"MemAvailable", &HostMemory::available},
      {"SwapTotal", &HostMemory::swap_total},     {"SwapFree", &HostMemory::swap_free},
      {"CommitLimit", &HostMemory::commit_limit}, {"Committed_AS", &HostMemory::committed}};
  each_pair(text, [&](std::string_view key, std::string_view value) {
    for (const auto& [name, member] : kLines)
      if (key == name)
        if (const auto bytes = amount_with_unit(value)) host.*member = *bytes;
  });
}

void parse_limits(std::string_view text, ProcessLimits& limits) {
  constexpr std::pair<std::string_view, std::optional<std::uint64_t> ProcessLimits::*> kLines[] = {
      {"Max locked memory ", &ProcessLimits::locked},
      {"Max address space ", &ProcessLimits::address_space},
      {"Max data size ", &ProcessLimits::data}};
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    for (const auto& [name, member] : kLines) {
      if (!line.starts_with(name)) continue;
      std::string_view rest = line.substr(name.size());
      limits.*member = parse_digits(take_word(rest));  // the soft one; nothing for "unlimited"
    }
  }
}

void parse_status(std::string_view text, ProcessLimits& limits) {
  each_pair(text, [&](std::string_view key, std::string_view value) {
    if (key != "VmSize" && key != "VmLck") return;
    if (const auto bytes = amount_with_unit(value))
      (key == "VmSize" ? limits.addresses_used : limits.locked_used) = *bytes;
  });
}

namespace {

/// Of a line of /proc/PID/cgroup: number, controllers, path.
struct GroupLine {
  std::string_view number{}, controllers{}, path{};
};

GroupLine take_group(std::string_view& text) {
  const std::string_view line = take_line(text);
  const auto first = line.find(':'), second = first == line.npos ? first : line.find(':', first + 1);
  if (second == line.npos) return {};
  return {line.substr(0, first), line.substr(first + 1, second - first - 1), line.substr(second + 1)};
}

}  // namespace

std::optional<GroupPlace> parse_unified_group(std::string_view text) {
  std::optional<GroupPlace> place;
  while (!text.empty())
    if (const GroupLine line = take_group(text); line.number == "0" && line.controllers.empty())
      place = GroupPlace{2, std::string(line.path)};
  return place;
}

std::optional<GroupPlace> parse_cgroup(std::string_view text) {
  for (std::string_view rest = text; !rest.empty();)
    if (const GroupLine line = take_group(rest); has_word(line.controllers, "memory"))
      return GroupPlace{1, std::string(line.path)};
  return parse_unified_group(text);
}

bool parse_hidepid(std::string_view text) {
  bool hides = false;  // of the mount that is seen at /proc, the last
  while (!text.empty()) {
    const auto mount = take_mount(text);
    if (!mount || mount->point != "/proc") continue;
    hides = false;
    for (const char* hidden : {"hidepid=2", "hidepid=4", "hidepid=invisible", "hidepid=ptraceable"})
      hides = hides || (mount->type == "proc" && has_word(mount->options, hidden));
  }
  return hides;
}

bool shows(const GroupMount& mount, std::string_view path) {
  const std::string_view root = mount.root == "/" ? std::string_view() : std::string_view(mount.root);
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

std::optional<GroupMount> parse_mountinfo(std::string_view text, std::uint32_t version,
                                          std::string_view path) {
  std::vector<GroupMount> mounts;
  while (!text.empty()) {
    const auto line = take_mount(text);
    if (!line) continue;
    const bool counts =
        version == 2 ? line->type == "cgroup2" : line->type == "cgroup" && has_word(line->options, "memory");
    GroupMount mount{line->root, line->point};
    // What is mounted later at the same place hides what was there.
    std::erase_if(mounts, [&](const GroupMount& each) { return each.point == mount.point; });
    if (counts && mount.point.starts_with('/')) mounts.push_back(std::move(mount));
  }
  const GroupMount* best = nullptr;
  for (const GroupMount& mount : mounts) {
    const bool more = !best || shows(mount, path) > shows(*best, path) ||
                      (shows(mount, path) == shows(*best, path) && mount.root.size() <= best->root.size());
    if (more) best = &mount;
  }
  return best ? std::optional(*best) : std::nullopt;
}

std::vector<std::string> groups_up(const GroupMount& mount, std::string_view path) {
  if (path.starts_with("/..")) return {};  // outside of what the reader's namespace shows
  // In a container the mount may show a group of the host, whose path the process does not see: its place
  // is then the mount itself.
  if (!shows(mount, path))
    path = {};
  else if (mount.root != "/")
    path.remove_prefix(mount.root.size());
  std::vector<std::string> groups;
  for (std::string below(path); groups.size() < kMostGroups; below.erase(below.rfind('/'))) {
    while (below.ends_with('/')) below.pop_back();
    if (below.find("/..") != below.npos || (!below.empty() && !below.starts_with('/'))) return {};
    groups.push_back(below);
    if (below.empty()) break;
  }
  return groups;
}

std::optional<std::uint64_t> parse_amount(std::string_view text) {
  const auto number = parse_digits(trimmed(text));
  return number && *number < kNoLimit ? number : std::nullopt;
}

std::uint64_t parse_file_pages(std::string_view text, std::uint32_t version) {
  std::uint64_t sum = 0;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const std::string_view name = take_word(line);
    const bool counts = version == 2 ? name == "inactive_file" || name == "active_file"
                                     : name == "total_inactive_file" || name == "total_active_file";
    if (!counts) continue;
    const auto bytes = parse_digits(take_word(line));
    if (bytes && *bytes < kNoLimit) sum += *bytes;
  }
  return sum;
}

std::vector<std::pair<std::string, std::uint64_t>> parse_regions(std::string_view text) {
  std::vector<std::pair<std::string, std::uint64_t>> regions;
  while (!text.empty() && regions.size() < kMostRegions) {
    std::string_view line = take_line(text);
    const std::string_view name = take_word(line);
    if (const auto bytes = parse_amount(line); bytes && !name.empty())
      regions.emplace_back(std::string(name), *bytes);
  }
  return regions;
}

std::uint64_t parse_window(std::string_view text) {
  constexpr std::uint64_t kMemory = 0x200, kPrefetch = 0x2000;  // IORESOURCE_MEM, IORESOURCE_PREFETCH
  std::uint64_t largest = 0;
  for (int bar = 0; bar < 6 && !text.empty(); ++bar) {
    std::string_view line = take_line(text);
    std::uint64_t numbers[3] = {};
    bool whole = true;
    for (std::uint64_t& number : numbers) {
      std::string_view word = take_word(line);
      if (word.starts_with("0x")) word.remove_prefix(2);
      const auto value = parse_digits(word, 16);
      whole = whole && value;
      number = value.value_or(0);
    }
    const auto [begin, end, flags] = numbers;
    if (!whole || end <= begin || !(flags & kMemory) || !(flags & kPrefetch)) continue;
    if (end - begin < kNoLimit) largest = std::max(largest, end - begin + 1);
  }
  return largest;
}

std::string parse_uevent(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.starts_with(name) && line.substr(name.size()).starts_with('='))
      return std::string(trimmed(line.substr(name.size() + 1)));
  }
  return {};
}

std::optional<ManagedMemory> parse_managed(std::string_view text) {
  std::optional<std::uint64_t> size, used;
  each_pair(text, [&](std::string_view key, std::string_view value) {
    const std::string_view name = trimmed(key);
    if (name == "size" && !size) size = parse_amount(value);
    if (name == "usage" && !used) used = parse_amount(value);
  });
  if (!size || !used || *size == 0 || *used > *size) return std::nullopt;
  return ManagedMemory{*size, *used};
}

}  // namespace kiln::detail
