// SPDX-License-Identifier: MIT
// The rules that turn numbers into a cause. docs/memory.md has the same table, with the threads behind it.
#include <algorithm>

#include "memory/view.hpp"
#include "support/printable.hpp"

namespace kiln {
namespace {

using detail::MemoryView;
using MemoryCause = std::optional<Diagnostic>;

// Below this nothing can be started on a card: command buffers, heaps and code take as much.
constexpr std::uint64_t kTight = std::uint64_t{64} << 20;  // bytes
constexpr std::uint64_t kMirrored = std::uint64_t{256} << 20;

std::string gib(std::uint64_t bytes) { return memory_size_text(bytes); }

Diagnostic memory_cause(const char* code, std::string message, Severity severity) {
  Diagnostic diagnostic{code, std::move(message), {}, {}};
  diagnostic.severity = severity;
  return diagnostic;
}

void add_request(Diagnostic& diagnostic, const MemoryView& view) {
  if (view.request.size) diagnostic.rows.push_back({"asked for", {}, view.request.size, "B"});
}

void add_card(Diagnostic& diagnostic, const MemoryView& view) {
  if (view.is_dedicated()) diagnostic.rows.push_back({"memory of the card", {}, *view.total, "B"});
  if (view.is_dedicated() && view.free)
    diagnostic.rows.push_back(
        {view.is_told ? "free on the card" : "held by no client of the card", {}, *view.free, "B"});
}

void add_host(Diagnostic& diagnostic, const HostMemory& host) {
  diagnostic.rows.push_back({"memory of the host", {}, host.total, "B"});
  diagnostic.rows.push_back({"available", {}, host.available, "B"});
  if (host.swap_total)
    diagnostic.rows.push_back({"swap free", {}, host.swap_free, "B"});
  else
    diagnostic.rows.push_back({"swap", "none"});
}

/// "the card has 30.0 GiB free, but the driver needs as much host memory behind it: " where that is so.
std::string behind(const MemoryView& view) {
  if (view.request.kind != MemoryKind::device || view.is_integrated() || !view.card) return "";
  if (!view.free) return "the driver needs as much host memory behind that of a card: ";
  return gib(*view.free) + (view.is_told ? " of the card are free" : " of the card are held by no client") +
         ", but the driver needs as much host memory behind them: ";
}

/// The threads in which a card's free memory was refused for want of the host's.
void add_behind(Diagnostic& diagnostic, const MemoryView& view) {
  if (!behind(view).empty())
    diagnostic.rows.push_back({"as seen in",
                               "github.com/intel/compute-runtime/issues/998: drivers from 26.05 on, with the "
                               "kernel driver xe"});
}

/// A request is certain to need host memory where it is of that kind, or of an integrated card.
Severity host_severity(const MemoryView& view) {
  return view.request.kind == MemoryKind::host || view.is_integrated() ? Severity::error : Severity::warning;
}

void add_source(Diagnostic& diagnostic, const char* source) {
  diagnostic.rows.push_back({"as seen in", source});
}

MemoryCause single_allocation(const MemoryView& view) {
  const MemoryRequest& request = view.request;
  if (request.largest == 0 || request.size <= request.largest) return std::nullopt;
  return explain_allocation(AllocationVerdict::above_largest, {request.largest, 0, view.free},
                            {request.kind, request.size, 0, false});
}

/// The kernel's heuristic refuses a mapping that is larger than memory and swap together, and mode 2 counts.
MemoryCause commit_limit(const MemoryView& view) {
  const HostMemory& host = view.account.host;
  const std::uint64_t size = view.request.size;
  if (!view.needs_host() || size == 0 || host.total == 0 || host.overcommit == 1) return std::nullopt;
  const bool counts = host.overcommit == 2;
  const std::uint64_t limit =
      counts ? host.commit_limit - std::min(host.commit_limit, host.committed) : host.total + host.swap_total;
  if (size <= limit || (counts && host.commit_limit == 0)) return std::nullopt;
  Diagnostic why = memory_cause(
      "K0240",
      behind(view) + "the kernel promises a process at most " + gib(limit) +
          (counts ? ", what its limit of promises leaves" : " at once, all memory and swap of the host"),
      host_severity(view) == Severity::error || (view.is_told && *view.free >= size) ? Severity::error
                                                                                     : Severity::warning);
  add_request(why, view);
  add_card(why, view);
  add_host(why, host);
  add_behind(why, view);
  if (counts) why.rows.push_back({"promised to all processes", {}, host.committed, "B"});
  why.help = {"make swap larger, on a disk if need be: what is promised behind device memory is not filled",
              "or allocate in several parts, each smaller",
              counts ? "or let the kernel promise more: sysctl vm.overcommit_memory=0"
                     : "to see whether it is this: sysctl vm.overcommit_memory=1 takes the limit away"};
  return why;
}

MemoryCause address_space(const MemoryView& view) {
  const ProcessLimits& limits = view.account.limits;
  if (!limits.address_space || view.request.size == 0) return std::nullopt;
  const std::uint64_t left = *limits.address_space - std::min(*limits.address_space, limits.addresses_used);
  if (view.request.size <= left) return std::nullopt;
  Diagnostic why = memory_cause("K0249",
                                "the process may have " + gib(*limits.address_space) +
                                    " of addresses (ulimit -v), and " + gib(left) + " are left",
                                view.request.kind == MemoryKind::host ? Severity::error : Severity::warning);
  add_request(why, view);
  why.rows.push_back({"addresses in use", {}, limits.addresses_used, "B"});
  why.help = {"raise it: ulimit -v unlimited; drivers of GPUs reserve addresses for all memory of a card"};
  return why;
}

/// Who holds the card is a certain cause where the driver or the kernel says what is free of just that
/// device.
Severity card_severity(const MemoryView& view) {
  return view.is_told && !view.is_tile ? Severity::error : Severity::warning;
}

/// Memory of the card that is short of the request.
bool is_short(const MemoryView& view) {
  if (view.request.kind == MemoryKind::host || !view.is_dedicated() || !view.free) return false;
  return view.request.size ? view.request.size > *view.free : *view.free < kTight;
}

void add_tile(Diagnostic& diagnostic, const MemoryView& view) {
  if (view.is_tile)
    diagnostic.rows.push_back({"counted", "all tiles of the card, of which the device is one"});
}

MemoryCause other_processes(const MemoryView& view) {
  if (!is_short(view) || view.others_sum == 0) return std::nullopt;
  if (view.request.size > *view.free + view.others_sum) return std::nullopt;
  const detail::Holder& most = view.others.front();
  Diagnostic why = memory_cause(
      "K0244",
      detail::holder_text(most) + " holds " + gib(most.bytes) + " of the card's " + gib(*view.total) +
          (view.others.size() > 1
               ? ", and others " + gib(view.others_sum - std::min(view.others_sum, most.bytes))
               : ""),
      card_severity(view));
  add_request(why, view);
  add_card(why, view);
  constexpr std::size_t kMostHolders = 5;
  for (std::size_t i = 0; i < std::min(view.others.size(), kMostHolders); ++i)
    why.rows.push_back({detail::holder_text(view.others[i]), {}, view.others[i].bytes, "B"});
  if (view.own) why.rows.push_back({"this process", {}, view.own, "B"});
  add_tile(why, view);
  why.help = {"end what is not needed, or take another card: ZE_AFFINITY_MASK",
              "`kiln memory --watch` shows who takes how much"};
  return why;
}

MemoryCause own_process(const MemoryView& view) {
  if (!is_short(view) || view.own == 0 || view.own < view.others_sum) return std::nullopt;
  Diagnostic why =
      memory_cause("K0247",
                   "this process itself holds " + gib(view.own) + " of the device's " + gib(*view.total) +
                       ", and " + (view.is_told ? "" : "at most ") + gib(*view.free) + " are free",
                   card_severity(view));
  add_request(why, view);
  add_tile(why, view);
  const OwnMemory& own = view.account.own;
  if (own.device.bytes) why.rows.push_back({"of it Buffers of device memory", {}, own.device.bytes, "B"});
  if (own.shared.bytes) why.rows.push_back({"Buffers of shared memory", {}, own.shared.bytes, "B"});
  why.help = {
      "free buffers that are done with, or work on less at a time",
      "what is no Buffer is of the driver: code, private memory and scratch of kernels, command lists"};
  return why;
}

/// What cards see of each other's memory is taken of the host too, page for page.
MemoryCause mirrored(const MemoryView& view) {
  std::uint64_t device = 0, host = 0;
  std::vector<std::string> cards;
  for (const MemoryClient& client : view.account.clients) {
    if (client.process != view.account.process || client.driver != "xe") continue;
    device += client.device_memory();
    for (const MemoryRegion& region : client.regions)
      if (region.name == "gtt") host += region.resident;
    if (std::ranges::find(cards, client.card) == cards.end()) cards.push_back(client.card);
  }
  // What Buffers have of the host is there for its own sake.
  const OwnMemory& own = view.account.own;
  host -= std::min(host, own.host.bytes + own.shared.bytes);
  if (cards.size() < 2 || host < kMirrored || host < device / 2) return std::nullopt;
  Diagnostic why =
      memory_cause("K0243",
                   gib(host) + " of host memory mirror " + gib(device) + " of device memory, since " +
                       std::to_string(cards.size()) + " cards are in use together",
                   Severity::warning);
  if (view.account.host.total) add_host(why, view.account.host);
  add_source(why, "github.com/intel/compute-runtime/issues/953: drivers from 26.09 on, not 26.05");
  why.help = {"let each process see one card: ZE_AFFINITY_MASK=0, and 1 for the next",
              "or set NEOReadDebugKeys=1 EnableDeferBacking=0, or take driver 26.05"};
  return why;
}

/// Host memory that all clients of all cards have of it.
std::uint64_t graphics_use(const MemoryAccount& account) {
  std::uint64_t sum = 0;
  for (const MemoryClient& client : account.clients)
    if (client.driver == "xe") sum += client.host_memory();
  return sum;
}

MemoryCause graphics_limit(const MemoryView& view) {
  const auto limit = view.account.host.graphics_limit;
  if (!limit || !view.card || view.card->driver != "xe" || view.request.size == 0) return std::nullopt;
  if (view.request.kind == MemoryKind::device && !view.is_integrated()) return std::nullopt;
  const std::uint64_t used = graphics_use(view.account);
  if (used <= *limit && view.request.size <= *limit - used) return std::nullopt;
  Diagnostic why =
      memory_cause("K0246",
                   "the kernel lets all cards together have " + gib(*limit) + " of the host's " +
                       gib(view.account.host.total) + ", and " + gib(used) + " of them are in use",
                   Severity::warning);
  add_request(why, view);
  why.rows.push_back({"limit (ttm.pages_limit)", {}, *limit, "B"});
  add_source(why, "the kernel driver xe, xe_ttm_sys_mgr.c: half of the host's memory");
  why.help = {"raise it: `options ttm pages_limit=N` in /etc/modprobe.d/ttm.conf, N in pages of 4096 bytes",
              "or free memory that other clients hold: `kiln memory` lists them"};
  return why;
}

/// A group, and the swap that what is in it may go to.
struct TightGroup {
  const MemoryGroup* group = nullptr;
  std::uint64_t swap = 0;  ///< bytes
};

/// Swap that is left to a group: version 1 has a limit of memory and swap together.
std::uint64_t swap_of(const MemoryGroup& group, std::uint64_t free) {
  if (!group.swap_limit) return free;
  if (group.version == 2)
    return std::min(free, *group.swap_limit - std::min(*group.swap_limit, group.swap_used));
  const std::uint64_t kept = group.swap_used - std::min(group.swap_used, group.files);
  const std::uint64_t both = *group.swap_limit - std::min(*group.swap_limit, kept);
  return std::min(free, both - std::min(both, group.left().value_or(both)));
}

/// The group that has the least left, swap included where that alone is too little; nothing where all have so
/// much without.
std::optional<TightGroup> tightest_group(const MemoryAccount& account, std::uint64_t need) {
  // Of version 2 what is swapped counts in all groups up to the root.
  std::uint64_t free = account.host.swap_free;
  for (const MemoryGroup& group : account.groups)
    if (group.version == 2) free = swap_of(group, free);
  std::optional<TightGroup> least, certain;
  for (const MemoryGroup& group : account.groups) {
    const auto left = group.left();
    if (!left || need <= *left) continue;
    const TightGroup here{&group, swap_of(group, free)};
    if (!least || *left < *least->group->left()) least = here;
    if (need <= *left + here.swap) continue;
    if (!certain || *left + here.swap < *certain->group->left() + certain->swap) certain = here;
  }
  return certain ? certain : least;
}

MemoryCause group_limit(const MemoryView& view) {
  const std::uint64_t need = std::max(view.request.size, kTight);
  for (const MemoryGroup& group : view.account.groups) {
    for (const MemoryGroup::DeviceBound& bound : group.device_bounds) {
      const std::uint64_t left = bound.limit - std::min(bound.limit, bound.used);
      if (!view.card || view.request.kind == MemoryKind::host || need <= left) continue;
      if (!bound.region.starts_with("drm/" + view.card->address + "/vram")) continue;
      Diagnostic why = memory_cause("K0242",
                                    "control group `" + detail::printable(group.path) + "` may have " +
                                        gib(bound.limit) + " of the card, and " + gib(left) + " are left",
                                    Severity::warning);
      add_request(why, view);
      add_card(why, view);
      why.help = {"raise `dmem.max` of the group"};
      return why;
    }
  }
  if (!view.needs_host()) return std::nullopt;
  const auto tightest = tightest_group(view.account, need);
  if (!tightest) return std::nullopt;
  const MemoryGroup& group = *tightest->group;
  // Where the kernel may swap in the group, it does before it refuses.
  const bool may_swap = tightest->swap && need <= *group.left() + tightest->swap;
  Diagnostic why =
      memory_cause("K0242",
                   behind(view) + "control group `" + detail::printable(group.path) + "` may have " +
                       gib(*group.limit) + ", and " + gib(*group.left()) + " are left" +
                       (tightest->swap ? ", and " + gib(tightest->swap) + " of swap" : ""),
                   may_swap ? Severity::warning : host_severity(view));
  add_request(why, view);
  add_card(why, view);
  why.rows.push_back({"limit of the group", {}, *group.limit, "B"});
  why.rows.push_back(
      {"used by it, without pages of files", {}, group.used - std::min(group.used, group.files), "B"});
  add_behind(why, view);
  if (host_severity(view) == Severity::warning)
    why.rows.push_back(
        {"counted", "what the driver maps; kernels do not charge all that cards take of the host"});
  why.help = {group.version == 2
                  ? "raise its limit: `memory.max`, of a container --memory, of a unit MemoryMax="
                  : "raise its limit: `memory.limit_in_bytes`, of a container --memory"};
  return why;
}

MemoryCause host_memory(const MemoryView& view) {
  const HostMemory& host = view.account.host;
  if (!view.needs_host() || host.total == 0) return std::nullopt;
  const std::uint64_t left = host.available + host.swap_free;
  const std::uint64_t need = std::max(view.request.size, kTight);
  if (need <= left) return std::nullopt;
  Diagnostic why = memory_cause(
      "K0241",
      behind(view) + "the host has " + gib(host.available) + " available" +
          (host.swap_total ? ", and " + gib(host.swap_free) + " of swap" : std::string(", and no swap")),
      host_severity(view));
  add_request(why, view);
  add_card(why, view);
  add_host(why, host);
  add_behind(why, view);
  why.help = {host.swap_total ? "free memory of the host, or make swap larger"
                              : "free memory of the host, or switch swap on",
              "load models in parts: what a program reads a file into counts as well"};
  return why;
}

MemoryCause locked_memory(const MemoryView& view) {
  const ProcessLimits& limits = view.account.limits;
  if (!limits.locked || view.request.kind != MemoryKind::host || view.request.size == 0) return std::nullopt;
  const std::uint64_t left = *limits.locked - std::min(*limits.locked, limits.locked_used);
  if (view.request.size <= left) return std::nullopt;
  Diagnostic why = memory_cause("K0248",
                                "the process may lock " + gib(*limits.locked) +
                                    " of memory (ulimit -l), where a kernel driver locks what is asked for",
                                Severity::warning);
  add_request(why, view);
  why.help = {"raise it: ulimit -l unlimited; of a container --ulimit memlock=-1, of a unit LimitMEMLOCK="};
  return why;
}

MemoryCause small_window(const MemoryView& view) {
  if (!view.card || !view.card->total || view.card->window == 0) return std::nullopt;
  if (view.card->window >= *view.card->total) return std::nullopt;
  const bool xe = view.card->driver == "xe";
  Diagnostic why = memory_cause("K0245",
                                "the host reaches " + gib(view.card->window) + " of the card's " +
                                    gib(*view.card->total) + ": resizable BAR is off",
                                Severity::warning);
  why.rows.push_back({"card", detail::printable(view.card->address)});
  add_source(why,
             xe ? "github.com/intel/compute-runtime/issues/933: Intel's driver leaves such a card out on xe"
                : "github.com/intel/compute-runtime/issues/997: Intel's driver warns on i915, and goes on");
  why.help = {"switch on `Above 4G decoding` and `Resizable BAR` in the firmware's settings",
              "where the firmware has none: the card's driver may resize it, see its `vram_bar_size`"};
  return why;
}

/// Most certain first.
constexpr MemoryCause (*kMemoryRules[])(const MemoryView&) = {
    single_allocation, commit_limit,   address_space, other_processes, own_process,  mirrored,
    group_limit,       graphics_limit, host_memory,   locked_memory,   small_window,
};

}  // namespace

std::vector<Diagnostic> memory_causes(const MemoryAccount& account, const MemoryRequest& request) {
  const MemoryView view(account, request);
  std::vector<Diagnostic> causes;
  for (const auto rule : kMemoryRules)
    if (auto found = rule(view)) causes.push_back(*std::move(found));
  std::ranges::stable_sort(causes, {}, [](const Diagnostic& each) { return each.severity; });
  return causes;
}

}  // namespace kiln
