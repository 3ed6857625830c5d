// SPDX-License-Identifier: MIT
// Looks at /proc and /sys for all that tells of memory. Decides nothing. Compiled with exceptions: it is
// asked when memory has run out.
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>

#include "kiln/memory_account.hpp"
#include "memory/own.hpp"
#include "memory/parse.hpp"
#include "support/descriptor.hpp"
#include "support/digits.hpp"

namespace kiln {
namespace fs = std::filesystem;
namespace {

using detail::parse_amount;

constexpr std::size_t kMostText = 1 << 20;  // bytes that are read of a file; memory.stat has some thousand
constexpr std::uint32_t kVendorIntel = 0x8086;

/// The beginning of a file, which in /proc and /sys has no size; nothing and errno where it does not open or
/// cannot be read.
std::optional<std::string> text_of_file(const fs::path& path) {
  const detail::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (file.get() < 0) return std::nullopt;
  std::string text;
  char block[4096];
  while (text.size() < kMostText) {
    const ssize_t count = read(file.get(), block, sizeof block);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    text.append(block, static_cast<std::size_t>(count));
  }
  return text;
}

std::string text_or_none(const fs::path& path) { return text_of_file(path).value_or(std::string()); }

std::optional<std::uint64_t> amount_in(const fs::path& path) {
  const auto text = text_of_file(path);
  return text ? parse_amount(*text) : std::nullopt;
}

/// 0x8086
std::uint32_t hexadecimal_in(const fs::path& path) {
  const std::string text = text_or_none(path);
  return static_cast<std::uint32_t>(std::strtoul(text.c_str(), nullptr, 16));
}

struct Listing {
  std::vector<std::string> names;
  bool denied = false;
};

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

/// Not by directory_iterator: that of libstdc++ 12 ends the process where there is no memory for a name.
Listing names_in(const fs::path& folder) {
  Listing listing;
  const std::unique_ptr<DIR, CloseFolder> open(opendir(folder.c_str()));
  listing.denied = !open && (errno == EACCES || errno == EPERM);
  if (!open) return listing;
  while (const dirent* entry = readdir(open.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") listing.names.emplace_back(name);
  }
  std::ranges::sort(listing.names);
  return listing;
}

/// Does a descriptor lead to a card? Also true where that cannot be told.
bool may_be_card(const fs::path& link) {
  char target[256];
  const ssize_t length = readlink(link.c_str(), target, sizeof target);
  if (length <= 0) return true;
  const std::string_view text(target, static_cast<std::size_t>(length));
  return text.find("/dri/") != text.npos || text.find("/accel/") != text.npos;
}

/// Clients of a process that are not known yet. False: this user may not see them.
bool gather_clients(const fs::path& folder, std::uint32_t process, std::vector<MemoryClient>& clients) {
  const Listing listing = names_in(folder / "fdinfo");
  bool denied = listing.denied;
  std::optional<std::string> program;
  for (const std::string& name : listing.names) {
    if (!may_be_card(folder / "fd" / name)) continue;
    const auto text = text_of_file(folder / "fdinfo" / name);
    denied = denied || (!text && (errno == EACCES || errno == EPERM));
    auto client = text ? detail::parse_fdinfo(*text) : std::nullopt;
    if (!client) continue;
    const bool known = std::ranges::any_of(clients, [&](const MemoryClient& each) {
      return each.id == client->id && each.card == client->card && each.driver == client->driver;
    });
    if (known) continue;
    if (!program) {
      program = text_or_none(folder / "comm");
      while (program->ends_with('\n')) program->pop_back();
    }
    client->process = process;
    client->program = *program;
    clients.push_back(*std::move(client));
  }
  return !denied;
}

/// The process that was asked about goes first: what it shares with others is its own.
void gather_all_clients(const fs::path& proc, const fs::path& first, MemoryAccount& account) {
  const auto add = [&](const fs::path& folder, std::uint32_t process) {
    if (!gather_clients(folder, process, account.clients)) ++account.unread_processes;
  };
  add(first, account.process);
  std::vector<std::uint32_t> others;
  for (const std::string& name : names_in(proc).names)
    if (const auto number = detail::parse_digits(name); number && *number <= UINT32_MAX)
      if (*number != account.process) others.push_back(static_cast<std::uint32_t>(*number));
  std::ranges::sort(others);
  for (const std::uint32_t process : others) add(proc / std::to_string(process), process);
}

void gather_device_bounds(const fs::path& folder, MemoryGroup& group) {
  const auto used = detail::parse_regions(text_or_none(folder / "dmem.current"));
  for (auto& [region, limit] : detail::parse_regions(text_or_none(folder / "dmem.max"))) {
    const auto found = std::ranges::find(used, region, [](const auto& each) { return each.first; });
    group.device_bounds.push_back({std::move(region), limit, found == used.end() ? 0 : found->second});
  }
}

MemoryGroup group_in(const fs::path& folder, std::uint32_t version) {
  const bool unified = version == 2;
  MemoryGroup group;
  group.version = version;
  group.limit = amount_in(folder / (unified ? "memory.max" : "memory.limit_in_bytes"));
  group.used = amount_in(folder / (unified ? "memory.current" : "memory.usage_in_bytes")).value_or(0);
  group.swap_limit = amount_in(folder / (unified ? "memory.swap.max" : "memory.memsw.limit_in_bytes"));
  group.swap_used =
      amount_in(folder / (unified ? "memory.swap.current" : "memory.memsw.usage_in_bytes")).value_or(0);
  if (group.limit)
    group.files = detail::parse_file_pages(text_or_none(folder / "memory.stat"), group.version);
  if (unified) gather_device_bounds(folder, group);
  return group;
}

/// Paths in mountinfo are those of one mount namespace: a container has its groups elsewhere than the reader
/// of these files, whose own mounts count. A folder of copied files may have none of the reader.
void gather_groups(const fs::path& root, const fs::path& process, MemoryAccount& account) {
  const fs::path reader = root / "proc/self";
  auto mounts = text_of_file(reader / "mountinfo");
  if (mounts) account.hides_processes = detail::parse_hidepid(*mounts);
  const bool own = process == reader || !mounts;
  if (!mounts) mounts = text_or_none(process / "mountinfo");
  const auto add = [&](const detail::GroupPlace& place, bool all) {
    const auto mount = detail::parse_mountinfo(*mounts, place.version, place.path);
    if (!mount) return;
    // Another process may be in a group that is not below the mount at all.
    if (!own && !detail::shows(*mount, place.path)) return;
    for (const std::string& below : detail::groups_up(*mount, place.path)) {
      MemoryGroup group = group_in(root / (mount->point + below).substr(1), place.version);
      group.path = below.empty() ? "/" : below;
      if (all || !group.device_bounds.empty()) account.groups.push_back(std::move(group));
    }
  };
  const std::string text = text_or_none(process / "cgroup");
  const auto place = detail::parse_cgroup(text);
  if (place) add(*place, true);
  // Where version 1 counts the memory of the host, version 2 may bound that of the cards.
  if (const auto unified = detail::parse_unified_group(text); place && unified && place->version == 1)
    add(*unified, false);
}

/// Memory of a card: xe has a file for each tile (physical_vram_size_bytes), Intel's own packages of i915 one
/// (lmem_total_bytes), the controller dmem what all groups may share, and root finds size and use in debugfs.
/// i915 of the kernel itself tells nobody. Source: igt-gpu-tools, xe_sysfs_tile and xe_drm_fdinfo.
void gather_size(const fs::path& root, const fs::path& folder, MemoryCard& card) {
  std::uint64_t size = 0, used = 0, tiles = 0;
  for (const std::string& name : names_in(folder / "device").names)
    if (name.starts_with("tile"))
      if (const auto bytes = amount_in(folder / "device" / name / "physical_vram_size_bytes")) size += *bytes;
  card.total = amount_in(folder / "lmem_total_bytes");
  card.free = amount_in(folder / "lmem_avail_bytes");
  if (!card.total && size) card.total = size;
  std::uint64_t capacity = 0;
  for (const char* place : {"sys/fs/cgroup/dmem.capacity", "sys/fs/cgroup/unified/dmem.capacity"})
    for (const auto& [region, bytes] : detail::parse_regions(text_or_none(root / place)))
      if (region.starts_with("drm/" + card.address + "/vram")) capacity += bytes;
  if (!card.total && capacity) card.total = capacity;

  const fs::path debug = root / "sys/kernel/debug/dri" / card.address;
  std::uint64_t managed = 0;
  const auto add = [&](const fs::path& file) {
    const auto memory = detail::parse_managed(text_or_none(file));
    if (!memory) return;
    managed += memory->size;
    used += memory->used;
    ++tiles;
  };
  for (const std::string& name : names_in(debug).names) {
    if (name.starts_with("vram") && name.ends_with("_mm")) add(debug / name);
    if (name.starts_with("tile"))
      for (const std::string& inner : names_in(debug / name).names)
        if (inner.starts_with("vram") && inner.ends_with("_mm")) add(debug / name / inner);
  }
  if (tiles == 0) return;
  card.total = managed;  // without what the firmware keeps for itself
  card.free = managed - used;
}

void gather_cards(const fs::path& root, MemoryAccount& account) {
  const fs::path drm = root / "sys/class/drm";
  for (const std::string& name : names_in(drm).names) {
    if (!name.starts_with("card") || !detail::parse_digits(std::string_view(name).substr(4))) continue;
    const fs::path folder = drm / name, device = folder / "device";
    if (hexadecimal_in(device / "vendor") != kVendorIntel) continue;
    const std::string uevent = text_or_none(device / "uevent");
    MemoryCard card;
    card.address = detail::parse_uevent(uevent, "PCI_SLOT_NAME");
    card.driver = detail::parse_uevent(uevent, "DRIVER");
    card.device = hexadecimal_in(device / "device");
    card.window = detail::parse_window(text_or_none(device / "resource"));
    gather_size(root, folder, card);
    account.cards.push_back(std::move(card));
  }
}

void gather_host(const fs::path& root, HostMemory& host) {
  detail::parse_meminfo(text_or_none(root / "proc/meminfo"), host);
  host.overcommit = static_cast<std::uint32_t>(amount_in(root / "proc/sys/vm/overcommit_memory").value_or(0));
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const auto pages = [&](const char* name) -> std::optional<std::uint64_t> {
    const auto count = amount_in(root / "sys/module/ttm/parameters" / name);
    if (!count || *count > UINT64_MAX / page) return std::nullopt;
    return *count * page;
  };
  host.graphics_limit = pages("pages_limit");
  host.graphics_pool = pages("page_pool_size");
}

fs::path root_of(const MemoryAccountOptions& options) {
  if (!options.root.empty()) return options.root;
  const char* set = secure_getenv("KILN_MEMORY_ROOT");
  return set && *set ? set : "/";
}

void gather_account(const MemoryAccountOptions& options, MemoryAccount& account) {
  const fs::path root = root_of(options), proc = root / "proc";
  account.process = options.process ? options.process : static_cast<std::uint32_t>(getpid());
  if (account.process == static_cast<std::uint32_t>(getpid())) account.own = detail::own_memory();
  const fs::path process = proc / (options.process ? std::to_string(options.process) : "self");
  std::error_code error;
  account.process_found = fs::exists(process, error);
  account.program = text_or_none(process / "comm");
  while (account.program.ends_with('\n')) account.program.pop_back();
  gather_host(root, account.host);
  gather_cards(root, account);
  gather_groups(root, process, account);
  detail::parse_limits(text_or_none(process / "limits"), account.limits);
  detail::parse_status(text_or_none(process / "status"), account.limits);
  gather_all_clients(proc, process, account);
}

}  // namespace

MemoryAccount memory_account(const MemoryAccountOptions& options) {
  MemoryAccount account;
  try {
    gather_account(options, account);
  } catch (const std::exception&) {  // no memory for the rest
  }
  return account;
}

}  // namespace kiln
